"""Columns turned into Boundaries; a row that contradicts itself is named, never dropped."""

from collections.abc import Mapping, Sequence

import numpy as np

from revereval.analysis.boundaries import (
    ARMS,
    CAPPED,
    CORRECT,
    FEATURES,
    OUTSIDE,
    PRIMARY,
    STATES,
    STOPPED,
    UNEXECUTED,
    WRONG,
    Arm,
    Boundaries,
    Coded,
    Codes,
    Column,
    Flags,
    Floats,
    Ints,
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

REQUIRED = ("task_id", "source_group", "first_arm", "f_endpoint", "p_endpoint")
IDENTITY = ("plan_digest", "run_id", "created_at")
"""What tells runs apart, where the table has them; else the task does, within its flow."""
_OF_ROWS = (
    "flow", "split", "fitting", "repeat", "tape_run_id", "contract", "endpoint_definition",
    "prefix_tokens",
)  # fmt: skip
_OF_ARMS = (
    "endpoint_strict", "endpoint_extracted", "reason", "extracted", "strict", "suffix_tokens",
    "suffix_requests", "allowed_requests", "suffix_uncached_tokens", "suffix_cached_tokens",
    "suffix_output_tokens",
)  # fmt: skip
_PARTS = ("uncached", "cached", "output")
COLUMNS = frozenset(
    (
        *REQUIRED,
        *IDENTITY,
        *_OF_ROWS,
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
    table = _Table(source, columns)
    for name in REQUIRED:
        if name not in columns:
            raise InputError(source, name, "missing: an analysis needs this column")
    table.task = table.text("task_id", None)
    group = table.text("source_group", None)
    first = table.text("first_arm", tuple(ArmName))
    arms = {arm: _arm(table, arm) for arm in ARMS}
    definition = table.optional_text("endpoint_definition", tuple(EndpointDefinition))
    everywhere_no = np.zeros(table.size, np.bool_)
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
        run=_runs(table),
    )
    _check_pairing(table, rows)
    _check_repeats(table, rows)
    if rows.split is not None:
        table.refuse(_second_of(group.codes, rows.split.codes), "split", "a group in two splits")
    return rows


def _known(column: Column) -> Flags:
    rows: Flags = column.codes >= 0 if isinstance(column, Coded) else ~np.isnan(column)
    return rows


class _Table:
    """The columns of one source, and its errors."""

    task: Coded

    def __init__(self, source: str, columns: Mapping[str, Column]) -> None:
        self.source = source
        # a column without a known cell says no more than a missing one
        self._columns = {n: c for n, c in columns.items() if n in REQUIRED or _known(c).any()}
        first = next(iter(columns.values()), np.zeros(0))
        self.size = len(first.codes if isinstance(first, Coded) else first)

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def text(self, name: str, allowed: Sequence[str] | None) -> Coded:
        """A text column without unknowns, its values among those allowed."""
        column = self.optional_text(name, allowed)
        if column is None:
            raise InputError(self.source, name, "missing: an analysis needs this column")
        self.refuse(column.codes < 0, name, "empty")
        return column

    def optional_text(self, name: str, allowed: Sequence[str] | None) -> Coded | None:
        column = self._columns.get(name)
        if column is None or not isinstance(column, Coded):
            return None
        used = np.zeros(len(column.values) + 1, np.bool_)
        used[column.codes] = True  # code -1 is the last place
        for code, value in enumerate(column.values):
            if allowed is not None and used[code] and value not in allowed:
                problem = f"{value!r}, allowed: {', '.join(allowed)}"
                self.refuse(column.codes == code, name, problem)
        return column

    def optional(self, name: str) -> Floats | None:
        column = self._columns.get(name)
        return None if isinstance(column, Coded) else column

    def number(self, name: str) -> Floats:
        """A column of counts; all unknown where the table lacks it."""
        column = self.optional(name)
        if column is None:
            return np.full(self.size, np.nan)
        self.refuse(column < 0, name, "negative")
        return column

    def refuse(self, rows: Flags, column: str, problem: str) -> None:
        """Raise InputError for the first of the rows, if there is one."""
        if rows.any():
            row = int(np.argmax(rows))
            task = self.task.text(row) if hasattr(self, "task") else ""
            place = f"row {row + 1}" + (f" ({task})" if task else "")
            raise InputError(self.source, f"{place}: {column}", problem)


def _arm(table: _Table, arm: ArmName) -> Arm:
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
        **{name: np.where(idle, np.nan, counts) for name, counts in parts.items()},
    )


def _endpoints(table: _Table, side: str) -> dict[str, Codes]:
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
        codes = np.where((codes < 0) & unnamed, primary, codes)
        if own is not None or (codes >= 0).any():
            found[contract] = codes
    return found


def _check_verdicts(table: _Table, side: str, endpoints: Mapping[str, Codes]) -> None:
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


def _features(table: _Table) -> dict[str, Floats]:
    found = {name: table.number(name) for name in FEATURES}
    table.refuse(found["last_cached_fraction"] > 1, "last_cached_fraction", "more than 1")
    return found


def _check_pairing(table: _Table, rows: Boundaries) -> None:
    outside = [rows.arms[arm].endpoints[PRIMARY] == OUTSIDE for arm in ARMS]
    table.refuse(outside[0] & outside[1], "p_endpoint", "not_planned in both arms")
    flow = table.optional_text("flow", ("paired", "single_arm"))
    if flow is not None:
        single, paired = flow.equals("single_arm"), flow.equals("paired")
        table.refuse(single & rows.paired, "flow", "single_arm, but both arms are planned")
        table.refuse(paired & ~rows.paired, "flow", "paired, but an arm is not_planned")


def _check_repeats(table: _Table, rows: Boundaries) -> None:
    """The repeats of one run share all that was known before either arm ran."""
    shared: dict[str, Floats | Codes] = {"source_group": rows.group.codes}
    shared |= {"prefix_tokens": rows.prefix_tokens, **rows.features}
    shared |= {"fitting": rows.fitting} if rows.fitting is not None else {}
    for column, values in shared.items():
        problem = "not that of the other repeats of its run"
        known = np.where(np.isnan(values), -1.0, values)
        table.refuse(_second_of(rows.run, known), column, problem)


def _second_of(keys: Ints | Codes, values: Floats | Codes) -> Flags:
    """Rows with another value than the first row of their key; a value below 0 is unknown."""
    known = np.flatnonzero(values >= 0)
    _, first, place = np.unique(keys[known], return_index=True, return_inverse=True)
    second = np.zeros(len(keys), np.bool_)
    second[known] = values[known] != values[known[first]][place]
    return second


def _runs(table: _Table) -> Ints:
    """A number for each run; raises InputError for a run, or a repeat of it, that comes twice."""
    keys = [table.optional_text(name, None) for name in IDENTITY]
    numbers = [table.optional(name) for name in IDENTITY if name != "run_id"]
    own, tape = table.optional("run_id"), table.optional("tape_run_id")
    if own is not None:  # the repeats of one tape are runs of the ledger, and one run here
        numbers.append(own if tape is None else np.where(np.isnan(tape), own, tape))
    parts: list[Floats | Codes] = [key.codes for key in keys if key is not None]
    parts += [number for number in numbers if number is not None]
    flow = table.optional_text("flow", None)
    parts += [table.task.codes] + ([flow.codes] if flow is not None else [])
    run = _numbered(parts)
    repeat = table.optional("repeat")
    row = run if repeat is None else _numbered([run, np.nan_to_num(repeat, nan=1)])
    order = np.argsort(row, kind="stable")
    again = np.zeros(table.size, np.bool_)
    again[order[1:]] = row[order[1:]] == row[order[:-1]]
    table.refuse(again, "run_id" if "run_id" in table else "task_id", "a run that comes twice")
    return run


def _numbered(parts: Sequence[Floats | Codes | Ints]) -> Ints:
    """A number from 0 for each distinct combination."""
    numbers = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        values, codes = np.unique(part, return_inverse=True)
        _, numbers = np.unique(numbers * max(1, len(values)) + codes, return_inverse=True)
    return numbers.astype(np.int64)
