"""The sections on quality: the frame's flow, the whole-frame bounds, and the selector."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from revereval.analysis import flow as flows
from revereval.analysis.boundaries import STATES, success
from revereval.analysis.bounds import Contrast, Interval, complete_case, contrast
from revereval.analysis.frames import Frame
from revereval.analysis.selector import Harm, Rule, Selection, number_text, selection
from revereval.analysis.study import Study, Variant, tasks_of
from revereval.errors import InputError
from revereval.report.section import UNKNOWN, Section, Table, count, names, share, signed
from revereval.terms import ArmName, CaptureOutcome, Contract, Endpoint, EndpointDefinition

FIRST_PERIOD = (
    "First-period counts compare different tasks: which arm goes first is balanced by rule, not "
    "drawn at random, so a difference between the two rows is no effect."
)
NOT_CONFIDENCE = (
    "A range holds every value that the record allows, and both its ends are possible. It is an "
    "identification interval, not a confidence interval: it says nothing about other tasks."
)


def interval_text(interval: Interval) -> str:
    return f"[{signed(interval.low)}, {signed(interval.high)}]"


def range_text(interval: Interval) -> str:
    """A range of counts without signs."""
    if interval.low == interval.high:
        return count(interval.low)
    return f"{count(interval.low)}–{count(interval.high)}"


def means_text(interval: Interval, runs: int) -> str:
    """Both ends a run."""
    return " to ".join(share(float(end / runs)) for end in (interval.low, interval.high))


def frame_section(study: Study) -> Section:
    """From plans to J, the endpoints of both arms, and the first period."""
    table, outcomes, whole = study.table, study.outcomes, study.whole
    found = flows.flow(table, outcomes, whole, study.question.contract)
    steps = [
        ("boundaries with both arms planned", found.boundaries),
        ("comparable: both outcomes known", found.comparable),
        ("both arms answered", found.answered),
        ("J: F and P correct", found.joint),
    ]
    flow_rows = [[name, *_by_first(by_first)] for name, by_first in steps]
    endpoint_rows = [
        [arm, *(count(found.endpoints[arm][endpoint]) for endpoint in Endpoint), count(whole.runs)]
        for arm in ArmName
    ]
    crossed = [
        [f"F {row}", *(count(found.crossed[row][column]) for column in Endpoint)]
        for row in Endpoint
    ]
    first = [
        [f"{arm} first", *(count(found.first_period[arm][e]) for e in Endpoint),
         count(found.boundaries[arm])]
        for arm in ArmName
    ]  # fmt: skip
    sentences = [_plans_sentence(study), f"The frame is {count(whole.runs)} boundary runs."]
    if found.single_arm:
        text = "rows of single arms are in no paired frame: their other arm was not planned."
        sentences.append(f"{count(found.single_arm)} {text}")
    tables = [
        Table("From boundaries to joint successes, in runs",
              ["step", "all", "F first", "P first"], flow_rows),
        Table("Endpoints by arm", ["arm", *Endpoint, "N"], endpoint_rows),
        Table("F's endpoint by P's", ["", *(f"P {e}" for e in Endpoint)], crossed),
        Table("Endpoint of the arm that went first", ["", *Endpoint, "N"], first),
    ]  # fmt: skip
    if study.splits:
        rows = [[frame.name, count(frame.runs)] for frame in study.splits]
        tables.append(Table("Boundary runs by split", ["split", "N"], rows))
    return Section("frame", "The frame", sentences, tables, [FIRST_PERIOD])


def _plans_sentence(study: Study) -> str:
    plans = study.plans
    if plans is None:
        return "How many plans never reached a boundary is unknown: the table came without them."
    finished = plans.outcomes[CaptureOutcome.FINISHED]
    stopped = plans.outcomes[CaptureOutcome.STOPPED]
    text = (
        f"Of {count(plans.runs)} runs, {count(finished)} finished before anything was eligible, "
        f"{count(stopped)} stopped in capture, and "
        f"{count(plans.outcomes[CaptureOutcome.BOUNDARY])} reached the boundary."
    )
    open_ = plans.runs - sum(plans.outcomes[outcome] for outcome in CaptureOutcome)
    return text + (f" {count(open_)} captures have not ended." if open_ else "")


def _by_first(by_first: Mapping[ArmName, Fraction]) -> list[str]:
    every = sum(by_first.values(), Fraction(0))
    return [count(every), count(by_first[ArmName.F]), count(by_first[ArmName.P])]


def bounds_section(study: Study) -> Section:
    """P minus F by frame and variant, under both contracts and endpoint definitions."""
    table = study.table
    answered = flows.answered(table, study.whole, study.question.contract)
    case = complete_case(table, study.outcomes, answered)
    recorded = contrast(table, study.outcomes, study.whole)
    sentences = [
        f"P minus F in successes, over {count(study.whole.runs)} boundary runs: "
        f"{interval_text(recorded.difference)}.",
        *_witnesses(study, recorded),
    ]
    complete = [
        ["both correct", count(case.both_correct)],
        ["both wrong", count(case.both_wrong)],
        ["F correct only", count(case.f_only)],
        ["P correct only", count(case.p_only)],
        ["pairs in which both arms answered", count(case.runs)],
    ]
    caveats = [
        NOT_CONFIDENCE,
        f"The {count(case.runs)} pairs in which both arms answered ({count(case.f_correct)} "
        f"correct under F, {count(case.p_correct)} under P) are what a complete-case summary "
        f"would report. It leaves out {count(study.whole.runs - case.runs)} of "
        f"{count(study.whole.runs)} runs because of how they ended, and is no estimate.",
    ]
    frames = [*study.frames, *study.splits]
    return Section(
        "bounds",
        "Quality of the whole frame",
        sentences,
        [
            *(_bounds_table(study, frames, variant) for variant in study.variants),
            Table("By contract and endpoint definition", *_contract_rows(study)),
            Table("Complete cases only, for comparison", ["outcome", "runs"], complete),
        ],
        caveats,
    )


_BOUNDS = ["N", "F", "P", "P − F", "a run"]


def _bounds_row(found: Contrast) -> list[str]:
    runs = found.frame.runs
    return [
        count(runs),
        range_text(found.f),
        range_text(found.p),
        interval_text(found.difference),
        means_text(found.difference, runs),
    ]


def _bounds_table(study: Study, frames: list[Frame], variant: Variant) -> Table:
    rows = []
    for base in frames:
        frame = study.within(base, variant)
        if frame is None:
            rows.append([base.name, "0", "", "", "", ""])
            continue
        rows.append([base.name, *_bounds_row(contrast(study.table, variant.outcomes, frame))])
    return Table(f"P minus F by frame, {variant.name}", ["frame", *_BOUNDS], rows)


def _contract_rows(study: Study) -> tuple[list[str], list[list[str]]]:
    rows = []
    for contract in (Contract.EXTRACTED, Contract.STRICT):
        for definition in EndpointDefinition:
            try:
                outcomes = success(study.table, contract, definition)
            except InputError:
                rows.append([contract, definition, count(study.whole.runs), *([UNKNOWN] * 4)])
                continue
            found = contrast(study.table, outcomes, study.whole)
            rows.append([contract, definition, *_bounds_row(found)])
    return ["contract", "endpoint", *_BOUNDS], rows


def _witnesses(study: Study, found: Contrast) -> list[str]:
    def assigned(f_succeeds: bool) -> str:
        f, p = ("succeed", "fail") if f_succeeds else ("fail", "succeed")
        return f"every unknown F outcome would {f} and every unknown P outcome {p}"

    f, p = tasks_of(study.table, found.f_unknown), tasks_of(study.table, found.p_unknown)
    if not f and not p:
        return ["Every outcome is known."]
    return [
        f"The lower end is reached if {assigned(True)}; the upper end if {assigned(False)}.",
        f"Unknown under F: {names(f)}. Unknown under P: {names(p)}.",
    ]


def selector_section(study: Study, rule: Rule) -> Section:
    """The rule minus always-full by frame and variant, with its selected harm."""
    whole = selection(study.table, study.outcomes, rule, study.whole)
    tables = []
    for variant in study.variants:
        tables += _selection_tables(study, rule, variant)
    return Section(
        "selector",
        f"The rule: P where {rule}",
        [_fitted_sentence(study), *_chosen_sentences(study, whole)],
        [*tables, Table("Contributions of the runs where P runs", *_contributions(study, whole))],
        [
            "A run where the rule keeps F contributes exactly 0: rule and reference are then one "
            "arm.",
            NOT_CONFIDENCE,
        ],
    )


def _selection_tables(study: Study, rule: Rule, variant: Variant) -> list[Table]:
    rows, harm = [], []
    for base, name in _named_frames(study):
        frame = study.within(base, variant)
        if frame is None:
            rows.append([name, "0", "", "", ""])
            continue
        found = selection(study.table, variant.outcomes, rule, frame)
        ends = [interval_text(found.difference), means_text(found.difference, frame.runs)]
        rows.append([name, count(frame.runs), count(found.runs_chosen), *ends])
        of_runs = [count(found.harm[state]) for state in Harm]
        harm.append([name, *of_runs, *(count(found.group_harm[state]) for state in Harm)])
    columns = ["frame", "N", "P runs", "difference", "a run"]
    states = [*(f"runs {state}" for state in Harm), *(f"groups {state}" for state in Harm)]
    title = f"Selected harm (F would have succeeded and P fails), {variant.name}"
    return [
        Table(f"Rule minus always full, {variant.name}", columns, rows),
        Table(title, ["frame", *states], harm),
    ]


def _named_frames(study: Study) -> list[tuple[Frame, str]]:
    """Frames and splits; a split on which the rule was fitted is never called held out."""
    named = [(frame, frame.name) for frame in study.frames]
    for frame in study.splits:
        if study.held_out(frame):
            note = "held out"
        else:
            note = "fit unknown" if study.fitting is None else "not held out"
        named.append((frame, f"{frame.name} ({note})"))
    return named


def _fitted_sentence(study: Study) -> str:
    fitting = study.fitting
    if fitting is None:
        return (
            "What the rule was fitted on is unknown: the table has no `fitting` column and the "
            "rule no file, so nothing here is held out."
        )
    tasks = tasks_of(study.table, fitting.rows & study.whole.rows)
    text = f"Fitted on {len(tasks)} tasks of this table: {names(tasks)}."
    doubtful = tasks_of(study.table, fitting.doubtful & ~fitting.rows & study.whole.rows)
    if doubtful:
        text += f" Whether on {names(doubtful)} too is unknown, so that they are not held out."
    if study.question.fitted_on is not None:
        others = study.question.fitted_on - set(study.table.task.values)
        text += f" {len(others)} more that it was fitted on are not in the table." if others else ""
    return text


def _chosen_sentences(study: Study, found: Selection) -> list[str]:
    known = found.chosen & study.outcomes.known
    unknown = found.chosen & ~study.outcomes.known
    kept = int(known.sum()), int(unknown.sum())
    return [
        f"The rule runs P in {count(found.runs_chosen)} of {count(found.frame.runs)} runs: "
        f"{kept[0]} rows are comparable, in {kept[1]} an outcome is unknown."
    ]


def _state(code: int) -> str:
    return STATES[code] if code >= 0 else UNKNOWN


_MOST_CONTRIBUTIONS = 40


def _contributions(study: Study, found: Selection) -> tuple[list[str], list[list[str]]]:
    """Row by row, the widest first when there are many."""
    chosen = np.flatnonzero(found.chosen)
    order = np.lexsort((chosen, -(found.high - found.low)[chosen]))
    shown = np.sort(chosen[order[:_MOST_CONTRIBUTIONS]])
    columns = ["run", "feature", "F", "P", "rule − full", "harm"]
    return columns, [_contribution(study, found, int(row)) for row in shown]


def _contribution(study: Study, found: Selection, row: int) -> list[str]:
    contract = study.question.contract
    endpoints = [_state(study.table.arms[arm].endpoints[contract][row]) for arm in ArmName]
    feature = found.rule.feature
    value = "" if feature is None else number_text(float(study.table.features[feature][row]))
    interval = Interval(Fraction(int(found.low[row])), Fraction(int(found.high[row])))
    harm = (
        Harm.TRUE if found.harmed[row] else Harm.UNKNOWN if found.harm_unknown[row] else Harm.FALSE
    )
    text = interval_text(interval) if interval.width else signed(interval.low)
    return [study.table.name(row), value, *endpoints, text, harm]
