"""Endpoints by contract: what an empty cell means, and what a table that lacks a contract says."""

from typing import Any

import numpy as np
import pytest

from revereval.analysis.boundaries import STATES, success
from revereval.analysis.study import Question, Study
from revereval.errors import InputError
from revereval.report.quality import bounds_section, frame_section
from tests.analysis.rows import Row, one_section, row, table

TITLE = "By contract and endpoint definition"


def endpoints(rows: list[Row], contract: str, side: str = "F") -> list[str]:
    """The endpoint of each row, unknown where nothing says it."""
    arms = {str(name): arm for name, arm in table(rows).arms.items()}
    return ["unknown" if code < 0 else str(STATES[code]) for code in arms[side].endpoints[contract]]


def both(task: str, f: str, p: str, **cells: Any) -> Row:
    return row(task, f, p, **cells)


MIXED = [
    both("a", "correct", "wrong", contract="extracted", f_endpoint_strict="wrong",
         p_endpoint_strict="wrong"),
    both("b", "correct", "correct", contract="extracted"),
    both("c", "wrong", "correct", contract="strict", f_endpoint_extracted="correct",
         p_endpoint_extracted="correct"),
    both("d", "wrong", "wrong", contract="strict"),
    both("e", "correct", "wrong", contract=None),
]  # fmt: skip
"""Contracts a row: its own column is empty throughout, the other one is known in a and c."""


def test_an_empty_cell_is_the_primary_endpoint_where_the_contract_is_the_rows_own() -> None:
    assert endpoints(MIXED, "extracted") == ["correct", "correct", "correct", "unknown", "correct"]
    assert endpoints(MIXED, "strict") == ["wrong", "unknown", "wrong", "wrong", "unknown"]
    assert endpoints(MIXED, "primary") == [one["f_endpoint"] for one in MIXED]


def test_an_unknown_endpoint_is_an_unknown_success_whatever_the_definition() -> None:
    made = table(MIXED)
    found = success(made, "strict")
    assert list(found.f_low) == [0, 0, 0, 0, 0]
    assert list(found.f_high) == [0, 1, 0, 0, 1]
    assert list(found.p_low) == [0, 0, 1, 0, 0]
    assert list(found.p_high) == [0, 1, 1, 0, 1]
    assert list(found.known) == [True, False, True, True, False]


def test_the_bounds_by_contract_count_the_unknown_ones_by_hand() -> None:
    said = one_section(bounds_section(Study(table(MIXED))))
    for definition in ("request", "joint"):
        # extracted: -1 | 0 | 0 | unknown | -1; strict: 0 | unknown | +1 | 0 | unknown
        assert said.row(TITLE, "extracted", definition)[:4] == ["5", "4–5", "2–3", "[−3, −1]"]
        assert said.row(TITLE, "strict", definition)[:4] == ["5", "0–2", "1–3", "[−1, +3]"]


def test_a_table_that_names_no_contract_uses_the_extracted_one() -> None:
    rows = [both("a", "correct", "wrong"), both("b", "wrong", "correct")]
    assert endpoints(rows, "extracted") == ["correct", "wrong"]
    with pytest.raises(InputError, match="f_endpoint_strict: missing"):
        success(table(rows), "strict")
    said = one_section(bounds_section(Study(table(rows))))
    assert said.row(TITLE, "strict", "request") == ["2", *["unknown"] * 4]


def test_a_table_of_the_strict_contract_alone_does_not_know_the_extracted_one() -> None:
    rows = [both(task, "correct", "wrong", contract="strict") for task in "ab"]
    assert endpoints(rows, "strict", "P") == ["wrong", "wrong"]
    with pytest.raises(InputError, match="f_endpoint_extracted: missing"):
        success(table(rows), "extracted")


def test_an_unnamed_row_may_state_the_extracted_contract_for_itself() -> None:
    rows = [both("a", "wrong", "wrong", f_endpoint_extracted="correct")]
    assert endpoints(rows, "extracted") == ["correct"]
    assert endpoints(rows, "extracted", "P") == ["wrong"]


def test_an_arm_without_an_answer_is_the_same_under_every_contract() -> None:
    rows = [MIXED[0], both("b", "capped", "unexecuted", contract="extracted")]
    assert endpoints(rows, "strict") == ["wrong", "capped"]
    assert list(success(table(rows), "strict").f_high) == [0, 0]


def test_a_single_arm_stays_outside_whatever_the_contract() -> None:
    rows = [*MIXED, both("f", "correct", "not_planned", contract="extracted")]
    for contract in ("extracted", "strict"):
        study = Study(table(rows), Question(contract=contract))
        assert one_section(frame_section(study)).says("The frame is 5 boundary runs.")
    assert np.array_equal(table(rows).paired, [True] * 5 + [False])
