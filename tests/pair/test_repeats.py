"""`run-pair --repeats`: several pairs of continuations from one sealed tape."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import Scene, at

TASK = "h11-framing"


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, dict[str, Any]]:
    """A ledger with three repeats of one tape, and what run-pair printed."""
    base = tmp_path_factory.mktemp("repeats")
    scene = at(base / "scene", base / "cache")
    done = scene.run("run-pair", TASK, "--repeats", "3", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    return scene, json.loads(done.stdout)


def rows(scene: Scene, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(scene.folder / "runs/ledger.sqlite") as connection:
        found = connection.execute(query).fetchall()
    connection.close()
    return found


def copied(scene: Scene, folder: Path) -> tuple[Path, sqlite3.Connection]:
    """A copy of the scene's ledger to damage, open; the caller closes it."""
    copy = folder / "copy.sqlite"
    target = sqlite3.connect(copy)
    with closing(sqlite3.connect(scene.folder / "runs/ledger.sqlite")) as source:
        source.backup(target)
    return copy, target


def test_the_capture_is_dispatched_once_and_every_arm_from_its_tape(
    repeated: tuple[Scene, dict[str, Any]],
) -> None:
    scene, printed = repeated
    captured = rows(scene, "SELECT DISTINCT run_id FROM request WHERE stage = 'capture'")
    assert captured == [(1,)]
    assert rows(scene, "SELECT id, repeat, tape_run_id FROM run") == [
        (1, 1, None), (2, 2, 1), (3, 3, 1),
    ]  # fmt: skip
    seals = rows(scene, "SELECT DISTINCT seal, tape_head, boundary_request_id FROM run")
    assert len(seals) == 1
    attempts = "SELECT count(*) FROM attempt JOIN request ON request.id = request_id"
    of_capture = rows(scene, f"{attempts} WHERE stage = 'capture'")
    assert of_capture == [(printed["prefix"]["requests"],)]
    assert [other["repeat"] for other in printed["repeats"]] == [2, 3]
    assert all(other["prefix"] == printed["prefix"] for other in printed["repeats"])


def test_the_arm_that_goes_first_takes_turns(repeated: tuple[Scene, dict[str, Any]]) -> None:
    _, printed = repeated
    first = [printed["first_arm"], *(other["first_arm"] for other in printed["repeats"])]
    assert first in (["F", "P", "F"], ["P", "F", "P"])


def test_the_audit_agrees_and_sees_a_repeat_that_was_not_planned(
    repeated: tuple[Scene, dict[str, Any]], tmp_path: Path
) -> None:
    scene, _ = repeated
    done = scene.run("ledger", "audit")
    assert done.stdout == b"3 runs audited, 0 disagreements\n"
    copy, target = copied(scene, tmp_path)
    target.execute("UPDATE run SET repeat = 4 WHERE id = 3")
    target.commit()
    target.close()
    done = scene.run("ledger", "audit", "--ledger", str(copy))
    assert done.returncode == 3
    assert b"run 3: run 3: repeat: stored 4, recomputed 1 to 3" in done.stdout
    assert b"run 1: run 1: repeats: stored 2 4, recomputed 2 3" in done.stdout


def test_a_number_of_a_repeat_stands_for_all_of_its_tape_and_sends_nothing_again(
    repeated: tuple[Scene, dict[str, Any]],
) -> None:
    scene, printed = repeated
    before = rows(scene, "SELECT count(*) FROM attempt")
    done = scene.run("run-pair", "3", "--json")
    assert json.loads(done.stdout) == printed
    assert rows(scene, "SELECT count(*) FROM attempt") == before
    done = scene.run("run-pair", "3", "--repeats", "4")
    assert done.returncode == 2
    said = b"revereval: run-pair: 3: a run has its plan: no --config, no --new, no --repeats\n"
    assert done.stderr == said


