"""Components of variance by hand, and against the textbook's sums of squares."""

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis.boundaries import success
from revereval.analysis.frames import whole
from revereval.analysis.study import Study
from revereval.analysis.variation import Components, components
from revereval.report.sensitivity import repeats_section
from tests.analysis.rows import Row, one_section, row, table

F, P, DIFFERENCE = "success of F", "success of P", "success, P − F"
RATIO = "log of suffix tokens, P / F"


def parts(found: Components) -> list[Any]:
    return [found.runs, found.repeats, found.within, found.between]


def split(rows: list[Row]) -> dict[str, Components]:
    made = table(rows)
    return {one.figure: one for one in components(made, success(made), whole(made))}


def repeats(
    run: int, *ends: tuple[str, str], tokens: tuple[tuple[int, int], ...] = ()
) -> list[Row]:
    rows = [row(f"t{run}", f, p, run_id=run, repeat=i) for i, (f, p) in enumerate(ends, 1)]
    for one, (f_tokens, p_tokens) in zip(rows, tokens, strict=False):
        one |= {"f_suffix_tokens": f_tokens, "p_suffix_tokens": p_tokens}
    return rows


YES, NO = "correct", "wrong"


def test_a_balanced_table_by_hand() -> None:
    rows = [
        *repeats(1, (YES, YES), (YES, NO)),
        *repeats(2, (NO, YES), (YES, YES)),
        *repeats(3, (NO, NO), (NO, NO)),
    ]
    found = split(rows)
    # F: means 1, 1/2, 0; within: only run 2 varies, 2 (1/2)² = 1/2 over 3 degrees = 1/6
    # between: 2 (1/4 + 0 + 1/4) / 2 = 1/2, so (1/2 - 1/6) / 2 = 1/6
    assert parts(found[F]) == pytest.approx([3, 6, 1 / 6, 1 / 6])
    # P: means 1/2, 1, 0, the same in another order
    assert parts(found[P]) == pytest.approx([3, 6, 1 / 6, 1 / 6])
    # P − F: 0, -1 | 1, 0 | 0, 0; means -1/2, 1/2, 0: within (1/2 + 1/2) / 3 = 1/3,
    # between 2 (1/4 + 1/4) / 2 = 1/2, so (1/2 - 1/3) / 2 = 1/12
    assert parts(found[DIFFERENCE]) == pytest.approx([3, 6, 1 / 3, 1 / 12])
    assert found[RATIO] == Components(RATIO, 0, 0, None, None)


def test_the_logarithm_of_a_ratio_by_hand() -> None:
    one = repeats(1, (YES, YES), (YES, YES), tokens=((10, 10), (10, 20)))
    two = repeats(2, (YES, YES), (YES, YES), tokens=((10, 40), (10, 80)))
    found = split([*one, *two])[RATIO]
    unit = math.log(2) ** 2
    # in units of log 2: 0, 1 | 2, 3; means 1/2, 5/2; within 1/2, between 2 (1 + 1) - 1/2 over 2
    assert found.within == pytest.approx(unit / 2)
    assert found.between == pytest.approx(unit * (4 - 0.5) / 2)


def test_no_variation_between_runs_is_zero_and_never_negative() -> None:
    found = split([*repeats(1, (YES, YES), (NO, YES)), *repeats(2, (NO, YES), (YES, YES))])
    assert (found[F].within, found[F].between) == (0.5, 0.0)
    assert (found[P].within, found[P].between) == (0.0, 0.0)


def test_fewer_than_two_repeats_or_runs_leave_a_component_unknown() -> None:
    single = [row("a", run_id=1), row("b", run_id=2)]
    assert {(one.runs, one.within, one.between) for one in split(single).values()} == {
        (0, None, None)
    }
    one_run = repeats(1, (YES, YES), (NO, YES))
    found = split(one_run)[F]
    assert (found.runs, found.repeats, found.within, found.between) == (1, 2, 0.5, None)
    said = one_section(repeats_section(Study(table(one_run))))
    assert said.row("Variance", F) == ["1", "2", "0.5000", "unknown"]
    assert said.says("2 pairs of continuations in 1 runs")


def test_a_run_with_one_known_repeat_says_nothing_about_its_inside() -> None:
    rows = [
        *repeats(1, (YES, YES), ("stopped", YES)),
        *repeats(2, (YES, YES), (NO, YES), ("unexecuted", NO)),
    ]
    found = split(rows)
    assert (found[F].runs, found[F].repeats) == (1, 2)
    assert (found[P].runs, found[P].repeats) == (2, 5)


ENDS = st.tuples(st.sampled_from([YES, NO, "capped", "stopped"]), st.sampled_from([YES, NO]))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(ENDS, min_size=1, max_size=5), min_size=1, max_size=5))
def test_unbalanced_tables_against_the_raw_sums_of_squares(runs: list[list[Any]]) -> None:
    rows = [one for run, ends in enumerate(runs) for one in repeats(run, *ends)]
    values: dict[int, list[Fraction]] = defaultdict(list)
    for one in rows:
        if one["f_endpoint"] != "stopped":
            values[one["run_id"]].append(Fraction(one["f_endpoint"] == YES))
    kept = [found for found in values.values() if len(found) > 1]
    found = split(rows)[F]
    number, groups = sum(map(len, kept)), len(kept)
    assert (found.runs, found.repeats) == (groups, number)
    if not groups:
        assert (found.within, found.between) == (None, None)
        return
    # the textbook's computing formulas: totals of squares, no deviations
    squares = sum(value**2 for one in kept for value in one)
    of_groups = sum(Fraction(sum(one)) ** 2 / len(one) for one in kept)
    correction = Fraction(sum(map(sum, kept))) ** 2 / number
    within = (squares - of_groups) / (number - groups)
    assert found.within == pytest.approx(float(within), abs=1e-12)
    if groups < 2:
        assert found.between is None
        return
    mean_square = (of_groups - correction) / (groups - 1)
    size = Fraction(number**2 - sum(len(one) ** 2 for one in kept), number * (groups - 1))
    expected = max(Fraction(0), (mean_square - within) / size)
    assert found.between == pytest.approx(float(expected), abs=1e-12)
