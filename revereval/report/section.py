"""What a report is made of, whatever prints it: sections of sentences and tables."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
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
    facts: Callable[[], Any] = dict
    """The figures as JSON values, for machines; made when they are asked for."""

    def as_json(self) -> dict[str, Any]:
        """Sentences and tables as printed, and the figures as numbers."""
        return {
            "name": self.name,
            "title": self.title,
            "sentences": list(self.sentences),
            "tables": [asdict(table) for table in self.tables],
            "caveats": list(self.caveats),
            "facts": self.facts(),
        }


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


MOST_NAMES = 8


def names(found: Sequence[str], every: int | None = None) -> str:
    """A list of tasks in a sentence, cut when long; `every`: how many there are."""
    if not found:
        return "none"
    rest = (len(found) if every is None else every) - MOST_NAMES
    return ", ".join(found[:MOST_NAMES]) + (f" and {rest:,} more" if rest > 0 else "")
