"""Columns turned into Boundaries; a row that contradicts itself is named, never dropped."""

from collections.abc import Mapping

import numpy as np

from revereval.analysis.boundaries import (
    ARMS,
    CAPPED,
    CORRECT,
    FEATURES,
    OUTSIDE,
    PRIMARY,
    SAID,
    STATES,
    STOPPED,
    UNEXECUTED,
    WRONG,
    Arm,
    Boundaries,
    Coded,
    Codes,
    Column,
    Floats,
)
from revereval.analysis.rows import (
    IDENTITY,
    REQUIRED,
    Table,
    check_repeats,
    check_treatments,
    runs,
    second_of,
)
from revereval.errors import InputError
from revereval.terms import (
    SUFFIX_CAP,
    ArmName,
    Contract,
    EndpointDefinition,
    Split,
    StopReason,
    UnexecutedReason,
)

_OF_ROWS = (
    "flow", "split", "fitting", "repeat", "tape_run_id", "prefix_tokens", "treatment",
    "closed_book",
)  # fmt: skip
_OF_ARMS = (
    "endpoint_strict", "endpoint_extracted", "reason", "extracted", "strict", "suffix_tokens",
    "suffix_requests", "allowed_requests", "suffix_uncached_tokens", "suffix_cached_tokens",
    "suffix_output_tokens", "suffix_flagged_usage", "suffix_uncounted_attempts",
)  # fmt: skip
_PARTS = ("uncached", "cached", "output")
COLUMNS = frozenset(
    (
        *REQUIRED,
        *IDENTITY,
        *_OF_ROWS,
        *SAID,
        *FEATURES,
        *(f"{a}_{name}" for a in "fp" for name in _OF_ARMS),
    )
)
"""The columns of the boundaries table that an analysis reads."""


def boundaries(source: str, columns: Mapping[str, Column]) -> Boundaries:
    """Check the columns of N rows and give them their meaning.

    Raises InputError, naming row and column: a missing column, an unknown state, a contradiction,
    a run that comes twice.
    """
    table = Table(source, columns)
    for name in REQUIRED:
        if name not in columns:
            raise InputError(source, name, "missing: an analysis needs this column")
    table.task = table.text("task_id", None)
    group = table.text("source_group", None)
    first = table.text("first_arm", tuple(ArmName))
    arms = {arm: _arm(table, arm) for arm in ARMS}
    definition = table.optional_text("endpoint_definition", tuple(EndpointDefinition))
    everywhere_no = np.zeros(table.size, np.bool_)
    run_id = table.optional("run_id")
    unsaid = Coded(np.full(table.size, -1, np.int32), ())
    rows = Boundaries(
        source=source,
        task=table.task,
        group=group,
        p_first=first.equals(ArmName.P),
        arms=arms,
        joint=definition.equals(EndpointDefinition.JOINT) if definition else everywhere_no,
        prefix_tokens=table.number("prefix_tokens"),
        features=_features(table),
        fitting=table.optional("fitting"),
        split=table.optional_text("split", tuple(Split)),
        run=runs(table),
        closed_book=table.optional_text("closed_book", ("correct", "wrong", "stopped")),
        run_id=np.full(table.size, np.nan) if run_id is None else run_id,
        treatment=table.optional_text("treatment", None) or unsaid,
        said={name: said for name in SAID if (said := table.optional_text(name, None))},
        place=np.arange(table.size),
    )
    _check_pairing(table, rows)
    check_repeats(table, rows)
    check_treatments(table, rows)
    if rows.split is not None:
        table.refuse(second_of(group.codes, rows.split.codes), "split", "a group in two splits")
    return rows


