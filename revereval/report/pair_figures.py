"""Tokens of pairs as pictures: a dumbbell each, or beyond 60 pairs the distribution of ratios."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from revereval.analysis.boundaries import Floats
from revereval.analysis.resources import comparable_rows
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
from revereval.report.section import Table, count, ratio
from revereval.terms import ArmName
from revereval.words import amount

MOST_PAIRS: Final = 60


@dataclass(frozen=True)
class Pair:
    """One comparable pair with known tokens."""

    label: str
    first: ArmName
    fitting: bool
    tokens: tuple[int, int]
    """F and P: prefix once plus suffix, or the suffix alone."""
    correct: tuple[bool, bool]

    @property
    def ratio(self) -> float:
        return self.tokens[1] / self.tokens[0]


@dataclass(frozen=True)
class Shown:
    """The pairs of a figure, by P / F, and what could not be shown."""

    pairs: list[Pair]
    kind: str
    """`logical` where every pair's prefix is known, else `suffix`."""
    unknown: int
    """Comparable rows with an unknown token total."""
    zero: int
    """Rows with an arm of 0 tokens, which a ratio axis cannot show."""
    repeated: bool
    """Some are repeats of one run."""


def shown_pairs(study: Study) -> Shown:
    """The comparable rows of the whole frame."""
    table = study.table
    f, p = (table.arms[arm].suffix_tokens for arm in ArmName)
    rows = comparable_rows(study.outcomes, study.whole)
    known = rows & ~np.isnan(f) & ~np.isnan(p)
    drawn = known & (f > 0) & (p > 0)
    logical = drawn.any() and not np.isnan(table.prefix_tokens[drawn]).any()
    prefix = table.prefix_tokens if logical else np.zeros(len(table))
    tasks, times = np.unique(table.task.codes[drawn], return_counts=True)
    repeated = set(tasks[times > 1])
    fitting = study.fitting
    pairs = [
        Pair(
            table.name(row) if table.task.codes[row] in repeated else table.task.text(row),
            ArmName.P if table.p_first[row] else ArmName.F,
            fitting is not None and bool(fitting.rows[row]),
            (int(prefix[row] + f[row]), int(prefix[row] + p[row])),
            (bool(study.outcomes.f_low[row]), bool(study.outcomes.p_low[row])),
        )
        for row in map(int, np.flatnonzero(drawn))
    ]
    pairs.sort(key=lambda pair: pair.ratio)
    unknown, zero = int((rows & ~known).sum()), int((known & ~drawn).sum())
    return Shown(pairs, "logical" if logical else "suffix", unknown, zero, study.repeated)


def pairs_figure(study: Study) -> Drawn | None:
    """None where no comparable pair knows its tokens."""
    shown = shown_pairs(study)
    if not shown.pairs:
        return None
    return _dumbbells(shown) if len(shown.pairs) <= MOST_PAIRS else _distribution(shown)


def _what(shown: Shown) -> str:
    return "logical tokens (prefix once + suffix)" if shown.kind == "logical" else "suffix tokens"


def _left_out(shown: Shown) -> str:
    parts = []
    if shown.repeated:
        parts.append(" Repeats of one run are shown each; they are no independent pairs.")
    if shown.unknown:
        parts.append(f" {shown.unknown:,} comparable pairs with unknown tokens are not shown.")
    if shown.zero:
        parts.append(f" {amount(shown.zero, 'pair')} with an arm of 0 tokens: no ratio.")
    return "".join(parts)


def _in_words(shown: Shown) -> str:
    ratios = np.array([pair.ratio for pair in shown.pairs])
    more = int((ratios > 1).sum())
    return (
        f"{len(ratios):,} comparable pairs, {_what(shown)}. P / F goes from "
        f"{ratio(ratios.min(), 2)} to {ratio(ratios.max(), 2)}, "
        f"median {ratio(float(np.median(ratios)), 2)}; {more:,} pairs use more under P, "
        f"{int((ratios < 1).sum()):,} fewer."
    )


_PITCH: Final = 0.225
_ACROSS: Final = 4.15
"""Inches."""
_MARK: Final = 7.8
"""Points across a mark, its edge included."""


