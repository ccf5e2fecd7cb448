"""Repeats of one tape: variation within a prefix apart from variation between runs."""

from dataclasses import dataclass

import numpy as np

from revereval.analysis.boundaries import ARMS, Boundaries, Flags, Floats, Success
from revereval.analysis.frames import Frame
from revereval.terms import ArmName


@dataclass(frozen=True)
class Components:
    """Variance of one figure, split; the unit of independence is the run, never the repeat."""

    figure: str
    runs: int
    """Runs with at least two repeats whose figure is known."""
    repeats: int
    """Their repeats."""
    within: float | None
    """Pooled variance between the repeats of one tape, n − 1 in each run."""
    between: float | None
    """Variance of the runs' own means, what `within` adds to it taken off; below 0 it is 0."""


def components(table: Boundaries, outcomes: Success, frame: Frame) -> list[Components]:
    """Success of each arm, its difference P − F, and the logarithm of suffix P / F.

    One-way random effects by moments: E[MSW] = σ²w, E[MSB] = σ²w + n₀σ²b with the runs' effective
    number of repeats n₀ (Searle, Casella and McCulloch, Variance Components, 1992, §3.6).
    """
    f, p = (table.arms[arm].suffix_tokens for arm in ARMS)
    both = np.full(len(table), np.nan)
    np.divide(p, f, out=both, where=(f > 0) & (p > 0))
    f_known, p_known = outcomes.f_low == outcomes.f_high, outcomes.p_low == outcomes.p_high
    figures: dict[str, tuple[Floats, Flags]] = {
        f"success of {ArmName.F}": (outcomes.f_low.astype(float), f_known),
        f"success of {ArmName.P}": (outcomes.p_low.astype(float), p_known),
        "success, P − F": ((outcomes.p_low - outcomes.f_low).astype(float), f_known & p_known),
        "log of suffix tokens, P / F": (np.log(both), ~np.isnan(both)),
    }
    return [
        _split(table, name, values, frame.rows & known) for name, (values, known) in figures.items()
    ]


def _split(table: Boundaries, name: str, values: Floats, rows: Flags) -> Components:
    _, run, sizes = np.unique(table.run[rows], return_inverse=True, return_counts=True)
    repeated = sizes[run] > 1
    kept = values[rows][repeated]
    _, run, sizes = np.unique(run[repeated], return_inverse=True, return_counts=True)
    runs, repeats = len(sizes), int(sizes.sum())
    if not runs:
        return Components(name, 0, 0, None, None)
    means = np.bincount(run, kept) / sizes
    within = float(((kept - means[run]) ** 2).sum() / (repeats - runs))
    if runs < 2:
        return Components(name, runs, repeats, within, None)
    effective = (repeats - (sizes**2).sum() / repeats) / (runs - 1)
    mean_square = float((sizes * (means - kept.mean()) ** 2).sum() / (runs - 1))
    return Components(
        name, runs, repeats, within, max(0.0, float((mean_square - within) / effective))
    )
