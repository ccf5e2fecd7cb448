"""A fitted rule as a file, and what may be called held out."""

import json
from pathlib import Path
from typing import Any

import pytest

from revereval.canonical import digest
from revereval.errors import InputError
from revereval.report.rule_file import load_rule
from tests.analysis.rows import Report, Row, analyzed, refused, row, write
from tests.analysis.test_fitter import four
from tests.loopback import run_here

TASKS = {"tomlkit-datetimes", "boltons-indexedset", "packaging-compatibility", "click-parameters"}
OUTSIDE = "outside fitting tasks"


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    """The rule that `analyze fit` writes for the four published fitting rows."""
    write(tmp_path / "fitting.csv", four())
    path = tmp_path / "rule.json"
    done = run_here("analyze", "fit", str(tmp_path / "fitting.csv"), "-o", str(path))
    assert done.code == 0
    assert done.err == f"wrote {path}, digest {json.loads(path.read_text())['digest']}\n"
    return path


def test_a_rule_file_reads_back_as_its_rule_and_its_fitting_tasks(rule: Path) -> None:
    found, fitted_on, groups, rows = load_rule(str(rule))
    assert len(rows or ()) == 4
    assert str(found) == "history_bytes >= 93641"
    assert sorted(fitted_on or ()) == sorted(TASKS)
    assert sorted(groups or ()) == sorted(one["source_group"] for one in four())
    document = json.loads(rule.read_text())
    assert [one["index"] for one in document["trace"]] == list(range(36))
    assert {one["task_id"] for one in document["fitted_on"]} == TASKS
    stated = document.pop("digest")
    assert digest(document) == stated


def test_a_rule_file_decides_as_the_rule_written_out(rule: Path, tmp_path: Path) -> None:
    table = str(write(tmp_path / "t.csv", four()))
    title = "Rule minus always full, as recorded"
    by_file = analyzed("selector", str(rule), table)
    by_text = analyzed("selector", "history_bytes >= 93641", table)
    assert by_file.rows(title) == by_text.rows(title)


def test_every_changed_byte_is_refused_or_changes_nothing(rule: Path) -> None:
    raw, meant = rule.read_bytes(), load_rule(str(rule))
    changed = rule.with_name("changed.json")
    refusals = 0
    for place in range(0, len(raw), 7):
        data = bytearray(raw)
        data[place] = ord("1") if data[place] != ord("1") else ord("2")
        changed.write_bytes(data)
        try:
            found = load_rule(str(changed))
        except InputError:
            refusals += 1
            continue
        assert found == meant
    assert refusals > len(raw) // 10


@pytest.mark.parametrize(
    ("field", "value"),
    [("rule", "history_bytes >= 93640"), ("objective", "0.1"), ("trace", [])],
)
def test_a_changed_field_is_refused(rule: Path, field: str, value: Any) -> None:
    document = json.loads(rule.read_text()) | {field: value}
    rule.write_text(json.dumps(document))
    assert "digest: not that of the file's content" in refused("--rule", str(rule), "none.csv")


def test_a_fitting_row_that_is_taken_out_is_refused(rule: Path) -> None:
    document = json.loads(rule.read_text())
    del document["fitted_on"][0]
    rule.write_text(json.dumps(document))
    assert "digest" in refused("--rule", str(rule), "none.csv")


@pytest.mark.parametrize("version", [0, 2, 7, "1", 1.5, None])
def test_a_rule_file_of_another_version_is_refused(rule: Path, version: Any) -> None:
    document = json.loads(rule.read_text()) | {"version": version}
    for sealed in (False, True):  # with the old digest, and with that of what it now says
        if sealed:
            del document["digest"]
            document["digest"] = digest(document)
        rule.write_text(json.dumps(document))
        assert f"{rule}: version: " in refused("--rule", str(rule), "none.csv")


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"rule": 1}', "\x00", "[" * 100_000])
def test_a_file_that_is_no_rule_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rule.json"
    path.write_text(text)
    assert str(path) in refused("--rule", str(path), "none.csv")
    assert "no such file" in refused("--rule", str(tmp_path / "none.json"), "none.csv")


def test_an_existing_file_is_not_rewritten(rule: Path, tmp_path: Path) -> None:
    before = rule.read_bytes()
    said = refused("fit", str(tmp_path / "fitting.csv"), "-o", str(rule))
    assert "not rewritten" in said
    assert rule.read_bytes() == before
    assert "ends with .json" in refused("fit", str(tmp_path / "fitting.csv"), "-o", "rule.txt")


def _confirmation() -> list[Row]:
    """Two of the fitting tasks as new rows, a sibling of a third, and a stranger."""
    rows = [
        {name: cell for name, cell in one.items() if not name.endswith("_strict")}
        for one in four()
        if one["task_id"] in ("tomlkit-datetimes", "click-parameters")
    ]
    rows += [
        row("boltons-multidict", source_group="mahmoud-boltons", history_bytes=99_999),
        row("stranger", history_bytes=99_999),
    ]
    return rows


@pytest.mark.parametrize("fitting", ["absent", 0, None])
def test_what_a_rule_was_fitted_on_is_never_held_out(
    rule: Path, tmp_path: Path, fitting: Any
) -> None:
    rows = _confirmation()
    for one in rows:
        one.pop("fitting", None)
        if fitting != "absent":
            one["fitting"] = fitting
    found = analyzed("selector", str(rule), str(write(tmp_path / "t.jsonl", rows)))
    title = "Rule minus always full, as recorded"
    assert found.row(title, "all boundaries")[0] == "4"
    assert found.row(title, OUTSIDE)[0] == "2"
    assert found.says("Fitted on 2 tasks of this table: click-parameters, tomlkit-datetimes.")
    assert found.says("2 more that it was fitted on are not in the table")


