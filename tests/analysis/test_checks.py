"""Rows that contradict themselves: one line that names file, row and column; nothing dropped."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from revereval.analysis.boundaries import FEATURES
from revereval.errors import InputError
from tests.analysis.rows import Row, analyzed, refused, row, table, write
from tests.cli.process import Scene, at

FULL: Row = row(
    "b", "correct", "wrong", run_id=2, plan_digest="d", created_at="now", flow="paired",
    split="development", fitting=0, contract="extracted", endpoint_definition="request",
    history_bytes=10, eligible_bytes=10, eligible_count=1, prefix_requests=2, prefix_tokens=5,
    last_cached_fraction=0.5,
    f_endpoint_extracted="correct", p_endpoint_extracted="wrong",
    f_endpoint_strict="wrong", p_endpoint_strict="wrong",
    f_extracted=1, p_extracted=0, f_strict=0, p_strict=0, f_reason=None, p_reason=None,
    f_suffix_tokens=30, p_suffix_tokens=40, f_suffix_requests=2, p_suffix_requests=3,
    f_suffix_uncached_tokens=10, f_suffix_cached_tokens=10, f_suffix_output_tokens=10,
    p_suffix_uncached_tokens=20, p_suffix_cached_tokens=10, p_suffix_output_tokens=10,
    f_allowed_requests=12, p_allowed_requests=12,
)  # fmt: skip
"""A row with every column that an analysis reads, without a contradiction."""


def ended(arm: str, endpoint: str, **more: Any) -> Row:
    """The changes that end an arm without an answer, consistently."""
    return {
        f"{arm}_endpoint": endpoint, f"{arm}_endpoint_extracted": endpoint,
        f"{arm}_endpoint_strict": endpoint, f"{arm}_extracted": None, f"{arm}_strict": None,
        **more,
    }  # fmt: skip


def never(arm: str, **more: Any) -> Row:
    columns = ("tokens", "uncached_tokens", "cached_tokens", "output_tokens")
    empty = {f"{arm}_suffix_{name}": None for name in columns}
    return ended(arm, "unexecuted", **empty, **{f"{arm}_suffix_requests": 0}, **more)


def unplanned(arm: str, **more: Any) -> Row:
    """An arm that its row's flow never meant to run."""
    no_requests = {f"{arm}_suffix_requests": None}
    changes = {f"{arm}_endpoint{kind}": "not_planned" for kind in ("", "_extracted", "_strict")}
    return never(arm) | changes | no_requests | more


def capped(arm: str, **more: Any) -> Row:
    return ended(arm, "capped", **{f"{arm}_suffix_requests": 12}, **more)


CONSISTENT: dict[str, Row] = {
    "as it is": {},
    "unexecuted": never("p", p_reason="companion_rule"),
    "capped": capped("f"),
    "a budget stop": ended("f", "stopped", f_reason="budget"),
    "a stop without a request": ended("f", "stopped", f_suffix_requests=0)
    | {"f_suffix_tokens": 0},
    "an allowance of its own": capped("f", f_allowed_requests=5) | {"f_suffix_requests": 5},
    "unknown requests": {"f_suffix_requests": None, "p_suffix_requests": None},
    "unknown features": dict.fromkeys(
        ("history_bytes", "eligible_bytes", "prefix_tokens", "last_cached_fraction")
    ),
    "single arm": unplanned("p", flow="single_arm"),
    # COLUMNS.md: every column can be empty, which is unknown
    "unknown verdicts of an answer": {"f_extracted": None, "p_strict": None},
    "a verdict of no answer that accepts nothing": capped("f", f_extracted=0, f_strict=0),
    "the other contract's endpoint unknown": {"f_endpoint_strict": None, "f_strict": None},
    "its own contract's column empty": {"f_endpoint_extracted": None, "p_endpoint_extracted": None},
    "no contract named": {"contract": None},
    "everything read from the cache": {"last_cached_fraction": 1},
}  # fmt: skip

