"""Bounds against brute force: every completion is inside, and both ends are attained."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis.boundaries import success
from revereval.analysis.bounds import Contrast, Witness, contrast
from revereval.analysis.frames import whole
from revereval.terms import Endpoint as Ending
from revereval.terms import EndpointDefinition, success_interval
from tests.analysis.frames_drawn import (
    ENDPOINTS,
    REASONS,
    SHARED,
    completions,
    frames,
    outcomes,
)
from tests.analysis.rows import Row, ends, row, table

DEFINITIONS = [None, "request", "joint"]


def contrasted(rows: list[Row], definition: str | None = None) -> Contrast:
    made = table(rows)
    stated = None if definition is None else EndpointDefinition(definition)
    return contrast(made, success(made, definition=stated), whole(made))


@settings(max_examples=120, deadline=None)
@given(frames(), st.sampled_from(DEFINITIONS))
def test_the_interval_is_the_minimum_and_the_maximum_over_every_completion(
    rows: list[Row], definition: str | None
) -> None:
    every = list(completions(rows, definition))
    found = contrasted(rows, definition)
    for interval, weights in ((found.f, (1, 0)), (found.p, (0, 1)), (found.difference, (-1, 1))):
        sums = [sum(weights[0] * f + weights[1] * p for f, p in one) for one in every]
        assert ends(interval) == (min(sums), max(sums))


@settings(max_examples=120, deadline=None)
@given(frames(), st.sampled_from(DEFINITIONS))
def test_each_witness_is_a_completion_that_attains_its_end(
    rows: list[Row], definition: str | None
) -> None:
    found = contrasted(rows, definition)

    def assigned(one: Row, arm: str, succeeds: bool) -> int:
        allowed = outcomes(one, arm, definition)
        assert len(allowed) == 2 or not succeeds, "a witness assigns unknown outcomes only"
        return int(succeeds) if len(allowed) == 2 else allowed[0]

    def difference(witness: Witness) -> int:
        return sum(
            assigned(one, "p", bool(witness.p_succeeds[place]))
            - assigned(one, "f", bool(witness.f_succeeds[place]))
            for place, one in enumerate(rows)
        )

    assert difference(found.lowest) == found.difference.low
    assert difference(found.highest) == found.difference.high
    for place, one in enumerate(rows):
        assert bool(found.f_unknown[place]) == (len(outcomes(one, "f", definition)) == 2)
        assert bool(found.p_unknown[place]) == (len(outcomes(one, "p", definition)) == 2)


@pytest.mark.parametrize("definition", ["request", "joint"])
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_one_table_of_success_intervals(endpoint: str, definition: str) -> None:
    for reason in REASONS.get(endpoint, (None,)):
        one = row("a", endpoint, "wrong", f_reason=reason)
        allowed = outcomes(one, "f", definition)
        found = success(table([one]), definition=EndpointDefinition(definition))
        assert (found.f_low[0], found.f_high[0]) == (min(allowed), max(allowed))
        stated = success_interval(Ending(endpoint), reason, EndpointDefinition(definition))
        assert stated == (min(allowed), max(allowed))


@settings(max_examples=80, deadline=None)
@given(frames(), st.data())
def test_bounds_shrink_when_an_unknown_outcome_is_observed(
    rows: list[Row], data: st.DataObject
) -> None:
    unknown = [
        (place, arm)
        for place, one in enumerate(rows)
        for arm in "fp"
        if len(outcomes(one, arm)) == 2
    ]
    before = contrasted(rows).difference
    if not unknown:
        assert before.low == before.high
        return
    place, arm = data.draw(st.sampled_from(unknown))
    seen = []
    for endpoint in ("correct", "wrong", "capped"):
        rest = [dict(one) for one in rows]
        rest[place] |= {f"{arm}_endpoint": endpoint, f"{arm}_reason": None}
        after = contrasted(rest).difference
        assert before.low <= after.low <= after.high <= before.high
        assert after.width == before.width - 1
        seen.append(after)
    assert min(one.low for one in seen) == before.low
    assert max(one.high for one in seen) == before.high


def swapped(rows: list[Row]) -> list[Row]:
    other = {"f": "p", "p": "f"}
    return [
        {
            other[name[0]] + name[1:] if name[1:2] == "_" else name: cell
            for name, cell in one.items()
        }
        for one in rows
    ]


@settings(max_examples=80, deadline=None)
@given(frames(), st.sampled_from(DEFINITIONS))
def test_swapping_the_arms_flips_the_interval(rows: list[Row], definition: str | None) -> None:
    found, other = contrasted(rows, definition), contrasted(swapped(rows), definition)
    assert ends(other.difference) == (-found.difference.high, -found.difference.low)
    assert (ends(other.f), ends(other.p)) == (ends(found.p), ends(found.f))
    assert np.array_equal(other.lowest.f_succeeds, found.highest.p_succeeds)


@settings(max_examples=80, deadline=None)
@given(frames())
def test_the_definitions_differ_in_budget_stops_alone(rows: list[Row]) -> None:
    request, joint = contrasted(rows, "request"), contrasted(rows, "joint")
    stops = {
        arm: sum(
            one[f"{arm}_endpoint"] == "stopped" and one[f"{arm}_reason"] == "budget" for one in rows
        )
        for arm in "fp"
    }
    assert request.f.high - joint.f.high == stops["f"]
    assert request.p.high - joint.p.high == stops["p"]
    assert (request.f.low, request.p.low) == (joint.f.low, joint.p.low)
    assert joint.difference.low - request.difference.low == stops["f"]
    assert request.difference.high - joint.difference.high == stops["p"]


@settings(max_examples=80, deadline=None)
@given(st.lists(frames(most=3), min_size=1, max_size=3))
def test_the_repeats_of_one_run_weigh_one_run_together(runs: list[list[Row]]) -> None:
    rows = [
        one
        | {"task_id": f"t{run}", "run_id": run, "repeat": repeat}
        | {name: repeats[0][name] for name in SHARED}
        for run, repeats in enumerate(runs)
        for repeat, one in enumerate(repeats, 1)
    ]
    found = contrasted(rows)
    low = high = Fraction(0)
    f_high = p_low = Fraction(0)
    for repeats in runs:
        each = Fraction(1, len(repeats))
        for one in repeats:
            f, p = outcomes(one, "f"), outcomes(one, "p")
            low += each * (min(p) - max(f))
            high += each * (max(p) - min(f))
            f_high += each * max(f)
            p_low += each * min(p)
    assert ends(found.difference) == (low, high)
    assert (found.f.high, found.p.low) == (f_high, p_low)
    assert found.frame.runs == len(runs)


def test_repeats_need_a_run_of_their_own_to_be_told_from_independent_runs() -> None:
    rows = [row("a", "correct", "wrong", run_id=run) for run in (1, 2)]
    assert contrasted(rows).difference.low == -2
    assert contrasted(rows).frame.runs == 2
    rows = [row("a", "correct", "wrong", run_id=1, repeat=repeat) for repeat in (1, 2)]
    assert contrasted(rows).difference.low == -1
    assert contrasted(rows).frame.runs == 1
