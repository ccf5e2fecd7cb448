"""`ledger import`: another harness's table beside a ledger's own runs, all of it or none."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from revereval.terms import Endpoint
from tests.analysis.rows import (
    REFERENCE,
    Report,
    Row,
    analyzed,
    reference_rows,
    refused,
    row,
    write,
)
from tests.analysis.test_checks import FULL, rows
from tests.ledger.build import ANSWERS, ERRS, PREFIX, ArmScript, both, open_build
from tests.ledger.script import READ, Turn
from tests.loopback import run_here

BOUNDS = "P minus F by frame, as recorded"
POOLED = "2 treatments pooled: "


def imported(path: Path, ledger: Path) -> str:
    """What a successful import says."""
    done = run_here("ledger", "import", str(path), "--ledger", str(ledger))
    assert (done.code, done.err) == (0, "")
    return done.out


def not_imported(path: Path, ledger: Path) -> str:
    """The one line of an import that is refused."""
    done = run_here("ledger", "import", str(path), "--ledger", str(ledger))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("revereval: ")
    assert done.err.count("\n") == 1
    return done.err


def stored(ledger: Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)
    try:
        return connection.execute(
            "SELECT source_digest, row, record FROM imported_boundary ORDER BY id"
        ).fetchall()
    finally:
        connection.close()


def same(one: Report, other: Report) -> None:
    assert one.titles == other.titles
    assert [one.columns(title) for title in one.titles] == [
        other.columns(title) for title in other.titles
    ]
    rows = {title: (one.rows(title), other.rows(title)) for title in one.titles}
    assert not {title: found for title, found in rows.items() if found[0] != found[1]}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Three own boundary runs and one that finished before: 0, -1, and F capped with P correct."""
    rightly = ArmScript([Turn([READ]), ANSWERS], Endpoint.CORRECT)
    wrongly = ArmScript([ERRS], Endpoint.WRONG)
    capped = ArmScript([Turn([READ])] * 12, Endpoint.CAPPED)
    for build in open_build(tmp_path / "own"):
        build.pair(PREFIX, both(rightly, rightly), fitting=True)
        build.pair(PREFIX, both(rightly, wrongly), first_arm="P")
        build.pair(PREFIX, both(capped, rightly))
        build.finished([ANSWERS])
    return tmp_path / "own" / "ledger.sqlite"


TABLES = {
    "the published record": reference_rows(),
    "no column but the required ones": [row("a"), row("b", "capped", "unexecuted")],
    "every column": [*rows({}), FULL | {"task_id": "d", "run_id": 4, "f_endpoint_strict": None}],
    "repeats": [
        row("a", "correct", p_end, run_id=1, repeat=repeat, history_bytes=93_641)
        for repeat, p_end in enumerate(("correct", "wrong", "stopped"), 1)
    ],
}


@pytest.mark.parametrize("record", TABLES)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_an_imported_table_has_the_bounds_of_its_file(
    record: str, suffix: str, tmp_path: Path
) -> None:
    path, new = write(tmp_path / f"t{suffix}", TABLES[record]), tmp_path / "new.sqlite"
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert imported(path, new) == f"{len(TABLES[record])} rows of {path}, SHA-256 {sha256}\n"
    assert [(one, number) for one, number, _ in stored(new)] == [
        (sha256, number) for number in range(1, len(TABLES[record]) + 1)
    ]
    same(analyzed("bounds", "--ledger", str(new)), analyzed("bounds", str(path)))


def test_an_imported_record_has_its_published_figures(tmp_path: Path) -> None:
    imported(REFERENCE, tmp_path / "new.sqlite")
    asked = ("--rule", "history_bytes >= 93641", "--ledger", str(tmp_path / "new.sqlite"))
    found = analyzed(*asked)
    for title, cells in {
        BOUNDS: ["27", "14–21", "12–15", "[−9, +1]"],
        "Rule minus always full, as recorded": ["27", "8", "[−3, 0]"],
    }.items():
        assert found.row(title, "all boundaries")[: len(cells)] == cells
    policy = "Policies on the comparable runs of all boundaries, as recorded"
    assert found.row(policy, "always full") == ["17", "3", "1,313,508", "0", "4"]
    folds = found.row("Thresholds on comparable runs", "leave one source group out")
    assert folds[:3] == ["14 folds", "17", "4"]