_COUNTS = [
    column
    for column, cell in FULL.items()
    if type(cell) in (int, float)
    and column not in ("run_id", "fitting")
    and not column.endswith(("extracted", "strict"))
]
CONTRADICTORY: dict[str, tuple[Row, str]] = {
    "an unknown endpoint": ({"p_endpoint": "right"}, "p_endpoint"),
    "an endpoint in capitals": ({"p_endpoint": "WRONG"}, "p_endpoint"),
    "an unknown strict endpoint": ({"f_endpoint_strict": "no"}, "f_endpoint_strict"),
    "an unknown first arm": ({"first_arm": "G"}, "first_arm"),
    "no first arm": ({"first_arm": None}, "first_arm"),
    "an unknown split": ({"split": "test"}, "split"),
    "an unknown flow": ({"flow": "both"}, "flow"),
    "an unknown contract": ({"contract": "lenient"}, "contract"),
    "an unknown definition": ({"endpoint_definition": "tokens"}, "endpoint_definition"),
    "no task": ({"task_id": None}, "task_id"),
    "no group": ({"source_group": None}, "source_group"),
    "no endpoint": ({"f_endpoint": None}, "f_endpoint"),
    "unexecuted with tokens": (never("p") | {"p_suffix_tokens": 7}, "p_suffix_tokens"),
    "unexecuted with requests": (never("p") | {"p_suffix_requests": 1}, "p_suffix_requests"),
    "unexecuted with U": (
        never("p") | {"p_suffix_uncached_tokens": 7}, "p_suffix_uncached_tokens",
    ),
    "unexecuted with C": (never("p") | {"p_suffix_cached_tokens": 7}, "p_suffix_cached_tokens"),
    "not planned with U": (
        unplanned("p", flow="single_arm", p_suffix_uncached_tokens=7), "p_suffix_uncached_tokens",
    ),
    "unexecuted with O": (never("f") | {"f_suffix_output_tokens": 7}, "f_suffix_output_tokens"),
    "capped with fewer than K": (capped("p") | {"p_suffix_requests": 11}, "p_suffix_requests"),
    "capped with fewer than its own K": (
        capped("p", p_allowed_requests=5) | {"p_suffix_requests": 4}, "p_suffix_requests",
    ),
    "more than K": (capped("f") | {"f_suffix_requests": 13}, "f_suffix_requests"),
    "correct without a request": ({"f_suffix_requests": 0}, "f_suffix_requests"),
    "wrong without a request": ({"p_suffix_requests": 0}, "p_suffix_requests"),
    "correct, but not accepted": ({"f_extracted": 0}, "f_extracted"),
    "wrong, but accepted": ({"p_extracted": 1}, "p_extracted"),
    "strictly wrong, but accepted": ({"f_strict": 1}, "f_strict"),
    "capped, but accepted": (capped("f", f_extracted=1), "f_extracted"),
    "stopped, but accepted": (ended("f", "stopped", f_strict=1), "f_strict"),
    "unexecuted, but accepted": (never("p", p_extracted=1), "p_extracted"),
    "not planned, but accepted": (
        unplanned("p", flow="single_arm", p_strict=1), "p_strict",
    ),
    "an answer under one contract alone": ({"f_endpoint_strict": "capped"}, "f_endpoint_strict"),
    "a stop under one contract alone": (
        capped("p") | {"p_endpoint_strict": "stopped"}, "p_endpoint_strict",
    ),
    "the plan's contract twice": (
        {"f_endpoint": "wrong", "f_endpoint_extracted": "correct"}, "f_endpoint_extracted",
    ),
    "the plan's strict contract twice": ({"contract": "strict"}, "f_endpoint_strict"),
    "a reason for an answer": ({"f_reason": "budget"}, "f_reason"),
    "a reason for a cap": (capped("f", f_reason="budget"), "f_reason"),
    "an unknown reason": (ended("f", "stopped", f_reason="bugdet"), "f_reason"),
    "an unknown reason of no run": (never("p", p_reason="companion"), "p_reason"),
    "more cached than all": ({"last_cached_fraction": 1.0000001}, "last_cached_fraction"),
    "paired, but not planned": (unplanned("p"), "flow"),
    "single arm, but planned": ({"flow": "single_arm"}, "flow"),
    "no arm planned": (unplanned("f") | unplanned("p"), "p_endpoint"),
    **{f"negative {column}": ({column: -1}, column) for column in _COUNTS},
}  # fmt: skip


def rows(changes: Row) -> list[Row]:
    """A sound row, the changed one, and another sound one."""
    ends = [FULL | {"task_id": "a", "run_id": 1}, FULL | {"task_id": "c", "run_id": 3}]
    return [ends[0], FULL | changes, ends[1]]


@pytest.mark.parametrize("kind", CONSISTENT)
def test_a_row_without_a_contradiction_is_read(kind: str, tmp_path: Path) -> None:
    found = analyzed("frame", str(write(tmp_path / "t.csv", rows(CONSISTENT[kind]))))
    assert found.says("The frame is 2" if kind == "single arm" else "The frame is 3")


@pytest.mark.parametrize("kind", CONTRADICTORY)
def test_a_contradiction_is_one_line_that_names_file_row_and_column(
    kind: str, tmp_path: Path
) -> None:
    changes, column = CONTRADICTORY[kind]
    path = write(tmp_path / "t.csv", rows(changes))
    for command in (["bounds"], []):
        said = refused(*command, str(path))
        assert said.startswith(f"revereval: {path}: row 2")
        assert f"{column}: " in said
        if changes.get("task_id", "b") is not None:
            assert "(b)" in said


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize("kind", ["an unknown endpoint", "negative prefix_tokens", "more than K"])
def test_the_line_is_the_same_for_every_kind_of_file(
    kind: str, suffix: str, tmp_path: Path
) -> None:
    changes, _ = CONTRADICTORY[kind]
    lines = [
        refused(str(write(tmp_path / f"t{one}", rows(changes)))).replace(one, "")
        for one in (".csv", suffix)
    ]
    assert lines[0] == lines[1]