def _dumbbells(shown: Shown) -> Drawn:
    lines = _PITCH * len(shown.pairs)
    with house_style():
        figure = blank(lines + 1.1)
        axes = panel(figure, 2.55, 0.52, _ACROSS, lines)
        axes.set_ylim(lines, 0)
        tokens = np.array([pair.tokens for pair in shown.pairs], float)
        axes.set_xscale("log")
        axes.set_xlim(tokens.min() / 1.35, tokens.max() * 1.35)
        _token_axis(axes, shown)
        for number, pair in enumerate(shown.pairs):
            _dumbbell(axes, pair, (number + 0.5) * _PITCH)
        _legend(axes, any(pair.fitting for pair in shown.pairs))
    caption = (
        "One line a pair, the smallest P / F first, on a ratio axis: equal lengths are equal "
        "ratios. A filled mark is an arm that answered correctly, an open one an arm that did not."
        + _left_out(shown)
    )
    return Drawn("pairs", f"Tokens of each comparable pair, {_what(shown)}", _in_words(shown),
                 caption, figure, [_pair_table(shown)])  # fmt: skip


def _token_axis(axes: Axes, shown: Shown) -> None:
    low, high = axes.get_xlim()
    steps = (1.0, 2.0, 5.0) if high / low < 60 else (1.0,) if high / low > 3000 else (1.0, 3.0)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=steps))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(axis="x", which="major", color=INK, alpha=0.13, lw=0.6)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    axes.set_xlabel(f"{_what(shown)}, ratio axis")


def _dumbbell(axes: Axes, pair: Pair, y: float) -> None:
    outside = ("axes fraction", "data")
    if pair.fitting:
        axes.annotate("◆", (0, y), (-181, 0), xycoords=outside, textcoords="offset points",
                      va="center", fontsize=SMALL)  # fmt: skip
    axes.annotate(fitted(pair.label, 164, SMALL), (0, y), (-170, 0), xycoords=outside,
                  textcoords="offset points", va="center", fontsize=SMALL)  # fmt: skip
    axes.annotate(ratio(pair.ratio, 2), (1, y), (50, 0), xycoords=outside,
                  textcoords="offset points", va="center", ha="right", fontsize=SMALL)  # fmt: skip
    axes.axhline(y, color=INK, alpha=0.1, lw=0.6)
    low, high = np.log(axes.get_xlim())
    start, end = np.sort(np.log(pair.tokens))
    gap = _MARK / 2 / (_ACROSS * 72) * (high - low)  # an open mark stays open
    if end - start > 2 * gap:
        ends = np.exp([start + gap, end - gap])
        axes.plot(ends, [y, y], color=INK, alpha=0.45, lw=1.6, solid_capstyle="butt")
    for tokens, correct, marker, colour in zip(
        pair.tokens, pair.correct, "os", (F_COLOUR, P_COLOUR), strict=True
    ):
        face = colour if correct else "none"
        axes.plot([tokens], [y], marker, ms=_MARK - 1.6, mfc=face, mec=colour, mew=1.6)


def _legend(axes: Axes, fitting: bool) -> None:
    def mark(marker: str, colour: str, face: str, label: str) -> Line2D:
        return Line2D([], [], ls="", marker=marker, mec=colour, mfc=face, ms=6.2, mew=1.6,
                      label=label)  # fmt: skip

    marks = [
        mark("o", F_COLOUR, F_COLOUR, "F correct"), mark("o", F_COLOUR, "none", "F not"),
        mark("s", P_COLOUR, P_COLOUR, "P correct"), mark("s", P_COLOUR, "none", "P not"),
    ]  # fmt: skip
    axes.legend(
        handles=marks, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=4, frameon=False,
        fontsize=SMALL, handletextpad=0.1, columnspacing=1.1, borderaxespad=0.35,
    )  # fmt: skip
    above: dict[str, Any] = {
        "xycoords": "axes fraction", "textcoords": "offset points", "fontsize": SMALL,
        "va": "center",
    }  # fmt: skip
    axes.annotate("P / F", (1, 1), (50, 13), ha="right", weight="bold", **above)
    axes.annotate("task", (0, 1), (-170, 13), weight="bold", **above)
    if fitting:
        axes.annotate("◆ = a rule was fitted on it", (0, 1), (-140, 13), **above)


