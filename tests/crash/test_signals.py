"""SIGTERM and SIGINT: while a reply is awaited, between requests, in a retry's wait, in between."""

import os
import signal
import time
from signal import SIGINT, SIGTERM

import pytest

from .facts import Arm, Rows, arms, attempts, but_usage, capture, facts, query
from .hooks import COMPLETE, INTEND, interrupt
from .scene import TASK, WAIT_S, Done, Scene, require_clean, signal_in_flight
from .test_kill import ENDPOINTS, POSITIONS, STAGES

EXIT_CODES = {SIGTERM: 143, SIGINT: 130}
CONVERSE = "revereval.pair.continuation:_converse"

both_signals = pytest.mark.parametrize("sent", EXIT_CODES)
one_of_each_stage = pytest.mark.parametrize("number", [2, 5, 9])


def require_interrupted(scene: Scene, done: Done, sent: signal.Signals) -> None:
    """The documented code, one line that names the signal, and nothing left at work."""
    assert done.code == EXIT_CODES[sent], done.err
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert sent.name in done.err
    assert query(scene.ledger, "SELECT id FROM attempt WHERE state = 'intent'") == []


def tried(scene: Scene, number: int) -> list[tuple[int, str]]:
    """(number, state) of the attempts at the request that is so many-th in a whole run."""
    wanted = [STAGES[number - 1], POSITIONS[number - 1]]
    return [(n, state) for *at, n, state in attempts(scene.ledger) if at == wanted]


@both_signals
@one_of_each_stage
def test_a_signal_while_a_reply_is_awaited_ends_the_stage_as_ambiguous(
    scene: Scene, undisturbed: dict[str, Rows], sent: signal.Signals, number: int
) -> None:
    scene.app.hold(number)
    done = signal_in_flight(scene.start_pair(), scene.app, number, sent)
    require_interrupted(scene, done, sent)
    assert tried(scene, number) == [(1, "ambiguous")]
    stage, completed = STAGES[number - 1], STAGES[: number - 1].count(STAGES[number - 1])
    ambiguous = Arm("stopped", "ambiguous_dispatch", completed)
    if stage == "capture":
        assert capture(scene.ledger) == ("stopped", "ambiguous_dispatch")
        assert arms(scene.ledger) == {}
    elif stage == "F":
        unexecuted = Arm("unexecuted", "not_started", 0)
        assert arms(scene.ledger) == {"F": ambiguous, "P": unexecuted}
    else:
        assert arms(scene.ledger) == {"F": ENDPOINTS["F"], "P": ambiguous}
    require_clean(scene)

    assert scene.pair("1").code == 3
    if stage != "capture":
        assert arms(scene.ledger) == {**ENDPOINTS, stage: ambiguous}
    assert scene.app.received_twice == []

    assert scene.pair("1", "--resend-in-doubt").code == 0
    assert tried(scene, number) == [(1, "ambiguous"), (2, "completed")]
    assert len(scene.app.received_twice) == 1
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    require_clean(scene)


@pytest.mark.parametrize(
    ("number", "sent"), [*((number, SIGTERM) for number in range(1, len(STAGES))), (5, SIGINT)]
)
def test_a_signal_while_a_reply_is_recorded_loses_nothing(
    scene: Scene, undisturbed: dict[str, Rows], number: int, sent: signal.Signals
) -> None:
    done = scene.pair(hooks=[interrupt(COMPLETE, "before", number, sent)])
    require_interrupted(scene, done, sent)
    assert len(scene.app.hits) == number
    assert [state for *_, state in attempts(scene.ledger)] == ["completed"] * number
    require_clean(scene)
    assert scene.pair().code == 0
    assert facts(scene.ledger) == undisturbed
    assert scene.app.received_twice == []
    require_clean(scene)


def test_a_signal_while_the_last_reply_is_recorded_does_not_undo_the_run(
    scene: Scene, undisturbed: dict[str, Rows]
) -> None:
    done = scene.pair(hooks=[interrupt(COMPLETE, "before", len(STAGES), SIGTERM)])
    assert done.code in (0, 143)
    assert scene.pair("1").code == 0
    assert facts(scene.ledger) == undisturbed
    assert scene.app.received_twice == []


@both_signals
@one_of_each_stage
def test_a_signal_while_an_intent_is_recorded_leaves_the_run_resumable(
    scene: Scene, undisturbed: dict[str, Rows], sent: signal.Signals, number: int
) -> None:
    """No byte has left: nothing is in flight, so nothing is ambiguous."""
    done = scene.pair(hooks=[interrupt(INTEND, "before", number, sent)])
    require_interrupted(scene, done, sent)
    assert len(scene.app.hits) == number - 1
    require_clean(scene)
    assert scene.pair().code == 0
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    assert scene.app.received_twice == []


@both_signals
@one_of_each_stage
def test_a_signal_in_a_retry_wait_leaves_the_run_resumable(
    scene: Scene, undisturbed: dict[str, Rows], sent: signal.Signals, number: int
) -> None:
    scene.first_wait_s = 60.0
    scene.app.answer(number, 503, b'{"error":{"message":"busy","code":"overloaded"}}')
    command = scene.start_pair()
    scene.app.wait_for(number)
    deadline = time.monotonic() + WAIT_S
    while tried(scene, number) != [(1, "failed")]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(command.pid, sent)
    require_interrupted(scene, command.wait(), sent)
    if STAGES[number - 1] == "capture":
        assert capture(scene.ledger) == ("stopped", "interrupted")
    else:
        assert arms(scene.ledger)[STAGES[number - 1]].reason == "interrupted"
    require_clean(scene)
    assert scene.pair().code == 0
    assert tried(scene, number) == [(1, "failed"), (2, "completed")]
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    require_clean(scene)


def test_an_impatient_second_signal_does_not_hurt_the_record_of_the_first(scene: Scene) -> None:
    scene.app.hold(5)
    command = scene.start_pair()
    scene.app.wait_for(5)
    os.kill(command.pid, SIGTERM)
    os.kill(command.pid, SIGINT)
    done = command.wait()
    assert done.code in (143, 130), done.err
    assert tried(scene, 5) == [(1, "ambiguous")]
    assert arms(scene.ledger)["F"] == Arm("stopped", "ambiguous_dispatch", 1)
    require_clean(scene)


def test_a_resend_interrupted_before_it_is_sent_needs_the_option_again(scene: Scene) -> None:
    scene.app.hold(5)
    signal_in_flight(scene.start_pair(), scene.app, 5, SIGTERM)
    assert scene.pair("1").code == 3
    hooks = [interrupt(CONVERSE, "before", 1, SIGTERM)]
    assert scene.pair("1", "--resend-in-doubt", hooks=hooks).code == 143
    received = scene.app.hits
    assert scene.pair("1").code == 3
    assert scene.app.hits == received
    require_clean(scene)


@both_signals
def test_the_installed_command_ends_with_the_documented_code(
    scene: Scene, sent: signal.Signals
) -> None:
    scene.app.hold(5)
    done = signal_in_flight(scene.spawn_pair(), scene.app, 5, sent)
    require_interrupted(scene, done, sent)
    assert arms(scene.ledger)["F"] == Arm("stopped", "ambiguous_dispatch", 1)


def test_a_reader_that_went_away_does_not_stop_paid_work(
    scene: Scene, undisturbed: dict[str, Rows]
) -> None:
    command = scene.spawn_pair(TASK)
    assert command.process.stdout and command.process.stderr
    command.process.stdout.close()
    command.process.stderr.close()
    assert command.process.wait(WAIT_S) == 141
    assert facts(scene.ledger) == undisturbed
    require_clean(scene)
