"""A ledger and its processes: none inherits a connection, and many work on one file at once."""

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from revereval.errors import InputError
from revereval.ledger.database import Database

from .facts import Rows, but_usage, facts, query, run_count
from .hooks import pause_at_statement
from .scene import WAIT_S, Scene

TASKS = ["h11-framing", "h11-states", "packaging-specifiers", "markdown-it-lists"]

FORKED = """
import os, sys
from pathlib import Path
from revereval.ledger.database import Database

ledger = Database(Path(sys.argv[1]), write=True)

def use():
    {use}

use()
pid = os.fork()
if pid == 0:
    try:
        use()
    except RuntimeError as error:
        print(error, flush=True)
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
use()
"""

USES = {
    "reading": "with ledger.reading() as c: c.exec_driver_sql('SELECT 1').scalar_one()",
    "writing": "with ledger.transaction(): ledger.driver.execute('DELETE FROM blob')",
}


@pytest.mark.parametrize("use", USES)
def test_a_connection_does_not_outlive_a_fork(tmp_path: Path, use: str) -> None:
    script = FORKED.format(use=USES[use])
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path / "ledger.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said, code = done.stdout.splitlines()
    assert "fork" in said
    assert code == "7"


@pytest.mark.parametrize("nth", range(1, 10))
def test_a_ledger_that_another_process_makes_meanwhile_is_a_ledger(
    scene: Scene, undisturbed: dict[str, Rows], nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each statement with which a runner looks at a new file, before it writes to it."""
    monkeypatch.setattr("revereval.ledger.database.BUSY_TIMEOUT_S", 0.2)
    reached, go = scene.folder / "reached", scene.folder / "go"
    command = scene.start_pair(hooks=[pause_at_statement(nth, reached, go)])
    deadline = time.monotonic() + WAIT_S
    while not reached.exists():
        assert time.monotonic() < deadline
        time.sleep(0.002)
    with suppress(InputError):  # locked, where the runner is within a read: nothing changes then
        Database(scene.ledger, write=True).close()
    go.touch()
    done = command.wait()
    assert (done.code, done.err) == (0, "")
    assert facts(scene.ledger) == undisturbed


def test_four_processes_on_one_ledger_lose_no_row_and_double_none(
    scene: Scene, tmp_path: Path
) -> None:
    shared = scene.ledger
    commands = [scene.start_pair(task) for task in TASKS]
    ended = [command.wait() for command in commands]
    assert [(done.code, done.err) for done in ended] == [(0, "")] * 4
    run_ids = [done.result["run"] for done in ended]
    assert sorted(run_ids) == [1, 2, 3, 4] and run_count(shared) == 4
    ((dispatched,),) = query(shared, "SELECT count(*) FROM attempt WHERE state = 'completed'")
    assert dispatched == len(scene.app.hits) == len(set(scene.app.hits))
    assert scene.audit() == []

    for task, run_id in zip(TASKS, run_ids, strict=True):
        scene.ledger = tmp_path / f"{task}.sqlite"
        assert scene.pair(task).code == 0
        assert but_usage(facts(shared, run_id)) == but_usage(facts(scene.ledger))
        assert run_count(scene.ledger) == 1
