"""The section on resources, read after quality: what J and the comparable runs cost."""

from fractions import Fraction

import numpy as np

from revereval.analysis.boundaries import success
from revereval.analysis.frames import counted
from revereval.analysis.resources import (
    QUANTILES,
    Pairs,
    Usage,
    comparable_rows,
    joint_rows,
    pairs,
    priced,
    quantiles,
    sum_known,
)
from revereval.analysis.study import Study
from revereval.errors import InputError
from revereval.report.facts import facts
from revereval.report.section import (
    UNKNOWN,
    Section,
    Table,
    count,
    ratio,
    signed,
)
from revereval.terms import ArmName, Contract

CONDITIONAL = (
    "Resources are conditional: they compare only runs whose outcomes are known, which projection "
    "itself may have selected. They say nothing about the runs left out."
)
QUANTILE_DEFINITION = (
    "Quantiles are linear between the sorted values (Hyndman and Fan's definition 7)."
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
        _logical_table([joint, comparable]),
        Table("Usage of the suffix requests", *_usage_rows(study, [joint, comparable])),
        _by_first_arm(study, joint),
        *pair_tables(study, comparable),
    ]
    sentences = [
        f"J, the runs with F and P correct, is {count(joint.of_runs)} of "
        f"{count(study.whole.runs)}{_strict_joint(study)}; {count(comparable.of_runs)} are "
        "comparable.",
        *_joint_sentences(study, joint),
        *_prefix_sentences([joint, comparable]),
    ]
    told = {"joint": joint, "comparable": comparable}
    return Section(
        "resources",
        "Conditional resources",
        sentences,
        tables,
        [CONDITIONAL, QUANTILE_DEFINITION],
        lambda: facts(told, study.table),
    )


def _strict_joint(study: Study) -> str:
    try:
        strict = success(study.table, Contract.STRICT, study.question.definition)
    except InputError:
        return " (unknown under the strict contract)"
    both = strict.joint, (strict.f_high == 1) & (strict.p_high == 1) & ~strict.known
    low, open_ = (counted(study.table, study.whole.rows & rows) for rows in both)
    maybe = f", {count(open_)} more unknown" if open_ else ""
    return f" ({count(low)} under the strict contract{maybe})"


_MOST_PAIRS = 60


def pair_tables(study: Study, one: Pairs) -> list[Table]:
    """Each pair's tokens and requests; beyond 60 pairs the quantiles of their ratios."""
    rows = list(map(int, np.flatnonzero(one.rows)))
    if len(rows) > _MOST_PAIRS:
        defined = one.ratios[~np.isnan(one.ratios)]
        points = quantiles(defined)
        cells = [[f"{q:.0%}", ratio(float(v))] for q, v in zip(QUANTILES, points, strict=True)]
        return [
            Table(f"Quantiles of P / F over {len(defined):,} pairs", ["quantile", "P / F"], cells)
        ]
    order = sorted(rows, key=lambda row: (one.ratios[row], row))
    return [
        Table(
            "Suffix and logical tokens of each comparable pair, by P / F",
            *_tokens(study, one, order),
        ),
        *_requests(study, order),
    ]


def _tokens(study: Study, one: Pairs, rows: list[int]) -> tuple[list[str], list[list[str]]]:
    table, cells = study.table, []
    fitting = study.fitting
    for row in rows:
        f, p = (table.arms[arm].suffix_tokens[row] for arm in ArmName)
        prefix = table.prefix_tokens[row]
        logical = [UNKNOWN if np.isnan(prefix) else count(int(prefix + x)) for x in (f, p)]
        logical.append(ratio(float((prefix + p) / (prefix + f)) if prefix + f > 0 else None, 2))
        marked = "yes" if fitting is not None and fitting.rows[row] else ""
        tokens = [count(int(f)), count(int(p)), ratio(float(one.ratios[row]), 2)]
        cells.append([table.task.text(row), marked, *tokens, *logical])
    logical_columns = ["F logical", "P logical", "logical P / F"]
    return ["task", "fitting", "F", "P", "P / F", *logical_columns], cells


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
        row("runs with known tokens", *(count(one.runs) for one in sets)),
        row("left out: tokens unknown", *(count(one.of_runs - one.runs) for one in sets)),
        row("F suffix tokens", *(count(u[f].suffix_tokens) for u in usage)),
        row("P suffix tokens", *(count(u[p].suffix_tokens) for u in usage)),
        row("P − F", *(signed(one.difference) for one in sets)),
        row("ratio of sums, P / F", *(ratio(one.ratio) for one in sets)),
        row("geometric mean of ratios", *(ratio(one.geometric_mean) for one in sets)),
        row("median of ratios", *(ratio(one.median) for one in sets)),
        row("pairs with more under P", *(count(one.increases) for one in sets)),
        row("pairs with fewer under P", *(count(one.decreases) for one in sets)),
        row("exact two-sided sign test, p", *(_p(one.sign_p) for one in sets)),
        row("prefix tokens, once a run", *(count(one.prefix_tokens) for one in sets)),
        row("F logical tokens", *(count(one.logical[f]) for one in sets)),
        row("P logical tokens", *(count(one.logical[p]) for one in sets)),
        row("logical ratio of sums", *(ratio(logical_ratio(one)) for one in sets)),
    ]
    return ["figure", *(one.name for one in sets)], rows


