"""What a controller that skips companions would have reported, beside the truth."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from revereval.analysis.boundaries import (
    ARMS,
    CORRECT,
    PRIMARY,
    UNEXECUTED,
    WRONG,
    Boundaries,
    Flags,
    success,
)
from revereval.analysis.bounds import CompleteCase, Contrast, complete_case, contrast
from revereval.analysis.flow import answered
from revereval.analysis.frames import Frame, frame
from revereval.errors import InputError
from revereval.terms import EndpointDefinition


@dataclass(frozen=True)
class Censored:
    """One complete record, and what would have been left of it."""

    frame: Frame
    """Runs with all outcomes known, to which the historical rule is applied."""
    left_out: Fraction
    """Paired runs of the table that are not complete, so that no truth is known for them."""
    truth: Contrast
    unexecuted: Flags
    """Companions that the historical rule does not run."""
    completed: CompleteCase
    """Pairs in which both arms would have answered."""
    bounds: Contrast
    """The interval from what the historical rule leaves; it contains the truth."""


def censored(
    table: Boundaries,
    base: Frame,
    contract: str = PRIMARY,
    definition: EndpointDefinition | None = None,
) -> Censored:
    """Apply `companion = "after_answer"` to a complete record, offline.

    The companion of a first arm that gave no final answer becomes `unexecuted`. Rows of the frame
    that are not complete are left out of both sides, and counted. Raises InputError where none is.
    """
    outcomes = success(table, contract, definition)
    # a run with an unknown repeat is left out whole, so that runs and sums are of the same rows
    partly = np.isin(table.run, table.run[base.rows & ~outcomes.known])
    complete = frame(table, f"complete runs of {base.name}", base.rows & ~partly)
    if not complete.runs:
        raise InputError(table.source, complete.name, "none: the study needs a complete record")
    truth = contrast(table, outcomes, complete)
    f, p = (table.arms[arm].endpoints[contract] for arm in ARMS)
    silent = ~np.isin(np.where(table.p_first, p, f), (CORRECT, WRONG)) & complete.rows
    after = _without(table, contract, f_rows=silent & table.p_first, p_rows=silent & ~table.p_first)
    remaining = success(after, contract, definition)
    return Censored(
        frame=complete,
        left_out=Fraction(base.runs - complete.runs),
        truth=truth,
        unexecuted=silent,
        completed=complete_case(after, remaining, answered(after, complete, contract)),
        bounds=contrast(after, remaining, complete),
    )


def _without(table: Boundaries, contract: str, *, f_rows: Flags, p_rows: Flags) -> Boundaries:
    """The table with these arms never run, under one contract."""
    arms = {}
    for name, rows in zip(ARMS, (f_rows, p_rows), strict=True):
        arm = table.arms[name]
        codes = np.where(rows, np.int32(UNEXECUTED), arm.endpoints[contract])
        arms[name] = replace(arm, endpoints={**arm.endpoints, contract: codes.astype(np.int32)})
    return replace(table, arms=arms)