def test_an_interrupted_repeat_is_taken_up_where_it_was_left(
    repeated: tuple[Scene, dict[str, Any]], tmp_path: Path
) -> None:
    scene, printed = repeated
    copy, target = copied(scene, tmp_path)
    for statement in (
        "PRAGMA foreign_keys = OFF",
        "DELETE FROM attempt WHERE request_id IN "
        "(SELECT id FROM request WHERE run_id = 3 AND stage = 'P')",
        "DELETE FROM request WHERE run_id = 3 AND stage = 'P'",
        "DELETE FROM decision WHERE run_id = 3 AND stage = 'P'",
        "DELETE FROM archive_call WHERE run_id = 3 AND stage = 'P'",
        "DELETE FROM observation WHERE run_id = 3 AND stage = 'P'",
        "UPDATE arm SET endpoint = 'unexecuted', reason = 'not_started', started_at = NULL, "
        "suffix_requests = 0, archive_calls = 0, metered_tokens = 0, largest_metered_prompt = 0, "
        "metered_since_projection = 0, answer_blob_id = NULL, extracted = NULL, strict = NULL, "
        "ended_at = NULL WHERE run_id = 3 AND name = 'P'",
        "UPDATE run SET p_first_request_digest = NULL, first_requests_match = NULL WHERE id = 3",
    ):
        target.execute(statement)
    target.commit()
    target.close()
    done = scene.run("run-pair", TASK, "--repeats", "3", "--ledger", str(copy), "--json")
    assert done.returncode == 0
    taken_up = json.loads(done.stdout)
    ends = [other["arms"]["P"]["endpoint"] for other in taken_up["repeats"]]
    assert ends == [other["arms"]["P"]["endpoint"] for other in printed["repeats"]]
    assert taken_up["run"] == 1
    done = scene.run("ledger", "audit", "--ledger", str(copy))
    assert done.stdout == b"3 runs audited, 0 disagreements\n"


def test_the_analysis_counts_one_run_however_many_repeats(
    repeated: tuple[Scene, dict[str, Any]],
) -> None:
    scene, _ = repeated
    text = scene.run("analyze", "frame").stdout.decode()
    assert "Of 1 run, 0 finished" in text
    assert "The frame is 1 boundary runs." in text
    exported = scene.run("ledger", "export", "--table", "plans", "--format", "jsonl").stdout
    plans = [json.loads(line) for line in exported.splitlines()]
    assert [plan["capture_requests"] > 0 for plan in plans] == [True, False, False]


CHANGED = {
    "a repeat on a repeat's tape": "UPDATE run SET tape_run_id = 2 WHERE id = 3",
    "a repeat too few": "DELETE FROM arm WHERE run_id = 3; DELETE FROM request WHERE run_id = 3; "
    "DELETE FROM decision WHERE run_id = 3; DELETE FROM observation WHERE run_id = 3; "
    "DELETE FROM archive_call WHERE run_id = 3; DELETE FROM run WHERE id = 3",
    "a number that was not planned": "UPDATE run SET repeat = 5 WHERE id = 3",
    "an arm too few": "DELETE FROM arm WHERE run_id = 2 AND name = 'P'",
    "another plan": "CREATE TEMP TABLE other AS SELECT * FROM plan; "
    "UPDATE other SET id = 2, digest = 'other'; INSERT INTO plan SELECT * FROM other; "
    "UPDATE run SET plan_id = 2 WHERE id = 3",
}


@pytest.mark.parametrize("statements", CHANGED.values(), ids=CHANGED)
def test_repeats_that_somebody_changed_stop_everything_before_a_request_leaves(
    repeated: tuple[Scene, dict[str, Any]], tmp_path: Path, statements: str
) -> None:
    scene, _ = repeated
    copy, target = copied(scene, tmp_path)
    owed = "UPDATE arm SET endpoint = 'stopped', reason = 'interrupted' WHERE run_id = 1"
    target.executescript(f"PRAGMA foreign_keys = OFF; {owed}; {statements};")
    (before,) = target.execute("SELECT count(*) FROM attempt").fetchone()
    target.close()
    done = scene.run("run-pair", "1", "--ledger", str(copy))
    assert done.returncode == 3
    assert done.stderr.startswith(b"revereval: run 1: not as its plan has it (")
    assert done.stderr.count(b"\n") == 1
    target = sqlite3.connect(copy)
    assert target.execute("SELECT count(*) FROM attempt").fetchone() == (before,)
    target.close()
    assert scene.run("ledger", "audit", "--ledger", str(copy)).returncode == 3


@pytest.mark.parametrize("column", ["seal", "boundary_request_id"])
def test_a_repeat_without_the_seal_of_its_tape_sends_nothing_and_says_so(
    repeated: tuple[Scene, dict[str, Any]], tmp_path: Path, column: str
) -> None:
    scene, _ = repeated
    copy, target = copied(scene, tmp_path)
    target.executescript(
        "UPDATE arm SET endpoint = 'stopped', reason = 'interrupted' WHERE run_id = 2;"
        f"UPDATE run SET {column} = 1 WHERE id = 2"
    )
    (before,) = target.execute("SELECT count(*) FROM attempt").fetchone()
    done = scene.run("run-pair", "1", "--ledger", str(copy), "--json")
    assert done.returncode == 3
    arms = json.loads(done.stdout)["repeats"][0]["arms"]
    reasons = {arm["turn"]: arm["reason"] for arm in arms.values()}
    assert reasons == {1: "seal_broken", 2: "interrupted"}, "the first stops, the second waits"
    assert target.execute("SELECT count(*) FROM attempt").fetchone() == (before,)
    target.close()
