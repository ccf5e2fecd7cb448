"""The section on a rule: P for some boundaries, against always full."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from revereval.analysis.boundaries import STATES
from revereval.analysis.bounds import Interval
from revereval.analysis.frames import Frame
from revereval.analysis.selector import Harm, Rule, Selection, number_text, selection
from revereval.analysis.study import Study, Variant, tasks_of
from revereval.report.facts import facts
from revereval.report.quality import NOT_CONFIDENCE, interval_text, means_text
from revereval.report.section import UNKNOWN, Section, Table, count, names, signed
from revereval.terms import ArmName
from revereval.words import amount


def selector_section(study: Study, rule: Rule) -> Section:
    """The rule minus always-full by frame and variant, with its selected harm."""
    whole = selection(study.table, study.outcomes, rule, study.whole)
    found = {variant.name: _selections(study, rule, variant) for variant in study.variants}
    tables = [table for name, of in found.items() for table in _selection_tables(name, of)]
    return Section(
        "selector",
        f"The rule: P where {rule}",
        [_fitted_sentence(study), *_chosen_sentences(study, whole)],
        [*tables, _contributions(study, whole)],
        [
            "A run where the rule keeps F contributes exactly 0: rule and reference are then one "
            "arm.",
            NOT_CONFIDENCE,
        ],
        lambda: {
            **facts({"rule": rule, "selections": found}, study.table),
            "contributions": _every_contribution(study, whole),
        },
    )


def _selections(study: Study, rule: Rule, variant: Variant) -> dict[str, Selection | None]:
    """The rule on each named frame as a variant leaves it; None where that is nothing."""
    found: dict[str, Selection | None] = {}
    for base, name in _named_frames(study):
        frame = study.within(base, variant)
        known = None if frame is None else selection(study.table, variant.outcomes, rule, frame)
        found[name] = known
    return found


def _selection_tables(variant: str, selections: Mapping[str, Selection | None]) -> list[Table]:
    rows, harm = [], []
    for name, found in selections.items():
        if found is None:
            rows.append([name, "0", "", "", ""])
            continue
        runs = found.frame.runs
        ends = [interval_text(found.difference), means_text(found.difference, runs)]
        rows.append([name, count(runs), count(found.runs_chosen), *ends])
        of_runs = [count(found.harm[state]) for state in Harm]
        harm.append([name, *of_runs, *(count(found.group_harm[state]) for state in Harm)])
    columns = ["frame", "N", "P runs", "difference", "a run"]
    states = [*(f"runs {state}" for state in Harm), *(f"groups {state}" for state in Harm)]
    title = f"Selected harm (F would have succeeded and P fails), {variant}"
    return [
        Table(f"Rule minus always full, {variant}", columns, rows),
        Table(title, ["frame", *states], harm),
    ]


def _named_frames(study: Study) -> list[tuple[Frame, str]]:
    """Frames and splits; a split on which the rule was fitted is never called held out."""
    named = [(frame, frame.name) for frame in study.frames]
    for frame in study.splits:
        unheld = "fit unknown" if study.fitting is None else "not held out"
        note = "held out" if study.held_out(frame) else unheld
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
    if study.question.fitted_on is None:
        text = (
            f"The table marks {amount(len(tasks), 'task')} as fitting rows: {names(tasks)}. That "
            "this rule was fitted on them, and on no other, is the word of whoever made the table."
        )
    else:
        text = f"Fitted on {amount(len(tasks), 'task')} of this table: {names(tasks)}."
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
        f"The rule runs P in {count(found.runs_chosen)} of "
        f"{amount(count(found.frame.runs), 'run')}: {kept[0]} rows are comparable, "
        f"in {kept[1]} an outcome is unknown."
    ]


def _state(code: int) -> str:
    return STATES[code] if code >= 0 else UNKNOWN


_MOST_CONTRIBUTIONS = 40


def _contributions(study: Study, found: Selection) -> Table:
    """Row by row; of many the ones that leave most open, and the title says so."""
    chosen = np.flatnonzero(found.chosen)
    order = np.lexsort((chosen, -(found.high - found.low)[chosen]))
    shown = np.sort(chosen[order[:_MOST_CONTRIBUTIONS]])
    columns = ["run", "feature", "F", "P", "rule − full", "harm"]
    title = "Contributions of the runs where P runs"
    if len(shown) < len(chosen):
        title += f": {len(shown)} of {len(chosen):,}, the widest; --json has them all"
    return Table(title, columns, [_contribution(study, found, int(row)) for row in shown])


def _every_contribution(study: Study, found: Selection) -> list[dict[str, Any]]:
    """Each row where P runs, as [low, high] in successes."""
    return [
        {
            "row": int(study.table.place[row]) + 1,
            "task": study.table.task.text(row),
            "rule_minus_full": [int(found.low[row]), int(found.high[row])],
            "harm": _harm(found, row),
        }
        for row in map(int, np.flatnonzero(found.chosen))
    ]


def _harm(found: Selection, row: int) -> Harm:
    if found.harmed[row]:
        return Harm.TRUE
    return Harm.UNKNOWN if found.harm_unknown[row] else Harm.FALSE


def _contribution(study: Study, found: Selection, row: int) -> list[str]:
    contract = study.question.contract
    endpoints = [_state(study.table.arms[arm].endpoints[contract][row]) for arm in ArmName]
    feature = found.rule.feature
    value = "" if feature is None else number_text(float(study.table.features[feature][row]))
    interval = Interval(Fraction(int(found.low[row])), Fraction(int(found.high[row])))
    text = interval_text(interval) if interval.width else signed(interval.low)
    return [study.table.name(row), value, *endpoints, text, _harm(found, row)]
