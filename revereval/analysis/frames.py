"""Frames: the sets of boundary runs over which a statement is made, each with its denominator."""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from revereval.analysis.boundaries import Boundaries, Coded, Flags
from revereval.errors import InputError

ALL = "all boundaries"
OUTSIDE_TASKS = "outside fitting tasks"
OUTSIDE_GROUPS = "outside fitting source groups"


@dataclass(frozen=True)
class Frame:
    name: str
    rows: Flags
    """Shape (N,): which of the table's rows."""
    runs: int
    """The denominator: repeats of one run are one run."""


def frame(table: Boundaries, name: str, rows: Flags) -> Frame:
    """A frame of paired rows; those of single arms are left out, whatever was asked."""
    inside = rows & table.paired
    return Frame(name, inside, int((np.bincount(table.run[inside]) > 0).sum()))


def whole(table: Boundaries) -> Frame:
    """All paired rows. Raises InputError when there is none."""
    found = frame(table, ALL, np.ones(len(table), np.bool_))
    if not found.runs:
        raise InputError(table.source, "", "no row with both arms planned: the frame is empty")
    return found


def excluding(table: Boundaries, base: Frame, tasks: Collection[str]) -> Frame:
    """The frame without these tasks. Raises InputError for an unknown task or an empty rest."""
    rest = frame(
        table, f"{base.name} without {', '.join(tasks)}", base.rows & ~table.tasks_named(tasks)
    )
    if not rest.runs:
        raise InputError(table.source, rest.name, "the frame is empty")
    return rest


@dataclass(frozen=True)
class Fitting:
    """What a rule was fitted on, as far as the table and the rule's file say."""

    rows: Flags
    """Of a task that it was fitted on."""
    doubtful: Flags
    """Of a task that it may have been fitted on: nothing says that it was not."""
    doubtful_groups: Flags
    """The same for the whole source group."""


def fitting(
    table: Boundaries, tasks: Collection[str] | None, groups: Collection[str] | None
) -> Fitting | None:
    """Rows of the tasks that the rule's file names and of those the table marks.

    tasks, groups: of the rule's file, None without one. An empty mark is doubtful where no file
    says what the rule was fitted on. None where neither says anything, so that nothing can be
    called held out.
    """
    marked = np.zeros(len(table), np.bool_) if table.fitting is None else table.fitting == 1
    unmarked = table.fitting is None or bool(np.isnan(table.fitting).all())
    if tasks is None and unmarked:
        return None
    doubtful = marked.copy()
    if tasks is None and table.fitting is not None:
        doubtful |= np.isnan(table.fitting)
    named = _having(table.task, [t for t in tasks or () if t in table.task.values])
    in_groups = _having(table.group, [g for g in groups or () if g in table.group.values])
    rows = _all_of(table.task, marked | named)
    doubtful = _all_of(table.task, doubtful | named)
    return Fitting(rows, doubtful, _all_of(table.group, doubtful | in_groups))


def _having(column: Coded, values: Collection[str]) -> Flags:
    rows = np.zeros(len(column.codes), np.bool_)
    for value in values:
        rows |= column.equals(value)
    return rows


def _all_of(column: Coded, rows: Flags) -> Flags:
    """All rows with a value that one of these rows has."""
    has = np.zeros(len(column.values) + 1, np.bool_)
    has[column.codes[rows]] = True
    every: Flags = has[column.codes]
    return every


def held_out(table: Boundaries, base: Frame, fitted: Fitting) -> list[Frame]:
    """The base frame outside the fitting tasks, and outside their whole source groups."""
    return [
        frame(table, OUTSIDE_TASKS, base.rows & ~fitted.doubtful),
        frame(table, OUTSIDE_GROUPS, base.rows & ~fitted.doubtful_groups),
    ]


def by_split(table: Boundaries, base: Frame) -> list[Frame]:
    """The base frame by split, development apart from confirmation; empty where unknown."""
    split = table.split
    if split is None:
        return []
    found = [
        frame(table, name, base.rows & (split.codes == code))
        for code, name in sorted(enumerate(split.values), key=lambda item: item[1])
    ]
    unknown = frame(table, "split unknown", base.rows & (split.codes < 0))
    return [one for one in (*found, unknown) if one.runs]


def counted(table: Boundaries, rows: Flags) -> Fraction:
    """How many runs these rows are: a repeat is a part of its run."""
    return Fraction(int(table.weights[rows].sum()), table.scale)
