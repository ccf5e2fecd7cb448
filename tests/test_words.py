"""Numbers and the nouns they count agree."""

from pathlib import Path

import pytest

from revereval.words import amount
from tests.analysis.rows import row, write
from tests.loopback import run_here


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (1234, "1,234 runs"), ("1", "1 run"),
     ("0.5", "0.5 runs"), ("1,001", "1,001 runs")],
)  # fmt: skip
def test_a_noun_is_singular_beside_one_alone(number: int | str, text: str) -> None:
    assert amount(number, "run") == text


def test_a_table_of_one_pair_is_spoken_of_as_one(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", [row("a", "correct", "wrong")])
    said = run_here("analyze", str(path)).said
    assert "The 1 pair in which both arms answered (1 correct under F, 0 under P) is what" in said
    assert "The 1 pairs" not in said
