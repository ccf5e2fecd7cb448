"""SIGKILL at every commit between the requests, twice in a row, and from outside."""

import pytest

from .facts import Arm, Rows, arms, attempts, but_usage, capture, facts, run_count
from .hooks import COMPLETE, FAIL, INTEND, INTEND_AGAIN, kill, kill_between_requests
from .scene import TASK, Scene, kill_in_flight, require_clean
from .test_kill import ENDPOINTS, POSITIONS, STAGES

COMMITS = [
    "the ledger's tables",
    "the run",
    "the look for a request in flight",
    "the boundary",
    "F begins",
    "F's endpoint",
    "P begins",
    "P's endpoint",
]
"""The transactions of an undisturbed run that belong to no request, in their order."""

every_commit = pytest.mark.parametrize("nth", range(1, len(COMMITS) + 1), ids=COMMITS)
one_of_each_stage = pytest.mark.parametrize("number", [2, 5, 9])


def test_the_commits_between_requests_are_the_listed_ones(scene: Scene) -> None:
    assert scene.pair(hooks=[kill_between_requests("before", len(COMMITS) + 1)]).code == 0
    assert run_count(scene.ledger) == 1


@every_commit
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_at_any_commit_between_requests_leaves_no_trace_in_the_finished_run(
    scene: Scene, undisturbed: dict[str, Rows], when: str, nth: int
) -> None:
    assert scene.pair(hooks=[kill_between_requests(when, nth)]).code == -9
    ended = (when, nth) == ("after", len(COMMITS))

    done = scene.pair("1" if ended else TASK)

    assert done.code == 0
    assert done.err == ""
    assert facts(scene.ledger) == undisturbed
    assert len(scene.app.hits) == len(STAGES)
    assert scene.app.received_twice == []
    require_clean(scene)


def test_a_run_that_is_killed_after_every_request_still_advances_by_one_a_start(
    scene: Scene, undisturbed: dict[str, Rows]
) -> None:
    for number in range(1, len(STAGES) + 1):
        assert scene.pair(hooks=[kill(COMPLETE, "after")]).code == -9
        assert len(scene.app.hits) == number
    assert scene.pair().code == 0
    assert facts(scene.ledger) == undisturbed
    assert scene.app.received_twice == []
    require_clean(scene)


@pytest.mark.parametrize("number", [2, 5])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_second_kill_while_the_resume_records_the_first_changes_nothing(
    scene: Scene, undisturbed: dict[str, Rows], number: int, when: str, nth: int
) -> None:
    scene.pair(hooks=[kill(COMPLETE, "before", number)])
    again = scene.pair(hooks=[kill_between_requests(when, nth)])
    assert again.code in (-9, 3)  # 3: fewer commits were owed
    assert scene.pair("1").code == 3
    assert scene.app.received_twice == []
    assert scene.pair("1", "--resend-in-doubt").code == 0
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    assert len(scene.app.received_twice) == 1
    require_clean(scene)


def test_kills_in_both_arms_leave_both_in_doubt_and_one_resend_takes_up_both(
    scene: Scene, undisturbed: dict[str, Rows]
) -> None:
    assert scene.pair(hooks=[kill(COMPLETE, "before", 5)]).code == -9
    assert scene.pair(hooks=[kill(COMPLETE, "before", 3)]).code == -9
    assert scene.pair("1").code == 3
    assert arms(scene.ledger) == {
        "F": Arm("stopped", "in_doubt", 1),
        "P": Arm("stopped", "in_doubt", 2),
    }
    assert scene.app.received_twice == []
    require_clean(scene)
    assert scene.pair(TASK, "--resend-in-doubt").code == 0
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    assert len(scene.app.received_twice) == 2
    require_clean(scene)


@one_of_each_stage
def test_a_resend_that_is_killed_in_flight_is_in_doubt_again(
    scene: Scene, undisturbed: dict[str, Rows], number: int
) -> None:
    stage, position = STAGES[number - 1], POSITIONS[number - 1]
    scene.pair(hooks=[kill(COMPLETE, "before", number)])
    assert scene.pair("1").code == 3
    assert scene.pair("1", "--resend-in-doubt", hooks=[kill(COMPLETE, "before")]).code == -9
    received = scene.app.hits
    assert scene.pair("1").code == 3
    assert scene.app.hits == received
    require_clean(scene)
    assert scene.pair("1", "--resend-in-doubt").code == 0
    tried = [(n, state) for *at, n, state in attempts(scene.ledger) if at == [stage, position]]
    assert tried == [(1, "in_doubt"), (2, "in_doubt"), (3, "completed")]
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    require_clean(scene)


@one_of_each_stage
def test_a_resend_that_is_killed_before_its_intent_needs_the_option_again(
    scene: Scene, number: int
) -> None:
    scene.pair(hooks=[kill(COMPLETE, "before", number)])
    assert scene.pair("1").code == 3
    killed = scene.pair("1", "--resend-in-doubt", hooks=[kill(INTEND_AGAIN, "uncommitted")])
    assert killed.code == -9
    received = scene.app.hits
    assert scene.pair("1").code == 3
    assert scene.app.hits == received
    require_clean(scene)


