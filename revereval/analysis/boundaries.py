"""Boundary rows as arrays: what every analysis reads, from any harness, checked once.

A row is one pair of continuations. Unknown is NaN or code -1, never zero.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from revereval.errors import InputError
from revereval.terms import ArmName, Endpoint, EndpointDefinition

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]

NOT_PLANNED: Final = "not_planned"
"""The state of an arm that a single-arm row never planned: kept out of every paired frame."""
STATES: Final = (*Endpoint, NOT_PLANNED)
"""What an endpoint column may hold; its code is its place here."""
CORRECT, WRONG, CAPPED, STOPPED, UNEXECUTED, OUTSIDE = range(len(STATES))
FEATURES: Final = (
    "eligible_bytes", "history_bytes", "eligible_count", "prefix_requests", "last_cached_fraction",
)  # fmt: skip
"""Known before either arm runs, in the order in which candidates are enumerated."""
ARMS: Final = (ArmName.F, ArmName.P)
Contract = str
SAID: Final = (
    "treatment_settings", "plan_digest", "provider", "model", "companion", "endpoint_definition",
    "contract",
)  # fmt: skip
"""Columns that say something of a row's treatment."""
PRIMARY: Final = "primary"
"""The contract of the row's own plan."""


@dataclass(frozen=True)
class Coded:
    """A text column: `values[code]` of each row, code -1 where unknown."""

    codes: Codes
    values: tuple[str, ...]

    def text(self, row: int) -> str:
        code = self.codes[row]
        return self.values[code] if code >= 0 else "unknown"

    def equals(self, value: str) -> Flags:
        """The rows with this value."""
        if value not in self.values:
            return np.zeros(len(self.codes), np.bool_)
        rows: Flags = self.codes == self.values.index(value)
        return rows

    def places(self, order: Sequence[str]) -> Codes:
        """The place of each row's value in `order`, -1 where it is not there."""
        place = {value: index for index, value in enumerate(order)}
        table = np.array([place.get(value, -1) for value in (*self.values, "")], np.int32)
        return table[self.codes]  # code -1 is the last entry


Column = Coded | Floats


def _of_rows(values: Any, rows: Flags) -> Any:
    """Arrays and columns, in mappings too, with these rows alone; anything else as it is."""
    if isinstance(values, np.ndarray):
        return values[rows]
    if isinstance(values, Coded):
        return Coded(values.codes[rows], values.values)
    if isinstance(values, Mapping):
        return {name: _of_rows(value, rows) for name, value in values.items()}
    if isinstance(values, Arm):
        parts = {field.name: getattr(values, field.name) for field in fields(values)}
        return replace(values, **_of_rows(parts, rows))
    return values


@dataclass(frozen=True)
class Arm:
    """One arm of every row."""

    endpoints: Mapping[Contract, Codes]
    """By contract, those that the table knows; `primary` always. Codes of STATES."""
    budget_stop: Flags
    suffix_tokens: Floats
    suffix_requests: Floats
    uncached: Floats
    cached: Floats
    output: Floats
    flagged: Floats
    """Suffix requests whose reported usage contradicts itself."""
    uncounted: Floats
    """Dispatches that may have been billed and are in no total."""


