"""SIGKILL before, during and after every single request of a whole run, then running it again."""

from collections.abc import Callable

import pytest

from .facts import (
    Arm,
    Rows,
    arms,
    attempts,
    attempts_without_reply,
    but_usage,
    capture,
    facts,
)
from .hooks import COMPLETE, DISPATCH, INTEND, kill
from .scene import TASK, Done, Scene, kill_in_flight, require_clean

STAGES = ["capture"] * 3 + ["F"] * 3 + ["P"] * 6
"""Of the requests of the undisturbed run, in their order."""

POSITIONS = [0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7, 8]
"""In their stage's conversation."""

ENDPOINTS = {"F": Arm("correct", None, 3), "P": Arm("wrong", None, 6)}

every_request = pytest.mark.parametrize("number", range(1, len(STAGES) + 1))

Kill = Callable[[Scene, int], Done]


def at(function: str, when: str) -> Kill:
    return lambda scene, number: scene.pair(hooks=[kill(function, when, number)])


def while_the_server_works(scene: Scene, number: int) -> Done:
    scene.app.hold(number)
    return kill_in_flight(scene.start_pair(), scene.app, number)


BETWEEN_REQUESTS = {
    "before its intent is committed": at(INTEND, "uncommitted"),
    "after its completion is committed": at(COMPLETE, "after"),
}
IN_FLIGHT = {
    "before a byte leaves": at(DISPATCH, "before"),
    "while the server works on it": while_the_server_works,
    "when the reply has arrived": at(COMPLETE, "before"),
    "before its completion is committed": at(COMPLETE, "uncommitted"),
}


def owed_target(number: int) -> str:
    """By turns the task, which finds its run again, and the run itself."""
    return TASK if number % 2 else "1"


def test_the_undisturbed_run_is_the_one_that_the_cases_below_count_on(
    scene: Scene, undisturbed: dict[str, Rows]
) -> None:
    assert scene.pair().code == 0
    assert facts(scene.ledger) == undisturbed
    expected = zip(STAGES, POSITIONS, strict=True)
    assert attempts(scene.ledger) == [(*at, 1, "completed") for at in expected]
    assert arms(scene.ledger) == ENDPOINTS
    assert len(set(scene.app.hits)) == len(scene.app.hits) == len(STAGES)
    require_clean(scene)


@every_request
@pytest.mark.parametrize("moment", BETWEEN_REQUESTS)
def test_a_kill_between_requests_leaves_no_trace_in_the_finished_run(
    scene: Scene, undisturbed: dict[str, Rows], moment: str, number: int
) -> None:
    assert BETWEEN_REQUESTS[moment](scene, number).code == -9
    completed = number if moment.startswith("after") else number - 1
    assert len(scene.app.hits) == len(attempts(scene.ledger)) == completed

    assert scene.pair(owed_target(number)).code == 0

    assert facts(scene.ledger) == undisturbed
    assert scene.app.received_twice == []
    assert [state for *_, state in attempts(scene.ledger)] == ["completed"] * len(STAGES)
    require_clean(scene)


@every_request
@pytest.mark.parametrize("moment", IN_FLIGHT)
def test_a_kill_with_a_request_in_flight_leaves_it_in_doubt_until_it_is_resent_on_purpose(
    scene: Scene, undisturbed: dict[str, Rows], moment: str, number: int
) -> None:
    stage, position = STAGES[number - 1], POSITIONS[number - 1]
    was_received = moment != "before a byte leaves"
    assert IN_FLIGHT[moment](scene, number).code == -9
    assert len(scene.app.hits) == number - 1 + was_received
    assert attempts(scene.ledger)[-1] == (stage, position, 1, "intent")
    require_clean(scene)

    assert scene.pair(owed_target(number)).code == 3
    completed = STAGES[: number - 1].count(stage)
    if stage == "capture":
        assert capture(scene.ledger) == ("stopped", "in_doubt")
        assert arms(scene.ledger) == {}
    else:
        stopped = Arm("stopped", "in_doubt", completed)
        assert arms(scene.ledger) == {**ENDPOINTS, stage: stopped}
    received = scene.app.hits
    assert scene.app.received_twice == []

    assert scene.pair("1").code == 3
    assert scene.app.hits == received

    assert scene.pair(owed_target(number), "--resend-in-doubt").code == 0
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    tried = [(n, state) for *at, n, state in attempts(scene.ledger) if at == [stage, position]]
    assert tried == [(1, "in_doubt"), (2, "completed")]
    assert attempts_without_reply(scene.ledger) == [(stage, position, 1)]
    assert len(scene.app.received_twice) == was_received
    require_clean(scene)
