"""SIGKILL, SIGTERM and damage while two repeats are taken from one tape, then running it again."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from signal import SIGTERM

import pytest

from .conftest import READER
from .facts import Arm, Rows, arms, but_usage, capture, facts, intended, query, run_count
from .hooks import COMPLETE, DISPATCH, INTEND, Hook, interrupt, kill, kill_between_requests
from .scene import TASK, TASKS, Done, Scene, Zygote, kill_in_flight, signal_in_flight
from .server import LoggedApp, running
from .test_lock import everything, require_refused
from .test_tape_changed import change_column, change_reply

Both = list[dict[str, Rows]]
"""The facts of both repeats."""

CAPTURE = [(1, "capture", position) for position in range(3)]
F, P = ([(stage, position) for position in range(3, end)] for stage, end in (("F", 6), ("P", 9)))
REQUESTS = [*CAPTURE, *((1, *at) for at in F + P), *((2, *at) for at in P + F)]
"""(run, stage, position) of the requests of the undisturbed command, in their order."""

BOTH = {"F": Arm("correct", None, 3), "P": Arm("wrong", None, 6)}
BOUNDARY = "revereval.pair.capture:write_boundary"
REPEAT = "revereval.ledger.runs:_new_repeat"
FROM_THE_BOUNDARY = range(4, 13)
"""The commits between requests: the boundary, then the beginning and the end of each arm."""

BETWEEN = [
    *(kill(INTEND, "uncommitted", number) for number in (2, 4, 9, 13, 16, 21)),
    *(kill(COMPLETE, "after", number) for number in (6, 12, 14, 18, 20)),
    *(kill_between_requests("before", nth) for nth in FROM_THE_BOUNDARY),
    *(interrupt(COMPLETE, "before", number, SIGTERM) for number in (3, 6, 9, 12, 15, 18, 20)),
]
IN_FLIGHT = {"to leave": (2, 9, 19), "held": (4, 13, 21), "replied": (6, 16, 18), "noted": (8, 20)}
"""How far a dispatch has come when it dies, each at some requests of either repeat."""


def pair(scene: Scene, target: str = TASK, *options: str, hooks: tuple[Hook, ...] = ()) -> Done:
    repeats = ["--repeats", "2"] if target == TASK else []
    return scene.pair(target, *repeats, *options, hooks=hooks)


def target_of(scene: Scene, number: int) -> str:
    """By turns the task, the run that captured the tape, and its repeat where there is one."""
    return [TASK, "1", str(run_count(scene.ledger))][number % 3]


def both(ledger: Path) -> Both:
    return [facts(ledger, run) for run in (1, 2)]


def all_but_usage(found: Both) -> Both:
    return [but_usage(one) for one in found]


def attempts(ledger: Path) -> Rows:
    text = "SELECT run_id, stage, position, number, state FROM attempt JOIN request"
    return query(ledger, f"{text} ON request.id = request_id ORDER BY attempt.id")


def require_clean(scene: Scene, unsent: int = 0) -> None:
    """One tape, no finding of the audit, and of every intent but `unsent` one dispatch."""
    numbers = "SELECT repeat, tape_run_id FROM run ORDER BY id"
    assert query(scene.ledger, numbers) in ([(1, None)], [(1, None), (2, 1)])
    assert scene.audit() == []
    received, recorded = Counter(scene.app.hits), intended(scene.ledger)
    assert received <= recorded and recorded.total() - received.total() == unsent


def require_whole(scene: Scene, undisturbed: Both) -> None:
    assert both(scene.ledger) == undisturbed
    assert attempts(scene.ledger) == [(*at, 1, "completed") for at in REQUESTS]
    require_clean(scene)


def require_resent_once(scene: Scene, undisturbed: Both, number: int, unsent: int = 0) -> None:
    """With the option this request is sent a second time, and then nothing is owed."""
    for target in (target_of(scene, number), "1"):
        done = pair(scene, target, "--resend-in-doubt")
        assert done.code == 0, done.err
        tried = attempts(scene.ledger)
        assert Counter(at[:3] for at in tried) == Counter([*REQUESTS, REQUESTS[number - 1]])
        assert [at[:3] for at in tried if at[3:] == (2, "completed")] == [REQUESTS[number - 1]]
        assert all_but_usage(both(scene.ledger)) == all_but_usage(undisturbed)
        require_clean(scene, unsent)


def require_only_this_stopped(scene: Scene, number: int, reason: str) -> None:
    """All but the stage of this request has ended as if nothing had happened."""
    run, stage, position = REQUESTS[number - 1]
    if stage == "capture":
        assert capture(scene.ledger) == ("stopped", reason)
        assert (run_count(scene.ledger), arms(scene.ledger)) == (1, {})
        return
    expected = {1: BOTH, 2: BOTH}
    expected[run] = {**BOTH, stage: Arm("stopped", reason, position - len(CAPTURE))}
    assert {at: arms(scene.ledger, at) for at in (1, 2)} == expected


@pytest.fixture(scope="module")
def original(
    tmp_path_factory: pytest.TempPathFactory, zygote: Zygote, cache: Path
) -> Iterator[Scene]:
    """A ledger of both repeats that nothing disturbed, and then a run of another plan."""
    with running(LoggedApp(TASKS, READER)) as app:
        scene = Scene(tmp_path_factory.mktemp("original"), zygote, app, cache)
        assert pair(scene).code == 0
        require_clean(scene)
        scene.settings = 'seed = "other"\n'
        assert scene.pair().code == 0
        yield scene


@pytest.fixture(scope="module")
def undisturbed(original: Scene) -> Both:
    return both(original.ledger)


def test_the_undisturbed_command_is_as_said_above(scene: Scene, undisturbed: Both) -> None:
    assert pair(scene, hooks=(kill_between_requests("before", FROM_THE_BOUNDARY.stop),)).code == 0
    require_whole(scene, undisturbed)
    assert [arms(scene.ledger, run) for run in (1, 2)] == [BOTH, BOTH]
    turns = query(scene.ledger, "SELECT name FROM arm ORDER BY run_id, turn")
    assert turns == [("F",), ("P",), ("P",), ("F",)]


@pytest.mark.parametrize("hook", BETWEEN, ids=lambda hook: " ".join(map(str, hook.values())))
def test_a_kill_or_a_sigterm_between_requests_arms_or_repeats_leaves_no_trace(
    scene: Scene, undisturbed: Both, hook: Hook
) -> None:
    done = pair(scene, hooks=(hook,))
    assert (done.code, done.out) == (143 if hook["kind"] == "interrupt" else -9, "")
    assert {state for *_, state in attempts(scene.ledger)} == {"completed"}
    require_clean(scene)
    assert pair(scene, target_of(scene, hook["nth"])).code == 0
    require_whole(scene, undisturbed)


@pytest.mark.parametrize("at", [(BOUNDARY, "uncommitted"), (REPEAT, "before"), (REPEAT, "after")])
def test_a_kill_inside_the_boundary_transaction_leaves_no_repeat(
    scene: Scene, undisturbed: Both, at: tuple[str, str]
) -> None:
    assert pair(scene, hooks=(kill(*at),)).code == -9
    assert (run_count(scene.ledger), arms(scene.ledger)) == (1, {})
    assert capture(scene.ledger) == ("stopped", "interrupted")
    require_clean(scene)
    assert pair(scene).code == 0
    require_whole(scene, undisturbed)


@pytest.mark.parametrize(("moment", "number"), [(m, n) for m in IN_FLIGHT for n in IN_FLIGHT[m]])
def test_a_kill_in_flight_is_in_doubt_and_all_else_of_both_repeats_is_finished(
    scene: Scene, undisturbed: Both, moment: str, number: int
) -> None:
    unsent = moment == "to leave"
    if moment == "held":
        scene.app.hold(number)
        command = scene.start_pair(TASK, "--repeats", "2")
        assert kill_in_flight(command, scene.app, number).code == -9
    else:
        when = "uncommitted" if moment == "noted" else "before"
        hook = kill(DISPATCH if unsent else COMPLETE, when, number)
        assert pair(scene, hooks=(hook,)).code == -9
    assert attempts(scene.ledger)[-1] == (*REQUESTS[number - 1], 1, "intent")
    require_clean(scene, unsent)

    assert pair(scene, target_of(scene, number)).code == 3
    require_only_this_stopped(scene, number, "in_doubt")
    require_clean(scene, unsent)
    received = scene.app.hits
    assert pair(scene, str(run_count(scene.ledger))).code == 3
    assert scene.app.hits == received
    require_resent_once(scene, undisturbed, number, unsent)


def test_kills_after_every_request_lose_nothing(scene: Scene, undisturbed: Both) -> None:
    for number in range(1, len(REQUESTS) + 1):
        assert pair(scene, hooks=(kill(COMPLETE, "after"),)).code == -9
        assert len(scene.app.hits) == number
    assert pair(scene).code == 0
    require_whole(scene, undisturbed)


def test_one_resend_takes_up_all_that_is_in_doubt(scene: Scene, undisturbed: Both) -> None:
    for nth in (5, 2, 3, 1):  # each start finds the arm before it in doubt, and goes on
        assert pair(scene, hooks=(kill(COMPLETE, "before", nth),)).code == -9
    assert pair(scene).code == 3
    counts = [(1, "F", 1), (1, "P", 1), (2, "P", 2), (2, "F", 0)]
    for run, stage, done in counts:
        assert arms(scene.ledger, run)[stage] == Arm("stopped", "in_doubt", done)
    require_clean(scene)
    assert pair(scene, TASK, "--resend-in-doubt").code == 0
    assert all_but_usage(both(scene.ledger)) == all_but_usage(undisturbed)
    assert [at[-1] for at in attempts(scene.ledger)].count("in_doubt") == len(counts)
    require_clean(scene)


@pytest.mark.parametrize("number", [2, 6, 8, 13, 20])
def test_a_sigterm_in_flight_is_ambiguous(scene: Scene, undisturbed: Both, number: int) -> None:
    scene.app.hold(number)
    done = signal_in_flight(scene.start_pair(TASK, "--repeats", "2"), scene.app, number, SIGTERM)
    assert (done.code, done.out) == (143, "")
    assert attempts(scene.ledger)[-1] == (*REQUESTS[number - 1], 1, "ambiguous")
    require_clean(scene)
    assert pair(scene, str(run_count(scene.ledger))).code == 3
    require_only_this_stopped(scene, number, "ambiguous_dispatch")
    require_clean(scene)
    require_resent_once(scene, undisturbed, number)


@pytest.mark.parametrize("number", [5, 14])
def test_a_second_process_is_refused(scene: Scene, undisturbed: Both, number: int) -> None:
    scene.app.hold(number)
    first = scene.start_pair(TASK, "--repeats", "2")
    scene.app.wait_for(number)
    before = everything(scene)
    for target in (TASK, "1", "2"):
        require_refused(pair(scene, target, "--resend-in-doubt"))
    assert everything(scene) == before
    scene.app.release()
    assert first.wait().code == 0
    require_whole(scene, undisturbed)


AFTER_ANSWER = 'companion = "after_answer"\n[limits]\nsuffix_requests = 4\n'
"""P does not answer within it: goes first in repeat 2, where F then is not to be run."""


@pytest.mark.parametrize("number", [5, 8, 12])
def test_the_companion_rule_holds_in_each_repeat_on_its_own(scene: Scene, number: int) -> None:
    scene.settings = AFTER_ANSWER
    capped, withheld = Arm("capped", None, 4), Arm("unexecuted", "companion_rule", 0)
    in_doubt = Arm("stopped", "in_doubt", 1)
    assert pair(scene, hooks=(kill(COMPLETE, "before", number),)).code == -9
    assert pair(scene).code == 3
    assert [arms(scene.ledger, run) for run in (1, 2)] == {
        5: [{"F": in_doubt, "P": withheld}, {"F": withheld, "P": capped}],
        8: [{"F": BOTH["F"], "P": in_doubt}, {"F": withheld, "P": capped}],
        12: [{"F": BOTH["F"], "P": capped}, {"F": withheld, "P": in_doubt}],
    }[number]
    require_clean(scene)
    assert pair(scene, TASK, "--resend-in-doubt").code == 0
    assert arms(scene.ledger, 1) == {"F": BOTH["F"], "P": capped}
    assert arms(scene.ledger, 2) == {"F": withheld, "P": capped}
    require_clean(scene)


@pytest.mark.parametrize("what", ["reply", "seal", "plan"])
@pytest.mark.parametrize(("target", "number"), [(TASK, 3), ("1", 8), ("2", 19)])
def test_a_changed_tape_or_plan_stops_the_first_owed_arm_of_every_repeat(
    scene: Scene, what: str, target: str, number: int
) -> None:
    hook = kill(BOUNDARY, "after") if number == 3 else kill(COMPLETE, "after", number)
    assert pair(scene, hooks=(hook,)).code == -9
    if what == "reply":
        change_reply(scene.ledger, "capture")
    else:
        table, column = ("run", "seal") if what == "seal" else ("plan", "document")
        change_column(scene.ledger, table, column, 1, at=-3)
    for arguments in ([target], ["2", "--resend-in-doubt"]):
        done = pair(scene, *arguments)
        assert (done.code, "Traceback" in done.err) == (3, False)
        assert len(scene.app.hits) == number
    completed = Counter((run, stage) for run, stage, _ in REQUESTS[:number])
    for run, turns in ((1, "FP"), (2, "PF")):
        owed = [name for name in turns if completed[run, name] < BOTH[name].suffix_requests]
        stopped = {name: Arm("unexecuted", "seal_broken", 0) for name in owed}
        if owed:
            stopped[owed[0]] = Arm("stopped", "seal_broken", completed[run, owed[0]])
        assert arms(scene.ledger, run) == {**BOTH, **stopped}
    assert scene.audit() != []


@pytest.mark.parametrize(
    ("statement", "field"),
    [
        (
            "DROP INDEX ix_run_tape_repeat; UPDATE run SET tape_run_id = 3 WHERE id = 2",
            "boundary_request_id",
        ),
        ("UPDATE run SET tape_run_id = NULL WHERE id = 2", "tape_run_id"),
        ("DELETE FROM arm WHERE run_id = 2 AND name = 'P'", "arms"),
        ("DELETE FROM arm WHERE run_id = 2", "arms"),
        ("UPDATE arm SET turn = 3 - turn WHERE run_id = 2", "turn"),
    ],
)
def test_the_audit_notices_a_damaged_repeat(
    original: Scene, scene: Scene, statement: str, field: str
) -> None:
    scene.ledger.write_bytes(original.ledger.read_bytes())
    with closing(sqlite3.connect(scene.ledger, isolation_level=None)) as connection:
        connection.executescript(statement)
    found = {(at["run_id"], at["field"]) for at in scene.audit()}
    assert (2, field) in found
    # the run that captured the tape misses the repeat
    assert all(run == 2 or at == "repeats" for run, at in found)
