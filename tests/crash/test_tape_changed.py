"""One byte of a sealed tape changed, or a piece of it gone: the run stops and sends nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from revereval.ledger.database import Database
from revereval.pair.tape import SealBrokenError, load_tape

from .facts import Arm, arms, capture, query
from .hooks import COMPLETE, kill
from .scene import TASK, Done, Scene
from .test_kill import STAGES

PREFIX = STAGES.index("F")

SHORT_CALL = {"id": "c", "function": {"name": "read", "arguments": '{"path":"no"}'}}
SHORT_REPLY = {"choices": [{"message": {"content": None, "tool_calls": [SHORT_CALL]}}]}
"""Asks for a file that is not there: the error is short enough to be stored uncompressed."""


@pytest.fixture
def boundary(scene: Scene) -> Scene:
    """A run at its boundary."""
    _, *arguments = scene.pair_arguments()
    assert scene.run("capture", *arguments).code == 0
    assert capture(scene.ledger) == ("boundary", None)
    return scene


def change(ledger: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        assert connection.execute(statement, values).rowcount == 1


def flipped(data: bytes, at: int = -1) -> bytes:
    """The same bytes with the lowest bit of one of them turned over."""
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def change_column(ledger: Path, table: str, column: str, row_id: int, at: int = -1) -> None:
    """Flip one byte of a text or a blob."""
    ((old,),) = query(ledger, f"SELECT {column} FROM {table} WHERE id = ?", row_id)
    new = flipped(old, at) if isinstance(old, bytes) else flipped(old.encode(), at).decode()
    change(ledger, f"UPDATE {table} SET {column} = ? WHERE id = ?", new, row_id)


def require_stopped(scene: Scene, done: Done, reason: str, received: int) -> None:
    """The first arm stopped, its companion unexecuted, both for the one reason; no dispatch."""
    assert done.code == 3, done.err
    assert arms(scene.ledger) == {
        "F": Arm("stopped", reason, 0),
        "P": Arm("unexecuted", reason, 0),
    }
    assert len(scene.app.hits) == received
    assert scene.pair("1", "--resend-in-doubt").code == 3
    assert len(scene.app.hits) == received
    assert capture(scene.ledger) == ("boundary", None)


ONE_BYTE: dict[str, tuple[str, str, str]] = {
    "a reply": ("blob", "data", "SELECT reply_blob_id FROM request WHERE position = 1"),
    "an item": ("blob", "data", "SELECT item_blob_id FROM observation WHERE position = 1"),
    "a head": ("blob", "data", "SELECT head_blob_id FROM request WHERE position = 0"),
    "a blob's digest": ("blob", "digest", "SELECT reply_blob_id FROM request WHERE position = 0"),
    "a request's digest": ("request", "digest", "SELECT 2"),
    "the boundary's digest": ("request", "digest", "SELECT boundary_request_id FROM run"),
    "a request's edits": ("request", "edits", "SELECT 2"),
    "the boundary's edits": ("request", "edits", "SELECT boundary_request_id FROM run"),
    "the seal": ("run", "seal", "SELECT 1"),
    "the plan's document": ("plan", "document", "SELECT 1"),
    "the plan's digest": ("plan", "digest", "SELECT 1"),
}


BY_TASK = ["a reply", "the boundary's edits", "the seal", "the plan's document"]


@pytest.mark.parametrize(
    ("what", "target"), [*((what, "1") for what in ONE_BYTE), *((what, TASK) for what in BY_TASK)]
)
def test_one_changed_byte_of_the_tape_breaks_the_seal_and_sends_nothing(
    boundary: Scene, what: str, target: str
) -> None:
    table, column, which = ONE_BYTE[what]
    ((row_id,),) = query(boundary.ledger, which)
    change_column(boundary.ledger, table, column, row_id, at=-3)
    require_stopped(boundary, boundary.pair(target), "seal_broken", PREFIX)
    assert boundary.audit() != []


def test_one_changed_byte_of_an_item_stored_as_it_is_breaks_the_seal(scene: Scene) -> None:
    scene.app.answer(1, 200, json.dumps(SHORT_REPLY).encode())
    _, *arguments = scene.pair_arguments()
    assert scene.run("capture", *arguments).code == 0
    received = len(scene.app.hits)
    ((row_id, compressed),) = query(
        scene.ledger,
        """SELECT blob.id, zlib FROM observation JOIN blob ON blob.id = item_blob_id
        WHERE position = 0""",
    )
    assert not compressed
    change_column(scene.ledger, "blob", "data", row_id)
    require_stopped(scene, scene.pair(), "seal_broken", received)


MISSING_OR_MOVED = {
    "a reply that is another's": "UPDATE request SET reply_blob_id = 1 WHERE id = 2",
    "a reply that is gone": "UPDATE request SET reply_blob_id = NULL WHERE id = 2",
    "an exchange that is gone": "UPDATE request SET run_id = 99 WHERE id = 3",
    "exchanges in another order": "UPDATE request SET position = 7 WHERE id = 1",
    "a shorter request": "UPDATE request SET item_count = item_count - 1 WHERE id = 3",
    "a longer request": "UPDATE request SET item_count = item_count + 1 WHERE id = 3",
    "a request on another base": "UPDATE request SET base_id = 1 WHERE id = 3",
    "a request on no base": "UPDATE request SET base_id = NULL WHERE id = 3",
    "a request on a base that is gone": "UPDATE request SET base_id = 99 WHERE id = 3",
    "a head that is gone": "DELETE FROM blob WHERE id = (SELECT head_blob_id FROM request LIMIT 1)",
    "a boundary request that is gone": "UPDATE run SET boundary_request_id = 99",
    "a boundary request that is no boundary": "UPDATE run SET boundary_request_id = 2",
    "a seal that is gone": "UPDATE run SET seal = NULL",
}


@pytest.mark.parametrize("what", MISSING_OR_MOVED)
def test_a_missing_or_moved_piece_of_the_tape_breaks_the_seal_and_sends_nothing(
    boundary: Scene, what: str
) -> None:
    change(boundary.ledger, MISSING_OR_MOVED[what])
    require_stopped(boundary, boundary.pair("1"), "seal_broken", PREFIX)


@pytest.mark.parametrize(
    ("table", "column", "row_id"),
    [("request", "edits", 1), ("request", "edits", 3), ("run", "seal", 1), ("plan", "document", 1)],
)
def test_every_byte_counts(boundary: Scene, table: str, column: str, row_id: int) -> None:
    """Each byte in turn, in one process: what is loaded is whole or refused, never a crash."""
    ledger = Database(boundary.ledger, write=True)
    load_tape(ledger, 1)
    ((text,),) = query(boundary.ledger, f"SELECT {column} FROM {table} WHERE id = ?", row_id)
    step = max(1, len(text) // 60)
    for at in range(0, len(text), step):
        change_column(boundary.ledger, table, column, row_id, at)
        with pytest.raises(SealBrokenError):
            load_tape(ledger, 1)
        change_column(boundary.ledger, table, column, row_id, at)
    load_tape(ledger, 1)
    ledger.close()


def change_reply(ledger: Path, stage: str) -> None:
    ((blob_id,),) = query(ledger, "SELECT min(reply_blob_id) FROM request WHERE stage = ?", stage)
    change_column(ledger, "blob", "data", blob_id)


def test_a_changed_reply_of_an_interrupted_capture_stops_it(scene: Scene) -> None:
    assert scene.pair(hooks=[kill(COMPLETE, "after", 2)]).code == -9
    change_reply(scene.ledger, "capture")
    assert scene.pair().code == 3
    assert capture(scene.ledger) == ("stopped", "seal_broken")
    assert len(scene.app.hits) == 2


def test_a_changed_reply_of_an_interrupted_arm_stops_the_run(scene: Scene) -> None:
    assert scene.pair(hooks=[kill(COMPLETE, "after", PREFIX + 2)]).code == -9
    change_reply(scene.ledger, "F")
    assert scene.pair().code == 3
    assert arms(scene.ledger) == {
        "F": Arm("stopped", "seal_broken", 2),
        "P": Arm("unexecuted", "seal_broken", 0),
    }
    assert len(scene.app.hits) == PREFIX + 2


def test_a_changed_plan_of_an_interrupted_capture_sends_nothing_under_it(scene: Scene) -> None:
    """Its document names the endpoint, so a change could send the conversation elsewhere."""
    assert scene.pair(hooks=[kill(COMPLETE, "after", 2)]).code == -9
    ((document,),) = query(scene.ledger, "SELECT document FROM plan")
    at = document.index('"attempts":') + len('"attempts":')
    change_column(scene.ledger, "plan", "document", 1, at)
    done = scene.pair("1")
    assert done.code in (2, 3)
    assert "Traceback" not in done.err
    assert len(scene.app.hits) == 2
