"""Conditional resources by hand: sums, ratios, the sign test, leave-one-out, usage and prices."""

import math
import statistics
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis.boundaries import success
from revereval.analysis.frames import whole
from revereval.analysis.resources import Pairs, Prices, joint_rows, pairs, priced, sign_test
from revereval.analysis.study import Question, Study
from revereval.errors import InputError
from revereval.report.cost import cost_algebra, resources_section
from revereval.terms import ArmName
from tests.analysis.rows import Report, Row, figures, one_section, row, table

F, P = ArmName.F, ArmName.P
SUMS, USAGE = "Suffix tokens of pairs", "Usage of the suffix requests"
KNOWN = "runs with known tokens"
LOGICAL = "Logical ratios of single pairs, prefix included, P / F"
EACH = "Suffix and logical tokens of each comparable pair, by P / F"


def tokens(task: str, f: int | None, p: int | None, **more: Any) -> Row:
    return row(task, f_suffix_tokens=f, p_suffix_tokens=p, **more)


def joint(rows: list[Row], prefix_total: int | None = None) -> Pairs:
    made = table(rows)
    return pairs(made, "J", joint_rows(success(made), whole(made)), prefix_total)


def shown(rows: list[Row], **asked: Any) -> Report:
    return one_section(resources_section(Study(table(rows), Question(**asked))))


def test_sums_and_means_of_four_pairs_by_hand() -> None:
    found = joint(
        [tokens(*one) for one in [("a", 100, 50), ("b", 10, 20), ("c", 8, 8), ("d", 4, 16)]]
    )
    assert figures(found.usage[F].suffix_tokens, found.usage[P].suffix_tokens) == (122, 94)
    assert figures(found.difference, found.ratio) == (-28, 94 / 122)
    assert found.median == 1.5  # of 0.5, 1, 2, 4
    assert found.geometric_mean == pytest.approx(4 ** (1 / 4))
    assert (found.increases, found.decreases) == (2, 1)  # c is neither
    assert found.sign_p == 1.0  # 2 of 3: twice (1 + 3) / 8
    assert found.largest_saving == 0
    low, high = found.without_each
    assert (low.row, low.ratio) == (1, 74 / 112)
    assert (high.row, high.ratio) == (0, 44 / 22)
    assert found.runs == 4


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 90)), min_size=1, max_size=9))
def test_summaries_against_the_standard_library(found: list[tuple[int, int]]) -> None:
    got = joint([tokens(f"t{i}", f, p) for i, (f, p) in enumerate(found)])
    f, p = (sum(one[arm] for one in found) for arm in (0, 1))
    assert got.ratio == p / f
    ratios = [one[1] / one[0] for one in found]
    assert got.median == pytest.approx(statistics.median(ratios))
    assert got.geometric_mean == pytest.approx(statistics.geometric_mean(ratios))
    savings = [one[0] - one[1] for one in found]
    assert got.largest_saving is None or savings[got.largest_saving] == max(savings)
    assert (got.largest_saving is None) == (max(savings) <= 0)
    without = [Fraction(p - one[1], f - one[0]) for one in found if f > one[0]]
    if len(found) > 1:
        assert [one.ratio for one in got.without_each] == [float(min(without)), float(max(without))]


def _exact(increases: int, decreases: int) -> Fraction:
    """Two-sided: every outcome of the coin that is no likelier than what was seen."""
    n = increases + decreases
    ways = [math.comb(n, i) for i in range(n + 1)]
    return Fraction(sum(way for way in ways if way <= ways[increases]), 2**n)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_exact(increases: int, decreases: int) -> None:
    found = sign_test(increases, decreases)
    if not increases + decreases:
        assert found is None
        return
    assert found == float(_exact(increases, decreases))
    assert found == sign_test(decreases, increases)


@pytest.mark.parametrize(
    "counts", [(500, 500), (500, 501), (520, 490), (700, 400), (0, 1001), (1300, 1200), (1000, 1)]
)
def test_the_sign_test_of_many_pairs_is_the_same_to_ten_digits(counts: tuple[int, int]) -> None:
    assert sign_test(*counts) == pytest.approx(float(_exact(*counts)), rel=1e-10, abs=1e-300)


