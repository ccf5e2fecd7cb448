"""One process works on a run at a time; its lock ends with it, whatever it left behind."""

import os
import signal
import sqlite3
import time
from contextlib import closing, suppress

import pytest

from .facts import Rows, arms, facts, run_count
from .hooks import DISPATCH, leave_a_child
from .scene import TASK, WAIT_S, Done, Scene, kill_in_flight, require_clean
from .test_kill import ENDPOINTS, STAGES


def everything(scene: Scene) -> list[str]:
    """The ledger as SQL text."""
    with closing(sqlite3.connect(scene.ledger)) as connection:
        return list(connection.iterdump())


def require_refused(done: Done) -> None:
    assert done.code == 2, done.err
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert "run 1: another process is working on it" in done.err


@pytest.mark.parametrize(
    ("number", "target", "options"),
    [
        (2, TASK, []),
        (2, "1", []),
        (5, "1", ["--resend-in-doubt"]),
        (9, TASK, ["--resend-in-doubt"]),
    ],
    ids=["capture, by task", "capture, by number", "F, with a resend", "P, with a resend"],
)
def test_a_second_start_on_a_run_at_work_is_refused_and_changes_nothing(
    scene: Scene, undisturbed: dict[str, Rows], number: int, target: str, options: list[str]
) -> None:
    scene.app.hold(number)
    first = scene.start_pair()
    scene.app.wait_for(number)
    before = everything(scene)

    require_refused(scene.pair(target, *options))

    assert everything(scene) == before
    assert len(scene.app.hits) == number
    scene.app.release()
    assert first.wait().code == 0
    assert facts(scene.ledger) == undisturbed
    require_clean(scene)


def test_a_run_at_work_is_refused_by_every_link_to_its_ledger(scene: Scene) -> None:
    scene.app.hold(2)
    first = scene.start_pair()
    scene.app.wait_for(2)
    real = scene.ledger
    (scene.folder / "elsewhere").mkdir()
    scene.ledger = scene.folder / "elsewhere" / "link"
    scene.ledger.symlink_to(real)
    require_refused(scene.pair())
    require_refused(scene.pair("1", "--resend-in-doubt"))
    assert list(scene.ledger.parent.iterdir()) == [scene.ledger]
    scene.app.release()
    assert first.wait().code == 0
    assert len(scene.app.hits) == len(STAGES)


def test_a_capture_of_a_run_at_work_is_refused_too(scene: Scene) -> None:
    scene.app.hold(2)
    first = scene.start_pair()
    scene.app.wait_for(2)
    _, *arguments = scene.pair_arguments()
    require_refused(scene.run("capture", *arguments))
    scene.app.release()
    assert first.wait().code == 0
    assert len(scene.app.hits) == len(STAGES)


@pytest.mark.parametrize("_", range(6))
def test_of_two_ticks_at_the_same_second_one_works_and_one_is_refused(
    scene: Scene, undisturbed: dict[str, Rows], _: int
) -> None:
    """On a ledger that neither of them has found yet."""
    scene.app.hold(1)
    ticks = [scene.start_pair(), scene.start_pair()]
    deadline = time.monotonic() + WAIT_S
    while not any(path.exists() and path.read_text() for _, path in (t.streams for t in ticks)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    scene.app.release()
    refused, worked = sorted((tick.wait() for tick in ticks), key=lambda done: -done.code)
    require_refused(refused)
    assert worked.code == 0, worked.err
    assert facts(scene.ledger) == undisturbed
    assert scene.app.received_twice == []
    require_clean(scene)


def test_a_killed_holder_does_not_keep_the_next_start_out(scene: Scene) -> None:
    scene.app.hold(5)
    assert kill_in_flight(scene.start_pair(), scene.app, 5).code == -9
    assert scene.pair().code == 3
    assert arms(scene.ledger)["P"] == ENDPOINTS["P"]
    assert scene.pair(TASK, "--resend-in-doubt").code == 0


@pytest.mark.parametrize("how", ["forked", "spawned"])
def test_a_child_that_outlives_a_killed_holder_does_not_keep_the_lock(
    scene: Scene, undisturbed: dict[str, Rows], how: str
) -> None:
    scene.app.hold(5)
    holder = scene.start_pair(hooks=[leave_a_child(DISPATCH, 5, how)])
    try:
        assert kill_in_flight(holder, scene.app, 5).code == -9
        os.killpg(holder.pid, 0)  # the child is alive
        assert scene.pair("1", "--resend-in-doubt").code == 0
        assert facts(scene.ledger)["arms"] == undisturbed["arms"]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(holder.pid, signal.SIGKILL)


def test_a_living_process_named_in_the_lock_file_does_not_matter(scene: Scene) -> None:
    scene.ledger.with_name(scene.ledger.name + ".lock").write_text(f"{os.getpid()}\n")
    assert scene.pair().code == 0


def test_a_lock_file_that_cannot_be_opened_is_one_clear_line(scene: Scene) -> None:
    scene.ledger.with_name(scene.ledger.name + ".lock").mkdir()
    done = scene.pair()
    assert done.code == 2, done.err
    assert done.err.count("\n") == 1
    assert scene.ledger.name + ".lock" in done.err
    assert scene.app.hits == []


def test_two_runs_of_one_task_work_side_by_side(scene: Scene, undisturbed: dict[str, Rows]) -> None:
    scene.app.hold(2)
    first = scene.start_pair()
    scene.app.wait_for(2)
    assert scene.pair(TASK, "--new").code == 0
    scene.app.release()
    assert first.wait().code == 0
    assert run_count(scene.ledger) == 2
    assert facts(scene.ledger, 1)["arms"] == facts(scene.ledger, 2)["arms"] == undisturbed["arms"]
    assert scene.audit() == []
