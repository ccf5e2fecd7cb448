"""The sections on resources, read after quality: J, comparable runs, and fitted rules."""

from fractions import Fraction

import numpy as np

from revereval.analysis.boundaries import Success, success
from revereval.analysis.fitting import Fit, fit, hindsight, leave_one_source_out
from revereval.analysis.frames import Frame, counted, frame
from revereval.analysis.resources import (
    Expenditure,
    Pairs,
    Usage,
    comparable_rows,
    expenditure,
    joint_rows,
    pairs,
    priced,
)
from revereval.analysis.selector import (
    ALWAYS_FULL,
    ALWAYS_PROJECTED,
    number_text,
    parse_rule,
    selected,
)
from revereval.analysis.study import Study, tasks_of
from revereval.errors import InputError
from revereval.report.section import (
    UNKNOWN,
    Section,
    Table,
    count,
    names,
    ratio,
    signed,
)
from revereval.terms import ArmName, Contract

CONDITIONAL = (
    "Resources are conditional: they compare only runs whose outcomes are known, which projection "
    "itself may have selected. They say nothing about the runs left out."
)


def joint_pairs(study: Study) -> Pairs:
    rows = joint_rows(study.outcomes, study.whole)
    return pairs(study.table, "J", rows, study.question.joint_prefix_total)


def resources_section(study: Study) -> Section:
    """J and comparable summaries, then what each policy spends."""
    joint = joint_pairs(study)
    comparable = pairs(
        study.table,
        "comparable",
        comparable_rows(study.outcomes, study.whole),
        study.question.comparable_prefix_total,
    )
    tables = [
        Table("Suffix tokens of pairs", *_pair_rows([joint, comparable])),
        Table("Usage of the suffix requests", *_usage_rows(study, [joint, comparable])),
        *pair_tables(study, comparable),
    ]
    sentences = [
        f"J, the runs with F and P correct, is {count(joint.runs)} of {count(study.whole.runs)}"
        f"{_strict_joint(study)}; {count(comparable.runs)} are comparable.",
        *_joint_sentences(study, joint),
    ]
    return Section("resources", "Conditional resources", sentences, tables, [CONDITIONAL])


def _strict_joint(study: Study) -> str:
    try:
        strict = success(study.table, Contract.STRICT, study.question.definition)
    except InputError:
        return " (unknown under the strict contract)"
    runs = counted(study.table, joint_rows(strict, study.whole))
    return f" ({count(runs)} under the strict contract)"


_MOST_PAIRS = 60


def pair_tables(study: Study, one: Pairs) -> list[Table]:
    """Each pair's tokens and requests; beyond 60 pairs the quantiles of their ratios."""
    rows = list(map(int, np.flatnonzero(one.rows)))
    if len(rows) > _MOST_PAIRS:
        points = np.quantile(one.ratios[one.rows], _QUANTILES)
        cells = [[f"{q:.0%}", ratio(float(v))] for q, v in zip(_QUANTILES, points, strict=True)]
        return [
            Table("Quantiles of P / F, suffix tokens of one pair", ["quantile", "P / F"], cells)
        ]
    order = sorted(rows, key=lambda row: (one.ratios[row], row))
    return [
        Table(
            "Suffix and logical tokens of each comparable pair, by P / F", *_tokens(study, order)
        ),
        *_requests(study, order),
    ]


_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def _tokens(study: Study, rows: list[int]) -> tuple[list[str], list[list[str]]]:
    table, cells = study.table, []
    fitting = study.fitting
    for row in rows:
        f, p = (table.arms[arm].suffix_tokens[row] for arm in ArmName)
        prefix = table.prefix_tokens[row]
        logical = [UNKNOWN if np.isnan(prefix) else count(int(prefix + x)) for x in (f, p)]
        marked = "yes" if fitting is not None and fitting[row] else ""
        tokens = [count(int(f)), count(int(p)), ratio(float(p / f), 2)]
        cells.append([table.task.text(row), marked, *tokens, *logical])
    return ["task", "fitting", "F", "P", "P / F", "F logical", "P logical"], cells


def _requests(study: Study, rows: list[int]) -> list[Table]:
    """The two factors of a pair's cost apart; pairs with unknown requests are not in it."""
    arms, cells = study.table.arms, []
    for row in rows:
        requests = [arms[arm].suffix_requests[row] for arm in ArmName]
        if np.isnan(requests).any() or not all(requests):
            continue
        means = [arms[arm].suffix_tokens[row] / n for arm, n in zip(ArmName, requests, strict=True)]
        cells.append([
            study.table.task.text(row), *(count(int(n)) for n in requests),
            *(f"{mean:,.1f}" for mean in means),
        ])  # fmt: skip
    columns = ["task", "F requests", "P requests", "F tokens a request", "P tokens a request"]
    title = f"Requests and mean tokens a request ({len(cells)} of {len(rows)} pairs know them)"
    return [Table(title, columns, cells)] if cells else []


