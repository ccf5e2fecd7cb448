"""Seeded simulation: how a completed-pairs summary misleads, and what the bounds still hold."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from revereval.errors import InputError

BLOCK: Final = 2_000_000
"""Draws held in memory at a time."""


@dataclass(frozen=True)
class World:
    """What the simulated pairs are like; all but `pairs` are probabilities or shifts of them."""

    pairs: int
    """Boundaries of one campaign."""
    cap_rate: float
    """An arm reaches its cap with this probability, F in the first period."""
    order_effect: float
    """Added to the cap probability of the arm that goes second."""
    projection_effect: float
    """Added to the cap probability of P: positive is harm."""
    accuracy: float
    """Probability that an answer is correct, in either arm."""
    difficulty: float
    """Half-width of the tasks' own shift of the cap probability, the same in both arms: what
    makes the arms of one pair fail together."""


@dataclass(frozen=True)
class Simulated:
    """Over all simulated campaigns of one world."""

    world: World
    campaigns: int
    true_mean: float
    """Mean of the whole-frame P − F success difference, per pair."""
    completed_mean: float | None
    """Mean of what completed pairs show; None if no campaign had one."""
    wrong_sign: float
    """Share of campaigns whose completed pairs show the opposite sign of their truth."""
    hidden: float
    """Share whose completed pairs tie, or are none, while the truth is not 0."""
    mean_width: float
    """Of the bounds, per pair."""
    contained: int
    """Campaigns whose bounds contain the truth: all of them, always."""


def simulate(world: World, campaigns: int, seed: int) -> Simulated:
    """Draw campaigns, apply the historical stopping rule, and compare with what really happened.

    Both arms' outcomes are drawn in the order in which they would run, so that the truth is that
    of a controller that always runs the companion. Raises InputError for values out of range.
    """
    _check(world, campaigns)
    random = np.random.default_rng(seed)
    block = max(1, BLOCK // world.pairs)
    parts = [
        _campaigns(world, min(block, campaigns - start), random)
        for start in range(0, campaigns, block)
    ]
    truth, completed, answered, low, high = (
        np.concatenate([part[i] for part in parts]) for i in range(5)
    )
    has = answered > 0
    return Simulated(
        world=world,
        campaigns=campaigns,
        true_mean=float(truth.mean() / world.pairs),
        completed_mean=float((completed[has] / answered[has]).mean()) if has.any() else None,
        wrong_sign=float((np.sign(completed) * np.sign(truth) < 0).mean()),
        hidden=float(((completed == 0) & (truth != 0)).mean()),
        mean_width=float((high - low).mean() / world.pairs),
        contained=int(((low <= truth) & (truth <= high)).sum()),
    )


def _check(world: World, campaigns: int) -> None:
    shares = {"cap_rate": world.cap_rate, "accuracy": world.accuracy}
    shares["difficulty"] = world.difficulty
    shifts = {"order_effect": world.order_effect, "projection_effect": world.projection_effect}
    for name, value in shares.items():
        if not 0 <= value <= 1:
            raise InputError("simulation", name, "allowed: 0 to 1")
    for name, value in shifts.items():
        if not -1 <= value <= 1:
            raise InputError("simulation", name, "allowed: -1 to 1")
    if not (1 <= world.pairs <= BLOCK and 1 <= campaigns <= 1_000_000):
        raise InputError(
            "simulation", "pairs", f"allowed: 1 to {BLOCK} pairs, 1 to 1000000 campaigns"
        )


Counts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _campaigns(world: World, number: int, random: np.random.Generator) -> Counts:
    """Sums over the pairs of each campaign: truth, completed difference, completed, low, high."""
    shape = (number, world.pairs)
    p_first = np.arange(world.pairs) % 2 == 1  # balanced, as the allocation rule is
    task = random.uniform(-world.difficulty, world.difficulty, shape)
    capped, correct = [], []
    for is_p in (False, True):
        second = p_first != is_p
        chance = (
            world.cap_rate + task + world.projection_effect * is_p + world.order_effect * second
        )
        capped.append(random.random(shape) < np.clip(chance, 0, 1))
        correct.append(random.random(shape) < world.accuracy)
    f, p = (hit & ~stuck for hit, stuck in zip(correct, capped, strict=True))
    first_capped = np.where(p_first, capped[1], capped[0])
    f_known, p_known = ~(first_capped & p_first), ~(first_capped & ~p_first)
    both = ~capped[0] & ~capped[1]
    difference = p.astype(np.int64) - f
    low = (p & p_known).astype(np.int64) - (f | ~f_known)
    high = (p | ~p_known).astype(np.int64) - (f & f_known)
    return (
        difference.sum(1),
        (difference * both).sum(1),
        both.sum(1),
        low.sum(1),
        high.sum(1),
    )
