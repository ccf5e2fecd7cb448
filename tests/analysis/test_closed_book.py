"""What is said of memorised tasks, against counts by hand."""

from fractions import Fraction
from pathlib import Path

import pytest

from revereval.analysis.closed_book import closed_book
from revereval.analysis.study import Study
from revereval.report.quality import bounds_section
from tests.analysis.rows import Row, analyzed, figures, one_section, refused, row, table, write


def rows() -> list[Row]:
    """Five tasks at a boundary; `twice` has two runs, of which F is correct in one."""
    told = [
        row("known", closed_book="correct", run_id=1),
        row("twice", closed_book="correct", run_id=2),
        row("twice", f="capped", closed_book="correct", run_id=3),
        row("hard", closed_book="wrong", run_id=4),
        row("cut", closed_book="stopped", run_id=5),
        row("unasked", closed_book=None, run_id=6),
    ]
    return [one | {"plan_digest": f"plan of {one['task_id']}"} for one in told]


def test_tasks_are_counted_once_and_runs_as_the_frame_counts_them() -> None:
    found = closed_book(Study(table(rows())), 8)
    assert found is not None
    assert (found.tasks, found.asked, found.correct) == (5, 4, 2)
    assert list(found.correct_tasks) == ["known", "twice"]
    assert figures(found.runs, found.f_correct) == (3, 2)
    said = one_section(bounds_section(Study(table(rows()))))
    assert said.says(
        "Of 5 tasks at a boundary 4 have a closed-book run, without tools; it is correct in 2: "
        "known, twice. F is correct in 2 of their 3 boundary runs, and may have known the answers."
    )


def test_the_repeats_of_one_tape_weigh_one_run_together() -> None:
    pair = [
        row("a", closed_book="correct", run_id=1, repeat=1),
        row("a", f="wrong", closed_book="correct", run_id=2, repeat=2, tape_run_id=1),
    ]
    found = closed_book(Study(table(pair)), 8)
    assert found is not None
    assert figures(found.tasks, found.runs, found.f_correct) == (1, 1, Fraction(1, 2))


def test_nothing_is_said_where_no_task_was_asked_closed_book() -> None:
    for without in ([row("a")], [row("a", closed_book=None)]):
        assert closed_book(Study(table(without)), 8) is None
        assert not one_section(bounds_section(Study(table(without)))).says("closed")


def test_a_single_arm_row_is_in_no_count() -> None:
    single = row("b", p="not_planned", closed_book="correct")
    assert closed_book(Study(table([row("a", closed_book=None), single])), 8) is None


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_table_may_bring_the_column(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"table{suffix}", rows())
    assert analyzed("bounds", str(path)).says("it is correct in 2: known, twice.")


def test_another_value_is_refused_with_the_row_named(tmp_path: Path) -> None:
    path = write(tmp_path / "table.csv", [row("a", closed_book="maybe")])
    said = refused("bounds", str(path))
    assert "row 1 (a): closed_book" in said and "allowed: correct, wrong, stopped" in said
