"""The order of a table's rows is not information: every section says the same in any order."""

import random
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis.resources import Prices
from revereval.analysis.selector import parse_rule
from revereval.analysis.study import Question, Study
from revereval.terms import ArmName
from tests.analysis.frames_drawn import frames
from tests.analysis.rows import Report, Row, reference_rows, report, table
from tests.analysis.test_fitter import four

_NUMBER = re.compile(r"row \d+ ")


def said(rows: list[Row], question: Question) -> tuple[list[str], dict[str, list[list[str]]]]:
    """All of a report, without the numbers of rows and with the rows of each table sorted."""
    found: Report = report(Study(table(rows), question))
    tables = {
        title: sorted([_NUMBER.sub("", cell) for cell in cells] for cells in found.rows(title))
        for title in found.titles
    }
    return [_NUMBER.sub("", sentence) for sentence in found.sentences], tables


def _shuffled(rows: list[Row], seed: int) -> list[Row]:
    rows = list(rows)
    random.Random(seed).shuffle(rows)  # noqa: S311 - an order, no secret
    return rows


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("contract", ["primary", "strict"])
def test_the_reference_record_in_any_order(seed: int, contract: str) -> None:
    question = Question(
        rule=parse_rule("history_bytes >= 93641"), exclude=("pathspec-util",),
        relax=(("pathspec-util", ArmName.F),), contract=contract, joint_prefix_total=330_842,
        comparable_prefix_total=510_392,
    )  # fmt: skip
    rows = reference_rows()
    expected = said(rows, question)
    got = said(_shuffled(rows, seed), question)
    drop = "Not possible with this record"  # it names the first row, which is another one
    assert [s for s in got[0] if drop not in s] == [s for s in expected[0] if drop not in s]
    assert got[1] == expected[1]


@pytest.mark.parametrize("seed", range(6))
def test_a_fit_in_any_order(seed: int) -> None:
    question = Question(prices=None)
    assert said(_shuffled(four(), seed), question) == said(four(), question)


@settings(max_examples=40, deadline=None)
@given(frames(), st.integers(0, 2**16), st.booleans())
def test_made_up_frames_in_any_order(rows: list[Row], seed: int, repeated: bool) -> None:
    for number, one in enumerate(rows):
        for arm, base, slope in (("f", 1000, 13), ("p", 700, 29)):
            idle = one[f"{arm}_endpoint"] == "unexecuted"
            # all different, so that no order has to break a tie
            one[f"{arm}_suffix_tokens"] = None if idle else base + slope * number**2
            for name in ("uncached", "cached", "output"):
                one[f"{arm}_suffix_{name}_tokens"] = None if idle else number + base
        if repeated:
            one |= {"task_id": "t", "source_group": "g", "run_id": number // 2,
                    "repeat": number % 2 + 1, "prefix_tokens": 5,
                    "history_bytes": rows[number // 2 * 2]["history_bytes"]}  # fmt: skip
    question = Question(
        rule=parse_rule("history_bytes >= 2"), prices=Prices(*map(_price, (3, 1, 7))),
        exclude=(rows[0]["task_id"],),
    )  # fmt: skip
    assert said(_shuffled(rows, seed), question) == said(rows, question)


def _price(units: int) -> Fraction:
    return Fraction(units, 3)