def test_the_whole_source_group_of_a_fitting_task_is_apart(rule: Path, tmp_path: Path) -> None:
    rows = [row("boltons-indexedset", source_group="mahmoud-boltons", history_bytes=1)]
    found = analyzed("selector", str(rule), str(write(tmp_path / "t.csv", rows + _confirmation())))
    title = "Rule minus always full, as recorded"
    assert found.row(title, OUTSIDE)[0] == "2"
    assert found.row(title, "outside fitting source groups")[0] == "1"


def test_a_sibling_is_in_a_fitting_source_group_even_if_the_fitting_task_has_no_row(
    rule: Path, tmp_path: Path
) -> None:
    found = analyzed("selector", str(rule), str(write(tmp_path / "t.csv", _confirmation())))
    title = "Rule minus always full, as recorded"
    assert found.row(title, "outside fitting source groups")[0] == "1", "the stranger alone"


def test_a_rule_without_file_and_a_table_without_marks_hold_nothing_out(tmp_path: Path) -> None:
    rows = [row(task, history_bytes=1, split="confirmation") for task in "ab"]
    for unmarked in (rows, [one | {"fitting": None} for one in rows]):
        path = write(tmp_path / "t.csv", unmarked)
        found = analyzed("selector", "history_bytes >= 1", str(path))
        shown = found.rows("Rule minus always full, as recorded")
        assert [cells[0] for cells in shown] == ["all boundaries", "confirmation (fit unknown)"]
        assert found.says("nothing here is held out")


def _splits(found: Report) -> list[str]:
    rows = found.rows("Rule minus always full, as recorded")
    return [cells[0] for cells in rows if "(" in cells[0]]


def test_a_split_is_held_out_only_if_nothing_of_it_was_fitted_on(
    rule: Path, tmp_path: Path
) -> None:
    rows = [
        row("a", history_bytes=1, split="development", fitting=1),
        row("b", history_bytes=1, split="confirmation", fitting=0),
    ]
    path = str(write(tmp_path / "t.csv", rows))
    typed = analyzed("selector", "history_bytes >= 1", path)
    # a typed rule has only the word of the table
    assert _splits(typed) == ["confirmation (not held out)", "development (not held out)"]
    found = analyzed("selector", str(rule), path)
    assert _splits(found) == ["confirmation (held out)", "development (not held out)"]


def test_another_run_of_a_fitting_task_is_not_held_out(tmp_path: Path) -> None:
    rows = [
        row("a", history_bytes=1, split=None, fitting=1, run_id=1),
        row("a", history_bytes=1, split="confirmation", fitting=0, run_id=2),
    ]
    found = analyzed("selector", "history_bytes >= 1", str(write(tmp_path / "t.csv", rows)))
    assert _splits(found) == ["confirmation (not held out)", "split unknown (not held out)"]
    assert found.row("Rule minus always full, as recorded", OUTSIDE)[0] == "0"


def test_a_row_whose_fitting_is_unknown_is_not_held_out(tmp_path: Path) -> None:
    rows = [
        row("a", history_bytes=1, fitting=1), row("b", history_bytes=1, fitting=None),
        row("c", history_bytes=1, fitting=0), row("d", history_bytes=1, fitting=0),
    ]  # fmt: skip
    rows[2]["source_group"] = rows[1]["source_group"]
    path = str(write(tmp_path / "t.csv", rows))
    found = analyzed("selector", "history_bytes >= 1", path)
    title = "Rule minus always full, as recorded"
    assert found.row(title, OUTSIDE)[0] == "2", "c and d"
    assert found.row(title, "outside fitting source groups")[0] == "1", "d alone"
    assert found.says("The table marks 1 task as fitting rows: a.")
    assert found.says("Whether on b too is unknown, so that they are not held out.")


def test_a_rule_file_says_what_an_empty_mark_does_not(rule: Path, tmp_path: Path) -> None:
    rows = [*_confirmation(), row("marked", history_bytes=1, fitting=1)]
    for one in rows[:-1]:
        one["fitting"] = None
    found = analyzed("selector", str(rule), str(write(tmp_path / "t.csv", rows)))
    title = "Rule minus always full, as recorded"
    assert found.row(title, OUTSIDE)[0] == "2", "boltons-multidict and the stranger"
    assert found.says("Fitted on 3 tasks of this table: click-parameters, marked, tomlkit-datet")
    assert not found.says("is unknown, so that they are not held out")


def test_a_sibling_of_a_fitting_group_is_not_held_out_in_its_split(
    rule: Path, tmp_path: Path
) -> None:
    group = four()[0]["source_group"]
    rows = [
        row("sibling", history_bytes=1, split="confirmation", source_group=group),
        row("stranger", history_bytes=1, split="calibration"),
    ]
    found = analyzed("selector", str(rule), str(write(tmp_path / "t.csv", rows)))
    assert _splits(found) == ["calibration (held out)", "confirmation (not held out)"]


def test_a_fitting_row_under_another_name_is_known_again(rule: Path, tmp_path: Path) -> None:
    rows = [
        {**one, "task_id": f"new-{n}", "source_group": f"group-{n}", "split": "confirmation"}
        for n, one in enumerate(four())
    ]
    for one in rows:
        one.pop("fitting", None)
    found = analyzed("selector", str(rule), str(write(tmp_path / "t.csv", rows)))
    assert _splits(found) == ["confirmation (not held out)"]
