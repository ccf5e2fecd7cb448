"""What the historical stopping rule would have reported, offline and simulated."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis.boundaries import success
from revereval.analysis.censoring import Censored, censored
from revereval.analysis.frames import whole
from revereval.analysis.simulation import World, simulate
from revereval.analysis.study import Study
from revereval.errors import InputError
from revereval.report.sensitivity import censoring_section
from tests.analysis.frames_drawn import frames, outcomes
from tests.analysis.rows import Row, analyzed, ends, one_section, refused, row, table
from tests.loopback import run_here

TITLE = "P minus F in successes"


def study(rows: list[Row]) -> Censored:
    made = table(rows)
    return censored(made, whole(made))


COMPLETE = [
    row("a", "correct", "correct"),
    row("b", "capped", "correct"),  # F first: P would not have run
    row("c", "correct", "capped", first_arm="P"),  # P first: F would not have run
    row("d", "correct", "capped"),  # F first answered: both run
    row("e", "wrong", "correct", first_arm="P"),
    row("f", "capped", "wrong", first_arm="P"),
]


def test_the_historical_rule_on_six_complete_runs_by_hand() -> None:
    found = study(COMPLETE)
    # truth: P 3 correct of a, b, e; F 3 correct of a, c, d
    assert ends(found.truth.difference) == (0, 0)
    assert list(found.unexecuted) == [False, True, True, False, False, False]
    # answered by both: a and e, so F 1 and P 2 of 2
    case = found.completed
    assert [int(one) for one in (case.runs, case.f_correct, case.p_correct)] == [2, 1, 2]
    # left: b has P in [0, 1], c has F in [0, 1]; the others are 0, -1, +1, 0
    assert ends(found.bounds.difference) == (-1, 1)
    assert found.left_out == 0


def test_the_section_sets_truth_completed_pairs_and_bounds_side_by_side() -> None:
    rows = [*COMPLETE, row("g", "stopped", "correct"), row("h", "correct", "unexecuted")]
    said = one_section(censoring_section(Study(table(rows))))
    assert said.columns(TITLE) == ["summary", "N", "P − F", "a run"]
    assert said.rows(TITLE) == [
        ["truth: both arms always run", "6", "0", "+0.000"],
        ["completed pairs under the historical rule", "2", "+1", "+0.500"],
        ["bounds under the historical rule", "6", "[−1, +1]", "−0.167 to +0.167"],
    ]
    assert said.says("6 of 8 runs are complete; the study leaves the other 2 out of both sides.")
    assert said.says("Companions that the historical rule would not have run: b, c.")


def test_no_complete_run_is_refused() -> None:
    with pytest.raises(InputError, match="complete"):
        study([row("a", "capped", "unexecuted")])


@settings(max_examples=150, deadline=None)
@given(frames())
def test_the_bounds_contain_the_truth_and_are_those_of_the_censored_rows(rows: list[Row]) -> None:
    complete = [
        one for one in rows if len(outcomes(one, "f")) == 1 and len(outcomes(one, "p")) == 1
    ]
    if not complete:
        with pytest.raises(InputError):
            study(rows)
        return
    found = study(rows)
    truth = sum(outcomes(one, "p")[0] - outcomes(one, "f")[0] for one in complete)
    low = high = 0
    answered = []
    for one in complete:
        first, second = ("p", "f") if one["first_arm"] == "P" else ("f", "p")
        left = dict(one)
        if one[f"{first}_endpoint"] not in ("correct", "wrong"):
            left |= {f"{second}_endpoint": "unexecuted", f"{second}_reason": "companion_rule"}
        f, p = outcomes(left, "f"), outcomes(left, "p")
        low, high = low + min(p) - max(f), high + max(p) - min(f)
        if {left["f_endpoint"], left["p_endpoint"]} <= {"correct", "wrong"}:
            answered.append(left)
    assert found.truth.difference.low == found.truth.difference.high == truth
    assert ends(found.bounds.difference) == (low, high)
    assert low <= truth <= high
    assert found.completed.runs == len(answered)
    assert found.completed.f_correct == sum(one["f_endpoint"] == "correct" for one in answered)
    assert found.completed.p_correct == sum(one["p_endpoint"] == "correct" for one in answered)
    assert found.left_out == len(rows) - len(complete)


def test_a_run_whose_repeats_are_not_all_complete_is_left_out_whole() -> None:
    partly = [
        row("a", "correct", "wrong", run_id=1, repeat=1),
        row("a", "correct", "unexecuted", run_id=1, repeat=2),
    ]
    with pytest.raises(InputError, match="complete runs of all boundaries"):
        study(partly)
    rows = [
        *partly,
        row("b", "correct", "wrong", run_id=2, repeat=1),
        row("b", "correct", "correct", run_id=2, repeat=2, first_arm="P"),
        row("b", "capped", "correct", run_id=2, repeat=3),  # F first: P would not have run
    ]
    found = study(rows)
    assert (found.frame.name, found.frame.runs) == ("complete runs of all boundaries", 1)
    assert list(found.frame.rows) == [False, False, True, True, True]
    assert found.left_out == 1
    said = one_section(censoring_section(Study(table(rows))))
    # thirds of run b: the truth is -1, 0, +1; answered are -1, 0; the last becomes [0, 1]
    assert said.rows(TITLE) == [
        ["truth: both arms always run", "1", "0", "+0.000"],
        ["completed pairs under the historical rule", "0.67", "−0.33", "−0.500"],
        ["bounds under the historical rule", "1", "[−0.33, 0]", "−0.333 to +0.000"],
    ]
    assert said.says("1 of 2 runs are complete; the study leaves the other 1 out of both sides.")


PLAIN = World(
    pairs=27, cap_rate=0.3, order_effect=0.1, projection_effect=0.1, accuracy=0.8, difficulty=0.2
)
SHARE, SHIFT = st.floats(0, 1), st.floats(-1, 1)


@settings(max_examples=60, deadline=None)
@given(
    st.builds(World, st.integers(1, 40), SHARE, SHIFT, SHIFT, SHARE, SHARE), st.integers(0, 2**32)
)
def test_the_bounds_hold_the_truth_in_every_campaign_of_every_world(
    world: World, seed: int
) -> None:
    found = simulate(world, 40, seed)
    assert found.contained == found.campaigns == 40
    assert 0 <= found.wrong_sign <= 1
    assert 0 <= found.wrong_sign + found.hidden <= 1
    assert 0 <= found.mean_width <= 1


def test_the_same_seed_gives_the_same_numbers_and_another_one_others() -> None:
    assert simulate(PLAIN, 200, 5) == simulate(PLAIN, 200, 5)
    assert simulate(PLAIN, 200, 5) != simulate(PLAIN, 200, 6)


def test_campaigns_that_do_not_fit_one_block_are_all_drawn() -> None:
    found = simulate(replace(PLAIN, pairs=250_000), 9, 5)  # eight of them fill a block
    assert (found.campaigns, found.contained) == (9, 9)
    assert found.mean_width == pytest.approx(0.35, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_without_caps_nothing_is_censored(seed: int) -> None:
    world = replace(PLAIN, cap_rate=0, order_effect=0, projection_effect=0, difficulty=0)
    found = simulate(world, 300, seed)
    assert (found.wrong_sign, found.hidden, found.mean_width) == (0, 0, 0)
    assert found.completed_mean == pytest.approx(found.true_mean, abs=1e-12)


def _five_errors(variance: float, campaigns: int, pairs: float) -> float:
    return float(5 * np.sqrt(variance / (campaigns * pairs)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("difficulty", [0.0, 0.2])
def test_arms_that_are_alike_differ_by_nothing_on_average(seed: int, difficulty: float) -> None:
    world = replace(PLAIN, order_effect=0, projection_effect=0, difficulty=difficulty)
    found = simulate(world, 2000, seed)
    # each arm succeeds with probability 0.7 * 0.8; independent given the task: at most 2 q (1 - q)
    assert abs(found.true_mean) <= _five_errors(2 * 0.56 * 0.44, 2000, 27)


@pytest.mark.parametrize("projection", [-0.2, 0.2])
def test_the_effect_that_was_put_in_comes_out(projection: float) -> None:
    world = World(40, 0.3, 0.0, projection, 0.8, 0.0)
    found = simulate(world, 2000, 3)
    expected = -0.8 * projection
    p = 0.8 * (0.7 - projection)
    assert abs(found.true_mean - expected) <= _five_errors(0.56 * 0.44 + p * (1 - p), 2000, 40)
    # completed pairs: both answered, and then each is correct at the same rate
    assert found.completed_mean is not None
    assert abs(found.completed_mean) <= _five_errors(2 * 0.8 * 0.2, 2000, 40 * 0.25)
    # a companion is unknown where the first arm is capped: half at 0.3, half at 0.3 + projection
    width = 0.3 + projection / 2
    assert abs(found.mean_width - width) <= _five_errors(width * (1 - width), 2000, 40)


def test_an_order_effect_alone_cancels_over_a_balanced_campaign() -> None:
    found = simulate(World(40, 0.2, 0.3, 0.0, 0.8, 0.0), 2000, 9)
    assert abs(found.true_mean) <= _five_errors(2 * 0.25, 2000, 40)


def _with(field: str, value: Any) -> World:
    return replace(PLAIN, **{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cap_rate", -0.1), ("cap_rate", 1.1), ("accuracy", 2.0), ("accuracy", float("nan")),
        ("order_effect", -1.5), ("projection_effect", 1.5), ("difficulty", 1.5),
        ("difficulty", -0.5), ("pairs", 0), ("pairs", 10**9),
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused(field: str, value: float) -> None:
    with pytest.raises(InputError, match=field):
        simulate(_with(field, value), 10, 1)


def test_too_few_and_too_many_campaigns_are_refused() -> None:
    for campaigns in (0, 10**6 + 1):
        with pytest.raises(InputError, match="campaigns"):
            simulate(PLAIN, campaigns, 1)


def test_the_command_simulates_without_a_record() -> None:
    found = analyzed("censoring", "--simulate", "20", "--pairs", "10", "--seed", "4")
    rows = found.rows("Simulated campaigns")
    assert len(rows) == 18
    assert {cells[-1] for cells in rows} == {"always"}
    again = run_here("analyze", "censoring", "--simulate", "20", "--pairs", "10", "--seed", "4")
    assert again.out == run_here(
        "analyze", "censoring", "--simulate", "20", "--pairs", "10", "--seed", "4"
    ).out  # fmt: skip


@pytest.mark.parametrize(
    "option",
    [("--accuracy", "1.5"), ("--difficulty", "-0.5"), ("--pairs", "0"), ("--seed", "-1"),
     ("--accuracy", "nan")],
)  # fmt: skip
def test_the_command_refuses_worlds_that_cannot_be(option: tuple[str, str]) -> None:
    assert option[0].strip("-") in refused("censoring", "--simulate", "10", *option)


def test_success_of_the_truth_is_not_touched_by_the_study() -> None:
    made = table(COMPLETE)
    before = success(made)
    censored(made, whole(made))
    after = success(made)
    assert np.array_equal(before.f_high, after.f_high)
    assert np.array_equal(before.p_low, after.p_low)
