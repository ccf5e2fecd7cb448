"""The frame's flow as a picture: how many runs each step keeps, and why the others left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from revereval.analysis.boundaries import Flags
from revereval.analysis.flow import flow
from revereval.analysis.frames import counted
from revereval.analysis.study import Study
from revereval.report.drawing import (
    F_COLOUR,
    INK,
    LARGE,
    NORMAL,
    P_COLOUR,
    SMALL,
    WIDTH,
    Drawn,
    blank,
    house_style,
    panel,
)
from revereval.report.section import Table, count
from revereval.terms import ArmName, CaptureOutcome


@dataclass(frozen=True)
class Step:
    """A set of runs, and what of it does not reach the next one."""

    name: str
    by_first: Mapping[ArmName, Fraction]
    leaves: Sequence[tuple[str, Fraction]]

    @property
    def runs(self) -> Fraction:
        return sum(self.by_first.values(), Fraction(0))


def steps(study: Study) -> list[Step]:
    """Plans, boundaries, comparable, J; without plans the flow starts at the boundaries."""
    table, outcomes, whole = study.table, study.outcomes, study.whole
    found = flow(table, outcomes, whole, study.question.contract)
    f_known, p_known = outcomes.f_low == outcomes.f_high, outcomes.p_low == outcomes.p_high

    def runs(rows: Flags) -> Fraction:
        return counted(table, whole.rows & rows)

    f, p = outcomes.f_low == 1, outcomes.p_low == 1
    known = outcomes.known
    other = imported(study)
    boundaries = Step(
        "reached a boundary" + (f" ({count(other)} imported)" if other else ""),
        found.boundaries,
        [
            ("F's outcome unknown", runs(~f_known & p_known)),
            ("P's outcome unknown", runs(f_known & ~p_known)),
            ("both outcomes unknown", runs(~f_known & ~p_known)),
        ],
    )
    comparable = Step(
        "comparable: both outcomes known",
        found.comparable,
        [
            ("only F correct", runs(known & f & ~p)),
            ("only P correct", runs(known & ~f & p)),
            ("neither correct", runs(known & ~f & ~p)),
        ],
    )
    joint = Step("J: F and P correct", found.joint, [])
    return [*_planned(study), boundaries, comparable, joint]


def _planned(study: Study) -> list[Step]:
    plans = study.plans
    if plans is None or not plans.runs:
        return []
    outcomes = plans.outcomes
    closed = sum(outcomes[outcome] for outcome in CaptureOutcome)
    leaves = [
        ("finished before anything was eligible", outcomes[CaptureOutcome.FINISHED]),
        ("stopped in the capture", outcomes[CaptureOutcome.STOPPED]),
        ("capture not ended", plans.runs - closed),
    ]
    first = {arm: Fraction(plans.first_arm.get(arm, 0)) for arm in ArmName}
    return [Step("runs of plans", first, [(name, Fraction(number)) for name, number in leaves])]


def imported(study: Study) -> int:
    """Boundary runs that do not come from the plans shown; 0 where no plans are."""
    if study.plans is None or not study.plans.runs:
        return 0
    return max(0, study.whole.runs - study.plans.outcomes[CaptureOutcome.BOUNDARY])


def beside(study: Study) -> str:
    """Rows of the table that the frame does not take from the plans shown, or does not take."""
    notes = []
    single = int((~study.table.paired).sum())
    if single:
        notes.append(f"{single:,} single-arm rows are in no paired frame.")
    if other := imported(study):
        notes.append(f"{other:,} boundary runs were imported and come without their plans.")
    return " ".join(notes)


_BOX: Final = (0.05, 3.7)
"""Left edge and width of a box, inches."""
_TALL, _GAP, _LINE = 0.78, 0.34, 0.19


def flow_figure(study: Study) -> Drawn:
    """Boxes of equal size from top to bottom; a bar in each compares it with the largest."""
    found = steps(study)
    gaps = [_gap(step) for step in found[:-1]]
    height = _TALL * len(found) + sum(gaps) + 0.12
    with house_style():
        figure = blank(height)
        axes = panel(figure, 0, 0, WIDTH, height)
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(0, height)
        axes.set_axis_off()
        top = height - 0.06
        for step, gap in zip(found, [*gaps, 0.0], strict=True):
            _box(axes, step, top - _TALL, max(one.runs for one in found))
            if gap:
                _leaving(axes, step, top - _TALL, gap)
            top -= _TALL + gap
    note = beside(study)
    return Drawn(
        "flow",
        f"From {'plans' if _planned(study) else 'boundaries'} to joint successes",
        _in_words(found),
        "Each box is a set of runs; beside the arrow are those that do not reach the next box. The "
        "bar compares it with the largest set, runs with F first before those with P first."
        + (f" {note}" if note else ""),
        figure,
        [_numbers(found)],
    )


def _gap(step: Step) -> float:
    return max(_GAP, 0.14 + _LINE * len(_left(step)))


def _left(step: Step) -> list[tuple[str, str]]:
    return [(count(number), name) for name, number in step.leaves if number]


def _box(axes: Axes, step: Step, bottom: float, most: Fraction) -> None:
    left, width = _BOX
    names = left + 0.29 + 0.11 * max(5, len(count(most)))
    axes.add_patch(Rectangle((left, bottom), width, _TALL, fill=False, edgecolor=INK))
    axes.text(
        names - 0.12, bottom + 0.53, count(step.runs), fontsize=LARGE, ha="right", va="center",
        weight="bold",
    )  # fmt: skip
    axes.text(names, bottom + 0.53, step.name, fontsize=NORMAL, va="center")
    split = " · ".join(f"{count(number)} {arm} first" for arm, number in step.by_first.items())
    axes.text(names, bottom + 0.31, split, fontsize=SMALL, va="center", alpha=0.8)
    start, full = left + 0.12, width - 0.24
    for arm, hatch, colour in ((ArmName.F, "", F_COLOUR), (ArmName.P, "////", P_COLOUR)):
        share = float(step.by_first[arm] / most) * full if most else 0.0
        axes.add_patch(
            Rectangle((start, bottom + 0.09), share, 0.09, facecolor=colour, hatch=hatch, lw=0)
        )
        start += share


def _leaving(axes: Axes, step: Step, bottom: float, gap: float) -> None:
    middle = _BOX[0] + _BOX[1] / 2
    style = "-|>,head_width=2.4,head_length=4.5"
    arrow: dict[str, Any] = {
        "color": INK,
        "lw": 0.9,
        "arrowstyle": style,
        "shrinkA": 0,
        "shrinkB": 1,
    }
    axes.add_patch(FancyArrowPatch((middle, bottom), (middle, bottom - gap), **arrow))
    lines = _left(step)
    if not lines:
        return
    at = bottom - gap / 2
    axes.add_patch(FancyArrowPatch((middle, at), (4.05, at), **arrow))
    starts = at + _LINE * (len(lines) - 1) / 2 - _LINE * np.arange(len(lines))
    indent = 4.15 + 0.1 * max(len(number) for number, _ in lines)
    for (number, name), y in zip(lines, map(float, starts), strict=True):
        axes.text(indent, y, number, fontsize=NORMAL, va="center", ha="right", weight="bold")
        axes.text(indent + 0.1, y, name, fontsize=NORMAL, va="center")


def _in_words(found: Sequence[Step]) -> str:
    parts = []
    for step in found:
        left = ", ".join(f"{count(number)} {name}" for name, number in step.leaves if number)
        parts.append(f"{count(step.runs)} {step.name}" + (f" (leaving: {left})" if left else ""))
    return "; ".join(parts) + "."


def _numbers(found: Sequence[Step]) -> Table:
    rows = []
    for step in found:
        rows.append([step.name, "", count(step.runs), *map(count, step.by_first.values())])
        rows += [["", f"left: {name}", count(number), "", ""] for name, number in step.leaves]
    return Table("Numbers of the flow, in runs", ["step", "", "runs", "F first", "P first"], rows)
