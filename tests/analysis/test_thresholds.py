"""Hindsight and leave-one-source-out against a search written out in full."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis import fitting
from revereval.analysis.boundaries import success
from revereval.analysis.fitting import hindsight, leave_one_source_out
from revereval.analysis.frames import whole
from revereval.analysis.resources import Expenditure
from revereval.errors import InputError
from tests.analysis.rows import Row, row, table

ENDS = st.sampled_from(["correct", "wrong", "capped", "stopped", "unexecuted"])
ONE = st.tuples(
    st.sampled_from("ghi"), st.integers(0, 4), st.integers(0, 9), st.integers(0, 9), ENDS, ENDS
)


def made(found: list[tuple[Any, ...]]) -> list[Row]:
    rows = []
    for number, (group, history, f, p, f_end, p_end) in enumerate(found):
        tokens = {
            f"{arm}_suffix_tokens": None if end == "unexecuted" else count
            for arm, end, count in (("f", f_end, f), ("p", p_end, p))
        }
        rows.append(
            row(f"t{number}", f_end, p_end, source_group=group, history_bytes=history, **tokens)
        )
    return rows


def comparable(rows: list[Row]) -> list[Row]:
    known = {"correct", "wrong", "capped"}
    return [one for one in rows if {one["f_endpoint"], one["p_endpoint"]} <= known]


def spent(rows: list[Row], threshold: float) -> tuple[int, int]:
    """Failures and tokens of `history_bytes >= threshold`."""
    arms = ["p" if one["history_bytes"] >= threshold else "f" for one in rows]
    pairs = list(zip(rows, arms, strict=True))
    return (
        sum(one[f"{arm}_endpoint"] != "correct" for one, arm in pairs),
        sum(one[f"{arm}_suffix_tokens"] for one, arm in pairs),
    )


def cost(found: Expenditure) -> tuple[Any, Any]:
    return found.failures, found.suffix_tokens


def best(rows: list[Row]) -> int:
    values: set[int] = {one["history_bytes"] for one in rows}
    return min(values, key=lambda value: (*spent(rows, value), value))


@settings(max_examples=150, deadline=None)
@given(st.lists(ONE, min_size=1, max_size=8))
def test_hindsight_is_the_best_of_every_threshold(found: list[tuple[Any, ...]]) -> None:
    rows = made(found)
    made_table = table(rows)
    outcomes, frame = success(made_table), whole(made_table)
    known = comparable(rows)
    if not known:
        with pytest.raises(InputError, match="nothing to choose from"):
            hindsight(made_table, outcomes, frame, "history_bytes")
        return
    got = hindsight(made_table, outcomes, frame, "history_bytes")
    assert (got.rule.feature, got.rule.comparison) == ("history_bytes", ">=")
    assert got.rule.threshold == best(known)
    assert cost(got.cost) == spent(known, best(known))
    assert got.cost.runs == len(known)


@settings(max_examples=150, deadline=None)
@given(st.lists(ONE, min_size=1, max_size=9))
def test_each_fold_takes_the_threshold_of_the_others(found: list[tuple[Any, ...]]) -> None:
    rows = made(found)
    made_table = table(rows)
    outcomes, frame = success(made_table), whole(made_table)
    known = comparable(rows)
    groups = {one["source_group"] for one in known}
    if len(groups) < 2:
        said = "at least two" if groups else "nothing to choose from"
        with pytest.raises(InputError, match=said):
            leave_one_source_out(made_table, outcomes, frame, "history_bytes")
        return
    got = leave_one_source_out(made_table, outcomes, frame, "history_bytes")
    thresholds: Counter[float] = Counter()
    failures = tokens = 0
    for group in groups:
        others = [one for one in known if one["source_group"] != group]
        thresholds[best(others)] += 1
        held = spent([one for one in known if one["source_group"] == group], best(others))
        failures, tokens = failures + held[0], tokens + held[1]
    assert dict(got.thresholds) == dict(thresholds)
    assert [number for _, number in got.thresholds] == sorted(thresholds.values(), reverse=True)
    assert got.folds == len(groups)
    assert cost(got.held_out) == (failures, tokens)


def test_fewest_failures_come_before_fewest_tokens_and_then_the_smallest_value() -> None:
    def one(task: str, history: int, f: str, p: str, tokens: tuple[int, int]) -> Row:
        return row(
            task, f, p, history_bytes=history, f_suffix_tokens=tokens[0], p_suffix_tokens=tokens[1]
        )

    rows = [one("a", 1, "correct", "wrong", (900, 1)), one("b", 2, "wrong", "correct", (1, 900))]
    got = hindsight(table(rows), success(table(rows)), whole(table(rows)), "history_bytes")
    assert (got.rule.threshold, cost(got.cost)) == (2, (0, 1800))
    same = [one("a", 1, "correct", "correct", (5, 5)), one("b", 2, "correct", "correct", (7, 7))]
    got = hindsight(table(same), success(table(same)), whole(table(same)), "history_bytes")
    assert got.rule.threshold == 1


def test_an_unknown_feature_or_total_of_a_comparable_run_is_refused_by_name() -> None:
    for column in ("history_bytes", "p_suffix_tokens"):
        rows = [row("a", history_bytes=1, f_suffix_tokens=1, p_suffix_tokens=1) for _ in "ab"]
        rows[1] |= {"task_id": "b", column: None}
        with pytest.raises(InputError, match=rf"row 2 \(b\): {column}: unknown"):
            hindsight(table(rows), success(table(rows)), whole(table(rows)), "history_bytes")


def test_more_folds_and_values_than_can_be_tried_are_refused_and_nothing_else_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        row(task, history_bytes=place, f_suffix_tokens=1, p_suffix_tokens=2)
        for place, task in enumerate("abc")
    ]
    asked = (table(rows), success(table(rows)), whole(table(rows)), "history_bytes")
    assert fitting.MOST_STEPS == 10**9
    monkeypatch.setattr(fitting, "MOST_STEPS", 9)  # three folds of three values are nine
    assert leave_one_source_out(*asked).folds == 3
    monkeypatch.setattr(fitting, "MOST_STEPS", 8)
    with pytest.raises(InputError, match="source_group: leaving one out of 3 is too much work"):
        leave_one_source_out(*asked)
    assert hindsight(*asked).cost.runs == 3
