"""What a report is made of, whatever prints it: sections of sentences and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Section:
    name: str
    """The sub-command of `analyze` that prints it alone."""
    title: str
    sentences: Sequence[str]
    """Read before the tables: what they are over."""
    tables: Sequence[Table]
    caveats: Sequence[str] = ()
    """Read after the tables: what they do not show."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The figures as JSON values, for machines."""


def count(value: Fraction | int | None) -> str:
    """A number of runs or tokens, thousands apart; a part of a run as a decimal."""
    if value is None:
        return UNKNOWN
    whole = Fraction(value)
    return f"{whole.numerator:,}" if whole.denominator == 1 else f"{float(whole):,.2f}"


def signed(value: Fraction | int | None) -> str:
    """The same with its sign."""
    if value is None:
        return UNKNOWN
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return sign + count(max(value, -value))


def ratio(value: float | None, digits: int = 3) -> str:
    return UNKNOWN if value is None or value != value else f"{value:.{digits}f}"


def share(value: float | None) -> str:
    """A mean a run, with its sign."""
    if value is None:
        return UNKNOWN
    return f"{value:+.3f}".replace("-", "−")


def names(found: Sequence[str], most: int = 8) -> str:
    """A list of tasks in a sentence, cut when long."""
    if not found:
        return "none"
    rest = len(found) - most
    return ", ".join(found[:most]) + (f" and {rest} more" if rest > 0 else "")
