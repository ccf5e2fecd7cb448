"""Repeats of one tape: which rows are one run, and their tokens by hand, a run weighing one."""

from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from revereval.analysis.boundaries import success
from revereval.analysis.frames import whole
from revereval.analysis.resources import (
    Pairs,
    comparable_rows,
    expenditure,
    joint_rows,
    pairs,
)
from revereval.analysis.selector import parse_rule, selected
from revereval.analysis.study import Study
from revereval.errors import InputError
from revereval.report.cost import cost_algebra, resources_section
from revereval.terms import ArmName
from tests.analysis.rows import Row, analyzed, figures, one_section, refused, row, table, write

F, P = ArmName.F, ArmName.P
SUMS = "Suffix tokens of pairs"


def pair(run: int, repeat: int, f: int | None, p: int | None, **more: Any) -> Row:
    return row(
        f"t{run}", run_id=run, repeat=repeat, f_suffix_tokens=f, p_suffix_tokens=p, **more
    )  # fmt: skip


def joint(rows: list[Row]) -> Pairs:
    made = table(rows)
    return pairs(made, "J", joint_rows(success(made), whole(made)))


def hand() -> list[Row]:
    """Run 1 with three repeats and a prefix of 40, run 2 with one and a prefix of 3."""
    return [
        pair(1, 1, 10, 5, prefix_tokens=40, f_suffix_requests=1, p_suffix_requests=1),
        pair(1, 2, 20, 5, prefix_tokens=40, f_suffix_requests=2, p_suffix_requests=1),
        pair(1, 3, 40, 5, prefix_tokens=40, f_suffix_requests=2, p_suffix_requests=2),
        pair(2, 1, 7, 14, prefix_tokens=3, f_suffix_requests=1, p_suffix_requests=2),
    ]


def test_sums_of_repeats_are_sums_of_their_runs_means() -> None:
    found = joint(hand())
    assert figures(found.of_runs, found.runs, found.unknown_tokens) == (2, 2, 0)
    f, p = Fraction(10 + 20 + 40, 3) + 7, Fraction(5 + 14)
    assert figures(found.usage[F].suffix_tokens, found.usage[P].suffix_tokens) == (f, p)
    assert f == Fraction(91, 3)
    assert (found.usage[F].suffix_requests, found.usage[P].suffix_requests) == (
        Fraction(5, 3) + 1, Fraction(4, 3) + 2,
    )  # fmt: skip
    assert found.difference == Fraction(-34, 3)
    assert found.ratio == 57 / 91
    # of the runs: 5 over 70/3, and 2
    assert found.median == pytest.approx((3 / 14 + 2) / 2)
    assert found.geometric_mean == pytest.approx(sqrt(3 / 14 * 2))
    assert (found.increases, found.decreases, found.sign_p) == (1, 1, 1.0)
    assert figures(found.prefix_tokens, found.logical) == (43, {F: f + 43, P: p + 43})
    assert found.largest_saving == 0
    assert {one.row: one.ratio for one in found.without_each} == pytest.approx(
        {0: 14 / 7, 3: 15 / 70}
    )


def test_the_report_of_repeats_by_hand() -> None:
    said = one_section(resources_section(Study(table(hand()))))
    for name, cells in {
        "runs with known tokens": ["2", "2"],
        "left out: tokens unknown": ["0", "0"],
        "F suffix tokens": ["30.33", "30.33"],
        "P suffix tokens": ["19", "19"],
        "P − F": ["−11.33", "−11.33"],
        "ratio of sums, P / F": ["0.626", "0.626"],
        "pairs with more under P": ["1", "1"],
        "pairs with fewer under P": ["1", "1"],
        "prefix tokens, once a run": ["43", "43"],
        "F logical tokens": ["73.33", "73.33"],
        "P logical tokens": ["62", "62"],
        "logical ratio of sums": ["0.845", "0.845"],
    }.items():
        assert said.row(SUMS, name) == cells
    # 70/3 - 5 saved by run 1; run 2 costs 7 more
    assert said.says("The largest saving is row 1 (t1), 18.33 suffix tokens;")
    assert said.says("the other pairs together differ by +7.")
    assert said.says("Without it the logical ratio of sums is 1.700.")  # 17 / 10
    assert said.says("goes from 0.214 (without row 4 (t2)) to 2.000 (without row 1 (t1)).")


def test_the_parts_of_usage_are_means_of_a_run_too() -> None:
    def usage(repeat: int, f: tuple[int, int, int], p: tuple[int, int, int]) -> Row:
        cells = {
            f"{arm}_suffix_{name}_tokens": count
            for arm, counts in (("f", f), ("p", p))
            for name, count in zip(("uncached", "cached", "output"), counts, strict=True)
        }
        return pair(1, repeat, sum(f), sum(p), **cells)

    rows = [usage(1, (3, 0, 1), (6, 1, 1)), usage(2, (5, 4, 2), (8, 1, 1))]
    assert cost_algebra(joint(rows)) == "(+3)·p_u + (−1)·p_c + (−0.50)·p_o"
    said = one_section(resources_section(Study(table(rows))))
    assert said.row("Usage of the suffix requests", "J", "P − F")[2:] == ["+3", "−1", "−0.50"]
    assert said.says("P − F of J costs (+3)·p_u + (−1)·p_c + (−0.50)·p_o, prices a token left open")