def _pair_rows(sets: list[Pairs]) -> tuple[list[str], list[list[str]]]:
    def row(name: str, *values: str) -> list[str]:
        return [name, *values]

    f, p = ArmName.F, ArmName.P
    usage = [one.usage for one in sets]
    rows = [
        row("runs", *(count(one.runs) for one in sets)),
        row("left out: tokens unknown", *(count(one.unknown_tokens) for one in sets)),
        row("F suffix tokens", *(count(u[f].suffix_tokens) for u in usage)),
        row("P suffix tokens", *(count(u[p].suffix_tokens) for u in usage)),
        row("P − F", *(signed(one.difference) for one in sets)),
        row("ratio of sums, P / F", *(ratio(one.ratio) for one in sets)),
        row("geometric mean of ratios", *(ratio(one.geometric_mean) for one in sets)),
        row("median of ratios", *(ratio(one.median) for one in sets)),
        row("pairs with more under P", *(count(one.increases) for one in sets)),
        row("pairs with fewer under P", *(count(one.decreases) for one in sets)),
        row("exact two-sided sign test, p", *(ratio(one.sign_p, 2) for one in sets)),
        row("prefix tokens, once a run", *(count(one.prefix_tokens) for one in sets)),
        row("F logical tokens", *(count(one.logical[f]) for one in sets)),
        row("P logical tokens", *(count(one.logical[p]) for one in sets)),
        row("logical ratio of sums", *(ratio(logical_ratio(one)) for one in sets)),
    ]
    return ["figure", *(one.name for one in sets)], rows


def logical_ratio(one: Pairs) -> float | None:
    """Σ logical P over Σ logical F; unknown where a prefix is."""
    f, p = one.logical[ArmName.F], one.logical[ArmName.P]
    return None if f is None or p is None or not f else p / f


def _joint_sentences(study: Study, joint: Pairs) -> list[str]:
    found = []
    if joint.largest_saving is not None:
        row = joint.largest_saving
        f, p = (study.table.arms[arm].suffix_tokens[row] for arm in ArmName)
        saved = int(f - p)
        found.append(
            f"The largest saving is {study.table.name(row)}, {count(saved)} suffix tokens; the "
            f"other pairs together differ by {signed(joint.difference + saved)}."
        )
        if text := _without_largest(study, joint, row):
            found.append(text)
    if joint.without_each:
        low, high = joint.without_each
        found.append(
            f"Leaving out one pair, the ratio of suffix sums goes from {ratio(low.ratio)} (without "
            f"{study.table.name(low.row)}) to {ratio(high.ratio)} (without "
            f"{study.table.name(high.row)})."
        )
    if logical_ratio(joint) is None or np.isnan(study.table.prefix_tokens[joint.rows]).any():
        found.append(
            "Logical ratios of single pairs need each pair's own prefix and are unknown; the "
            "ratios of single pairs here are of suffix tokens."
        )
    if joint.sign_p is not None:
        found.append("The sign test describes these pairs; it is no test of a population.")
    return found


def _without_largest(study: Study, joint: Pairs, row: int) -> str:
    """The logical ratio without one pair; its own prefix may be known only as part of a total."""
    f, p = joint.logical[ArmName.F], joint.logical[ArmName.P]
    total = joint.prefix_tokens
    if f is None or p is None or total is None:
        return ""
    row_f, row_p = (int(study.table.arms[arm].suffix_tokens[row]) for arm in ArmName)

    def rest(prefix: float) -> str:
        return ratio((p - row_p - prefix) / (f - row_f - prefix)) if f - row_f > prefix else UNKNOWN

    own = study.table.prefix_tokens[row]
    if not np.isnan(own):
        return f"Without it the logical ratio of sums is {rest(float(own))}."
    mean = total / float(joint.runs)
    return (
        f"Without it the logical ratio of sums lies between {rest(0)} and {rest(total)}, whatever "
        f"its share of the prefix total; at the mean prefix it is {rest(mean)}."
    )


def _usage_rows(study: Study, sets: list[Pairs]) -> tuple[list[str], list[list[str]]]:
    rows = []
    for one in sets:
        for arm in ArmName:
            usage = one.usage[arm]
            rows.append([one.name, arm, *_usage_cells(study, usage)])
        rows.append([one.name, "P − F", *_difference_cells(study, one)])
    columns = ["set", "arm", "requests", "tokens a request", "U", "C", "O"]
    return [*columns, *(["cost"] if study.question.prices else [])], rows


