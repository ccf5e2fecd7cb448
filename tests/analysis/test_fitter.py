"""The fitter: its enumeration, its objective, its ties and its harm filter."""

import json
from collections import defaultdict
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis.boundaries import FEATURES, success
from revereval.analysis.fitting import Fit, fit
from revereval.analysis.frames import whole
from revereval.analysis.selector import parse_rule
from revereval.analysis.study import Study
from revereval.errors import InputError
from revereval.report.policies import fit_section
from tests.analysis.rows import Row, analyzed, one_section, reference_rows, row, table, write
from tests.loopback import run_here

MADE_UP: dict[str, tuple[int, int, int, int, float, int]] = {
    "tomlkit-datetimes": (12000, 93641, 2, 5, 0.8012967413783466, 32_860),
    "boltons-indexedset": (14000, 52266, 1, 3, 0.93, 32_000),
    "packaging-compatibility": (16000, 95519, 1, 4, 0.75, 40_000),
    "click-parameters": (18000, 62102, 2, 5, 0.9, 33_103),
}
"""Eligible bytes, history bytes (published), eligible count, prefix requests, cached fraction and
prefix tokens, which sum to the published 137,963."""


def four(**changes: Any) -> list[Row]:
    """The published fitting rows, with made-up features for those that are not published."""
    published = {one["task_id"]: one for one in reference_rows() if one["flow"] == "paired"}
    made = []
    for task, (*features, prefix) in MADE_UP.items():
        given_ = dict(zip(FEATURES, features, strict=True))
        assert published[task]["history_bytes"] == given_["history_bytes"]
        made.append(published[task] | given_ | {"prefix_tokens": prefix} | changes)
    return made


def fitted(rows: list[Row]) -> Fit:
    made = table(rows)
    return fit(made, success(made), whole(made))


def test_36_candidates_the_published_tie_and_the_first_wins() -> None:
    found = fitted(four())
    assert len(found.trace) == 36
    assert [one.index for one in found.trace] == list(range(36))
    assert [(one.index, str(one.rule)) for one in found.ties] == [
        (14, "history_bytes >= 93641"),
        (31, "last_cached_fraction <= 0.8012967413783466"),
    ]
    assert (found.best.index, str(found.best.rule)) == (14, "history_bytes >= 93641")
    assert not any(one.rejected for one in found.trace)


def test_the_published_objective_and_ratio_of_totals() -> None:
    rows = four()
    assert sum(one["prefix_tokens"] + one["f_suffix_tokens"] for one in rows) == 404_703
    best = fitted(rows).best
    assert round(best.objective, 4) == 0.8473
    assert best.totals_ratio == pytest.approx(298_261 / 404_703, rel=1e-15)
    assert round(best.totals_ratio, 4) == 0.7370
    found = one_section(fit_section(Study(table(rows))))
    assert found.says("36 candidates, 0 rejected for observed harm, 2 at the minimum: 14")
    assert found.says("objective 0.8473, ratio of totals on the same rows 0.7370")


def test_the_objective_by_hand() -> None:
    chosen = [
        Fraction(59_772 + 32_860, 160_402 + 32_860),
        Fraction(18_669 + 40_000, 24_481 + 40_000),
    ]
    by_hand = (2 + sum(chosen)) / 4
    assert fitted(four()).best.objective == pytest.approx(float(by_hand), rel=1e-14)


def test_candidates_come_as_the_constants_then_both_signs_at_each_value_from_the_smallest() -> None:
    texts = [str(one.rule) for one in fitted(four()).trace]
    assert texts[:6] == [
        "always full", "always projected", "eligible_bytes >= 12000", "eligible_bytes <= 12000",
        "eligible_bytes >= 14000", "eligible_bytes <= 14000",
    ]  # fmt: skip
    assert texts[10:18] == [
        f"history_bytes {sign} {value}"
        for value in (52266, 62102, 93641, 95519)
        for sign in (">=", "<=")
    ]
    assert texts[18:22] == [f"eligible_count {s} {v}" for v in (1, 2) for s in (">=", "<=")]
    assert texts[22:28] == [f"prefix_requests {s} {v}" for v in (3, 4, 5) for s in (">=", "<=")]
    assert texts[28:30] == ["last_cached_fraction >= 0.75", "last_cached_fraction <= 0.75"]
    assert texts[34:] == ["last_cached_fraction >= 0.93", "last_cached_fraction <= 0.93"]
    for text in texts:
        assert str(parse_rule(text)) == text


def test_always_full_costs_exactly_itself() -> None:
    first = fitted(four()).trace[0]
    assert (first.objective, first.totals_ratio) == (1.0, 1.0)


