"""One pair as a picture: what each request of F and of P cost, and what its reply did."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes

from revereval.report.drawing import (
    F_COLOUR,
    GREEN,
    INK,
    NORMAL,
    P_COLOUR,
    PURPLE,
    SMALL,
    Drawn,
    blank,
    fitted,
    house_style,
    panel,
)
from revereval.report.section import UNKNOWN, Table, count
from revereval.report.trajectory import Call, Step, Trajectory
from revereval.terms import ArmName, Endpoint, Stage

PROJECTED, READ, SEARCH, RECOVER, OTHER, REFUSED, ANSWER = KINDS = (
    "projects", "reads", "searches", "recovers", "other call", "refused", "answers",
)  # fmt: skip
_MARKS: Final = {
    PROJECTED: ("v", P_COLOUR),
    READ: ("o", F_COLOUR),
    SEARCH: ("^", GREEN),
    RECOVER: ("D", PURPLE),
    OTHER: ("P", INK),
    REFUSED: ("X", INK),
    ANSWER: ("*", INK),
}
_TOOLS: Final = {"read": READ, "search_evidence": SEARCH, "recover_evidence": RECOVER}
_NAMES: Final = {ArmName.F: "F, full observations", ArmName.P: "P, projected observations"}
_COLOURS: Final = {ArmName.F: F_COLOUR, ArmName.P: P_COLOUR}
_BARS, _ROW, _TITLE, _BELOW = 1.05, 0.185, 0.3, 0.34
_LEFT, _ACROSS = 0.95, 6.4


def kind(call: Call) -> str:
    """What a call was; a refusal is a refusal whatever was asked for."""
    return REFUSED if call.error else _TOOLS.get(call.tool, OTHER)


def marks(step: Step) -> dict[str, int]:
    """How often each kind of thing happened in one request and its reply."""
    found = {PROJECTED: len(step.projected), ANSWER: int(step.answered)}
    for call in step.calls:
        found[kind(call)] = found.get(kind(call), 0) + 1
    return {name: number for name, number in found.items() if number}


def trajectory_figure(one: Trajectory) -> Drawn:
    """Two lanes after the common prefix, on common scales."""
    prefix = one.steps[Stage.CAPTURE]
    every = [step for steps in one.steps.values() for step in steps]
    present = {name for step in every for name in marks(step)}
    rows = [name for name in KINDS if name in present]
    lane = _TITLE + _BARS + 0.07 + _ROW * len(rows) + _BELOW
    last = max((step.position for step in every), default=0)
    most = max((step.tokens_in or 0 for step in every), default=0)
    with house_style():
        figure = blank(2 * lane + 0.16)
        for place, arm in enumerate(ArmName):
            below = 0.16 + lane * (1 - place) + _BELOW
            grid = panel(figure, _LEFT, below, _ACROSS, _ROW * len(rows))
            bars = panel(figure, _LEFT, below + _ROW * len(rows) + 0.07, _ACROSS, _BARS)
            for axes in (grid, bars):
                axes.set_xlim(-0.6, last + 0.6)
                axes.axvline(len(prefix) - 0.5, color=INK, lw=1.0, ls=(0, (4, 3)))
            steps = [*prefix, *one.steps[arm]]
            _bars(bars, arm, steps, len(prefix), most)
            _grid(grid, rows, steps, last)
            bars.set_title(_heading(one, arm), loc="left", fontsize=NORMAL, weight="bold")
            if one.endings[arm].endpoint == Endpoint.UNEXECUTED:
                bars.text(len(prefix), most * 0.4, "not run", fontsize=NORMAL)
        grid.set_xlabel("request, by its position in the conversation", labelpad=2)
    return Drawn(
        f"run-{one.run}",
        f"Run {one.run}, {one.task}",
        _in_words(one),
        "Bars are the input tokens of each request, the common prefix in grey left of the boundary "
        "(dashed); below them is what the request projects for the first time and what its reply "
        "did, a number where it did so more than once.",
        figure,
        [_numbers(one)],
    )


def _heading(one: Trajectory, arm: ArmName) -> str:
    order = "first" if one.first_arm == arm else "second"
    return fitted(f"{_NAMES[arm]}, went {order}: {_ending(one, arm)}", 420)


def _ending(one: Trajectory, arm: ArmName) -> str:
    ending, steps = one.endings[arm], one.steps[arm]
    reason = f" ({ending.reason})" if ending.reason else ""
    if ending.endpoint == Endpoint.UNEXECUTED:
        return f"unexecuted{reason}"
    completed = sum(step.completed for step in steps)
    return f"{ending.endpoint}{reason} after {completed} suffix requests"


def _bars(axes: Axes, arm: ArmName, steps: Sequence[Step], prefix: int, most: int) -> None:
    axes.set_ylim(0, (most or 1) * 1.08)
    for number, step in enumerate(steps):
        if step.tokens_in is None:
            text = "?" if step.completed else "no reply"
            axes.text(step.position, most * 0.03, text, ha="center", va="bottom", fontsize=SMALL,
                      rotation=0 if step.completed else 90)  # fmt: skip
            continue
        colour, alpha = (INK, 0.35) if number < prefix else (_COLOURS[arm], 1.0)
        axes.bar(step.position, step.tokens_in, 0.72, color=colour, alpha=alpha, lw=0)
    axes.grid(axis="y", color=INK, alpha=0.13, lw=0.6)
    axes.set_axisbelow(True)
    axes.set_xticks([])
    axes.locator_params(axis="y", nbins=4)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_ylabel("input tokens", fontsize=SMALL)


def _grid(axes: Axes, rows: Sequence[str], steps: Sequence[Step], last: int) -> None:
    """A row for each kind of event, a column for each request."""
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(axis="y", length=0, pad=2)
    every = 1 if last < 30 else 5
    axes.set_xticks(range(0, last + 1, every))
    axes.tick_params(axis="x", length=2, pad=2)
    axes.grid(axis="y", color=INK, alpha=0.13, lw=0.6)
    axes.spines["left"].set_visible(False)
    for step in steps:
        for name, number in marks(step).items():
            marker, colour = _MARKS[name]
            at = (step.position, rows.index(name))
            size = 9 if marker == "*" else 6
            axes.plot(*at, marker, color=colour, ms=size, mew=0, clip_on=False)
            if number > 1:
                axes.annotate(str(number), at, (4, 0), textcoords="offset points", va="center",
                              fontsize=SMALL)  # fmt: skip


def _in_words(one: Trajectory) -> str:
    parts = [f"The common prefix has {len(one.steps[Stage.CAPTURE])} requests."]
    for arm in ArmName:
        totals: dict[str, int] = {}
        for step in one.steps[arm]:
            for name, number in marks(step).items():
                totals[name] = totals.get(name, 0) + number
        done = ", ".join(f"{name} {totals[name]}" for name in KINDS if name in totals)
        parts.append(f"{arm}: {_ending(one, arm)}" + (f"; {done}." if done else "."))
    return " ".join(parts)


def _numbers(one: Trajectory) -> Table:
    rows = []
    for stage in Stage:
        name = "prefix" if stage is Stage.CAPTURE else stage.value
        for step in one.steps[stage]:
            tokens = [
                UNKNOWN if value is None else count(value)
                for value in (step.tokens_in, step.tokens_out)
            ]
            projected = ", ".join(map(str, step.projected))
            rows.append([name, str(step.position), *tokens, projected, _did(one, stage, step)])
    columns = ["lane", "request", "input", "output", "projects observation", "what its reply did"]
    return Table(f"Run {one.run}, request by request, in tokens", columns, rows)


def _did(one: Trajectory, stage: Stage, step: Step) -> str:
    if not step.completed:
        return "no reply"
    done = [_called(call) for call in step.calls]
    if step.answered:
        done.append(f"answers: {one.endings[stage].answer}")
    return "; ".join(done)


def _called(call: Call) -> str:
    if call.error:
        kind_of = call.archive if call.archive not in (None, "ok") else call.error
        return f"{call.tool} {call.about}: refused, {kind_of}"
    return f"{call.tool} {call.about}: {call.size_bytes:,} bytes"
