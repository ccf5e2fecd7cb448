"""The sections on what could mislead: censoring, its simulation, and repeats of one tape."""

from collections.abc import Sequence

from revereval.analysis.censoring import censored
from revereval.analysis.simulation import Simulated, World, simulate
from revereval.analysis.study import Study, tasks_of
from revereval.analysis.variation import components
from revereval.report.facts import facts
from revereval.report.quality import interval_text, means_text
from revereval.report.section import Section, Table, count, names, ratio, share, signed


def censoring_section(study: Study) -> Section:
    """The historical stopping rule applied to the rows whose truth is known."""
    found = censored(study.table, study.whole, study.question.contract, study.question.definition)
    runs = found.frame.runs
    truth, bounds, case = found.truth.difference, found.bounds.difference, found.completed
    completed = case.p_correct - case.f_correct
    rows = [
        [
            "truth: both arms always run",
            count(runs),
            signed(truth.low),
            share(float(truth.low / runs)),
        ],
        [
            "completed pairs under the historical rule",
            count(case.runs),
            signed(completed),
            share(float(completed / case.runs)) if case.runs else "none",
        ],
        [
            "bounds under the historical rule",
            count(runs),
            interval_text(bounds),
            means_text(bounds, runs),
        ],
    ]
    skipped = tasks_of(study.table, found.unexecuted)
    return Section(
        "censoring",
        "What stopping after a capped first arm would have reported",
        [
            f"{count(runs)} of {count(study.whole.runs)} runs are complete; the study leaves the "
            f"other {count(found.left_out)} out of both sides.",
            f"Companions that the historical rule would not have run: {names(skipped)}.",
        ],
        [Table("P minus F in successes", ["summary", "N", "P − F", "a run"], rows)],
        ["The complete runs are themselves selected where the record was already censored."],
        lambda: facts(found, study.table),
    )


def simulation_section(worlds: Sequence[Simulated], seed: int) -> Section:
    """How often completed pairs mislead, and that the bounds hold the truth."""
    rows = [
        [
            ratio(one.world.cap_rate, 2),
            share(one.world.order_effect),
            share(one.world.projection_effect),
            share(one.true_mean),
            "none" if one.completed_mean is None else share(one.completed_mean),
            ratio(one.wrong_sign),
            ratio(one.hidden),
            ratio(one.mean_width),
            "always" if one.contained == one.campaigns else f"{one.contained:,} times",
        ]
        for one in worlds
    ]
    columns = [
        "cap rate", "order", "projection", "truth", "completed", "wrong sign", "hidden", "width",
        "bounds hold",
    ]  # fmt: skip
    first = worlds[0]
    return Section(
        "censoring",
        "Simulation of the historical rule",
        [
            f"{first.campaigns:,} campaigns of {first.world.pairs:,} pairs in each world, seed "
            f"{seed}; answers are correct with probability {first.world.accuracy}, tasks differ by "
            f"up to ±{first.world.difficulty} in their cap probability.",
            "Order and projection are added to the cap probability of the second arm and of P. "
            "Truth and completed are mean P − F a pair; wrong sign is the share of campaigns whose "
            "completed pairs point the other way, hidden the share that tie while the truth does "
            "not.",
        ],
        [Table("Simulated campaigns", columns, rows)],
        ["The worlds are made up: they show what can happen, not how often it did."],
        lambda: {"seed": seed, "worlds": facts(worlds, None)},
    )


def worlds(
    pairs: int, accuracy: float, difficulty: float, campaigns: int, seed: int
) -> list[Simulated]:
    """Cap rates by order effects by projection effects, each from the same seed."""
    return [
        simulate(World(pairs, cap, order, projection, accuracy, difficulty), campaigns, seed)
        for cap in (0.1, 0.3, 0.5)
        for order in (0.0, 0.1)
        for projection in (-0.15, 0.0, 0.15)
    ]


def repeats_section(study: Study) -> Section:
    """Variation within a prefix apart from variation between runs."""
    found = components(study.table, study.outcomes, study.whole)
    rows = [
        [
            one.figure,
            count(one.runs),
            count(one.repeats),
            ratio(one.within, 4),
            ratio(one.between, 4),
        ]
        for one in found
    ]
    return Section(
        "repeats",
        "Repeats of one tape",
        [
            f"The frame has {count(int(study.whole.rows.sum()))} pairs of continuations in "
            f"{count(study.whole.runs)} runs. In every count a run weighs one, however many "
            "repeats it has: repeats are not independent tasks."
        ],
        [
            Table(
                "Variance",
                ["figure", "runs with repeats", "repeats", "within a prefix", "between runs"],
                rows,
            )
        ],
        ["Both variances are estimates by moments; a negative one between runs is shown as 0."],
        lambda: facts({"components": found}, study.table),
    )