def test_an_import_says_its_rows_and_digest_to_machines(tmp_path: Path) -> None:
    new = str(tmp_path / "new.sqlite")
    done = run_here("ledger", "import", str(REFERENCE), "--ledger", new, "--json")
    assert (done.code, done.err) == (0, "")
    sha256 = hashlib.sha256(REFERENCE.read_bytes()).hexdigest()
    assert json.loads(done.out) == {"rows": 33, "sha256": sha256}


def test_every_cell_is_kept_as_it_was_and_an_empty_one_is_left_out(tmp_path: Path) -> None:
    table = [
        FULL | {"seal": "s", "first_requests_match": True},
        row("\u202eb", "stopped", f_reason=None, prefix_tokens=2**53 - 1, last_cached_fraction=0.1),
    ]
    path = write(tmp_path / "t.jsonl", table)
    imported(path, tmp_path / "new.sqlite")
    kept = [json.loads(record) for _, _, record in stored(tmp_path / "new.sqlite")]
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert kept == [{n: cell for n, cell in one.items() if cell is not None} for one in written]


def test_the_same_file_twice_is_refused_and_nothing_is_added(tmp_path: Path) -> None:
    path, new = write(tmp_path / "t.csv", rows({})), tmp_path / "new.sqlite"
    imported(path, new)
    before = stored(new)
    assert len(before) == 3
    copy = tmp_path / "another name.csv"
    copy.write_bytes(path.read_bytes())
    for again in (path, copy):
        assert "imported before" in not_imported(again, new)
        assert stored(new) == before
    assert analyzed("frame", "--ledger", str(new)).says("The frame is 3 boundary runs.")