@one_of_each_stage
def test_a_kill_after_an_ambiguous_attempt_is_recorded_never_sends_the_request_again(
    scene: Scene, number: int
) -> None:
    scene.app.drop(number)
    assert scene.pair(hooks=[kill(FAIL, "after")]).code == -9
    stage, position = STAGES[number - 1], POSITIONS[number - 1]
    assert attempts(scene.ledger)[-1] == (stage, position, 1, "ambiguous")
    assert scene.pair("1").code == 3
    assert scene.app.received_twice == []
    if stage == "capture":
        assert capture(scene.ledger) in [
            ("stopped", "ambiguous_dispatch"),
            ("stopped", "in_doubt"),
        ]
    else:
        assert arms(scene.ledger)[stage].reason in ("ambiguous_dispatch", "in_doubt")
    require_clean(scene)


@one_of_each_stage
def test_a_kill_after_an_error_reply_is_recorded_ends_as_the_undisturbed_stage_would(
    scene: Scene, number: int
) -> None:
    """A 500 may have been billed: it is not among what is sent again."""
    scene.app.answer(number, 500, b'{"error":{"message":"it broke","code":"server_error"}}')
    assert scene.pair(hooks=[kill(FAIL, "after")]).code == -9
    assert scene.pair("1").code == 3
    assert scene.app.received_twice == []
    stage, completed = STAGES[number - 1], STAGES[: number - 1].count(STAGES[number - 1])
    if stage == "capture":
        assert capture(scene.ledger) == ("stopped", "provider_error")
    else:
        stopped = Arm("stopped", "provider_error", completed)
        assert arms(scene.ledger) == {**ENDPOINTS, stage: stopped}
    require_clean(scene)


@one_of_each_stage
def test_a_kill_between_two_attempts_goes_on_with_the_next_attempt(
    scene: Scene, undisturbed: dict[str, Rows], number: int
) -> None:
    """A 429 cannot have been billed: the resume may send what the retry would have sent."""
    scene.app.answer(number, 429, b'{"error":{"message":"slow down","code":"rate_limit"}}')
    assert scene.pair(hooks=[kill(FAIL, "after")]).code == -9
    assert scene.pair().code == 0
    stage, position = STAGES[number - 1], POSITIONS[number - 1]
    tried = [(n, state) for *at, n, state in attempts(scene.ledger) if at == [stage, position]]
    assert tried == [(1, "failed"), (2, "completed")]
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    require_clean(scene)


@pytest.mark.parametrize("number", [2, 9])
def test_the_installed_command_killed_from_outside_resumes_as_promised(
    scene: Scene, undisturbed: dict[str, Rows], number: int
) -> None:
    scene.app.hold(number)
    assert kill_in_flight(scene.spawn_pair(), scene.app, number).code == -9
    assert scene.pair().code == 3
    assert scene.app.received_twice == []
    done = scene.spawn_pair(TASK, "--resend-in-doubt").wait()
    assert done.code == 0
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    assert len(scene.app.received_twice) == 1
    require_clean(scene)


def test_where_p_goes_first_a_kill_in_it_still_lets_f_finish(scene: Scene) -> None:
    scene.settings = 'seed = "other"\n'
    scene.app.hold(6)
    assert kill_in_flight(scene.start_pair(), scene.app, 6).code == -9
    assert scene.pair().code == 3
    assert arms(scene.ledger) == {"F": ENDPOINTS["F"], "P": Arm("stopped", "in_doubt", 2)}
    assert scene.pair(TASK, "--resend-in-doubt").code == 0
    assert arms(scene.ledger) == ENDPOINTS
    require_clean(scene)


def test_the_totals_say_that_the_usage_of_an_attempt_in_doubt_is_unknown(scene: Scene) -> None:
    scene.pair(hooks=[kill(COMPLETE, "before", 5)])
    stopped = scene.pair("1").result["arms"]["F"]
    assert (stopped["requests"], stopped["unknown_counts"]) == (1, 1)
    resent = scene.pair("1", "--resend-in-doubt").result["arms"]["F"]
    assert (resent["requests"], resent["unknown_counts"]) == (3, 1)


def test_a_killed_capture_command_is_taken_up_by_run_pair(
    scene: Scene, undisturbed: dict[str, Rows]
) -> None:
    _, *arguments = scene.pair_arguments()
    assert scene.run("capture", *arguments, hooks=[kill(INTEND, "before", 3)]).code == -9
    assert scene.run("capture", *arguments).code == 0
    assert len(scene.app.hits) == 3
    assert scene.pair().code == 0
    assert facts(scene.ledger) == undisturbed
    assert scene.app.received_twice == []
    require_clean(scene)
