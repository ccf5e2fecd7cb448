"""The sections on policies: what each spends, what hindsight would choose, and fitted rules."""

from collections.abc import Sequence
from fractions import Fraction

from revereval.analysis.boundaries import Success, success
from revereval.analysis.fitting import Fit, fit, hindsight, leave_one_source_out
from revereval.analysis.frames import Frame, counted, frame
from revereval.analysis.resources import Expenditure, comparable_rows, expenditure
from revereval.analysis.selector import (
    ALWAYS_FULL,
    ALWAYS_PROJECTED,
    number_text,
    parse_rule,
    selected,
)
from revereval.analysis.study import Study, tasks_of
from revereval.errors import InputError
from revereval.report.cost import CONDITIONAL
from revereval.report.facts import facts
from revereval.report.section import UNKNOWN, Section, Table, count, names, ratio, signed
from revereval.terms import Contract
from revereval.words import amount


def policy_section(study: Study) -> Section:
    """Always full, always projected and the rule, on the comparable runs of each frame."""
    chosen = [
        (within, variant.name, _policies(study, study.outcomes, within))
        for variant in study.variants
        if variant.outcomes is study.outcomes  # an outcome taken as unknown has no spending
        for base in study.frames
        if (within := study.within(base, variant))
    ]
    told = [{"frame": of, "variant": name, "policies": costs} for of, name, costs in chosen]
    return Section(
        "selector",
        "What each policy spends",
        ["Failures and suffix tokens on the comparable runs of each frame."],
        [_policy_table(study, *of) for of in chosen],
        [CONDITIONAL],
        lambda: facts({"spending": told}, study.table),
    )


def _policy_table(study: Study, within: Frame, variant: str, costs: Sequence[Expenditure]) -> Table:
    rows = [
        [*_cost_cells(cost, costs[0]), failures]
        for cost, failures in zip(costs, _strict_failures(study, within), strict=True)
    ]
    columns = ["policy", "N", "failures", "suffix tokens", "minus full", "strict failures"]
    name = within.name if "without" in within.name else f"{within.name}, {variant}"
    return Table(f"Policies on the comparable runs of {name}", columns, rows)


def _policies(study: Study, outcomes: Success, within: Frame) -> list[Expenditure]:
    rows = comparable_rows(outcomes, within)
    comparable = frame(study.table, "comparable", rows)
    rules = [parse_rule(ALWAYS_FULL), parse_rule(ALWAYS_PROJECTED)]
    rules += [study.question.rule] if study.question.rule else []
    return [
        expenditure(study.table, outcomes, rows, selected(study.table, rule, comparable), str(rule))
        for rule in rules
    ]


def _strict_failures(study: Study, within: Frame) -> list[str]:
    try:
        strict = success(study.table, Contract.STRICT, study.question.definition)
    except InputError:
        return [UNKNOWN] * (3 if study.question.rule else 2)
    runs = counted(study.table, comparable_rows(study.outcomes, within))
    return [
        count(cost.failures) + ("" if cost.runs == runs else f" of {count(cost.runs)}")
        for cost in _policies(study, strict, within)
    ]


def _cost_cells(cost: Expenditure, full: Expenditure) -> list[str]:
    known = cost.suffix_tokens is not None and full.suffix_tokens is not None
    minus = (cost.suffix_tokens or Fraction(0)) - (full.suffix_tokens or Fraction(0))
    return [
        cost.policy, count(cost.runs), count(cost.failures), count(cost.suffix_tokens),
        signed(minus) if known else UNKNOWN,
    ]  # fmt: skip


def hindsight_section(study: Study) -> Section:
    """The threshold chosen after the fact, and leave one source group out."""
    feature = study.question.feature
    best = hindsight(study.table, study.outcomes, study.whole, feature)
    rows = [["hindsight threshold", str(best.rule), *_spent(best.cost)]]
    folds, thresholds, why = None, [], ""
    try:
        folds = leave_one_source_out(study.table, study.outcomes, study.whole, feature)
    except InputError as error:
        why = f"Not possible with this record: {error}."
    else:
        rows.append(["leave one source group out", f"{folds.folds} folds", *_spent(folds.held_out)])
        thresholds = [[number_text(value), count(number)] for value, number in folds.thresholds]
    return Section(
        "fit",
        "What hindsight would have chosen",
        [
            "Fewest failures first, then fewest suffix tokens, on the comparable runs of all "
            "boundaries: chosen after seeing every outcome, so it is a limit and not a result."
        ],
        [
            Table("Thresholds on comparable runs", _CHOICES, rows),
            *(
                [Table("Thresholds that the folds choose", [f"{feature} >=", "folds"], thresholds)]
                if folds
                else []
            ),
        ],
        [why] if why else [],
        facts=lambda: facts({"hindsight": best, "leave_one_source_out": folds}, study.table),
    )


_CHOICES = ("choice", "rule", "N", "failures", "suffix tokens")
_TRACE = ("index", "rule", "objective", "totals", "")


def _spent(cost: Expenditure) -> list[str]:
    return [count(cost.runs), count(cost.failures), count(cost.suffix_tokens)]


def fitted(study: Study) -> tuple[Fit, Frame]:
    """The fit on the table's fitting rows. Raises InputError where it marks none."""
    marks = study.table.fitting
    if marks is None or not (marks == 1).any():
        raise InputError(study.table.source, "fitting", "no row is marked: nothing to fit on")
    rows = frame(study.table, "fitting rows", study.whole.rows & (marks == 1))
    if not rows.runs:
        raise InputError(study.table.source, "fitting", "no marked row has both arms planned")
    return fit(study.table, study.outcomes, rows), rows


def fit_section(study: Study) -> Section:
    """The fitter's choice, its ties and its whole trace."""
    found, rows = fitted(study)
    trace = [
        [
            str(one.index),
            str(one.rule),
            ratio(one.objective, 4),
            ratio(one.totals_ratio, 4),
            "rejected: harm" if one.rejected else "tied first" if one in found.ties else "",
        ]
        for one in found.trace
    ]
    tied = ", ".join(f"{one.index} ({one.rule})" for one in found.ties)
    rejected = sum(one.rejected for one in found.trace)
    return Section(
        "fit",
        "The fitted rule",
        [
            f"Fitted on {amount(count(rows.runs), 'run')}: "
            f"{names(tasks_of(study.table, rows.rows))}.",
            f"{len(found.trace)} candidates, {rejected} rejected for observed harm, "
            f"{len(found.ties)} at the minimum: {tied}. The first wins.",
            f"Chosen: P where {found.best.rule}; objective {ratio(found.best.objective, 4)}, "
            f"ratio of totals on the same rows {ratio(found.best.totals_ratio, 4)}.",
        ],
        [Table("Trace, in order of enumeration", _TRACE, trace)],
        ["The objective is what was minimised on these rows; it is no estimate for others."],
        lambda: facts(found, study.table),
    )