@dataclass(frozen=True)
class Boundaries:
    """N boundary rows; arrays of shape (N,)."""

    source: str
    """The file or ledger, for messages."""
    task: Coded
    group: Coded
    p_first: Flags
    arms: Mapping[ArmName, Arm]
    joint: Flags
    """The row's plan counts a budget stop as a failure."""
    prefix_tokens: Floats
    features: Mapping[str, Floats]
    fitting: Floats | None
    """1 where a rule was fitted on the row, NaN unknown; None without such a column."""
    split: Coded | None
    run: Ints
    """Rows of one run, the repeats of one sealed tape, share a number."""
    run_id: Floats
    """As the ledger or the table numbers its runs; NaN unknown."""
    treatment: Coded
    """Code -1 where the row does not say."""
    said: Mapping[str, Coded]
    """The columns of `SAID` that the table has."""
    place: Ints
    """Of each row in its source, from 0."""
    closed_book: Coded | None = None
    """What the row's task and model came to without tools; None where no row knows."""

    def __len__(self) -> int:
        return len(self.p_first)

    @cached_property
    def paired(self) -> Flags:
        """Rows with both arms planned."""
        outside = [arm.endpoints[PRIMARY] == OUTSIDE for arm in self.arms.values()]
        inside: Flags = ~(outside[0] | outside[1])
        return inside

    @cached_property
    def scale(self) -> int:
        """Weights are counted in units of 1/scale run, so that sums stay whole numbers."""
        return math.lcm(*map(int, np.unique(np.bincount(self.run)))) if len(self) else 1

    @cached_property
    def weights(self) -> Ints:
        """Of each row, in units of 1/scale: the repeats of one run weigh one run together."""
        sizes = np.bincount(self.run, minlength=1)
        return (self.scale // np.maximum(sizes, 1))[self.run].astype(np.int64)

    def name(self, row: int) -> str:
        """A row as messages call it: its number in its source from 1, and its task."""
        return f"row {self.place[row] + 1} ({self.task.text(row)})"

    def only(self, rows: Flags) -> "Boundaries":
        """These rows alone, which know their places in the source."""
        parts = _of_rows({field.name: getattr(self, field.name) for field in fields(self)}, rows)
        parts["run"] = np.unique(parts["run"], return_inverse=True)[1].astype(np.int64)
        return replace(self, **parts)

    def tasks_named(self, names: Iterable[str]) -> Flags:
        """The rows of these tasks. Raises InputError for a name that no row has."""
        chosen = np.zeros(len(self), np.bool_)
        for name in names:
            if name not in self.task.values:
                raise InputError(self.source, "task_id", f"no row of task {name!r}")
            chosen |= self.task.equals(name)
        return chosen


@dataclass(frozen=True)
class Success:
    """Success intervals of every row, values 0 or 1, shape (N,) each (DESIGN §4)."""

    f_low: Ints
    f_high: Ints
    p_low: Ints
    p_high: Ints

    @property
    def known(self) -> Flags:
        """Both intervals degenerate: comparable."""
        rows: Flags = (self.f_low == self.f_high) & (self.p_low == self.p_high)
        return rows

    @property
    def joint(self) -> Flags:
        """J: F and P succeed."""
        rows: Flags = (self.f_low == 1) & (self.p_low == 1)
        return rows

    def relaxed(self, rows: Flags, arm: ArmName) -> "Success":
        """The same with one arm's outcome on these rows taken as unknown, [0, 1]."""
        zero, one = np.int64(0), np.int64(1)
        if arm is ArmName.F:
            low, high = np.where(rows, zero, self.f_low), np.where(rows, one, self.f_high)
            return Success(low, high, self.p_low, self.p_high)
        low, high = np.where(rows, zero, self.p_low), np.where(rows, one, self.p_high)
        return Success(self.f_low, self.f_high, low, high)


def success(
    rows: Boundaries, contract: Contract = PRIMARY, definition: EndpointDefinition | None = None
) -> Success:
    """Success intervals under a contract and an endpoint definition (None: the row's own).

    A row that is not paired has [0, 1] in the arm that was not planned, and belongs to no frame.
    Raises InputError where the table does not know the contract.
    """
    if definition is None:
        joint: Flags = rows.joint
    else:
        joint = np.full(len(rows), definition is EndpointDefinition.JOINT)
    bounds: list[Ints] = []
    for name in ARMS:
        arm = rows.arms[name]
        if contract not in arm.endpoints:
            column = f"{name.lower()}_endpoint_{contract}"
            raise InputError(rows.source, column, "missing: the table lacks this contract")
        endpoint = arm.endpoints[contract]
        failed = (endpoint == WRONG) | (endpoint == CAPPED)
        failed |= (endpoint == STOPPED) & arm.budget_stop & joint
        low = (endpoint == CORRECT).astype(np.int64)
        bounds += [low, np.where(failed, np.int64(0), np.int64(1))]
    return Success(*bounds)
