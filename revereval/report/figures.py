"""Intervals as pictures: every contrast of the whole frame and of a rule, each with its N."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from matplotlib.axes import Axes

from revereval.analysis import flow as flows
from revereval.analysis.bounds import Interval, complete_case
from revereval.analysis.selector import Rule, selection
from revereval.analysis.study import Study
from revereval.report.drawing import (
    F_COLOUR,
    INK,
    NORMAL,
    P_COLOUR,
    SMALL,
    Drawn,
    blank,
    fitted,
    house_style,
    panel,
)
from revereval.report.quality import by_contract, contrasts, interval_text
from revereval.report.section import UNKNOWN, Table, count, share, signed


@dataclass(frozen=True)
class Row:
    """One contrast of a figure; both ends in runs."""

    label: str
    runs: Fraction
    interval: Interval | None
    """None where the record lacks what the contrast needs, or the frame is empty."""
    estimate: bool = False
    """A complete-case figure: no range, and no statement about the frame."""


@dataclass(frozen=True)
class Group:
    title: str
    rows: Sequence[Row]


def quality_groups(study: Study) -> list[Group]:
    """P minus F by contract and endpoint, by frame and variant, and the complete cases."""
    answered = flows.answered(study.table, study.whole, study.question.contract)
    case = complete_case(study.table, study.outcomes, answered)
    difference = case.p_correct - case.f_correct
    complete = Row("both arms answered", case.runs, Interval(difference, difference), True)
    whole = Fraction(study.whole.runs)
    rows = [
        Row(f"{contract}, {definition}", whole, made.difference if made else None)
        for contract, by_definition in by_contract(study).items()
        for definition, made in by_definition.items()
    ]
    found = [Group("Whole frame, by contract and endpoint definition", rows)]
    for variant in study.variants:
        rows = [
            Row(name, Fraction(made.frame.runs if made else 0), made.difference if made else None)
            for name, made in contrasts(study, variant).items()
        ]
        found.append(Group(f"By frame, {variant.name}", rows))
    return [*found, Group("Complete cases only: no estimate for the frame", [complete])]


def rule_groups(study: Study, rule: Rule) -> list[Group]:
    """The rule minus always full, by frame, split and variant."""
    found = []
    for variant in study.variants:
        rows = []
        for base in (*study.frames, *study.splits):
            frame = study.within(base, variant)
            if frame is None:
                rows.append(Row(base.name, Fraction(0), None))
                continue
            chosen = selection(study.table, variant.outcomes, rule, frame)
            rows.append(Row(base.name, Fraction(frame.runs), chosen.difference))
        found.append(Group(variant.name.capitalize() if variant is study.variants[0]
                           else variant.name, rows))  # fmt: skip
    return found


def quality_figure(study: Study) -> Drawn:
    groups = quality_groups(study)
    ends = ("F succeeds more", "P succeeds more")
    return _drawn("bounds", "P minus F in successes", groups, ends, case=True)


def rule_figure(study: Study, rule: Rule) -> Drawn:
    groups = rule_groups(study, rule)
    ends = ("always full succeeds more", "the rule succeeds more")
    return _drawn("rule", f"The rule {rule}, minus always full", groups, ends, case=False)


_CAPTION: Final = (
    "Each line is the range of differences that the record allows, in successes a run; the numbers "
    "at its ends are the same in runs, and N is the denominator. A single dot is a difference that "
    "is known exactly. A range is no confidence interval: it says nothing about other tasks."
)
_CASE: Final = (
    " The open diamond is what the pairs that both answered would show; it leaves out runs because "
    "of how they ended and is no estimate."
)


def _drawn(
    name: str, title: str, groups: Sequence[Group], ends: tuple[str, str], *, case: bool
) -> Drawn:
    lines = 0.36 * len(groups) + _PITCH * sum(len(group.rows) for group in groups)
    height = lines + 0.75
    low, high = _limits(groups)
    with house_style():
        figure = blank(height)
        axes = panel(figure, 2.62, 0.62, _ACROSS, lines)
        axes.set_xlim(low, high)
        axes.set_ylim(lines, 0)
        _axis(axes, ends)
        at = 0.0
        for group in groups:
            at += 0.36
            _left(axes, -2.57, at - 0.14, group.title, weight="bold")
            for row in group.rows:
                _row(axes, row, at + _PITCH / 2)
                at += _PITCH
    return Drawn(name, title, _in_words(groups), _CAPTION + (_CASE if case else ""), figure,
                 [_numbers(title, groups)])  # fmt: skip


_PITCH: Final = 0.27
"""Inches a row."""
_ACROSS: Final = 4.2
"""Inches from the left to the right end of the axis."""


def _limits(groups: Sequence[Group]) -> tuple[float, float]:
    """Of the axis: 0 and all ends, with room for the longest number outside them."""
    known = [
        (end / row.runs, signed(end))
        for group in groups for row in group.rows if row.interval and row.runs
        for end in (row.interval.low, row.interval.high)
    ]  # fmt: skip
    low, high = (float(pick([*(mean for mean, _ in known), Fraction(0)])) for pick in (min, max))
    points = 10 + 6 * max((len(text) for _, text in known), default=0)
    margin = max(high - low, 0.02) * points / (_ACROSS * 72 - 2 * points)
    return low - margin, high + margin


def _axis(axes: Axes, ends: tuple[str, str]) -> None:
    axes.axvline(0, color=INK, lw=1.0)
    axes.grid(axis="x", color=INK, alpha=0.13, lw=0.6)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(lambda value, _: "0" if abs(value) < 1e-12 else _tick(value))
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel("difference in successes a run", labelpad=3)
    for x, align, text in ((0.0, "left", f"← {ends[0]}"), (1.0, "right", f"{ends[1]} →")):
        axes.annotate(text, (x, 0), (0, -41), xycoords="axes fraction", ha=align,
                      textcoords="offset points", fontsize=SMALL, alpha=0.85)  # fmt: skip


def _tick(value: float) -> str:
    return f"{value:+.6f}".rstrip("0").replace("-", "−")


def _left(axes: Axes, inches: float, y: float, text: str, weight: str = "normal") -> None:
    """Text outside the axes, its left edge so far from the axes' left one."""
    axes.annotate(
        fitted(text, 172 if weight == "normal" else 420), (0, y), (inches * 72, 0),
        xycoords=("axes fraction", "data"), textcoords="offset points", va="center",
        fontsize=NORMAL, weight=weight,
    )  # fmt: skip


