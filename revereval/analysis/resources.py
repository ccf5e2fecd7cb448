"""Conditional resources: what the pairs cost whose outcomes are known, after quality."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from revereval.analysis.boundaries import ARMS, Boundaries, Flags, Floats, Success
from revereval.analysis.bounds import total
from revereval.analysis.frames import Frame, counted
from revereval.errors import InputError
from revereval.terms import ArmName

Known = Fraction | None
"""A sum over runs; None where a part of it is unknown, never less than the truth silently."""


def sum_known(table: Boundaries, values: Floats, rows: Flags) -> Known:
    """The sum over rows in runs: a repeat is a part of its run, as in every count."""
    chosen = values[rows]
    if np.isnan(chosen).any():
        return None
    return Fraction(int((chosen.astype(np.int64) * table.weights[rows]).sum()), table.scale)


def per_run(table: Boundaries, values: Floats, rows: Flags) -> Floats:
    """Each run's mean over its rows, in order of the runs' numbers."""
    _, run, sizes = np.unique(table.run[rows], return_inverse=True, return_counts=True)
    means: Floats = np.bincount(run, values[rows], minlength=len(sizes)) / sizes
    return means


@dataclass(frozen=True)
class Usage:
    """Sums over the suffix requests of one arm; None where a row does not know its part."""

    suffix_tokens: Known
    suffix_requests: Known
    uncached: Known
    cached: Known
    output: Known
    unknown: Mapping[str, int]
    """Rows that do not know their part, by the name of the sum."""

    @property
    def tokens_per_request(self) -> float | None:
        if not self.suffix_requests or self.suffix_tokens is None:
            return None
        return float(self.suffix_tokens / self.suffix_requests)


@dataclass(frozen=True)
class LeftOut:
    """A ratio of sums without one run, for the runs that move it most."""

    row: int
    """Its first row."""
    ratio: float


QUANTILES: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def quantiles(values: Floats) -> Floats:
    """QUANTILES of known values, NaN without any; linear between the sorted values.

    Source: Hyndman and Fan, Sample Quantiles in Statistical Packages (1996), definition 7.
    """
    return np.quantile(values, QUANTILES) if len(values) else np.full(len(QUANTILES), np.nan)


@dataclass(frozen=True)
class LogicalRatios:
    """(prefix + P) / (prefix + F) of each run that knows its prefix; the others are in no figure.

    A run with repeats counts once: its prefix, and the means of its two suffixes.
    """

    known: int
    """Runs with a known prefix: what the figures are over."""
    unknown: int
    geometric_mean: float | None
    median: float | None
    quantiles: tuple[float, ...]
    """At QUANTILES, NaN where nothing is known."""


@dataclass(frozen=True)
class Pairs:
    """Both arms' cost over a set of rows whose two suffix totals are known, run by run.

    A run with repeats counts once, with its means: repeats are not independent pairs.
    """

    name: str
    of_runs: Fraction
    """Of the whole set."""
    runs: Fraction
    """With known tokens: what the sums are over."""
    rows: Flags
    unknown_tokens: int
    """Rows of the set left out because a suffix total is unknown."""
    usage: Mapping[ArmName, Usage]
    difference: Fraction
    """P minus F, suffix tokens."""
    ratio: float | None
    """Σ P / Σ F, suffix tokens."""
    ratios: Floats
    """P / F of each row, shape (N,), NaN outside `rows` and where F is 0."""
    geometric_mean: float | None
    median: float | None
    logical_ratios: LogicalRatios
    increases: int
    """Runs with more tokens under P."""
    decreases: int
    sign_p: float | None
    """Exact two-sided sign test over tasks that differ, each by the sum of its runs: a
    description, not a conclusion."""
    largest_saving: int | None
    """The first row of the run with the largest F − P, if any saves."""
    without_each: tuple[LeftOut, ...]
    """The lowest and the highest ratio of sums that leaving out one run gives."""
    prefix_tokens: Known
    logical: Mapping[ArmName, Known]
    """Prefix once a run plus suffix; unknown where a prefix is."""


def pairs(table: Boundaries, name: str, rows: Flags, prefix_total: int | None = None) -> Pairs:
    """Summaries over rows; prefix_total stands for a sum that the rows themselves do not know."""
    f, p = (table.arms[arm].suffix_tokens for arm in ARMS)
    known = rows & ~np.isnan(f) & ~np.isnan(p)
    of_run = [per_run(table, values, known) for values in (f, p)]  # means of its repeats
    ratios = np.full(len(of_run[0]), np.nan)
    np.divide(of_run[1], of_run[0], out=ratios, where=of_run[0] > 0)
    usage = {arm: _usage(table, arm, known) for arm in ARMS}
    f_sum, p_sum = (usage[arm].suffix_tokens or Fraction(0) for arm in ARMS)
    increases, decreases = (int((sign * (of_run[1] - of_run[0]) > 0).sum()) for sign in (1, -1))
    prefix = _prefix(table, name, rows, known, prefix_total)
    defined = ratios[~np.isnan(ratios)]
    return Pairs(
        name=name,
        of_runs=counted(table, rows),
        runs=counted(table, known),
        rows=known,
        unknown_tokens=int((rows & ~known).sum()),
        usage=usage,
        difference=p_sum - f_sum,
        ratio=float(p_sum / f_sum) if f_sum else None,
        ratios=np.divide(p, f, out=np.full(len(table), np.nan), where=known & (f > 0)),
        geometric_mean=_geometric_mean(defined),
        median=float(np.median(defined)) if len(defined) else None,
        logical_ratios=_logical_ratios(per_run(table, table.prefix_tokens, known), *of_run),
        increases=increases,
        decreases=decreases,
        sign_p=sign_test(*_signs(table, known, of_run[1] - of_run[0])),
        largest_saving=_first_rows(table, known)[np.argmax(of_run[0] - of_run[1])]
        if decreases
        else None,
        without_each=_without_each(table, known, f, p),
        prefix_tokens=prefix,
        logical={
            arm: None if prefix is None else prefix + (usage[arm].suffix_tokens or 0)
            for arm in ARMS
        },
    )


def _prefix(table: Boundaries, name: str, rows: Flags, known: Flags, total: int | None) -> Known:
    """The rows' own sum, or the total that is given for it. Raises InputError where both differ."""
    own = sum_known(table, table.prefix_tokens, known) if known.any() else None
    if total is None or not known.any():
        return own
    told = known & ~np.isnan(table.prefix_tokens)
    least = sum_known(table, table.prefix_tokens, told) or Fraction(0)
    if (rows & ~known).any() or total < least or own not in (None, Fraction(total)):
        problem = f"{total} is not the prefix of the {name} rows, of which {least} is known"
        raise InputError(table.source, "prefix_tokens", problem)
    return Fraction(total)


