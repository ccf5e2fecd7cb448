"""Selectors: a rule that chooses P for some boundaries, against always running F."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

import numpy as np

from revereval.analysis.boundaries import FEATURES, Boundaries, Flags, Floats, Ints, Success
from revereval.analysis.bounds import Interval, total
from revereval.analysis.frames import Frame
from revereval.errors import InputError

ALWAYS_FULL: Final = "always full"
ALWAYS_PROJECTED: Final = "always projected"
_RULE: Final = re.compile(r"\s*([a-z_]+)\s*(>=|<=)\s*(\S+)\s*")


@dataclass(frozen=True)
class Rule:
    """Run P where the feature passes the threshold; a rule without a feature is a constant."""

    feature: str | None
    comparison: str
    """`>=` or `<=`; of a constant, `P` or `F`."""
    threshold: float = 0.0

    def __str__(self) -> str:
        if self.feature is None:
            return ALWAYS_PROJECTED if self.comparison == "P" else ALWAYS_FULL
        return f"{self.feature} {self.comparison} {number_text(self.threshold)}"


def number_text(value: float) -> str:
    """A threshold that reads back as the same double; whole numbers without a fraction."""
    return str(int(value)) if value.is_integer() else repr(value)


def parse_rule(text: str) -> Rule:
    """`FEATURE >= NUMBER`, `FEATURE <= NUMBER`, `always full` or `always projected`.

    Raises InputError saying what is allowed.
    """
    if text in (ALWAYS_FULL, ALWAYS_PROJECTED):
        return Rule(None, "P" if text == ALWAYS_PROJECTED else "F")
    found = _RULE.fullmatch(text)
    if not found or found[1] not in FEATURES:
        allowed = f"FEATURE >= NUMBER or FEATURE <= NUMBER, with FEATURE of {', '.join(FEATURES)}"
        raise InputError("rule", text, f"not a rule; allowed: {allowed}")
    try:
        threshold = float(found[3])
    except ValueError:
        threshold = float("nan")
    if not np.isfinite(threshold):
        raise InputError("rule", text, f"{found[3]!r} is not a finite number")
    return Rule(found[1], found[2], threshold)


def passes(values: Floats, comparison: str, threshold: float) -> Flags:
    """The one comparison of counts and fractions alike: exact, equality passes both ways.

    Counts below 2**53 are exact in a double, and so is a threshold taken from a row.
    """
    rows: Flags = values >= threshold if comparison == ">=" else values <= threshold
    return rows


def selected(table: Boundaries, rule: Rule, frame: Frame) -> Flags:
    """The rows of the frame in which the rule runs P.

    Raises InputError, naming the row, where the feature is unknown in the frame.
    """
    if rule.feature is None:
        constant: Flags = frame.rows & np.full(len(table), rule.comparison == "P")
        return constant
    values = table.features[rule.feature]
    unknown = frame.rows & np.isnan(values)
    if unknown.any():
        row = int(np.argmax(unknown))
        problem = "unknown, and the rule needs it"
        raise InputError(table.source, f"{table.name(row)}: {rule.feature}", problem)
    return frame.rows & passes(values, rule.comparison, rule.threshold)


class Harm(StrEnum):
    """Whether a choice of P lost a success that F had."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Selection:
    """Rule minus always-full over one frame."""

    rule: Rule
    frame: Frame
    chosen: Flags
    """r = 1."""
    runs_chosen: Fraction
    difference: Interval
    """In runs: rows with r = 0 contribute exactly 0."""
    low: Ints
    """Row-wise contributions l_P − u_F where r = 1; shape (N,)."""
    high: Ints
    harm: Mapping[Harm, Fraction]
    """Runs of the frame by selected harm."""
    harmed: Flags
    """Rows where it is true."""
    harm_unknown: Flags
    group_harm: Mapping[Harm, int]
    """Source groups of the frame: true if any of its rows is, else unknown if any is."""


def selection(table: Boundaries, outcomes: Success, rule: Rule, frame: Frame) -> Selection:
    """Sharp interval of rule minus full, and three-valued selected harm (DESIGN §6).

    A row's contribution is 0 where r = 0, whatever is unknown there: rule and reference are then
    the same arm.
    """
    chosen = selected(table, rule, frame)
    low = np.where(chosen, outcomes.p_low - outcomes.f_high, 0)
    high = np.where(chosen, outcomes.p_high - outcomes.f_low, 0)
    harmed = chosen & (outcomes.f_low == 1) & (outcomes.p_high == 0)
    spared = ~chosen | (outcomes.f_high == 0) | (outcomes.p_low == 1)
    unknown = frame.rows & ~harmed & ~spared
    ones = np.ones(len(table), np.int64)
    by_harm = {Harm.TRUE: harmed, Harm.UNKNOWN: unknown, Harm.FALSE: frame.rows & spared}
    return Selection(
        rule=rule,
        frame=frame,
        chosen=chosen,
        runs_chosen=total(table, ones, chosen),
        difference=Interval(total(table, low, frame.rows), total(table, high, frame.rows)),
        low=low,
        high=high,
        harm={harm: total(table, ones, rows) for harm, rows in by_harm.items()},
        harmed=harmed,
        harm_unknown=unknown,
        group_harm=_by_group(table, frame, harmed, unknown),
    )


def _by_group(table: Boundaries, frame: Frame, harmed: Flags, unknown: Flags) -> dict[Harm, int]:
    groups = table.group.codes
    true = np.unique(groups[harmed])
    open_ = np.setdiff1d(np.unique(groups[unknown]), true)
    every = len(np.unique(groups[frame.rows]))
    return {
        Harm.TRUE: len(true),
        Harm.UNKNOWN: len(open_),
        Harm.FALSE: every - len(true) - len(open_),
    }
