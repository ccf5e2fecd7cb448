"""What `analyze` is asked: a sub-command is its first word, and a large table comes to an end."""

from itertools import cycle
from pathlib import Path

import pytest

from revereval.terms import ArmName
from tests.analysis.rows import Row, analyzed, refused, row, write
from tests.loopback import run_here

COMMANDS = ("all", "frame", "bounds", "selector", "resources", "fit", "censoring")


@pytest.mark.parametrize("task", COMMANDS)
def test_a_task_may_be_called_as_a_sub_command_is(task: str, tmp_path: Path) -> None:
    path = str(write(tmp_path / "t.csv", [row(task), row("b", "wrong", "correct")]))
    found = analyzed("--exclude", task, path)
    assert found.row(f"P minus F by frame, without {task}", "all boundaries")[:4] == [
        "1", "0", "1", "[+1, +1]",
    ]  # fmt: skip
    assert "Trace, in order of enumeration" not in found.titles
    after = analyzed(path, "--exclude", task)
    assert {title: after.rows(title) for title in after.titles} == {
        title: found.rows(title) for title in found.titles
    }
    # two runs, of 0 and +1; F of the first unknown, its P correct: 0 or +1
    relaxed = analyzed("--relax", f"{task}:{ArmName.F}", path)
    title = f"P minus F by frame, F of {task} taken as unknown"
    assert relaxed.row(title, "all boundaries")[3] == "[+1, +2]"


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_a_sub_command_after_an_option_is_no_sub_command(command: str, tmp_path: Path) -> None:
    path = str(write(tmp_path / "t.csv", [row("a")]))
    assert "extra argument" in refused("--contract", "strict", command, path)


def test_a_file_may_be_called_as_a_sub_command_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        assert "not a boundary table" in refused("--json", command)
    write(Path("frame.csv"), [row("a")])
    assert analyzed("frame.csv").says("The frame is 1 boundary runs.")
    whole, named = (run_here("analyze", *words, "frame.csv") for words in ((), ("all",)))
    assert (whole.code, whole.err, whole.out) == (named.code, named.err, named.out)


def large(number: int, groups: int) -> list[Row]:
    """Every endpoint, every feature different in most rows, forty rows marked as fitting."""
    states = cycle(["correct", "wrong", "capped", "correct", "stopped", "correct", "unexecuted"])
    rows = []
    for i, f_end in zip(range(number), states, strict=False):
        fitting = i < 40
        ends = ("correct", "correct") if fitting else (f_end, "wrong" if i % 11 == 0 else "correct")
        tokens: Row = {
            f"{arm}_suffix_tokens": None if end == "unexecuted" else 1000 + i * step % 9973
            for arm, end, step in (("f", ends[0], 37), ("p", ends[1], 101))
        }
        rows.append(row(
            f"t{i}", *ends, source_group=f"g{i % groups}", first_arm="FP"[i // 3 % 2],
            fitting=int(fitting), history_bytes=i * 7919 % 20011, eligible_bytes=i * 31 % 19997,
            eligible_count=1 + i % 5, prefix_requests=1 + i % 12, prefix_tokens=500 + i,
            last_cached_fraction=i % 1000 / 1000, **tokens,
        ))  # fmt: skip
    return rows


def test_all_of_a_table_of_20_000_rows_and_5_000_groups(tmp_path: Path) -> None:
    rows = large(20_000, 5_000)
    found = analyzed(str(write(tmp_path / "t.parquet", rows)), "--rule", "history_bytes >= 10000")
    assert found.says("The frame is 20,000 boundary runs.")
    known = [
        one
        for one in rows
        if {one["f_endpoint"], one["p_endpoint"]} <= {"correct", "wrong", "capped"}
    ]
    folds = found.row("Thresholds on comparable runs", "leave one source group out")
    assert len({one["source_group"] for one in known}) == 5000
    assert folds[:2] == ["5000 folds", f"{len(known):,}"]
    chosen = found.rows("Thresholds that the folds choose")
    assert sum(int(cells[1].replace(",", "")) for cells in chosen) == 5000
    assert found.says("Fitted on 40 runs")
    low = sum((one["p_endpoint"] == "correct") - (one["f_endpoint"] in ("correct", "stopped",
              "unexecuted")) for one in rows)  # fmt: skip
    high = sum((one["p_endpoint"] == "correct") - (one["f_endpoint"] == "correct") for one in rows)
    signed = [f"{end:+,}".replace("-", "−") for end in (low, high)]
    assert found.row("P minus F by frame, as recorded", "all boundaries")[3] == (
        f"[{signed[0]}, {signed[1]}]"
    )