def _geometric_mean(ratios: Floats) -> float | None:
    if not len(ratios):
        return None
    return float(np.exp(np.log(ratios).mean())) if (ratios > 0).all() else 0.0


def _signs(table: Boundaries, rows: Flags, differences: Floats) -> tuple[int, int]:
    """Tasks with more and with fewer tokens under P: several runs of one are no further tasks.

    differences: of each run, in order of the runs' numbers.
    """
    codes = table.task.codes[_first_rows(table, rows)]
    of_task = np.bincount(codes, differences, minlength=1)
    return int((of_task > 0).sum()), int((of_task < 0).sum())


def _logical_ratios(prefix: Floats, f: Floats, p: Floats) -> LogicalRatios:
    ratios = np.full(len(prefix), np.nan)
    np.divide(prefix + p, prefix + f, out=ratios, where=prefix + f > 0)
    defined = ratios[~np.isnan(ratios)]
    return LogicalRatios(
        known=len(defined),
        unknown=int(np.isnan(prefix).sum()),
        geometric_mean=_geometric_mean(defined),
        median=float(np.median(defined)) if len(defined) else None,
        quantiles=tuple(map(float, quantiles(defined))),
    )


def _usage(table: Boundaries, name: ArmName, rows: Flags) -> Usage:
    arm = table.arms[name]
    columns = {
        "suffix_tokens": arm.suffix_tokens,
        "suffix_requests": arm.suffix_requests,
        "uncached": arm.uncached,
        "cached": arm.cached,
        "output": arm.output,
    }
    sums = {name: sum_known(table, column, rows) for name, column in columns.items()}
    unknown = {name: int(np.isnan(column[rows]).sum()) for name, column in columns.items()}
    return Usage(**sums, unknown=unknown)


