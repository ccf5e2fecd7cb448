"""Whole-frame quality: what the record identifies about P minus F, and nothing more."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from revereval.analysis.boundaries import Boundaries, Flags, Ints, Success
from revereval.analysis.frames import Frame


@dataclass(frozen=True)
class Interval:
    """A range of runs, both ends attained; divide by the frame's runs for a mean."""

    low: Fraction
    high: Fraction

    @property
    def width(self) -> Fraction:
        return self.high - self.low


@dataclass(frozen=True)
class Witness:
    """An assignment of the unknown outcomes that attains one end; all else is as recorded."""

    f_succeeds: Flags
    """Rows whose unknown F outcome is a success; the other unknown ones fail."""
    p_succeeds: Flags


@dataclass(frozen=True)
class Contrast:
    """P minus F over one frame: an identification interval, not a confidence interval."""

    frame: Frame
    f: Interval
    """Successes of F."""
    p: Interval
    difference: Interval
    lowest: Witness
    highest: Witness
    f_unknown: Flags
    """Rows of the frame whose F outcome is not identified."""
    p_unknown: Flags


def contrast(table: Boundaries, outcomes: Success, frame: Frame) -> Contrast:
    """Sharp bounds [Σ(l_P − u_F), Σ(u_P − l_F)] in runs, with a witness for each end.

    Sharp because the arms' unknown outcomes are free of each other: each end sets every one.
    Source: DESIGN §6, whole frame; the published record of 27 boundaries gives [−9, +1].
    """
    inside = frame.rows
    f_unknown = inside & (outcomes.f_low < outcomes.f_high)
    p_unknown = inside & (outcomes.p_low < outcomes.p_high)
    nowhere = np.zeros(len(table), np.bool_)

    def interval(low: Ints, high: Ints) -> Interval:
        return Interval(total(table, low, inside), total(table, high, inside))

    return Contrast(
        frame=frame,
        f=interval(outcomes.f_low, outcomes.f_high),
        p=interval(outcomes.p_low, outcomes.p_high),
        difference=interval(outcomes.p_low - outcomes.f_high, outcomes.p_high - outcomes.f_low),
        lowest=Witness(f_succeeds=f_unknown, p_succeeds=nowhere),
        highest=Witness(f_succeeds=nowhere, p_succeeds=p_unknown),
        f_unknown=f_unknown,
        p_unknown=p_unknown,
    )


def total(table: Boundaries, values: Ints, rows: Flags) -> Fraction:
    """The sum of a 0/1 outcome over rows, in runs: exact, whatever the number of repeats."""
    return Fraction(int((values * table.weights)[rows].sum()), table.scale)


@dataclass(frozen=True)
class CompleteCase:
    """What a summary of the pairs that both answered would say. It answers another question."""

    runs: Fraction
    f_correct: Fraction
    p_correct: Fraction
    both_correct: Fraction
    both_wrong: Fraction
    f_only: Fraction
    p_only: Fraction


def complete_case(table: Boundaries, outcomes: Success, answered: Flags) -> CompleteCase:
    """Counts over the rows in which both arms returned a final answer, right or wrong."""
    f, p = outcomes.f_low == 1, outcomes.p_low == 1

    def count(rows: Flags) -> Fraction:
        return total(table, rows.astype(np.int64), answered)

    return CompleteCase(
        runs=count(np.ones(len(table), np.bool_)),
        f_correct=count(f),
        p_correct=count(p),
        both_correct=count(f & p),
        both_wrong=count(~f & ~p),
        f_only=count(f & ~p),
        p_only=count(~f & p),
    )
