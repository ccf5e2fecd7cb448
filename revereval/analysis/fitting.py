"""Fitting a threshold rule, with its whole trace, and what hindsight would have chosen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from revereval.analysis.boundaries import FEATURES, Boundaries, Flags, Floats, Ints, Success
from revereval.analysis.frames import Frame
from revereval.analysis.resources import Expenditure, comparable_rows, expenditure
from revereval.analysis.selector import Rule, passes
from revereval.errors import InputError

NEAR: Final = 1e-9
"""Relative distance within which two objectives are compared without rounding."""
MOST_STEPS: Final = 10**9


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
    costs = _Costs(table, outcomes, frame)
    distinct = sum(len(np.unique(table.features[name][frame.rows])) for name in features)
    if (2 + 2 * distinct) * int(frame.rows.sum()) > MOST_STEPS // 10:
        problem = f"{2 + 2 * distinct:,} candidates on {int(frame.rows.sum()):,} rows: too many"
        raise InputError(table.source, "fitting", problem)
    trace = [
        costs.candidate(index, rule)
        for index, rule in enumerate(candidates(table, frame, features))
    ]
    allowed = [one for one in trace if not one.rejected]
    floor = min(one.objective for one in allowed) * (1 + NEAR)
    # doubles only find who comes near; among these the exact objectives decide
    exact = {one.index: costs.objective(one.rule) for one in allowed if one.objective <= floor}
    least = min(exact.values())
    ties = tuple(one for one in allowed if exact.get(one.index) == least)
    return Fit(tuple(trace), ties[0], ties, frame.rows)


class _Costs:
    """The fitting rows as compact arrays, and what a rule would have cost on them."""

    def __init__(self, table: Boundaries, outcomes: Success, frame: Frame) -> None:
        rows = frame.rows
        self._table, self._rows = table, rows
        self._full, self._projected = (
            (
                _known(table, frame, table.prefix_tokens, "prefix_tokens")
                + _known(table, frame, arm.suffix_tokens, f"{name.lower()}_suffix_tokens")
            )[rows]
            for name, arm in table.arms.items()
        )
        if not (self._full > 0).all():
            raise InputError(table.source, "f_suffix_tokens", "a fit needs more than 0 tokens")
        self._harm = (outcomes.f_low[rows] == 1) & (outcomes.p_high[rows] == 0)
        self._group = table.group.codes[rows]
        self._run_weight = table.weights[rows]
        self._runs_of_task = _runs_of_task(table, rows)
        self._weight = self._run_weight / self._runs_of_task

    def candidate(self, index: int, rule: Rule) -> Candidate:
        chosen = self._chosen(rule)
        cost = np.where(chosen, self._projected, self._full)
        sums = np.bincount(self._group, self._weight * cost / self._full)
        sizes = np.bincount(self._group, self._weight)
        totals = (self._run_weight * cost).sum() / (self._run_weight * self._full).sum()
        return Candidate(
            index=index,
            rule=rule,
            objective=float((sums[sizes > 0] / sizes[sizes > 0]).mean()),
            totals_ratio=float(totals),
            rejected=bool((chosen & self._harm).any()),
        )

    def objective(self, rule: Rule) -> Fraction:
        """The objective without rounding.

        A group counts once, however many siblings it has, and a task once, however many runs.
        """
        sums: dict[int, Fraction] = {}
        sizes: dict[int, Fraction] = {}
        arms = zip(self._chosen(rule), self._full, self._projected, strict=True)
        weights = map(Fraction, self._run_weight.tolist(), self._runs_of_task.tolist())
        for (chosen, full, projected), group, weight in zip(
            arms, self._group.tolist(), weights, strict=True
        ):
            ratio = Fraction(int(projected if chosen else full), int(full))
            sums[group] = sums.get(group, Fraction(0)) + weight * ratio
            sizes[group] = sizes.get(group, Fraction(0)) + weight
        return sum((sums[group] / sizes[group] for group in sums), Fraction(0)) / len(sums)

    def _chosen(self, rule: Rule) -> Flags:
        if rule.feature is None:
            return np.full(len(self._full), rule.comparison == "P", np.bool_)
        values = self._table.features[rule.feature][self._rows]
        return passes(values, rule.comparison, rule.threshold)


def _runs_of_task(table: Boundaries, rows: Flags) -> Ints:
    """For each of the rows, how many runs its task has among them."""
    index = np.flatnonzero(rows)
    _, first = np.unique(table.run[index], return_index=True)
    runs = np.bincount(table.task.codes[index[first]], minlength=1)
    return runs[table.task.codes[index]].astype(np.int64)


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
    rule = Rule(feature, ">=", _Thresholds(table, outcomes, rows, feature).best(None))
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

    Raises InputError as `hindsight`, for fewer than two source groups, and where the folds times
    the thresholds pass MOST_STEPS.
    """
    rows = comparable_rows(outcomes, frame)
    thresholds = _Thresholds(table, outcomes, rows, feature)
    groups = np.unique(table.group.codes[rows])
    if len(groups) < 2:
        raise InputError(table.source, "source_group", "leaving one out needs at least two")
    if len(groups) * thresholds.count > MOST_STEPS:
        problem = f"leaving one out of {len(groups)} is too much work on so many values"
        raise InputError(table.source, "source_group", problem)
    chosen = np.zeros(len(table), np.bool_)
    values: Counter[float] = Counter()
    places = np.flatnonzero(rows)
    for group in groups:
        best = thresholds.best(int(group))
        values[best] += 1
        held = places[thresholds.rows_of(int(group))]
        chosen[held] = passes(table.features[feature][held], ">=", best)
    ordered = tuple(sorted(values.items(), key=lambda item: (-item[1], item[0])))
    cost = expenditure(table, outcomes, rows, chosen, "leave one source group out")
    return Folds(ordered, len(groups), cost)