def _arm(table: Table, arm: ArmName) -> Arm:
    side = arm.lower()
    endpoints = _endpoints(table, side)
    primary = endpoints[PRIMARY]
    reasons = table.optional_text(f"{side}_reason", (*StopReason, *UnexecutedReason))
    tokens, requests = (
        table.number(f"{side}_suffix_tokens"),
        table.number(f"{side}_suffix_requests"),
    )
    allowed = table.number(f"{side}_allowed_requests")
    cap = np.where(np.isnan(allowed), SUFFIX_CAP, allowed)
    idle = (primary == UNEXECUTED) | (primary == OUTSIDE)
    table.refuse(idle & (tokens > 0), f"{side}_suffix_tokens", "an arm that was not run has none")
    table.refuse(idle & (requests > 0), f"{side}_suffix_requests", "an arm that was not run has 0")
    parts = {name: table.number(f"{side}_suffix_{name}_tokens") for name in _PARTS}
    for name, counts in parts.items():
        column = f"{side}_suffix_{name}_tokens"
        table.refuse(idle & (counts > 0), column, "an arm that was not run has none")
    table.refuse(requests > cap, f"{side}_suffix_requests", "more than the arm's allowance K")
    short = (primary == CAPPED) & (requests < cap)
    table.refuse(short, f"{side}_suffix_requests", "capped with fewer than K requests")
    answered = (primary == CORRECT) | (primary == WRONG)
    table.refuse(answered & (requests == 0), f"{side}_suffix_requests", "an answer needs a request")
    table.refuse((requests == 0) & (tokens > 0), f"{side}_suffix_tokens", "0 requests use none")
    _check_verdicts(table, side, endpoints)
    if reasons is not None:
        explained = (reasons.codes >= 0) & ~((primary == STOPPED) | idle)
        table.refuse(explained, f"{side}_reason", "only a stopped or unexecuted arm has a reason")
        for state, listed in ((STOPPED, StopReason), (UNEXECUTED, UnexecutedReason)):
            other = (primary == state) & (reasons.codes >= 0) & (reasons.places([*listed]) < 0)
            problem = f"not a reason of {STATES[state]}: allowed: {', '.join(listed)}"
            table.refuse(other, f"{side}_reason", problem)
    return Arm(
        endpoints=endpoints,
        budget_stop=reasons.equals(StopReason.BUDGET) if reasons else np.zeros_like(idle),
        suffix_tokens=np.where(idle, np.nan, tokens),
        suffix_requests=np.where(idle, np.nan, requests),
        flagged=table.number(f"{side}_suffix_flagged_usage"),
        uncounted=table.number(f"{side}_suffix_uncounted_attempts"),
        **{name: np.where(idle, np.nan, counts) for name, counts in parts.items()},
    )


def _endpoints(table: Table, side: str) -> dict[str, Codes]:
    """The endpoint of one arm by contract: the primary one, and those the table also has.

    A row without a contract's own column has it where that is its primary contract; elsewhere it
    is unknown, code -1. A table that does not name its contract uses the extracted one.
    """
    primary = table.text(f"{side}_endpoint", STATES).places(STATES)
    found = {PRIMARY: primary}
    contracts = table.optional_text("contract", tuple(Contract))
    for contract in Contract:
        own = table.optional_text(f"{side}_endpoint_{contract}", STATES)
        codes = np.full(table.size, -1, np.int32) if own is None else own.places(STATES)
        unnamed = np.full(table.size, contract is Contract.EXTRACTED)
        if contracts is not None:
            unnamed = contracts.equals(contract) | (unnamed & (contracts.codes < 0))
        twice = contracts is not None and contracts.equals(contract) & (codes >= 0)
        problem = f"not {side}_endpoint, though it is of the row's own contract"
        table.refuse(twice & (codes != primary), f"{side}_endpoint_{contract}", problem)
        # only an answer can be judged otherwise under another contract
        judged = (primary == CORRECT) | (primary == WRONG)
        has = own is not None or bool(unnamed.any())
        codes = np.where((codes < 0) & (unnamed | ~judged), primary, codes)
        if has:
            found[contract] = codes
    return found


def _check_verdicts(table: Table, side: str, endpoints: Mapping[str, Codes]) -> None:
    primary = endpoints[PRIMARY]
    answered = (primary == CORRECT) | (primary == WRONG)
    for contract, codes in endpoints.items():
        column = f"{side}_endpoint_{contract}"
        moved = (codes != primary) & ~(answered & ((codes == CORRECT) | (codes == WRONG)))
        moved &= codes >= 0
        table.refuse(moved, column, "only correct and wrong may differ between contracts")
        verdict = table.optional(f"{side}_{contract}")
        if verdict is not None:
            silent = ~answered & (verdict == 1)
            table.refuse(silent, f"{side}_{contract}", "only an answer can be accepted")
            against = ((codes == CORRECT) & (verdict == 0)) | ((codes == WRONG) & (verdict == 1))
            table.refuse(against, f"{side}_{contract}", f"contradicts {column}")


def _features(table: Table) -> dict[str, Floats]:
    found = {name: table.number(name) for name in FEATURES}
    table.refuse(found["last_cached_fraction"] > 1, "last_cached_fraction", "more than 1")
    return found


def _check_pairing(table: Table, rows: Boundaries) -> None:
    outside = [rows.arms[arm].endpoints[PRIMARY] == OUTSIDE for arm in ARMS]
    table.refuse(outside[0] & outside[1], "p_endpoint", "not_planned in both arms")
    flow = table.optional_text("flow", ("paired", "single_arm"))
    if flow is not None:
        single, paired = flow.equals("single_arm"), flow.equals("paired")
        table.refuse(single & rows.paired, "flow", "single_arm, but both arms are planned")
        table.refuse(paired & ~rows.paired, "flow", "paired, but an arm is not_planned")
