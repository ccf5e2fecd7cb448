"""SIGKILL around a pause: before it is recorded, while it waits, and as it is taken up again."""

import json

import pytest

from .facts import Arm, Rows, arms, capture, facts, query
from .hooks import DISPATCH, FAIL, INTEND_AGAIN, Hook, kill
from .scene import TASK, Scene, require_clean
from .test_kill import STAGES

DENIED = (401, json.dumps({"error": {"message": "not now", "code": "invalid_api_key"}}).encode())
PAUSE = "revereval.pair.stage:pause"
TAKE_UP = {2: "revereval.pair.capture:end_pause", 5: "revereval.pair.continuation:end_pause"}

one_of_each_stage = pytest.mark.parametrize("number", [2, 5])
"""The second request of the capture, and of F."""


def require_the_undisturbed_run(
    scene: Scene, undisturbed: dict[str, Rows], number: int, pauses: int
) -> None:
    """The refused request reached the server once more, everything else once."""
    done = scene.pair(TASK)
    assert (done.code, done.err) == (0, "")
    assert facts(scene.ledger) == undisturbed
    assert len(scene.app.hits) == len(STAGES) + 1
    assert scene.app.received_twice == [scene.app.hits[number - 1]]
    assert query(scene.ledger, "SELECT count(*), count(ended_at) FROM pause") == [(pauses, pauses)]
    require_clean(scene)


@one_of_each_stage
@pytest.mark.parametrize(
    ("hook", "pauses"),
    [
        (kill(FAIL, "after"), 0),
        (kill(PAUSE, "before"), 0),
        (kill(PAUSE, "uncommitted"), 0),
        (kill(PAUSE, "after"), 1),
    ],
    ids=["refused", "before", "uncommitted", "recorded"],
)
def test_a_kill_as_it_pauses_loses_nothing(
    scene: Scene, undisturbed: dict[str, Rows], number: int, hook: Hook, pauses: int
) -> None:
    scene.app.answer(number, *DENIED)
    assert scene.pair(hooks=[hook]).code == -9
    assert len(scene.app.hits) == number
    require_the_undisturbed_run(scene, undisturbed, number, pauses)


@one_of_each_stage
@pytest.mark.parametrize("when", ["before", "uncommitted", "after"])
def test_a_kill_as_it_is_taken_up_again_loses_nothing(
    scene: Scene, undisturbed: dict[str, Rows], number: int, when: str
) -> None:
    scene.app.answer(number, *DENIED)
    assert scene.pair().code == 3
    assert scene.pair(hooks=[kill(TAKE_UP[number], when)]).code == -9
    assert len(scene.app.hits) == number
    require_the_undisturbed_run(scene, undisturbed, number, pauses=1)


@one_of_each_stage
def test_a_kill_before_the_next_attempt_is_committed_loses_nothing(
    scene: Scene, undisturbed: dict[str, Rows], number: int
) -> None:
    scene.app.answer(number, *DENIED)
    assert scene.pair().code == 3
    assert scene.pair(hooks=[kill(INTEND_AGAIN, "uncommitted")]).code == -9
    require_the_undisturbed_run(scene, undisturbed, number, pauses=1)


@one_of_each_stage
def test_a_kill_with_the_next_attempt_in_flight_is_in_doubt(scene: Scene, number: int) -> None:
    scene.app.answer(number, *DENIED)
    assert scene.pair().code == 3
    assert scene.pair(hooks=[kill(DISPATCH, "before")]).code == -9
    assert scene.pair("1").code == 3
    if number == 2:
        assert capture(scene.ledger) == ("stopped", "in_doubt")
    else:
        assert arms(scene.ledger)["F"] == Arm("stopped", "in_doubt", 1)
    assert scene.pair("1", "--give-up").code == 2, "it is in doubt and waits for nothing"
    require_clean(scene)


@pytest.mark.parametrize("when", ["before", "uncommitted", "after"])
def test_a_kill_as_it_is_given_up_leaves_it_whole_or_undone(scene: Scene, when: str) -> None:
    scene.app.answer(5, *DENIED)
    assert scene.pair().code == 3
    give_up = kill("revereval.ledger.pauses:give_up", when)
    assert scene.pair("1", "--give-up", hooks=[give_up]).code == -9
    assert scene.pair("1", "--give-up").code == (2 if when == "after" else 0)
    assert arms(scene.ledger) == {
        "F": Arm("stopped", "given_up", 1),
        "P": Arm("unexecuted", "given_up", 0),
    }
    assert len(scene.app.hits) == 5
    require_clean(scene)
