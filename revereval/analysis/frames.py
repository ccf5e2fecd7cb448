"""Frames: the sets of boundary runs over which a statement is made, each with its denominator."""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from revereval.analysis.boundaries import Boundaries, Flags
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
    return Frame(name, inside, len(np.unique(table.run[inside])))


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


def fitting_rows(table: Boundaries, fitted_on: Collection[str] | None) -> Flags | None:
    """Rows of the tasks that a rule was fitted on: those its file names and those the table marks.

    None where neither says, so that nothing can be called held out.
    """
    if fitted_on is None:
        return table.fitting
    named = table.tasks_named(name for name in fitted_on if name in table.task.values)
    return named if table.fitting is None else named | table.fitting


def held_out(table: Boundaries, base: Frame, fitting: Flags) -> list[Frame]:
    """The base frame outside the fitting tasks, and outside their whole source groups.

    A sibling's row of a fitting task is a fitting row too: tasks are told apart, not rows.
    """
    tasks = np.isin(table.task.codes, np.unique(table.task.codes[fitting]))
    groups = np.isin(table.group.codes, np.unique(table.group.codes[fitting]))
    return [
        frame(table, OUTSIDE_TASKS, base.rows & ~tasks),
        frame(table, OUTSIDE_GROUPS, base.rows & ~groups),
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