def test_a_candidate_with_observed_harm_is_rejected_however_cheap() -> None:
    rows = four()
    rows[0]["p_endpoint"] = rows[0]["p_endpoint_strict"] = "wrong"  # tomlkit-datetimes
    found = fitted(rows)
    harmful = {one.index for one in found.trace if one.rejected}
    for one in found.trace:
        chooses = str(one.rule) == "always projected" or _passes(str(one.rule), rows[0])
        assert (one.index in harmful) == chooses
    assert 14 in harmful
    # what is left: packaging-compatibility alone, the only other one that P makes cheaper
    assert [one.index for one in found.ties] == [16, 29]
    assert str(found.best.rule) == "history_bytes >= 95519"
    assert found.best.objective == pytest.approx(float((3 + Fraction(58_669, 64_481)) / 4))


def test_an_unknown_outcome_is_no_observed_harm() -> None:
    rows = four()
    rows[0] |= {"p_endpoint": "stopped", "p_endpoint_strict": "stopped"}
    assert not any(one.rejected for one in fitted(rows).trace)


def _passes(rule: str, one: Row) -> bool:
    if rule.startswith("always"):
        return rule == "always projected"
    feature, sign, threshold = rule.split()
    value = one[feature]
    return bool(value >= float(threshold) if sign == ">=" else value <= float(threshold))


def test_a_group_counts_once_however_many_siblings_it_has() -> None:
    def cost(task: str, group: str, f: int, p: int) -> Row:
        features: Row = dict.fromkeys(FEATURES, 1)
        return row(
            task, source_group=group, f_suffix_tokens=f, p_suffix_tokens=p, prefix_tokens=0,
            **features,
        )  # fmt: skip

    rows = [cost("a", "g", 100, 50), cost("b", "g", 100, 70), cost("c", "h", 10, 20)]
    projected = fitted(rows).trace[1]
    assert projected.objective == pytest.approx(float((Fraction(60, 100) + 2) / 2))
    assert projected.totals_ratio == pytest.approx(140 / 210)


@pytest.mark.parametrize(
    "column", ["prefix_tokens", "f_suffix_tokens", "p_suffix_tokens", "last_cached_fraction"]
)
def test_what_a_fit_needs_and_a_row_lacks_is_refused_by_name(column: str) -> None:
    rows = four()
    rows[2][column] = None
    with pytest.raises(InputError, match=rf"row 3 \(packaging-compatibility\): {column}: unknown"):
        fitted(rows)


TOKENS = st.integers(1, 50)
ONE = st.tuples(
    st.sampled_from("gh"), TOKENS, TOKENS, TOKENS, st.integers(0, 3), st.integers(0, 2),
    st.sampled_from(["correct", "wrong", "stopped"]),
    st.sampled_from(["correct", "wrong", "capped", "stopped"]),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(ONE, min_size=1, max_size=5))
def test_the_trace_is_that_of_a_slow_second_fitter(found: list[tuple[Any, ...]]) -> None:
    rows = [
        row(
            f"t{number}", f_end, p_end, source_group=group, prefix_tokens=prefix,
            f_suffix_tokens=f, p_suffix_tokens=p, eligible_bytes=eligible, history_bytes=history,
            eligible_count=1, prefix_requests=2, last_cached_fraction=0.5,
        )
        for number, (group, prefix, f, p, eligible, history, f_end, p_end) in enumerate(found)
    ]  # fmt: skip
    rules = ["always full", "always projected"]
    for feature in FEATURES:
        for value in sorted({one[feature] for one in rows}):
            rules += [f"{feature} >= {value}", f"{feature} <= {value}"]
    expected = []
    for rule in rules:
        ratios: dict[str, list[Fraction]] = defaultdict(list)
        totals, rejected = [0, 0], False
        for one in rows:
            chosen = _passes(rule, one)
            full = one["prefix_tokens"] + one["f_suffix_tokens"]
            cost = one["prefix_tokens"] + one["p_suffix_tokens"] if chosen else full
            ratios[one["source_group"]].append(Fraction(cost, full))
            totals = [totals[0] + cost, totals[1] + full]
            rejected |= chosen and (one["f_endpoint"], one["p_endpoint"]) in {
                ("correct", "wrong"), ("correct", "capped"),
            }  # fmt: skip
        means = [sum(of_group) / len(of_group) for of_group in ratios.values()]
        expected.append((sum(means) / len(means), Fraction(*totals), rejected))
    trace = fitted(rows).trace
    assert [str(one.rule) for one in trace] == rules
    assert [one.rejected for one in trace] == [rejected for _, _, rejected in expected]
    for candidate, (objective, ratio, _) in zip(trace, expected, strict=True):
        assert candidate.objective == pytest.approx(float(objective), rel=1e-12)
        assert candidate.totals_ratio == pytest.approx(float(ratio), rel=1e-12)
    least = min(objective for objective, _, rejected in expected if not rejected)
    tied = [i for i, (objective, _, bad) in enumerate(expected) if objective == least and not bad]
    assert [one.index for one in fitted(rows).ties] == tied, "ties in exact numbers"
    assert fitted(rows).best.index == tied[0]