def test_unknown_tokens_are_counted_and_never_summed() -> None:
    rows = [tokens("a", 100, 50), tokens("b", None, 70), tokens("c", 30, None), tokens("d", 10, 40)]
    found = joint(rows)
    assert figures(found.of_runs, found.runs, found.unknown_tokens) == (4, 2, 2)
    assert figures(found.usage[F].suffix_tokens, found.usage[P].suffix_tokens) == (110, 90)
    said = shown(rows)
    assert said.row(SUMS, "left out: tokens unknown") == ["2", "2"]
    assert said.row(SUMS, KNOWN) == ["2", "2"]
    assert said.says("J, the runs with F and P correct, is 4 of 4")


def test_a_joint_success_with_unknown_tokens_is_still_a_joint_success() -> None:
    said = shown([tokens("a", 100, 50), tokens("b", None, 70)])
    assert said.says("J, the runs with F and P correct, is 2 of 2")


def test_only_joint_successes_are_in_j_and_only_known_outcomes_are_comparable() -> None:
    rows = [
        tokens("a", 10, 20),
        tokens("b", 100, 100, p_endpoint="wrong"),
        tokens("c", 1000, 1000, f_endpoint="capped"),
        tokens("d", 10000, 10000, p_endpoint="stopped"),
    ]
    said = shown(rows)
    assert said.row(SUMS, "F suffix tokens") == ["10", "1,110"]
    assert said.row(SUMS, KNOWN) == ["1", "3"]
    assert said.row(SUMS, "left out: tokens unknown") == ["0", "0"]
    assert said.says("J, the runs with F and P correct, is 1 of 4")
    assert said.says("; 3 are comparable.")


def usage(task: str, f: tuple[Any, ...], p: tuple[Any, ...]) -> Row:
    columns = ("tokens", "requests", "uncached_tokens", "cached_tokens", "output_tokens")
    cells = {
        f"{arm}_suffix_{name}": cell
        for arm, values in (("f", f), ("p", p))
        for name, cell in zip(columns, values, strict=True)
    }
    return row(task, **cells)


HAND = [
    usage("a", (1000, 4, 300, 600, 100), (800, 5, 500, 200, 100)),
    usage("b", (500, 2, 100, 350, 50), (900, 3, 200, 500, 200)),
]


def test_usage_differences_and_priced_costs_by_hand() -> None:
    prices = Prices(Fraction(3), Fraction("0.3"), Fraction(15))
    said = shown(HAND, prices=prices)
    assert said.columns(USAGE) == [
        "set", "arm", "requests", "tokens a request", "U", "C", "O", "cost",
    ]  # fmt: skip
    # F: 400 U, 950 C, 150 O = (1200 + 285 + 2250) / 10^6; P: 700, 700, 300 = (2100 + 210 + 4500)
    assert said.row(USAGE, "J", "F") == ["6", "250.0", "400", "950", "150", "0.0037"]
    assert said.row(USAGE, "J", "P") == ["8", "212.5", "700", "700", "300", "0.0068"]
    assert said.row(USAGE, "J", "P − F") == ["+2", "−37.5", "+300", "−250", "+150", "0.0031"]
    found = joint(HAND)
    assert priced(found.usage[F], prices) == Fraction(3735, 10**6)
    assert priced(found.usage[P], prices) == Fraction(6810, 10**6)
    assert cost_algebra(found) == "(+300)·p_u + (−250)·p_c + (+150)·p_o"
    assert said.says(
        "P − F of J costs (+300)·p_u + (−250)·p_c + (+150)·p_o, prices a token left open."
    )


def test_one_unknown_part_makes_its_sum_and_the_cost_unknown_and_nothing_else() -> None:
    rows = [HAND[0], HAND[1] | {"p_suffix_cached_tokens": None, "f_suffix_requests": None}]
    said = shown(rows, prices=Prices(Fraction(1), Fraction(1), Fraction(1)))
    assert said.row(USAGE, "J", "F") == [
        "unknown in 1", "unknown", "400", "950", "150", "0.0015",
    ]  # fmt: skip
    assert said.row(USAGE, "J", "P") == [
        "8", "212.5", "700", "unknown in 1", "300", "unknown",
    ]  # fmt: skip
    assert said.row(USAGE, "J", "P − F") == [
        "unknown", "unknown", "+300", "unknown", "+150", "unknown",
    ]  # fmt: skip
    assert cost_algebra(joint(rows)) == "(+300)·p_u + (unknown)·p_c + (+150)·p_o"


