"""The sections on quality: the frame's flow and the whole-frame bounds."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from revereval.analysis import flow as flows
from revereval.analysis.boundaries import success
from revereval.analysis.bounds import Contrast, Interval, complete_case, contrast
from revereval.analysis.closed_book import ClosedBook, closed_book
from revereval.analysis.study import Study, Variant, first_tasks, tasks_of
from revereval.errors import InputError
from revereval.report.facts import facts
from revereval.report.section import (
    MOST_NAMES,
    UNKNOWN,
    Section,
    Table,
    count,
    names,
    share,
    signed,
)
from revereval.terms import ArmName, CaptureOutcome, Contract, Endpoint, EndpointDefinition
from revereval.words import amount

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
    open_ = [UNKNOWN] if any(found.unknown.values()) else []
    steps = [
        ("boundaries with both arms planned", found.boundaries),
        ("comparable: both outcomes known", found.comparable),
        ("both arms answered", found.answered),
        ("J: F and P correct", found.joint),
    ]
    flow_rows = [[name, *_by_first(by_first)] for name, by_first in steps]
    endpoint_rows = [
        [
            arm,
            *(count(found.endpoints[arm][endpoint]) for endpoint in Endpoint),
            *([count(found.unknown[arm])] if open_ else []),
            count(whole.runs),
        ]
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
    sentences += _tasks_sentences(study)
    if found.single_arm:
        text = "rows of single arms are in no paired frame: their other arm was not planned."
        sentences.append(f"{count(found.single_arm)} {text}")
    tables = [
        Table("From boundaries to joint successes, in runs",
              ["step", "all", "F first", "P first"], flow_rows),
        Table("Endpoints by arm", ["arm", *Endpoint, *open_, "N"], endpoint_rows),
        Table("F's endpoint by P's", ["", *(f"P {e}" for e in Endpoint)], crossed),
        Table("Endpoint of the arm that went first", ["", *Endpoint, "N"], first),
    ]  # fmt: skip
    if study.splits:
        rows = [[frame.name, count(frame.runs)] for frame in study.splits]
        tables.append(Table("Boundary runs by split", ["split", "N"], rows))
    told = {"plans": study.plans, "frame": whole, "flow": found, "splits": study.splits}
    return Section(
        "frame", "The frame", sentences, tables, [FIRST_PERIOD], lambda: facts(told, table)
    )


def _plans_sentence(study: Study) -> str:
    plans = study.plans
    if plans is None:
        return "How many plans never reached a boundary is unknown: the table came without them."
    finished = plans.outcomes[CaptureOutcome.FINISHED]
    stopped = plans.outcomes[CaptureOutcome.STOPPED]
    text = (
        f"Of {amount(count(plans.runs), 'run')}, {count(finished)} finished before anything was "
        f"eligible, {count(stopped)} stopped in capture, and "
        f"{count(plans.outcomes[CaptureOutcome.BOUNDARY])} reached the boundary."
    )
    open_ = plans.runs - sum(plans.outcomes[outcome] for outcome in CaptureOutcome)
    imported = study.whole.runs - plans.outcomes[CaptureOutcome.BOUNDARY]
    if imported > 0:
        text += f" {count(imported)} more boundary runs were imported, without their plans."
    text += f" {count(open_)} captures have not ended." if open_ else ""
    if study.elsewhere:
        text += f" {count(study.elsewhere)} runs under other treatments reached no boundary."
    return text


def _tasks_sentences(study: Study) -> list[str]:
    """Tasks with several runs that are not repeats: N counts them all, and they stay one task."""
    several = study.several_runs
    if not several:
        return []
    whole, table = study.whole, study.table
    listed = []
    for task, rows in list(several.items())[:MOST_NAMES]:
        known = not np.isnan(table.run_id[rows]).any()
        numbers = [int(table.run_id[row] if known else table.place[row] + 1) for row in rows]
        shown = map(str, sorted(numbers)[:MOST_NAMES])
        more = f" and {len(rows) - MOST_NAMES:,} more" if len(rows) > MOST_NAMES else ""
        listed.append(f"{task}: {'runs' if known else 'rows'} {', '.join(shown)}{more}")
    rest = f"; and {len(several) - MOST_NAMES:,} more" if len(several) > MOST_NAMES else ""
    tasks = len(tasks_of(table, whole.rows))
    return [
        f"{len(several):,} tasks have more than one run that is no repeat ({'; '.join(listed)}"
        f"{rest}): N counts {count(whole.runs)} runs of {tasks:,} tasks. The sign test and the "
        "means of source groups count each task once."
    ]


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
    memory = closed_book(study, MOST_NAMES)
    if memory is not None:
        sentences.append(_memory_sentence(memory))
    complete = [
        ["both correct", count(case.both_correct)],
        ["both wrong", count(case.both_wrong)],
        ["F correct only", count(case.f_only)],
        ["P correct only", count(case.p_only)],
        ["pairs in which both arms answered", count(case.runs)],
    ]
    caveats = [
        NOT_CONFIDENCE,
        f"The {amount(count(case.runs), 'pair')} in which both arms answered "
        f"({count(case.f_correct)} correct under F, {count(case.p_correct)} under P) "
        f"{'is' if case.runs == 1 else 'are'} what a complete-case summary "
        f"would report. It leaves out {count(study.whole.runs - case.runs)} of "
        f"{amount(count(study.whole.runs), 'run')} because of how they ended, and is no estimate.",
    ]
    by_frame = {variant.name: contrasts(study, variant) for variant in study.variants}
    contracts = by_contract(study)
    told = {"by_frame": by_frame, "by_contract": contracts, "complete_case": case}
    if memory is not None:
        told["closed_book"] = memory
    return Section(
        "bounds",
        "Quality of the whole frame",
        sentences,
        [
            *(_bounds_table(name, found) for name, found in by_frame.items()),
            _contract_table(study, contracts),
            Table("Complete cases only, for comparison", ["outcome", "runs"], complete),
        ],
        caveats,
        lambda: facts(told, table),
    )


def _memory_sentence(found: ClosedBook) -> str:
    text = (
        f"Of {count(found.tasks)} tasks at a boundary {count(found.asked)} have a closed-book run, "
        f"without tools; it is correct in {count(found.correct)}"
    )
    if not found.correct:
        return f"{text}."
    return (
        f"{text}: {names(found.correct_tasks, found.correct)}. F is correct in "
        f"{count(found.f_correct)} of their {count(found.runs)} boundary runs, and may have "
        "known the answers."
    )


BOUNDS = ["N", "F", "P", "P − F", "a run"]


def bounds_row(found: Contrast) -> list[str]:
    """The cells of BOUNDS."""
    runs = found.frame.runs
    return [
        count(runs),
        range_text(found.f),
        range_text(found.p),
        interval_text(found.difference),
        means_text(found.difference, runs),
    ]


def contrasts(study: Study, variant: Variant) -> dict[str, Contrast | None]:
    """The contrast of each frame as a variant leaves it; None where that is nothing."""
    found: dict[str, Contrast | None] = {}
    for base in (*study.frames, *study.splits):
        frame = study.within(base, variant)
        known = None if frame is None else contrast(study.table, variant.outcomes, frame)
        found[base.name] = known
    return found


def _bounds_table(variant: str, contrasts: Mapping[str, Contrast | None]) -> Table:
    rows = [
        [name, *(bounds_row(found) if found else ["0", "", "", "", ""])]
        for name, found in contrasts.items()
    ]
    return Table(f"P minus F by frame, {variant}", ["frame", *BOUNDS], rows)


def by_contract(study: Study) -> dict[str, dict[str, Contrast | None]]:
    """The whole frame by contract and endpoint definition; None where the table lacks it."""
    found: dict[str, dict[str, Contrast | None]] = {}
    for contract in (Contract.EXTRACTED, Contract.STRICT):
        for definition in EndpointDefinition:
            try:
                outcomes = success(study.table, contract, definition)
            except InputError:
                known = None
            else:
                known = contrast(study.table, outcomes, study.whole)
            found.setdefault(contract, {})[definition] = known
    return found


def _contract_table(study: Study, contrasts: Mapping[str, Mapping[str, Contrast | None]]) -> Table:
    unknown = [count(study.whole.runs), *([UNKNOWN] * 4)]
    rows = [
        [contract, definition, *(bounds_row(found) if found else unknown)]
        for contract, by_definition in contrasts.items()
        for definition, found in by_definition.items()
    ]
    columns = ["contract", "endpoint", *BOUNDS]
    return Table("By contract and endpoint definition", columns, rows)


def _witnesses(study: Study, found: Contrast) -> list[str]:
    def assigned(f_succeeds: bool) -> str:
        f, p = ("succeed", "fail") if f_succeeds else ("fail", "succeed")
        return f"every unknown F outcome would {f} and every unknown P outcome {p}"

    f, p = (
        first_tasks(study.table, rows, MOST_NAMES) for rows in (found.f_unknown, found.p_unknown)
    )
    if not f[1] and not p[1]:
        return ["Every outcome is known."]
    return [
        f"The lower end is reached if {assigned(True)}; the upper end if {assigned(False)}.",
        f"Unknown under F: {names(*f)}. Unknown under P: {names(*p)}.",
    ]
