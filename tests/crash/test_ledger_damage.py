"""A full disk and damaged pages: nothing more is spent, and no more is lost than is in flight."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from .facts import Rows, attempts, but_usage, facts, query
from .hooks import COMPLETE, INTEND, disk_full_from, disk_of
from .scene import TASKS, Done, Scene, require_clean
from .test_kill import STAGES

BOUNDARY = "revereval.pair.capture:write_boundary"
BEGIN_ARM = "revereval.pair.continuation:_execute"
END_ARM = "revereval.pair.continuation:_end"


def require_full(scene: Scene, done: Done) -> None:
    """Exit code 4 and the first error, with the ledger's path, in one line."""
    assert done.code == 4, done.err
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert f"{scene.ledger}: the disk is full" in done.err


def require_resumable(scene: Scene, undisturbed: dict[str, Rows]) -> None:
    """With space again: all that was completed is kept, what was in flight is in doubt."""
    received, recorded = scene.app.hits, attempts(scene.ledger)
    states = [state for *_, state in recorded]
    in_flight = states[-1:] == ["intent"]
    assert states == ["completed"] * (len(received) - in_flight) + ["intent"] * in_flight
    assert len(received) - in_flight == states.count("completed")
    if in_flight:
        assert scene.pair("1").code == 3
        assert scene.app.received_twice == []
        assert (*recorded[-1][:3], "in_doubt") in attempts(scene.ledger)
    assert scene.pair("1", "--resend-in-doubt").code == 0
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    assert len(scene.app.received_twice) == in_flight
    require_clean(scene)


@pytest.mark.parametrize("number", [1, 2, 3, 5, 6, 8])
def test_a_disk_that_is_full_before_an_intent_stops_before_the_dispatch(
    scene: Scene, undisturbed: dict[str, Rows], number: int
) -> None:
    require_full(scene, scene.pair(hooks=[disk_full_from(INTEND, number)]))
    assert len(scene.app.hits) in (number - 1, number)  # a small intent may still find room
    require_resumable(scene, undisturbed)


@pytest.mark.parametrize(
    ("function", "nth"),
    [(BOUNDARY, 1), *((each, nth) for each in (BEGIN_ARM, END_ARM, COMPLETE) for nth in (1, 2))],
)
def test_a_disk_that_fills_between_two_commits_stops_the_run(
    scene: Scene, undisturbed: dict[str, Rows], function: str, nth: int
) -> None:
    done = scene.pair(hooks=[disk_full_from(function, nth)])
    if done.code == 0:  # the rest of the run found room in the pages there are
        assert (function, nth) == (END_ARM, 2)
        return
    require_full(scene, done)
    require_resumable(scene, undisturbed)


def undisturbed_pages(scene: Scene) -> int:
    assert scene.pair().code == 0
    ((pages,),) = query(scene.ledger, "PRAGMA page_count")
    return int(pages)


@pytest.mark.parametrize("part", [0.1, 0.6, 0.75, 0.85, 0.95])
def test_on_a_disk_too_small_for_the_run_it_stops_where_the_space_ends(
    scene: Scene, undisturbed: dict[str, Rows], part: float
) -> None:
    pages = int(undisturbed_pages(scene) * part)
    scene.ledger = scene.folder / "small.sqlite"
    before = len(scene.app.hits)
    require_full(scene, scene.pair(hooks=[disk_of(pages)]))
    scene.app.forget(before)
    if not query(scene.ledger, "SELECT name FROM sqlite_master"):
        assert scene.app.hits == []
        assert scene.pair().code == 0
        return
    require_resumable(scene, undisturbed)


def captured(scene: Scene) -> None:
    """A ledger with a run at its boundary."""
    _, *arguments = scene.pair_arguments()
    assert scene.run("capture", *arguments).code == 0


def require_damaged(scene: Scene, done: Done, received: int) -> None:
    assert done.code == 2, done.err
    assert (done.out, done.err.count("\n")) == ("", 1)
    assert f"{scene.ledger}: damaged" in done.err
    assert len(scene.app.hits) == received


def overwrite(path: Path, start: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(data)


@pytest.mark.parametrize("table", ["run", "plan", "arm", "request", "attempt", "blob", "decision"])
def test_a_damaged_page_is_one_clear_line_and_no_dispatch(scene: Scene, table: str) -> None:
    captured(scene)
    received = len(scene.app.hits)
    with closing(sqlite3.connect(scene.ledger)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        find = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = connection.execute(find, (table,)).fetchone()
    overwrite(scene.ledger, (page - 1) * size, bytes(size))
    require_damaged(scene, scene.pair("1"), received)


def test_a_ledger_cut_after_its_first_page_is_one_clear_line_and_no_dispatch(scene: Scene) -> None:
    captured(scene)
    received = len(scene.app.hits)
    with scene.ledger.open("r+b") as file:
        file.truncate(4096)
    require_damaged(scene, scene.pair("1"), received)


def test_an_audit_of_a_ledger_that_was_cut_in_half_reports_it(scene: Scene) -> None:
    captured(scene)
    with scene.ledger.open("r+b") as file:
        file.truncate(scene.ledger.stat().st_size // 8192 * 4096)
    arguments = ["--ledger", str(scene.ledger), "--tasks", str(TASKS)]
    done = scene.run("ledger", "audit", *arguments)
    assert done.code in (2, 3)
    assert "Traceback" not in done.err
    assert done.out or "damaged" in done.err


def test_a_damaged_header_is_no_sqlite_file_any_more(scene: Scene) -> None:
    captured(scene)
    overwrite(scene.ledger, 0, b"\xff" * 16)
    done = scene.pair("1")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "not an SQLite file" in done.err
    assert len(scene.app.hits) == STAGES.index("F")