FAULTY: dict[str, tuple[Row, str]] = {
    "a contradiction": ({"p_endpoint": "right"}, "row 2 (b): p_endpoint"),
    "a run twice": ({"task_id": "a", "run_id": 1}, "row 2 (a): run_id: a run that comes twice"),
    "a group in two splits": (
        {"source_group": "group of a", "split": "confirmation"}, "row 2 (b): split",
    ),
    "a bad cell that no analysis reads": ({"p_archive_calls": "x"}, "row 2: p_archive_calls"),
    "an unknown column": ({"colour": "red"}, "colour: unknown column"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FAULTY)
def test_a_faulty_table_is_refused_and_no_ledger_is_written(kind: str, tmp_path: Path) -> None:
    changes, said = FAULTY[kind]
    table = rows(changes)
    table[0]["source_group"] = "group of a"
    path, folder = write(tmp_path / "t.csv", table), tmp_path / "folder"
    assert f"{path}: {said}" in not_imported(path, folder / "new.sqlite")
    assert not folder.exists()
    old = tmp_path / "old.sqlite"
    imported(REFERENCE, old)
    before, kept = old.read_bytes(), stored(old)
    assert f"{path}: {said}" in not_imported(path, old)
    assert (old.read_bytes(), stored(old)) == (before, kept)


def test_no_table_at_all_writes_no_ledger(tmp_path: Path) -> None:
    new = tmp_path / "new.sqlite"
    assert "no such file" in not_imported(tmp_path / "none.csv", new)
    (tmp_path / "t.txt").write_text("x")
    assert "allowed: .csv, .jsonl, .parquet" in not_imported(tmp_path / "t.txt", new)
    assert not new.exists()


def test_an_imported_table_beside_own_runs_adds_up(ledger: Path, tmp_path: Path) -> None:
    own = analyzed("--ledger", str(ledger))
    assert own.row(BOUNDS, "all boundaries")[:4] == ["3", "2", "2", "[0, 0]"]
    table = [
        row("x", "correct", "capped"),
        row("y", "stopped", "correct", first_arm="P"),
        row("z", "wrong", "not_planned"),
    ]
    imported(write(tmp_path / "t.csv", table), ledger)
    found = analyzed("--ledger", str(ledger), "--pool")
    assert found.says("The frame is 5 boundary runs.")
    assert found.says("1 rows of single arms are in no paired frame")
    # own: 0, -1, +1; x -1, y unknown F: 0 or +1
    assert found.row(POOLED + BOUNDS, "all boundaries")[:4] == ["5", "3–4", "3", "[−1, 0]"]
    assert found.row(f"{POOLED}Endpoints by arm", "F") == ["3", "0", "1", "1", "0", "5"]
    assert found.row(f"{POOLED}Endpoints by arm", "P") == ["3", "1", "1", "0", "0", "5"]
    steps = f"{POOLED}From boundaries to joint successes, in runs"
    assert found.row(steps, "boundaries with both arms planned") == ["5", "3", "2"]


def test_an_imported_table_is_not_pooled_with_own_runs_without_a_word(
    ledger: Path, tmp_path: Path
) -> None:
    own = analyzed("--ledger", str(ledger))
    path = write(tmp_path / "t.csv", [row("x", "correct", "capped"), row("y", "wrong", "correct")])
    imported(path, ledger)
    name = f"imported:{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    found = analyzed("--ledger", str(ledger))
    first, second = (cells[0] for cells in found.rows("P minus F by treatment"))
    assert second == f"T2 {name}"
    assert found.row(f"{first}: {BOUNDS}", "all boundaries") == own.row(BOUNDS, "all boundaries")
    assert found.row(f"{second}: {BOUNDS}", "all boundaries")[:4] == ["2", "1", "1", "[0, 0]"]
    assert "not said" in found.row("Settings that differ", "provider.model")
    alone = analyzed("--ledger", str(ledger), "--treatment", name)
    assert alone.row(BOUNDS, "all boundaries")[:4] == ["2", "1", "1", "[0, 0]"]


def test_what_one_side_lacks_is_unknown_in_its_rows(ledger: Path, tmp_path: Path) -> None:
    imported(write(tmp_path / "t.csv", [row("x"), row("y", "wrong", "correct")]), ledger)
    found = analyzed("--ledger", str(ledger), "--pool")
    # tokens, requests and the strict contract are known of the three own runs alone
    sums = f"{POOLED}Suffix tokens of pairs"
    assert found.row(sums, "runs with known tokens") == ["1", "3"]
    assert found.row(sums, "left out: tokens unknown") == ["1", "2"]
    alone = found.row(f"{POOLED}By contract and endpoint definition", "strict", "request")
    assert alone[:4] == ["5", "2–4", "2–4", "[−2, +2]"]
    # one run of the ledger's only task is marked, and x and y do not say
    assert found.row(POOLED + BOUNDS, "outside fitting tasks")[0] == "0"
    said = refused("selector", "history_bytes >= 1", "--pool", "--ledger", str(ledger))
    assert f"{ledger}: row 4 (x): history_bytes: unknown, and the rule needs it" in said


def test_a_column_that_only_the_import_has_is_unknown_in_an_earlier_one(tmp_path: Path) -> None:
    new = tmp_path / "new.sqlite"
    imported(write(tmp_path / "a.csv", [row("a")]), new)
    imported(write(tmp_path / "b.jsonl", [row("b", history_bytes=7), row("c")]), new)
    pooled = analyzed("frame", "--pool", "--ledger", str(new))
    assert pooled.says("The frame is 3 boundary runs.")
    said = refused("selector", "history_bytes >= 1", "--ledger", str(new))
    assert "row 1 (a): history_bytes: unknown" in said


def test_own_runs_are_exported_without_the_imported_ones(ledger: Path, tmp_path: Path) -> None:
    def export(name: str) -> bytes:
        path = tmp_path / name
        done = run_here("ledger", "export", "--ledger", str(ledger), "-o", str(path))
        assert done.code == 0
        return path.read_bytes()

    before = export("before.csv")
    assert before.count(b"\n") == 4
    imported(write(tmp_path / "t.csv", [row("x")]), ledger)
    assert export("after.csv") == before


CLASHES: dict[str, tuple[Row, Row]] = {
    "the same run": ({"run_id": 7}, {"run_id": 7, "prefix_tokens": 5}),
    "a group in another split": (
        {"source_group": "g", "split": "development"},
        {"task_id": "b", "source_group": "g", "split": "confirmation"},
    ),
    "another boundary of the same run": (
        {"run_id": 7, "repeat": 1, "history_bytes": 1},
        {"run_id": 7, "repeat": 2, "history_bytes": 2},
    ),
}


@pytest.mark.parametrize("kind", CLASHES)
def test_whatever_is_imported_can_be_analysed(kind: str, tmp_path: Path) -> None:
    first, second = (
        write(tmp_path / f"{i}.csv", [row("a") | c]) for i, c in enumerate(CLASHES[kind])
    )
    new = tmp_path / "new.sqlite"
    imported(first, new)
    before = stored(new)
    not_imported(second, new)
    assert stored(new) == before
    assert analyzed("frame", "--ledger", str(new)).says("The frame is 1 boundary runs.")
