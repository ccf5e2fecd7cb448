"""Fitting a threshold rule, with its whole trace, and what hindsight would have chosen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from revereval.analysis.boundaries import ARMS, FEATURES, Boundaries, Flags, Floats, Success
from revereval.analysis.frames import Frame
from revereval.analysis.resources import Expenditure, comparable_rows, expenditure
from revereval.analysis.selector import Rule, passes, selection
from revereval.errors import InputError


@dataclass(frozen=True)
class Candidate:
    """One line of the fitter's trace."""

    index: int
    rule: Rule
    objective: float
    """Mean over source groups of the within-group mean of selected over full logical tokens."""
    totals_ratio: float
    """Selected over full logical tokens, sums: shown beside the objective, not minimised."""
    rejected: bool
    """It has observed selected harm on the fitting rows."""


@dataclass(frozen=True)
class Fit:
    """The whole trace, in enumeration order; the first minimum among those not rejected wins."""

    trace: tuple[Candidate, ...]
    best: Candidate
    ties: tuple[Candidate, ...]
    """Every candidate at the minimum, the winner included."""
    rows: Flags


def fit(
    table: Boundaries, outcomes: Success, frame: Frame, features: Sequence[str] = FEATURES
) -> Fit:
    """Choose among two constants and thresholds at each distinct value of the features in order.

    Logical tokens of a row are its prefix once plus the suffix of the arm that runs. Raises
    InputError, naming the row, for a feature, a prefix or a suffix total that is unknown.
    Source: the papers' fitter; its trace on four rows has 36 candidates.
    """
    full, projected = (
        _known(table, frame, table.prefix_tokens, "prefix_tokens")
        + _known(table, frame, table.arms[arm].suffix_tokens, f"{arm.lower()}_suffix_tokens")
        for arm in ARMS
    )
    trace = []
    for index, rule in enumerate(candidates(table, frame, features)):
        chosen = selection(table, outcomes, rule, frame)
        cost = np.where(chosen.chosen, projected, full)
        trace.append(
            Candidate(
                index=index,
                rule=rule,
                objective=_grouped_mean(table, frame, cost / full),
                totals_ratio=float(cost[frame.rows].sum() / full[frame.rows].sum()),
                rejected=bool(chosen.harmed.any()),
            )
        )
    least = min(one.objective for one in trace if not one.rejected)
    ties = tuple(one for one in trace if not one.rejected and one.objective == least)
    return Fit(tuple(trace), ties[0], ties, frame.rows)


def candidates(table: Boundaries, frame: Frame, features: Sequence[str]) -> Iterator[Rule]:
    """The enumeration: both constants, then ≥ and ≤ at each value, smallest first."""
    yield Rule(None, "F")
    yield Rule(None, "P")
    for feature in features:
        values = _known(table, frame, table.features[feature], feature)
        for value in np.unique(values[frame.rows]):
            yield Rule(feature, ">=", float(value))
            yield Rule(feature, "<=", float(value))


def _known(table: Boundaries, frame: Frame, values: Floats, column: str) -> Floats:
    unknown = frame.rows & np.isnan(values)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InputError(
            table.source, f"{table.name(row)}: {column}", "unknown, and a fit needs it"
        )
    return values


def _grouped_mean(table: Boundaries, frame: Frame, values: Floats) -> float:
    """The mean of the groups' means: a group counts once, however many siblings it has."""
    groups = table.group.codes[frame.rows]
    weights = table.weights[frame.rows]
    sums = np.bincount(groups, weights * values[frame.rows])
    sizes = np.bincount(groups, weights)
    return float((sums[sizes > 0] / sizes[sizes > 0]).mean())


@dataclass(frozen=True)
class Hindsight:
    """The threshold with the fewest failures, then the fewest tokens, then the smallest value."""

    rule: Rule
    cost: Expenditure


def hindsight(table: Boundaries, outcomes: Success, frame: Frame, feature: str) -> Hindsight:
    """The best `feature >= value` on the comparable runs of a frame: chosen after seeing them.

    Raises InputError where the frame has none, or one with unknown tokens or feature.
    """
    rows = comparable_rows(outcomes, frame)
    rule = _best(table, outcomes, rows, feature)
    chosen = rows & passes(table.features[feature], rule.comparison, rule.threshold)
    return Hindsight(rule, expenditure(table, outcomes, rows, chosen, str(rule)))


@dataclass(frozen=True)
class Folds:
    """Leave one source group out: a threshold from the others, applied to it."""

    thresholds: tuple[tuple[float, int], ...]
    """Each chosen value with its number of folds, the commonest first."""
    folds: int
    held_out: Expenditure


def leave_one_source_out(table: Boundaries, outcomes: Success, frame: Frame, feature: str) -> Folds:
    """Failures and tokens held out, over the source groups of the comparable runs.

    Raises InputError as `hindsight`, and for fewer than two source groups.
    """
    rows = comparable_rows(outcomes, frame)
    groups = np.unique(table.group.codes[rows])
    if len(groups) < 2:
        raise InputError(table.source, "source_group", "leaving one out needs at least two")
    chosen = np.zeros(len(table), np.bool_)
    values: Counter[float] = Counter()
    for group in groups:
        of_group = table.group.codes == group
        rule = _best(table, outcomes, rows & ~of_group, feature)
        values[rule.threshold] += 1
        chosen |= rows & of_group & passes(table.features[feature], ">=", rule.threshold)
    ordered = tuple(sorted(values.items(), key=lambda item: (-item[1], item[0])))
    cost = expenditure(table, outcomes, rows, chosen, "leave one source group out")
    return Folds(ordered, len(groups), cost)


def _best(table: Boundaries, outcomes: Success, rows: Flags, feature: str) -> Rule:
    """All thresholds in one pass: sorted by the feature, P runs on the tail."""
    frame = Frame("comparable runs", rows, 0)
    if not rows.any():
        raise InputError(table.source, frame.name, "none: there is nothing to choose from")
    values = _known(table, frame, table.features[feature], feature)[rows]
    f_tokens, p_tokens = (
        _known(table, frame, table.arms[arm].suffix_tokens, f"{arm.lower()}_suffix_tokens")[rows]
        for arm in ARMS
    )
    weights = table.weights[rows]
    order = np.argsort(values, kind="stable")
    failed = [weights * (low[rows] == 0) for low in (outcomes.f_low, outcomes.p_low)]
    failures = _head_and_tail(failed[0][order], failed[1][order])
    tokens = _head_and_tail(f_tokens[order], p_tokens[order])
    ordered = values[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    ranked = np.lexsort((ordered[starts], tokens[starts], failures[starts]))
    return Rule(feature, ">=", float(ordered[starts[ranked[0]]]))


def _head_and_tail(head: Floats, tail: Floats) -> Floats:
    """At each place i: the sum of head before i plus the sum of tail from i on."""
    before = np.r_[0, np.cumsum(head)[:-1]]
    after = np.cumsum(tail[::-1])[::-1]
    total: Floats = before + after
    return total