def test_tokens_are_requests_times_tokens_a_request() -> None:
    found = joint(HAND)
    for arm in (F, P):
        one = found.usage[arm]
        assert one.suffix_requests is not None
        assert one.tokens_per_request is not None
        assert one.suffix_requests * one.tokens_per_request == one.suffix_tokens
    said = shown(HAND)
    [title] = [name for name in said.titles if name.startswith("Requests and mean tokens")]
    assert said.row(title, "a") == ["4", "5", "250.0", "160.0"]
    assert said.row(title, "b") == ["2", "3", "250.0", "300.0"]


def test_logical_tokens_are_the_prefix_once_and_the_suffix() -> None:
    rows = [tokens("a", 100, 50, prefix_tokens=10), tokens("b", 10, 20, prefix_tokens=5)]
    found = joint(rows)
    assert figures(found.prefix_tokens, found.logical) == (15, {F: 125, P: 85})
    said = shown(rows)
    assert said.row(EACH, "a") == ["", "100", "50", "0.50", "110", "60", "0.55"]
    assert said.row(SUMS, "logical ratio of sums") == ["0.680", "0.680"]
    assert said.says("Without it the logical ratio of sums is 1.667.")  # 25 / 15
    assert not said.says("Logical ratios of single pairs need")
    rows[1]["prefix_tokens"] = None
    assert (joint(rows).prefix_tokens, joint(rows).logical) == (None, {F: None, P: None})
    assert joint(rows, 1000).logical == {F: 1110, P: 1070}
    assert shown(rows).row(EACH, "b")[-3:] == ["unknown", "unknown", "unknown"]


def test_logical_ratios_of_single_pairs_by_hand() -> None:
    # task, prefix, F, P
    found = [("a", 10, 10, 30), ("b", 100, 700, 300), ("c", 5, 5, 5), ("d", 30, 10, 150)]
    rows = [tokens(task, f, p, prefix_tokens=prefix) for task, prefix, f, p in found]
    rows.append(tokens("e", 90, 10, prefix_tokens=10, p_endpoint="wrong"))  # 20 / 100
    said = shown(rows)
    # J: 40 / 20 = 2, 400 / 800 = 0.5, 10 / 10 = 1, 180 / 40 = 4.5; comparable: 0.2 too
    assert said.columns(LOGICAL) == ["figure", "J, 4 of 4 pairs", "comparable, 5 of 5 pairs"]
    assert said.row(LOGICAL, "left out: prefix unknown") == ["0", "0"]
    # 4.5 ** (1 / 4) = 1.4565; 0.9 ** (1 / 5) = 0.9792
    assert said.row(LOGICAL, "geometric mean") == ["1.456", "0.979"]
    assert said.row(LOGICAL, "median") == ["1.500", "1.000"]
    # sorted 0.5, 1, 2, 4.5: the quantile q stands at place 3 q, counted from 0
    assert said.row(LOGICAL, "quantile 0%") == ["0.500", "0.200"]
    assert said.row(LOGICAL, "quantile 5%")[0] == "0.575"  # 0.5 + 0.15 of 0.5
    assert said.row(LOGICAL, "quantile 25%")[0] == "0.875"
    assert said.row(LOGICAL, "quantile 75%")[0] == "2.625"  # 2 + 0.25 of 2.5
    assert said.row(LOGICAL, "quantile 95%")[0] == "4.125"  # 2 + 0.85 of 2.5
    assert said.row(LOGICAL, "quantile 100%") == ["4.500", "4.500"]
    assert [said.row(EACH, task)[-1] for task in "abcde"] == [
        "2.00",
        "0.50",
        "1.00",
        "4.50",
        "0.20",
    ]
    assert said.says("linear between the sorted values")
    assert not said.says("do not have")


