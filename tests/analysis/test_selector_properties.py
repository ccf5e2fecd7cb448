"""The selector against brute force: its interval, and harm in three values by run and group."""

from collections import Counter
from fractions import Fraction
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis.boundaries import success
from revereval.analysis.bounds import contrast
from revereval.analysis.frames import whole
from revereval.analysis.selector import ALWAYS_FULL, ALWAYS_PROJECTED, Harm, Selection, parse_rule
from revereval.analysis.selector import selection as select
from revereval.analysis.study import Question, Study
from revereval.errors import InputError
from revereval.report.rule import selector_section
from tests.analysis.frames_drawn import SHARED, completions, frames, outcomes
from tests.analysis.rows import Row, ends, one_section, row, table

RULES = st.tuples(st.sampled_from([">=", "<="]), st.integers(0, 5))


def selected(rows: list[Row], rule: str) -> Selection:
    made = table(rows)
    return select(made, success(made), parse_rule(rule), whole(made))


def _chosen(one: Row, comparison: str, threshold: int) -> bool:
    value = int(one["history_bytes"])
    return value >= threshold if comparison == ">=" else value <= threshold


def _three(values: set[bool]) -> str:
    return "unknown" if len(values) == 2 else str(values.pop()).lower()


@settings(max_examples=120, deadline=None)
@given(frames(), RULES)
def test_the_interval_is_the_minimum_and_the_maximum_over_every_completion(
    rows: list[Row], rule: tuple[str, int]
) -> None:
    chosen = [_chosen(one, *rule) for one in rows]
    sums = [
        sum((p if run_p else f) - f for (f, p), run_p in zip(every, chosen, strict=True))
        for every in completions(rows)
    ]
    found = selected(rows, f"history_bytes {rule[0]} {rule[1]}")
    assert ends(found.difference) == (min(sums), max(sums))
    assert list(map(bool, found.chosen)) == chosen
    assert found.runs_chosen == sum(chosen)
    assert sum(map(int, found.low)) == min(sums), "row by row it adds up"
    assert sum(map(int, found.high)) == max(sums)


@settings(max_examples=120, deadline=None)
@given(frames(), RULES)
def test_selected_harm_is_what_every_completion_agrees_on(
    rows: list[Row], rule: tuple[str, int]
) -> None:
    chosen = [_chosen(one, *rule) for one in rows]
    by_completion = [
        [run_p and f == 1 and p == 0 for (f, p), run_p in zip(every, chosen, strict=True)]
        for every in completions(rows)
    ]
    by_run = Counter(
        _three({harms[place] for harms in by_completion}) for place in range(len(rows))
    )
    groups = sorted({one["source_group"] for one in rows})
    by_group: Counter[str] = Counter()
    for group in groups:
        members = [place for place, one in enumerate(rows) if one["source_group"] == group]
        by_group[_three({any(harms[i] for i in members) for harms in by_completion})] += 1
    found = selected(rows, f"history_bytes {rule[0]} {rule[1]}")
    assert {str(harm): int(runs) for harm, runs in found.harm.items() if runs} == dict(by_run)
    assert {str(harm): runs for harm, runs in found.group_harm.items() if runs} == dict(by_group)


@settings(max_examples=60, deadline=None)
@given(frames())
def test_a_rule_that_never_runs_p_is_exactly_nothing(rows: list[Row]) -> None:
    for rule in (ALWAYS_FULL, "history_bytes >= 5", "history_bytes <= -1"):
        found = selected(rows, rule)
        assert ends(found.difference) == (0, 0)
        assert found.runs_chosen == found.harm[Harm.TRUE] == found.harm[Harm.UNKNOWN] == 0


@settings(max_examples=60, deadline=None)
@given(frames())
def test_always_projected_is_the_whole_frames_contrast(rows: list[Row]) -> None:
    made = table(rows)
    of_frame = contrast(made, success(made), whole(made)).difference
    for rule in (ALWAYS_PROJECTED, "history_bytes >= 0", "history_bytes <= 4"):
        assert selected(rows, rule).difference == of_frame