def test_a_repeat_with_unknown_tokens_leaves_its_share_of_a_run_out() -> None:
    rows = hand()
    rows[1]["p_suffix_tokens"] = None
    found = joint(rows)
    assert figures(found.of_runs, found.runs, found.unknown_tokens) == (2, Fraction(5, 3), 1)
    said = one_section(resources_section(Study(table(rows))))
    assert said.row(SUMS, "runs with known tokens") == ["1.67", "1.67"]
    assert said.row(SUMS, "left out: tokens unknown") == ["0.33", "0.33"]
    assert said.says("J, the runs with F and P correct, is 2 of 2")


def test_a_repeat_outside_j_leaves_its_share_of_a_run_out_of_j() -> None:
    rows = hand()
    rows[2]["p_endpoint"] = "wrong"
    said = one_section(resources_section(Study(table(rows))))
    assert said.says("J, the runs with F and P correct, is 1.67 of 2")
    assert said.says("; 2 are comparable.")


@pytest.mark.parametrize(
    ("rule", "failures", "tokens"),
    [
        ("always full", 0, Fraction(91, 3)),
        ("always projected", Fraction(1, 3), 19),
        ("history_bytes >= 1", Fraction(1, 3), 12),
        ("history_bytes <= 0", 0, Fraction(70, 3) + 14),
    ],
)
def test_what_a_policy_spends_on_repeats_by_hand(
    rule: str, failures: Fraction, tokens: Fraction
) -> None:
    rows = [one | {"history_bytes": int(one["run_id"] == 1)} for one in hand()]
    rows[2]["p_endpoint"] = "wrong"
    made = table(rows)
    comparable = comparable_rows(success(made), whole(made))
    chosen = selected(made, parse_rule(rule), whole(made))
    spent = expenditure(made, success(made), comparable, chosen, rule)
    assert figures(spent.runs, spent.failures, spent.suffix_tokens) == (2, failures, tokens)


def repeated(*differences: int) -> list[Row]:
    return [
        pair(1, repeat, 100, 100 + more, prefix_tokens=40)
        for repeat, more in enumerate(differences, 1)
    ]


def test_repeats_are_not_independent_pairs_in_the_sign_test() -> None:
    found = joint(repeated(5, 6, 7, 8, 9, 10))
    assert figures(found.runs, found.increases, found.decreases) == (1, 1, 0)
    assert found.sign_p == 1.0, "one run cannot say more than one toss of a coin"
    assert joint(repeated(5, -5)).sign_p is None, "a mean that does not differ is no toss"


def test_the_prefix_that_repeats_share_is_counted_once() -> None:
    assert joint(repeated(5, 6)).prefix_tokens == 40


def taped(run: int, tape: int | None, repeat: int, **more: Any) -> Row:
    """A row as the ledger exports it: a repeat is a run of its own that names its tape's."""
    return row("a", run_id=run, tape_run_id=tape, repeat=repeat, plan_digest="d", **more)


def test_rows_with_the_same_tape_are_one_run(tmp_path: Path) -> None:
    rows = [
        taped(4, None, 1), taped(5, 4, 2, p_endpoint="wrong"), taped(6, 4, 3), taped(7, None, 1),
        taped(8, 7, 2),
    ]  # fmt: skip
    made = table(rows)
    assert made.run[0] == made.run[1] == made.run[2] != made.run[3] == made.run[4]
    found = analyzed(str(write(tmp_path / "t.csv", rows)))
    assert found.says("The frame is 2 boundary runs.")
    assert found.says("5 pairs of continuations in 2 runs")
    # run 4: 0, -1, 0 in thirds; run 7: 0
    assert found.row("P minus F by frame, as recorded", "all boundaries")[:4] == [
        "2", "2", "1.67", "[−0.33, −0.33]",
    ]  # fmt: skip


def test_a_repeat_whose_tape_nothing_names_is_refused(tmp_path: Path) -> None:
    rows = [taped(4, None, 1), taped(5, None, 2)]
    said = refused(str(write(tmp_path / "t.csv", rows)))
    assert "row 2 (a): tape_run_id: missing: nothing says whose repeat it is" in said
    for number in (0, -3):
        said = refused(str(write(tmp_path / "t.csv", [taped(4, None, number)])))
        assert "row 1 (a): repeat: counted from 1" in said


def test_repeats_of_one_tape_were_created_together(tmp_path: Path) -> None:
    rows = [taped(4, None, 1, created_at="then"), taped(5, 4, 2, created_at="later")]
    assert "row 2 (a): created_at: not that of" in refused(str(write(tmp_path / "t.csv", rows)))


def test_a_repeat_of_a_tape_that_comes_twice_is_refused(tmp_path: Path) -> None:
    rows = [taped(4, None, 1), taped(5, 4, 2), taped(6, 4, 2)]
    said = refused(str(write(tmp_path / "t.csv", rows)))
    assert "row 3 (a): run_id: a run that comes twice" in said


def test_the_repeats_of_one_tape_share_its_boundary() -> None:
    with pytest.raises(InputError, match=r"row 2 \(a\): prefix_tokens"):
        table([taped(4, None, 1, prefix_tokens=1), taped(5, 4, 2, prefix_tokens=2)])