def test_the_installed_command_says_the_same_line(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", rows({"p_endpoint": "right"}))
    scene: Scene = at(tmp_path / "scene", tmp_path / "cache")
    done = scene.run("analyze", str(path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == refused(str(path))


IDENTITIES: dict[str, tuple[Row, Row]] = {
    "the same run": ({"run_id": 2}, {"run_id": 2}),
    "the same plan without a run": ({"plan_digest": "d"}, {"plan_digest": "d"}),
    "the same task and nothing else": ({}, {}),
    "the same flow": ({"flow": "paired"}, {"flow": "paired"}),
}


@pytest.mark.parametrize("kind", IDENTITIES)
def test_a_run_that_comes_twice_is_refused(kind: str, tmp_path: Path) -> None:
    first, second = IDENTITIES[kind]
    path = write(tmp_path / "t.csv", [row("z", **first), row("a", **first), row("a", **second)])
    said = refused(str(path))
    assert "row 3 (a)" in said
    assert "comes twice" in said


def test_two_runs_of_one_task_are_two_runs(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", [row("a", run_id=1), row("a", run_id=2)])
    assert analyzed("frame", str(path)).says("The frame is 2")


def test_a_repeat_that_comes_twice_is_refused() -> None:
    repeats = [row("a", run_id=1, repeat=number) for number in (1, 2, 3)]
    assert len(table(repeats)) == 3
    with pytest.raises(InputError, match=r"row 4 \(a\): .*comes twice"):
        table([*repeats, row("a", run_id=1, repeat=2)])


SHARED: Row = {
    "source_group": "other", "prefix_tokens": 7, "fitting": 0,
    **dict.fromkeys(FEATURES, 0),
}  # fmt: skip
"""What the repeats of one run have in common, each with another value than `_repeats` gives."""


def _repeats(changes: Row) -> list[Row]:
    """Three repeats of one run between two other runs; the changes are in the last of them."""
    shared: Row = {"prefix_tokens": 5, "fitting": 1, **dict.fromkeys(FEATURES, 1)}
    repeats = [row("a", run_id=1, repeat=number, **shared) for number in (1, 2, 3)]
    repeats[2] |= changes
    others = [row(task, run_id=9, repeat=1, **shared) for task in "xy"]
    return [others[0], *repeats, others[1]]


@pytest.mark.parametrize("column", SHARED)
def test_one_run_has_one_boundary_whatever_its_repeats(column: str) -> None:
    assert len(np.unique(table(_repeats({})).run)) == 3
    with pytest.raises(InputError, match=rf"row 4 \(a\): {column}: "):
        table(_repeats({column: SHARED[column]}))


def test_the_repeats_of_one_run_take_turns_at_going_first() -> None:
    made = table(_repeats({"first_arm": "P", "f_endpoint": "wrong"}))
    assert list(made.p_first) == [False, False, False, True, False]
    assert made.run[1] == made.run[2] == made.run[3]


def test_a_source_group_is_never_divided_between_splits() -> None:
    divided = [
        row("a", source_group="g", split="development"),
        row("b", source_group="g", split="confirmation"),
    ]
    with pytest.raises(InputError, match=r"row 2 \(b\): split"):
        table(divided)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_empty_frame_is_refused(suffix: str, tmp_path: Path) -> None:
    single = row("a", p="not_planned", flow="single_arm")
    assert "the frame is empty" in refused(str(write(tmp_path / f"t{suffix}", [single])))


def test_a_rule_on_an_unknown_feature_names_row_and_column(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", rows({"last_cached_fraction": None}))
    rule = "last_cached_fraction <= 0.5"
    for arguments in (["selector", rule, str(path)], [str(path), "--rule", rule]):
        said = refused(*arguments)
        assert f"{path}: row 2 (b): last_cached_fraction: unknown" in said


def test_what_is_asked_of_a_table_is_checked_too(tmp_path: Path) -> None:
    path = str(write(tmp_path / "t.csv", rows({})))
    assert "no row of task 'zz'" in refused(path, "--exclude", "zz")
    assert "no row of task 'zz'" in refused(path, "--relax", "zz:F")
    for text in ("a", "a:G", ":F", "a:f"):
        assert "TASK:F" in refused(path, "--relax", text)
    for text in ("1,2", "1,2,3,4", "a,b,c", "-1,0,0", "1/0,1,1", "nan,1,1", ""):
        assert "--prices" in refused(path, "--prices", text)
    assert "--feature" in refused(path, "--feature", "bytes")
    assert "not a rule" in refused(path, "--rule", "history_bytes > 5")
    assert "fitting" in refused("fit", path)
