"""Runs of one task that are no repeats: named, and never counted as more tasks."""

from fractions import Fraction
from pathlib import Path

import pytest

from revereval.analysis.boundaries import success
from revereval.analysis.fitting import fit
from revereval.analysis.frames import whole
from revereval.analysis.study import Study
from revereval.terms import Endpoint
from tests.analysis.rows import Row, analyzed, report, row, table, write
from tests.ledger.build import ANSWERS, PREFIX, ArmScript, both, open_build

RIGHTLY = ArmScript([ANSWERS], Endpoint.CORRECT)


def test_runs_of_one_task_that_are_no_repeats_are_named_and_are_one_task(tmp_path: Path) -> None:
    for build in open_build(tmp_path):
        for _ in range(2):
            build.pair(PREFIX, both(RIGHTLY, RIGHTLY))
    found = analyzed("frame", "--ledger", str(tmp_path / "ledger.sqlite"))
    assert found.says(
        "1 tasks have more than one run that is no repeat (what-is-x: runs 1, 2): N counts 2 runs "
        "of 1 tasks."
    )
    repeats = [row("a", run_id=1, repeat=1), row("a", run_id=1, repeat=2), row("b", run_id=2)]
    path = str(write(tmp_path / "t.csv", repeats))
    assert not analyzed("frame", path).says("more than one run")
    rows = [row("a", plan_digest="p"), row("a", plan_digest="q"), row("b", plan_digest="q")]
    assert analyzed("frame", str(write(tmp_path / "u.csv", rows))).says(
        "(a: rows 1, 2): N counts 3"
    )


def tokens(task: str, f: int, p: int, run: int, group: str = "g") -> Row:
    known = {"prefix_tokens": 0, "fitting": 1} | dict.fromkeys(FEATURES, 1)
    return known | row(task, f_suffix_tokens=f, p_suffix_tokens=p, run_id=run, source_group=group)


FEATURES = ("eligible_bytes", "history_bytes", "eligible_count", "prefix_requests",
            "last_cached_fraction")  # fmt: skip


def test_the_sign_test_counts_a_task_once_however_many_runs_it_has() -> None:
    # five runs of a with more under P, one of b with fewer: two tasks that differ, one each way
    rows = [*(tokens("a", 10, 20, run) for run in range(5)), tokens("b", 20, 10, 9)]
    found = report(Study(table(rows)))
    sums = "Suffix tokens of pairs"
    assert found.row(sums, "exact two-sided sign test, p") == ["1.00", "1.00"]
    assert found.row(sums, "pairs with more under P") == ["5", "5"]
    # three more tasks with more under P: 4 of 5, twice (1 + 5) / 32
    more = [tokens(task, 10, 20, 10 + number) for number, task in enumerate("cde")]
    found = report(Study(table([*rows, *more])))
    assert found.row(sums, "exact two-sided sign test, p")[0] == "0.38"


def test_the_mean_of_a_source_group_counts_a_task_once_however_many_runs_it_has() -> None:
    # group g: task a has runs of ratio 2 and 4, so 3; task b 1: mean 2. Group h: 6. Mean 4
    rows = [
        tokens("a", 10, 20, 1), tokens("a", 10, 40, 2), tokens("b", 10, 10, 3),
        tokens("c", 10, 60, 4, "h"),
    ]  # fmt: skip
    made = table(rows)
    found = fit(made, success(made), whole(made))
    always = next(one for one in found.trace if str(one.rule) == "always projected")
    assert always.objective == 4
    # sums over runs are sums over runs: 130 over 40
    assert always.totals_ratio == pytest.approx(Fraction(130, 40))
