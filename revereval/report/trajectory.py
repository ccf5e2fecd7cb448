"""Which single pairs a report shows, and what it needs to know of them."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from revereval.analysis.boundaries import CAPPED, Flags
from revereval.analysis.study import Study
from revereval.terms import ArmName


class Call(Protocol):
    """One tool call and what came back."""

    @property
    def tool(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def error(self) -> str | None: ...
    @property
    def archive(self) -> str | None: ...
    @property
    def size_bytes(self) -> int: ...


class Step(Protocol):
    """One request and its reply; tokens are None where unknown."""

    @property
    def position(self) -> int: ...
    @property
    def completed(self) -> bool: ...
    @property
    def tokens_in(self) -> int | None: ...
    @property
    def tokens_out(self) -> int | None: ...
    @property
    def projected(self) -> Sequence[int]: ...
    @property
    def calls(self) -> Sequence[Call]: ...
    @property
    def answered(self) -> bool: ...


class Ending(Protocol):
    @property
    def endpoint(self) -> str: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def answer(self) -> str | None: ...


class Trajectory(Protocol):
    """A boundary run: the steps of capture, F and P, and how both arms ended."""

    @property
    def run(self) -> int: ...
    @property
    def task(self) -> str: ...
    @property
    def provider(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def first_arm(self) -> str: ...
    @property
    def steps(self) -> Mapping[str, Sequence[Step]]: ...
    @property
    def endings(self) -> Mapping[str, Ending]: ...


MOST: Final = 6
MOST_HARMED: Final = 3
RULE: Final = (
    f"Up to {MOST} pairs, chosen by rule: up to {MOST_HARMED} in which F succeeded and P failed, "
    "then the pair with the largest saving in suffix tokens, the one with the largest increase, "
    "and runs in which P was capped; the lowest run first where several fit. They show how a pair "
    "went, not how pairs go."
)
NAMED: Final = "The pairs that were asked for. They show how a pair went, not how pairs go."


def chosen_runs(study: Study, run_ids: Sequence[int | None]) -> list[int]:
    """The runs that RULE gives; `run_ids` has one entry for each row, None for a row without."""
    table, outcomes, inside = study.table, study.outcomes, study.whole.rows.copy()
    inside[[index for index, run in enumerate(run_ids) if run is None]] = False
    f, p = (table.arms[arm].suffix_tokens for arm in ArmName)
    harmed = (outcomes.f_low == 1) & (outcomes.p_high == 0)
    capped = table.arms[ArmName.P].endpoints[study.question.contract] == CAPPED
    saving = np.where(outcomes.known & inside, f - p, np.nan)

    def runs(rows: Flags) -> list[int]:
        found = {run_ids[int(row)] for row in np.flatnonzero(rows & inside)}
        return sorted(run for run in found if run is not None)

    with np.errstate(invalid="ignore"):
        saved, added = saving > 0, saving < 0
    order = runs(harmed)[:MOST_HARMED]
    if saved.any():
        order += runs(saving == np.nanmax(saving))[:1]
    if added.any():
        order += runs(saving == np.nanmin(saving))[:1]
    order += runs(capped)
    return list(dict.fromkeys(order))[:MOST]