def _logical_table(sets: list[Pairs]) -> Table:
    """Ratios of single pairs with the prefix in both: over those that know it, and no others."""
    found = [one.logical_ratios for one in sets]
    rows = [
        ["left out: prefix unknown", *(f"{one.unknown:,}" for one in found)],
        ["geometric mean", *(ratio(one.geometric_mean) for one in found)],
        ["median", *(ratio(one.median) for one in found)],
        *(
            [f"quantile {q:.0%}", *(ratio(one.quantiles[place]) for one in found)]
            for place, q in enumerate(QUANTILES)
            if q != 0.5
        ),
    ]
    heads = [
        f"{one.name}, {known.known:,} of {known.known + known.unknown:,} pairs"
        for one, known in zip(sets, found, strict=True)
    ]
    columns = ["figure", *heads]
    return Table("Logical ratios of single pairs, prefix included, P / F", columns, rows)


def _p(value: float | None) -> str:
    return "< 0.01" if value is not None and value < 0.005 else ratio(value, 2)


def logical_ratio(one: Pairs) -> float | None:
    """Σ logical P over Σ logical F; unknown where a prefix is."""
    f, p = one.logical[ArmName.F], one.logical[ArmName.P]
    return None if f is None or p is None or not f else float(p / f)


def _joint_sentences(study: Study, joint: Pairs) -> list[str]:
    found = []
    if joint.largest_saving is not None:
        row = joint.largest_saving
        its_run = joint.rows & (study.table.run == study.table.run[row])
        f, p = (
            sum_known(study.table, study.table.arms[arm].suffix_tokens, its_run) or Fraction(0)
            for arm in ArmName
        )
        saved = f - p
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
    found.append(f"P − F of J costs {cost_algebra(joint)}, prices a token left open.")
    if any(any(usage.unknown.values()) for usage in joint.usage.values()):
        found.append("`unknown in n` says how many rows of a set do not know their part of a sum.")
    found += _doubtful_usage(study)
    if joint.sign_p is not None:
        found.append("The sign test describes these pairs; it is no test of a population.")
    return found


def _prefix_sentences(sets: list[Pairs]) -> list[str]:
    """Why logical ratios are not known, so that nobody takes those of suffixes for them."""
    lacking = [
        f"{found.unknown:,} of {found.known + found.unknown:,} pairs ({one.name})"
        for one in sets
        if (found := one.logical_ratios).unknown
    ]
    if not lacking:
        return []
    return [
        "Logical ratios of single pairs need each pair's own prefix tokens, which "
        f"{' and '.join(lacking)} do not have: theirs are unknown and in no figure. No total of "
        "prefixes and no ratio of suffixes stands in for them."
    ]


def _doubtful_usage(study: Study) -> list[str]:
    """What the whole frame's totals do not hold, or hold though it contradicts itself."""
    arms, rows = study.table.arms.values(), study.whole.rows
    flagged, uncounted = (
        int(np.nansum([getattr(arm, name)[rows] for arm in arms]))
        for name in ("flagged", "uncounted")
    )
    return [
        f"{number:,} {text}"
        for number, text in (
            (flagged, "suffix requests of the frame report a usage that contradicts itself."),
            (uncounted, "dispatches of the frame may have been billed and are in no total."),
        )
        if number
    ]


def _without_largest(study: Study, joint: Pairs, row: int) -> str:
    """The logical ratio without one pair; its own prefix may be known only as part of a total."""
    f, p = joint.logical[ArmName.F], joint.logical[ArmName.P]
    total = joint.prefix_tokens
    if f is None or p is None or total is None:
        return ""
    its_run = joint.rows & (study.table.run == study.table.run[row])
    row_f, row_p = (
        float(sum_known(study.table, study.table.arms[arm].suffix_tokens, its_run) or 0)
        for arm in ArmName
    )
    f_rest, p_rest = float(f) - row_f, float(p) - row_p

    def rest(prefix: float) -> str:
        return ratio((p_rest - prefix) / (f_rest - prefix)) if f_rest > prefix else UNKNOWN

    own = sum_known(study.table, study.table.prefix_tokens, its_run)
    if own is not None:
        return f"Without it the logical ratio of sums is {rest(float(own))}."
    mean = total / joint.runs * counted(study.table, its_run)
    return (
        f"Without it the logical ratio of sums lies between {rest(0)} and {rest(float(total))}, "
        "whatever its share of the prefix total; at the mean prefix it is "
        f"{rest(float(mean))}."
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


def _by_first_arm(study: Study, joint: Pairs) -> Table:
    """The arm that goes second may meet a warm cache: the ratio by order, of the same rows."""
    rows = []
    for arm in ArmName:
        went = study.table.p_first if arm is ArmName.P else ~study.table.p_first
        one = pairs(study.table, f"{arm} first", joint.rows & went)
        sums = [count(one.usage[name].suffix_tokens) for name in ArmName]
        rows.append([one.name, count(one.runs), *sums, ratio(one.ratio)])
    return Table("J by the arm that went first, suffix tokens", ["", "N", "F", "P", "P / F"], rows)


def _usage_cells(study: Study, usage: Usage) -> list[str]:
    mean = usage.tokens_per_request
    sums = {name: getattr(usage, name) for name in usage.unknown}
    requests, uncached, cached, output = (
        count(sums[name]) if sums[name] is not None else f"{UNKNOWN} in {usage.unknown[name]:,}"
        for name in ("suffix_requests", "uncached", "cached", "output")
    )
    cells = [requests, UNKNOWN if mean is None else f"{mean:,.1f}", uncached, cached, output]
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