class _Thresholds:
    """Failures and tokens of `feature >= value` at every value at once, P on the tail.

    Sorted once; leaving a source group out takes its rows' share off again.
    """

    def __init__(self, table: Boundaries, outcomes: Success, rows: Flags, feature: str) -> None:
        frame = Frame("comparable runs", rows, 0)
        if not rows.any():
            raise InputError(table.source, frame.name, "none: there is nothing to choose from")
        values = _known(table, frame, table.features[feature], feature)[rows]
        f, p = (
            _known(table, frame, arm.suffix_tokens, f"{name.lower()}_suffix_tokens")[rows]
            for name, arm in table.arms.items()
        )
        weight = table.weights[rows]
        lows = (outcomes.f_low[rows], outcomes.p_low[rows])
        # rows of (failures, tokens), whole numbers all of them
        self._head = np.stack([weight * (lows[0] == 0), weight * f.astype(np.int64)])
        self._tail = np.stack([weight * (lows[1] == 0), weight * p.astype(np.int64)])
        self._values, self._place = np.unique(values, return_inverse=True)
        self._total = self._sums(np.arange(len(values)))
        self._sizes = np.bincount(self._place)
        order = np.argsort(table.group.codes[rows], kind="stable")
        codes, starts = np.unique(table.group.codes[rows][order], return_index=True)
        self._of_group = dict(zip(codes.tolist(), np.split(order, starts[1:]), strict=True))

    @property
    def count(self) -> int:
        return len(self._values)

    def rows_of(self, group: int) -> Ints:
        """The places of a group's rows among the comparable ones."""
        rows: Ints = self._of_group[group]
        return rows

    def best(self, without: int | None) -> float:
        """Fewest failures, then tokens, then the smallest value, without one group or with all."""
        failures, tokens = self._total
        sizes = self._sizes
        if without is not None:
            out = self._of_group[without]
            failures, tokens = self._total - self._sums(out)
            sizes = sizes - np.bincount(self._place[out], minlength=self.count)
        present = np.flatnonzero(sizes)
        fewest = present[failures[present] == failures[present].min()]
        return float(self._values[fewest[np.argmin(tokens[fewest])]])

    def _sums(self, rows: Ints) -> Ints:
        """At each value: F's failures and tokens of the rows below it, P's of the others."""
        shape = (2, self.count + 1)
        below, above = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for part in range(2):
            np.add.at(below[part], self._place[rows] + 1, self._head[part, rows])
            np.add.at(above[part], self._place[rows], self._tail[part, rows])
        from_here = above[:, ::-1].cumsum(1)[:, ::-1]
        sums: Ints = (below.cumsum(1) + from_here)[:, : self.count]
        return sums
