"""The balance rule against the published record and against plain integer arithmetic."""

import csv
import hashlib
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.pair.allocation import first_arm

DATA = Path(__file__).parents[1] / "data"
SEED = "s4-development-v1"
NOT_COMPUTABLE = "click-parameters"
"""The siblings of pallets-click are not published."""


def paired_rows() -> list[dict[str, str]]:
    with (DATA / "reverpi_boundaries.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["flow"] == "paired"]


def published_siblings() -> dict[str, list[str]]:
    """The task ids of its source group, for every task id that is in a published list."""
    lists = tomllib.loads((DATA / "siblings.toml").read_text(encoding="utf-8"))["siblings"]
    return {task_id: group for group in lists for task_id in group}


def test_the_data_is_the_published_record() -> None:
    rows, siblings = paired_rows(), published_siblings()
    assert len(rows) == len({row["task_id"] for row in rows}) == 27
    assert Counter(row["first_arm"] for row in rows) == {"F": 15, "P": 12}
    assert len(siblings) == 40
    assert {row["task_id"] for row in rows} - siblings.keys() == {NOT_COMPUTABLE}
    for row in rows:
        for other in rows:
            same_list = other["task_id"] in siblings.get(row["task_id"], ())
            assert same_list == (row["source_group"] == other["source_group"] != "pallets-click")


@pytest.mark.parametrize(
    "row",
    [row for row in paired_rows() if row["task_id"] != NOT_COMPUTABLE],
    ids=lambda row: row["task_id"],
)
def test_every_computable_first_arm_of_the_record_comes_out(row: dict[str, str]) -> None:
    group = published_siblings()[row["task_id"]]
    arm = first_arm(SEED, row["source_group"], group, row["task_id"])
    assert arm == row["first_arm"]


def test_26_rows_of_the_record_are_computable() -> None:
    assert sum(row["task_id"] in published_siblings() for row in paired_rows()) == 26


IDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=8)
GROUPS = st.lists(IDS, min_size=1, max_size=6, unique=True)


@settings(deadline=None)
@given(st.text(max_size=8), st.text(max_size=8), GROUPS, st.data())
def test_siblings_alternate_from_the_parity_of_the_whole_hash(
    seed: str, source_group: str, group: list[str], data: st.DataObject
) -> None:
    ordered = sorted(group)
    hexadecimal = hashlib.sha256(
        seed.encode("utf-8") + b"\x00" + source_group.encode("utf-8")
    ).hexdigest()
    b_g = int(hexadecimal, 16) % 2
    mixed = data.draw(st.permutations(group))
    arms = [str(first_arm(seed, source_group, mixed, task_id)) for task_id in ordered]
    assert arms == ["F" if (b_g + j) % 2 == 0 else "P" for j in range(len(ordered))]
    assert all(one != other for one, other in pairwise(arms))


def test_the_separator_keeps_seed_and_group_apart() -> None:
    """Sixteen ways to cut one text in two are not all alike: NUL is between the parts."""
    text = "abcdefghijklmnopq"
    arms = {first_arm(text[:at], text[at:], ["t"], "t") for at in range(len(text))}
    assert len(arms) == 2


def test_a_task_that_is_no_sibling_is_refused() -> None:
    with pytest.raises(ValueError, match="not-there"):
        first_arm(SEED, "g", ["a", "b"], "not-there")