def _row(axes: Axes, row: Row, y: float) -> None:
    _left(axes, -2.45, y, row.label)
    axes.annotate(f"N = {count(row.runs)}", (1, y), (47, 0), xycoords=("axes fraction", "data"),
                  textcoords="offset points", va="center", ha="right", fontsize=SMALL)  # fmt: skip
    if row.interval is None or not row.runs:
        text = "empty" if not row.runs else "unknown to this record"
        axes.text(0, y, f"  {text}", va="center", fontsize=SMALL, alpha=0.8)
        return
    low, high = (float(end / row.runs) for end in (row.interval.low, row.interval.high))
    if row.estimate:
        axes.plot([low], [y], "D", mfc="none", mec=P_COLOUR, ms=6.5, mew=1.5, clip_on=False)
    elif low == high:
        axes.plot([low], [y], "o", color=F_COLOUR, ms=6, clip_on=False)
    else:
        axes.plot([low, high], [y, y], color=F_COLOUR, lw=3, solid_capstyle="butt")
        axes.plot([low, high], [y, y], "|", color=F_COLOUR, ms=9, mew=2)
    if low != high:
        _end(axes, low, y, signed(row.interval.low), -7, "right")
    _end(axes, high, y, signed(row.interval.high), 7, "left")


def _end(axes: Axes, x: float, y: float, text: str, points: int, align: str) -> None:
    axes.annotate(text, (x, y), (points, 0), textcoords="offset points", ha=align, va="center",
                  fontsize=SMALL)  # fmt: skip


def _range(row: Row) -> str:
    if row.interval is None:
        return UNKNOWN if row.runs else "empty"
    return interval_text(row.interval) if row.interval.width else signed(row.interval.low)


def _in_words(groups: Sequence[Group]) -> str:
    return " ".join(
        f"{group.title}: "
        + "; ".join(f"{row.label} {_range(row)} over N = {count(row.runs)}" for row in group.rows)
        + "."
        for group in groups
    )


def _numbers(title: str, groups: Sequence[Group]) -> Table:
    rows = []
    for group in groups:
        for row in group.rows:
            ends = [row.interval.low, row.interval.high] if row.interval and row.runs else []
            cells = [*map(signed, ends), *(share(float(end / row.runs)) for end in ends)]
            rows.append([group.title, row.label, count(row.runs), *(cells or [_range(row)] * 4)])
    columns = ["set", "contrast", "N", "lower", "upper", "lower, a run", "upper, a run"]
    return Table(f"Numbers of the figure: {title}", columns, rows)