def test_a_pair_without_its_prefix_is_counted_and_in_no_logical_figure() -> None:
    rows = [
        tokens("a", 10, 30, prefix_tokens=10),
        tokens("b", 1, 1000, prefix_tokens=None),
        tokens("c", 10, 150, prefix_tokens=30),
    ]
    said = shown(rows)
    assert said.columns(LOGICAL)[1] == "J, 2 of 3 pairs"
    assert said.row(LOGICAL, "left out: prefix unknown") == ["1", "1"]
    assert said.row(LOGICAL, "geometric mean")[0] == "3.000"  # of 2 and 4.5
    assert said.row(LOGICAL, "median")[0] == "3.250"
    assert said.row(SUMS, "logical ratio of sums")[0] == "unknown"
    assert said.says("own prefix tokens, which 1 of 3 pairs (J) and 1 of 3 pairs (comparable)")
    facts = resources_section(Study(table(rows))).facts()["joint"]["logical_ratios"]
    assert (facts["known"], facts["unknown"], facts["median"]) == (2, 1, 3.25)


def test_no_prefix_at_all_leaves_every_logical_figure_unknown() -> None:
    said = shown([tokens("a", 10, 30), tokens("b", 10, 5)])
    figures = {tuple(cells[1:]) for cells in said.rows(LOGICAL)[1:]}
    assert figures == {("unknown", "unknown")}
    assert said.row(LOGICAL, "left out: prefix unknown") == ["2", "2"]
    assert shown([tokens("a", 10, 30), tokens("b", 10, 5)], joint_prefix_total=100).row(
        LOGICAL, "median"
    ) == ["unknown", "unknown"]


def test_the_repeats_of_a_run_are_one_logical_ratio() -> None:
    repeats = [
        tokens("a", f, p, prefix_tokens=10, run_id=1, repeat=number)
        for number, (f, p) in enumerate([(10, 20), (30, 60)], 1)
    ]
    said = shown([*repeats, tokens("b", 10, 10, prefix_tokens=90, run_id=2, repeat=1)])
    # (10 + 40) / (10 + 20) and 1
    assert said.columns(LOGICAL)[1] == "J, 2 of 2 pairs"
    assert said.row(LOGICAL, "quantile 100%")[0] == "1.667"
    assert said.row(LOGICAL, "quantile 0%")[0] == "1.000"


def test_a_known_prefix_total_of_the_rows_is_not_overruled() -> None:
    rows = [tokens("a", 100, 50, prefix_tokens=10), tokens("b", 10, 20, prefix_tokens=5)]
    with pytest.raises(InputError, match="1000 is not the prefix of the J rows, of which 15 is"):
        joint(rows, 1000)
    assert joint(rows, 15).prefix_tokens == 15
    rows[1]["prefix_tokens"] = None
    assert joint(rows, 15).prefix_tokens == 15
    with pytest.raises(InputError, match="9 is not the prefix of the J rows, of which 10 is"):
        joint(rows, 9)


def test_no_joint_success_has_no_figures() -> None:
    said = shown([tokens("a", 10, 20, p_endpoint="wrong")])
    for name in ("ratio of sums, P / F", "geometric mean of ratios", "median of ratios",
                 "exact two-sided sign test, p", "prefix tokens, once a run"):  # fmt: skip
        assert said.row(SUMS, name)[0] == "unknown"
    assert said.row(SUMS, KNOWN) == ["0", "1"]


def test_a_ratio_over_nothing_is_unknown_and_silent() -> None:
    said = shown([tokens("a", 0, 5), tokens("b", 10, 20)])
    assert said.row(EACH, "a")[3] == "unknown"
    assert said.row(SUMS, "ratio of sums, P / F") == ["2.500", "2.500"]


def test_many_pairs_are_shown_as_quantiles() -> None:
    rows = [tokens(f"t{i:03}", 100, 100 + i) for i in range(101)]
    said = shown(rows)
    title = "Quantiles of P / F over 101 pairs"
    assert said.rows(title) == [
        ["0%", "1.000"], ["5%", "1.050"], ["25%", "1.250"], ["50%", "1.500"], ["75%", "1.750"],
        ["95%", "1.950"], ["100%", "2.000"],
    ]  # fmt: skip
    assert EACH not in said.titles