def _thirds() -> list[Row]:
    """Rows a and c cost a third under P, b costs three times: choosing a or c alone is a tie."""
    shared = {
        "source_group": "g", "prefix_tokens": 0, "f_suffix_tokens": 3, "eligible_count": 1,
        "prefix_requests": 1, "last_cached_fraction": 0.5,
    }  # fmt: skip
    features = {"a": (2, 0, 1), "b": (1, 1, 9), "c": (0, 2, 1)}
    return [
        row(task, eligible_bytes=eligible, history_bytes=history, p_suffix_tokens=p) | shared
        for task, (eligible, history, p) in features.items()
    ]


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_a_tie_is_a_tie_whatever_the_rounding_and_the_order_of_the_rows(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    # c by `eligible_bytes <= 0` (3), a by `eligible_bytes >= 2` (6), and both by history_bytes
    rows = [_thirds()[place] | {"fitting": 1} for place in order]
    found = fitted(rows)
    assert [one.index for one in found.ties] == [3, 6, 9, 12]
    assert found.best == found.ties[0]
    assert found.best.objective == pytest.approx(float((Fraction(1, 3) + 2) / 3))
    unmarked = row("u", history_bytes=5, f_suffix_tokens=1, p_suffix_tokens=1, fitting=0)
    path, rule = write(tmp_path / "t.csv", [*rows, unmarked]), tmp_path / "rule.json"
    assert run_here("analyze", "fit", str(path), "-o", str(rule)).code == 0
    said = analyzed("fit", str(path))
    assert said.says(
        "4 at the minimum: 3 (eligible_bytes <= 0), 6 (eligible_bytes >= 2), "
        "9 (history_bytes <= 0), 12 (history_bytes >= 2). The first wins."
    )
    assert said.says("Chosen: P where eligible_bytes <= 0; objective 0.7778")
    tied = [c[0] for c in said.rows("Trace, in order of enumeration") if c[4] == "tied first"]
    assert tied == ["3", "6", "9", "12"]
    assert json.loads(rule.read_text())["rule"] == "eligible_bytes <= 0"
    assert analyzed(str(write(tmp_path / "t.csv", rows))).says("4 at the minimum: 3 (eligible_byt")


def test_a_fit_that_is_refused_leaves_no_rule_file(tmp_path: Path) -> None:
    """One source group can be fitted, but not left out."""
    path = write(tmp_path / "t.csv", [one | {"fitting": 1} for one in _thirds()])
    rule = tmp_path / "rule.json"
    done = run_here("analyze", "fit", str(path), "-o", str(rule))
    assert done.code in (0, 2)
    assert rule.exists() == (done.code == 0), done.err


def test_a_near_miss_is_no_tie() -> None:
    """Two choices that doubles cannot tell apart, one of them cheaper by a token in 10**30."""
    full = 10**15
    shared = {"prefix_tokens": 0, "eligible_count": 1, "prefix_requests": 1}
    shared |= {"last_cached_fraction": 0, "history_bytes": 0}
    costs = {"a": (full, full - 10), "b": (full + 1, full - 9)}
    # (full - 10) / full < (full - 9) / (full + 1), by 10 / (full (full + 1))
    saved = [1 - Fraction(p, f) for f, p in costs.values()]
    assert 0 < saved[0] - saved[1] == Fraction(10, full * (full + 1))
    # a third row, dear under P, so that only one of a and b can be chosen by a threshold
    rows = [
        row("b", eligible_bytes=0, f_suffix_tokens=full + 1, p_suffix_tokens=full - 9),
        row("c", eligible_bytes=1, f_suffix_tokens=full, p_suffix_tokens=2 * full),
        row("a", eligible_bytes=2, f_suffix_tokens=full, p_suffix_tokens=full - 10),
    ]
    for order in permutations(rows):
        found = fitted([one | shared for one in order])
        assert [str(one.rule) for one in found.ties] == ["eligible_bytes >= 2"]
        [other] = [one for one in found.trace if str(one.rule) == "eligible_bytes <= 0"]
        assert other.objective == pytest.approx(found.best.objective, rel=1e-15)


def test_the_repeats_of_one_run_weigh_one_run_together_in_the_objective() -> None:
    shared: Row = {**dict.fromkeys(FEATURES, 1), "source_group": "g", "prefix_tokens": 0}

    def of_run(run: int, repeat: int, f: int, p: int) -> Row:
        return row(
            f"t{run}", run_id=run, repeat=repeat, f_suffix_tokens=f, p_suffix_tokens=p
        ) | shared  # fmt: skip

    rows = [of_run(1, 1, 10, 5), of_run(1, 2, 10, 9), of_run(1, 3, 4, 4), of_run(2, 1, 10, 30)]
    projected = fitted(rows).trace[1]
    # run 1: (0.5 + 0.9 + 1) / 3 = 0.8; run 2: 3
    assert projected.objective == pytest.approx((0.8 + 3) / 2)
    # run 1: means 6 over 8
    assert projected.totals_ratio == pytest.approx((6 + 30) / (8 + 10))