def _first_rows(table: Boundaries, rows: Flags) -> list[int]:
    """The first row of each run, in order of the runs' numbers."""
    index = np.flatnonzero(rows)
    _, first = np.unique(table.run[index], return_index=True)
    return [int(row) for row in index[first]]


def _without_each(table: Boundaries, rows: Flags, f: Floats, p: Floats) -> tuple[LeftOut, ...]:
    _, run = np.unique(table.run[rows], return_inverse=True)
    shares = [np.bincount(run, (x * table.weights)[rows]) for x in (f, p)]
    rest = [share.sum() - share for share in shares]
    if len(rest[0]) < 2 or not (rest[0] > 0).all():
        return ()
    ratios, first = rest[1] / rest[0], _first_rows(table, rows)
    ends = (int(np.argmin(ratios)), int(np.argmax(ratios)))
    return tuple(LeftOut(first[end], float(ratios[end])) for end in ends)


def sign_test(increases: int, decreases: int) -> float | None:
    """Exact two-sided p of a fair coin over the rows that differ; None when none does.

    Computed with whole numbers up to 1,000 rows, by the normal's log-gamma sums beyond.
    """
    n, k = increases + decreases, min(increases, decreases)
    if n == 0:
        return None
    if n <= 1000:
        tail = sum(math.comb(n, i) for i in range(k + 1))
        return float(min(Fraction(1), Fraction(2 * tail, 2**n)))
    terms = np.array(
        [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(k + 1)]
    )
    return float(min(1.0, 2 * np.exp(terms - n * math.log(2)).sum()))


def joint_rows(outcomes: Success, frame: Frame) -> Flags:
    """J of the frame."""
    rows: Flags = frame.rows & outcomes.joint
    return rows


def comparable_rows(outcomes: Success, frame: Frame) -> Flags:
    """Rows of the frame with both outcomes known."""
    rows: Flags = frame.rows & outcomes.known
    return rows


@dataclass(frozen=True)
class Expenditure:
    """What one policy costs on the comparable runs of a frame."""

    policy: str
    runs: Fraction
    failures: Fraction
    suffix_tokens: Known


def expenditure(
    table: Boundaries, outcomes: Success, rows: Flags, chosen: Flags, policy: str
) -> Expenditure:
    """Failures and suffix tokens when P runs on the chosen rows and F on the others."""
    failed = np.where(chosen, outcomes.p_low == 0, outcomes.f_low == 0).astype(np.int64)
    f, p = (table.arms[arm].suffix_tokens for arm in ARMS)
    return Expenditure(
        policy=policy,
        runs=counted(table, rows),
        failures=total(table, failed, rows),
        suffix_tokens=sum_known(table, np.where(chosen, p, f), rows),
    )


@dataclass(frozen=True)
class Prices:
    """Price of a million tokens: uncached input, cached input, output."""

    uncached: Fraction
    cached: Fraction
    output: Fraction


def priced(usage: Usage, prices: Prices) -> Fraction | None:
    """The cost of an arm's suffix requests; None where U, C or O is unknown."""
    if usage.uncached is None or usage.cached is None or usage.output is None:
        return None
    cost = usage.uncached * prices.uncached + usage.cached * prices.cached
    return (cost + usage.output * prices.output) / 1_000_000
