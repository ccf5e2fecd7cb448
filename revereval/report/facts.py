"""The figures behind a section as JSON values: numbers as numbers, rows by their tasks."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from revereval.analysis.boundaries import Boundaries
from revereval.analysis.frames import Frame
from revereval.analysis.selector import Rule
from revereval.analysis.study import tasks_of

MOST_TASKS: Final = 1000


def facts(value: Any, table: Boundaries | None) -> Any:
    """An analysis result as JSON: unknown is null, an array of flags its rows' count and tasks.

    Counts of runs are whole numbers, or floats where repeats make a part of a run. Arrays of
    single rows' figures are left out; the tables have them.
    """
    if isinstance(value, Frame):
        return {"name": value.name, "runs": value.runs}
    if isinstance(value, Rule):
        return str(value)
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    if isinstance(value, np.ndarray):
        return _rows(value, table)
    if is_dataclass(value):
        named = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: facts(part, table) for name, part in named if _told(part)}
    if isinstance(value, Mapping):
        return {str(name): facts(part, table) for name, part in value.items() if _told(part)}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [facts(part, table) for part in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value


def _told(value: Any) -> bool:
    return not isinstance(value, np.ndarray) or value.dtype == np.bool_


def _rows(flags: Any, table: Boundaries | None) -> dict[str, Any]:
    assert table is not None, "flags are of a table's rows"
    return {"rows": int(flags.sum()), "tasks": list(tasks_of(table, flags)[:MOST_TASKS])}
