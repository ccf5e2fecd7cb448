"""The frame's flow: from plans to boundaries, to comparable runs, to joint successes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from revereval.analysis.boundaries import (
    ARMS,
    CORRECT,
    PRIMARY,
    STATES,
    WRONG,
    Boundaries,
    Flags,
    Success,
)
from revereval.analysis.frames import Frame, counted
from revereval.terms import ArmName, CaptureOutcome, Endpoint


@dataclass(frozen=True)
class Plans:
    """Runs by their capture's outcome, from the ledger; a boundary table alone has none of it."""

    runs: int
    outcomes: Mapping[str, int]
    """By CaptureOutcome, and `none` for a capture that has not ended."""
    first_arm: Mapping[str, int]


class Captured(NamedTuple):
    """Runs of one plan with one outcome of their capture, as the ledger counts them."""

    treatment: str
    model: str
    plan: str
    outcome: str
    first_arm: str
    runs: int


@dataclass(frozen=True)
class Flow:
    """Counts in runs, by first arm where a mapping."""

    single_arm: int
    """Rows of the table outside every paired frame."""
    boundaries: Mapping[ArmName, Fraction]
    answered: Mapping[ArmName, Fraction]
    """Both arms returned a final answer."""
    comparable: Mapping[ArmName, Fraction]
    joint: Mapping[ArmName, Fraction]
    endpoints: Mapping[ArmName, Mapping[Endpoint, Fraction]]
    """By arm."""
    unknown: Mapping[ArmName, Fraction]
    """Runs whose endpoint under this contract the table does not tell, by arm."""
    crossed: Mapping[Endpoint, Mapping[Endpoint, Fraction]]
    """F's endpoint, then P's."""
    first_period: Mapping[ArmName, Mapping[Endpoint, Fraction]]
    """The endpoint of the arm that went first, by first arm."""


def flow(table: Boundaries, outcomes: Success, frame: Frame, contract: str = PRIMARY) -> Flow:
    """All counts of one frame under one contract."""
    f, p = (table.arms[arm].endpoints[contract] for arm in ARMS)
    first = np.where(table.p_first, p, f)
    by_first = {ArmName.F: ~table.p_first, ArmName.P: table.p_first}

    def count(rows: Flags) -> Fraction:
        return counted(table, frame.rows & rows)

    def split(rows: Flags) -> dict[ArmName, Fraction]:
        return {arm: count(rows & went) for arm, went in by_first.items()}

    places = [(STATES.index(endpoint), endpoint) for endpoint in Endpoint]
    return Flow(
        single_arm=int((~table.paired).sum()),
        boundaries=split(frame.rows),
        answered=split(answered(table, frame, contract)),
        comparable=split(outcomes.known),
        joint=split(outcomes.joint),
        endpoints={
            arm: {endpoint: count(codes == place) for place, endpoint in places}
            for arm, codes in ((ArmName.F, f), (ArmName.P, p))
        },
        unknown={arm: count(codes < 0) for arm, codes in ((ArmName.F, f), (ArmName.P, p))},
        crossed={
            row: {column: count((f == i) & (p == j)) for j, column in places} for i, row in places
        },
        first_period={
            arm: {endpoint: count(went & (first == place)) for place, endpoint in places}
            for arm, went in by_first.items()
        },
    )


def answered(table: Boundaries, frame: Frame, contract: str = PRIMARY) -> Flags:
    """Rows of the frame in which both arms returned a final answer."""
    f, p = (table.arms[arm].endpoints[contract] for arm in ARMS)
    rows: Flags = frame.rows & np.isin(f, (CORRECT, WRONG)) & np.isin(p, (CORRECT, WRONG))
    return rows


def plans_of(captured: Iterable[Captured]) -> Plans:
    """These runs by the outcome of their capture and by first arm."""
    outcomes: Counter[str] = Counter()
    first_arm: Counter[str] = Counter()
    for one in captured:
        outcomes[one.outcome] += one.runs
        first_arm[one.first_arm] += one.runs
    return plans(outcomes, first_arm)


def plans(outcomes: Mapping[str, int], first_arm: Mapping[str, int]) -> Plans:
    """Counts of captures as the ledger keeps them, every outcome present."""
    every = {str(outcome): outcomes.get(outcome, 0) for outcome in CaptureOutcome}
    rest = {name: count for name, count in outcomes.items() if name not in every}
    return Plans(sum(outcomes.values()), {**every, **rest}, first_arm)