@settings(max_examples=60, deadline=None)
@given(frames(), RULES)
def test_a_rule_and_its_complement_add_up_to_the_contrast(
    rows: list[Row], rule: tuple[str, int]
) -> None:
    made = table(rows)
    low, high = 0, 0
    for text in (f"history_bytes >= {rule[1]}", f"history_bytes <= {rule[1] - 1}"):
        found = selected(rows, text).difference
        low, high = low + int(found.low), high + int(found.high)
    of_frame = contrast(made, success(made), whole(made)).difference
    assert ends(of_frame) == (low, high)


@settings(max_examples=60, deadline=None)
@given(st.lists(frames(most=3), min_size=1, max_size=3), RULES)
def test_repeats_weigh_one_run_together(runs: list[list[Row]], rule: tuple[str, int]) -> None:
    rows = [
        one
        | {"task_id": f"t{run}", "run_id": run, "repeat": repeat}
        | {name: repeats[0][name] for name in SHARED}
        for run, repeats in enumerate(runs)
        for repeat, one in enumerate(repeats, 1)
    ]
    low, harmed = Fraction(0), Fraction(0)
    for _, members in groupby(rows, key=lambda one: str(one["run_id"])):
        repeats = list(members)
        for one in repeats:
            if _chosen(one, *rule):
                f, p = outcomes(one, "f"), outcomes(one, "p")
                low += Fraction(min(p) - max(f), len(repeats))
                harmed += Fraction(min(f) == 1 and max(p) == 0, len(repeats))
    found = selected(rows, f"history_bytes {rule[0]} {rule[1]}")
    assert found.difference.low == low
    assert {str(harm): runs for harm, runs in found.harm.items()}["true"] == harmed


def test_a_threshold_is_compared_exactly_for_counts_and_for_fractions() -> None:
    largest, fraction = 2**53, 0.8012967413783466
    rows = [
        row("a", history_bytes=largest - 1, last_cached_fraction=fraction),
        row("b", history_bytes=largest, last_cached_fraction=0.8012967413783467),
    ]
    for rule, expected in {
        f"history_bytes >= {largest}": [False, True],
        f"history_bytes <= {largest - 1}": [True, False],
        f"last_cached_fraction <= {fraction}": [True, False],
        f"last_cached_fraction >= {fraction}": [True, True],
    }.items():
        assert list(map(bool, selected(rows, rule).chosen)) == expected
        assert str(parse_rule(rule)) == rule


@pytest.mark.parametrize(
    "text",
    ["", "history_bytes", "history_bytes > 5", "bytes >= 5", "history_bytes >= five",
     "history_bytes >= nan", "history_bytes >= inf", "history_bytes >= 1e999",
     "f_endpoint >= 1", "history_bytes >= 1 or 1 >= 0"],
)  # fmt: skip
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_rule(text)


def test_a_rule_on_a_feature_that_a_row_lacks_names_the_row() -> None:
    rows = [row("a", history_bytes=1), row("b", history_bytes=None)]
    with pytest.raises(InputError, match=r"row 2 \(b\): history_bytes: unknown"):
        selected(rows, "history_bytes >= 1")
    outside = row("b", p="not_planned", history_bytes=None)
    assert selected([rows[0], outside], "history_bytes >= 1").runs_chosen == 1


def test_contributions_show_the_endpoints_of_the_contract_that_is_asked() -> None:
    rows = [row("a", history_bytes=1, f_endpoint_strict="wrong", p_endpoint_strict="correct")]
    rule = parse_rule("history_bytes >= 1")
    study = Study(table(rows), Question(rule=rule, contract="strict"))
    [cells] = one_section(selector_section(study, rule)).rows(
        "Contributions of the runs where P runs"
    )
    assert cells[2:] == ["wrong", "correct", "+1", "false"]
