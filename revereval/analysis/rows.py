"""The columns of one source, what may stand in them, and which rows are one run."""

from collections.abc import Mapping, Sequence

import numpy as np

from revereval.analysis.boundaries import Boundaries, Coded, Codes, Column, Flags, Floats, Ints
from revereval.canonical import StrictJSONError, strict_json
from revereval.errors import InputError
from revereval.terms import IMPORTED

REQUIRED = ("task_id", "source_group", "first_arm", "f_endpoint", "p_endpoint")
IDENTITY = ("plan_digest", "run_id", "created_at")
"""What tells runs apart, where the table has them; else the task does, within its flow."""


def _known(column: Column) -> Flags:
    rows: Flags = column.codes >= 0 if isinstance(column, Coded) else ~np.isnan(column)
    return rows


class Table:
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


def check_repeats(table: Table, rows: Boundaries) -> None:
    """The repeats of one run share all that was known before either arm ran."""
    shared: dict[str, Floats | Codes] = {"source_group": rows.group.codes}
    shared |= {"prefix_tokens": rows.prefix_tokens, **rows.features}
    shared |= {"fitting": rows.fitting} if rows.fitting is not None else {}
    taped, number = table.optional("tape_run_id"), table.optional("repeat")
    if number is not None:
        wrong = (number < 1) | (number != np.floor(number))
        table.refuse(wrong & ~np.isnan(number), "repeat", "counted from 1")
        if "run_id" in table:
            least = np.full(len(table.task.codes) + 1, np.inf)
            np.minimum.at(least, rows.run, np.nan_to_num(number, nan=1))
            alone = (least[rows.run] > 1) & (np.isnan(taped) if taped is not None else True)
            table.refuse(alone, "tape_run_id", "missing: nothing says whose repeat it is")
    for column, values in shared.items():
        problem = "not that of the other repeats of its run"
        known = np.where(np.isnan(values), -1.0, values)
        table.refuse(second_of(rows.run, known), column, problem)


def check_treatments(table: Table, rows: Boundaries) -> None:
    """A treatment has one set of settings, a JSON object, and a plan has one treatment."""
    treatment = rows.treatment.codes
    if plan := rows.said.get("plan_digest"):
        codes = np.where(plan.codes >= 0, treatment, -1)
        table.refuse(second_of(plan.codes, codes), "treatment", "not that of its plan's other rows")
    settings = rows.said.get("treatment_settings")
    if settings is None:
        return
    alone = (settings.codes >= 0) & (treatment < 0)
    table.refuse(alone, "treatment", "missing: nothing says whose settings these are")
    other = second_of(treatment, settings.codes)
    table.refuse(other, "treatment_settings", "not those of the treatment's other rows")
    for code, value in enumerate(settings.values):
        if not _is_object(value):
            table.refuse(settings.codes == code, "treatment_settings", "not a JSON object")


def _is_object(text: str) -> bool:
    try:
        return isinstance(strict_json(text), dict)
    except StrictJSONError:
        return False


def second_of(keys: Ints | Codes, values: Floats | Codes) -> Flags:
    """Rows with another value than the first row of their key; a value below 0 is unknown."""
    known = np.flatnonzero(values >= 0)
    _, first, place = np.unique(keys[known], return_index=True, return_inverse=True)
    second = np.zeros(len(keys), np.bool_)
    second[known] = values[known] != values[known[first]][place]
    return second


def runs(table: Table) -> Ints:
    """A number for each run; raises InputError for a run, or a repeat of it, that comes twice."""
    keys = [table.optional_text(name, None) for name in IDENTITY]
    numbers = [
        number
        for name in IDENTITY
        if name != "run_id" and (number := table.optional(name)) is not None
    ]
    treatment = stated_treatment(table)
    own, tape = table.optional("run_id"), table.optional("tape_run_id")
    if own is not None:  # the repeats of one tape are runs of the ledger, and one run here
        numbers.append(own if tape is None else np.where(np.isnan(tape), own, tape))
    parts: list[Floats | Codes] = [key.codes for key in keys if key is not None]
    parts += numbers
    flow = table.optional_text("flow", None)
    parts += [table.task.codes] + ([flow.codes] if flow is not None else [])
    parts += [] if treatment is None else [treatment]
    if own is not None and tape is not None:
        _check_created(table, numbers[-1], ~np.isnan(tape))
    run = _numbered(parts)
    repeat = table.optional("repeat")
    row = run if repeat is None else _numbered([run, np.nan_to_num(repeat, nan=1)])
    order = np.argsort(row, kind="stable")
    again = np.zeros(table.size, np.bool_)
    again[order[1:]] = row[order[1:]] == row[order[:-1]]
    table.refuse(again, "run_id" if "run_id" in table else "task_id", "a run that comes twice")
    return run


def stated_treatment(table: Table) -> Codes | None:
    """Of rows without a plan, which would say it too; -1 elsewhere, and where only a file is named.

    So the same rows in two files are still the same runs.
    """
    found = table.optional_text("treatment", None)
    if found is None:
        return None
    stated = [code for code, value in enumerate(found.values) if not value.startswith(IMPORTED)]
    plan = table.optional_text("plan_digest", None)
    unplanned = np.ones(table.size, np.bool_) if plan is None else plan.codes < 0
    return np.where(unplanned & np.isin(found.codes, stated), found.codes, np.int32(-1))


def _check_created(table: Table, tape: Floats, repeats: Flags) -> None:
    """The runs on one tape were created together, or they are not on one tape."""
    created = table.optional_text("created_at", None)
    if created is None:
        return
    plan = table.optional_text("plan_digest", None)
    treatment = stated_treatment(table)
    told = [plan.codes] if plan is not None else []
    told += [treatment] if treatment is not None else []
    key = _numbered([tape, table.task.codes, *told])
    codes = np.where(np.isin(key, key[repeats]), created.codes, np.int32(-1))
    problem = "not that of the other repeats of its run"
    table.refuse(second_of(key, codes), "created_at", problem)


def _numbered(parts: Sequence[Floats | Codes | Ints]) -> Ints:
    """A number from 0 for each distinct combination."""
    numbers = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        values, codes = np.unique(part, return_inverse=True)
        _, numbers = np.unique(numbers * max(1, len(values)) + codes, return_inverse=True)
    return numbers.astype(np.int64)