def _usage_cells(study: Study, usage: Usage) -> list[str]:
    mean = usage.tokens_per_request
    cells = [
        count(usage.suffix_requests), UNKNOWN if mean is None else f"{mean:,.1f}",
        count(usage.uncached), count(usage.cached), count(usage.output),
    ]  # fmt: skip
    if study.question.prices:
        cells.append(_money(priced(usage, study.question.prices)))
    return cells


def _difference_cells(study: Study, one: Pairs) -> list[str]:
    f, p = one.usage[ArmName.F], one.usage[ArmName.P]

    def less(name: str) -> str:
        left, right = getattr(p, name), getattr(f, name)
        return UNKNOWN if left is None or right is None else signed(left - right)

    f_mean, p_mean = f.tokens_per_request, p.tokens_per_request
    mean = UNKNOWN if f_mean is None or p_mean is None else f"{p_mean - f_mean:+,.1f}"
    cells = [less("suffix_requests"), mean.replace("-", "−")]
    cells += [less("uncached"), less("cached"), less("output")]
    if study.question.prices:
        costs = [priced(usage, study.question.prices) for usage in (f, p)]
        known = None if costs[0] is None or costs[1] is None else costs[1] - costs[0]
        cells.append(_money(known))
    return cells


def _money(value: Fraction | None) -> str:
    return UNKNOWN if value is None else f"{float(value):,.4f}".replace("-", "−")


def cost_algebra(one: Pairs) -> str:
    """The cost difference P − F in prices that stay symbols."""
    parts = []
    for name, symbol in (("uncached", "p_u"), ("cached", "p_c"), ("output", "p_o")):
        f, p = (getattr(one.usage[arm], name) for arm in ArmName)
        difference = UNKNOWN if f is None or p is None else signed(p - f)
        parts.append(f"({difference})·{symbol}")
    return " + ".join(parts)


def policy_section(study: Study) -> Section:
    """Always full, always projected and the rule, on the comparable runs of each frame."""
    tables = [
        _policy_table(study, within, variant.name)
        for variant in study.variants
        if variant.outcomes is study.outcomes  # an outcome taken as unknown has no spending
        for base in study.frames
        if (within := study.within(base, variant))
    ]
    return Section(
        "selector",
        "What each policy spends",
        ["Failures and suffix tokens on the comparable runs of each frame."],
        tables,
        [CONDITIONAL],
    )


def _policy_table(study: Study, within: Frame, variant: str) -> Table:
    costs = _policies(study, study.outcomes, within)
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
    return [count(cost.failures) for cost in _policies(study, strict, within)]


def _cost_cells(cost: Expenditure, full: Expenditure) -> list[str]:
    known = cost.suffix_tokens is not None and full.suffix_tokens is not None
    minus = (cost.suffix_tokens or 0) - (full.suffix_tokens or 0)
    return [
        cost.policy, count(cost.runs), count(cost.failures), count(cost.suffix_tokens),
        signed(minus) if known else UNKNOWN,
    ]  # fmt: skip


def hindsight_section(study: Study) -> Section:
    """The threshold chosen after the fact, and leave one source group out."""
    feature = study.question.feature
    best = hindsight(study.table, study.outcomes, study.whole, feature)
    folds = leave_one_source_out(study.table, study.outcomes, study.whole, feature)
    rows = [
        ["hindsight threshold", str(best.rule), *_spent(best.cost)],
        ["leave one source group out", f"{folds.folds} folds", *_spent(folds.held_out)],
    ]
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
            Table("Thresholds that the folds choose", [f"{feature} >=", "folds"], thresholds),
        ],
    )


_CHOICES = ("choice", "rule", "N", "failures", "suffix tokens")
_TRACE = ("index", "rule", "objective", "totals", "")


def _spent(cost: Expenditure) -> list[str]:
    return [count(cost.runs), count(cost.failures), count(cost.suffix_tokens)]


def fitted(study: Study) -> tuple[Fit, Frame]:
    """The fit on the table's fitting rows. Raises InputError where it marks none."""
    if study.table.fitting is None or not study.table.fitting.any():
        raise InputError(study.table.source, "fitting", "no row is marked: nothing to fit on")
    rows = frame(study.table, "fitting rows", study.whole.rows & study.table.fitting)
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
            f"Fitted on {count(rows.runs)} runs: {names(tasks_of(study.table, rows.rows))}.",
            f"{len(found.trace)} candidates, {rejected} rejected for observed harm, "
            f"{len(found.ties)} at the minimum: {tied}. The first wins.",
            f"Chosen: P where {found.best.rule}; objective {ratio(found.best.objective, 4)}, "
            f"ratio of totals on the same rows {ratio(found.best.totals_ratio, 4)}.",
        ],
        [Table("Trace, in order of enumeration", _TRACE, trace)],
        ["The objective is what was minimised on these rows; it is no estimate for others."],
    )