def _pair_table(shown: Shown) -> Table:
    rows = [
        [
            pair.label, "yes" if pair.fitting else "", pair.first, *map(count, pair.tokens),
            ratio(pair.ratio, 2), *("yes" if correct else "no" for correct in pair.correct),
        ]
        for pair in shown.pairs
    ]  # fmt: skip
    columns = ["task", "fitting", "first arm", "F", "P", "P / F", "F correct", "P correct"]
    return Table(f"Numbers of the pairs, {_what(shown)}", columns, rows)


def _distribution(shown: Shown) -> Drawn:
    """Histograms of P / F on a ratio axis, one for each first arm, on common bins and scales."""
    edges = _edges(np.array([pair.ratio for pair in shown.pairs]))
    sides = {
        arm: np.array([pair.ratio for pair in shown.pairs if pair.first is arm]) for arm in ArmName
    }
    counts = {arm: np.histogram(ratios, edges)[0] for arm, ratios in sides.items()}
    most = max(int(numbers.max()) for numbers in counts.values())
    with house_style():
        figure = blank(4.95)
        for place, arm in enumerate(ArmName):
            axes = panel(figure, 0.85, 0.62 + 2.2 * (1 - place), 6.4, 1.65)
            _histogram(axes, arm, sides[arm], counts[arm], edges)
            axes.set_ylim(0, most * 1.12)
            if place:
                axes.set_xlabel(f"P / F of one pair, {_what(shown)}, ratio axis")
    caption = (
        f"{len(shown.pairs):,} comparable pairs by P / F, those with F first above those with P "
        "first; each bar counts the pairs in its range of ratios. The solid line is a ratio of 1, "
        "the dashed one the median of the panel." + _left_out(shown)
    )
    return Drawn("pairs", f"Ratios of P to F, {_what(shown)}", _in_words(shown), caption, figure,
                 [_bin_table(shown, edges, counts), _decile_table(sides)])  # fmt: skip


def _edges(ratios: Floats) -> Floats:
    """Powers of √2, 2, 4 or more, whichever gives at most 28 bins; 1 is always an edge."""
    low, high = np.log2(np.min(ratios)), np.log2(np.max(ratios))
    step = 0.125
    while (high - low) / step > 26:
        step *= 2
    first, last = np.floor(low / step), np.floor(high / step) + 1
    edges: Floats = 2.0 ** (step * np.arange(first, last + 1))
    return edges


def _histogram(axes: Axes, arm: ArmName, ratios: Floats, counts: Floats, edges: Floats) -> None:
    colour, hatch = (F_COLOUR, "") if arm is ArmName.F else (P_COLOUR, "////")
    axes.set_xscale("log")
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", facecolor=colour, hatch=hatch,
             edgecolor=INK, lw=0.5)  # fmt: skip
    axes.axvline(1, color=INK, lw=1.2)
    axes.set_xlim(edges[0], edges[-1])
    span = edges[-1] / edges[0]
    axes.xaxis.set_major_locator(
        LogLocator(base=2, subs=(1.0,)) if span < 600 else LogLocator(base=10, subs=(1.0, 3.0))
    )
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.4g}")
    axes.set_ylabel("pairs")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(axis="y", color=INK, alpha=0.13, lw=0.6)
    axes.set_axisbelow(True)
    text = f"{arm} first: {amount(len(ratios), 'pair')}"
    if len(ratios):
        median = float(np.median(ratios))
        axes.axvline(median, color=INK, lw=1.2, ls=(0, (4, 3)))
        text += f", median {ratio(median, 3)}"
    axes.set_title(text, loc="left", fontsize=NORMAL, weight="bold")


def _bin_table(shown: Shown, edges: Floats, counts: dict[ArmName, Floats]) -> Table:
    rows = [
        [f"{low:.4g} to {high:.4g}", *(count(int(counts[arm][place])) for arm in ArmName)]
        for place, (low, high) in enumerate(pairwise(edges))
    ]
    title = f"Numbers of the histograms: pairs by P / F, {_what(shown)}"
    return Table(title, ["P / F", "F first", "P first"], rows)


def _decile_table(sides: dict[ArmName, Floats]) -> Table:
    points = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
    rows = [
        [f"{point:.0%}", *(
            ratio(float(np.quantile(sides[arm], point))) if len(sides[arm]) else "none"
            for arm in ArmName
        )]
        for point in points
    ]  # fmt: skip
    rows.append(["pairs", *(count(len(sides[arm])) for arm in ArmName)])
    return Table("Quantiles of P / F by first arm", ["quantile", "F first", "P first"], rows)
