"""How every way a stage can end becomes its outcome, endpoint and reason, or none at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from revereval.errors import PausedError
from revereval.pair.signals import SignalledError, Signals
from revereval.terms import StopReason
from tests.pair.runs import Bench, Pair, Watched, bench, config

TASK = "h11-framing"
"""F goes first; four prefix requests, then four suffix requests of F and nine of P."""
PREFIX = 4
Ending = Callable[[httpx.Request], httpx.Response]


def reply(status: int = 200, **body: Any) -> Ending:
    return lambda _: httpx.Response(status, json=body)


def chat(text: str | None, finish: str = "stop") -> Ending:
    message = {"role": "assistant", "content": text}
    choices = [{"message": message, "finish_reason": finish}]
    return reply(choices=choices, usage={"prompt_tokens": 1, "completion_tokens": 1})


def raises(error: Exception) -> Ending:
    def fail(_: httpx.Request) -> httpx.Response:
        raise error

    return fail


STOPS: dict[str, tuple[Ending, str]] = {
    "a server error": (reply(500, error={"message": "boom"}), "provider_error"),
    "an error object in a 200": (reply(error={"code": "boom"}), "provider_error"),
    "no choices": (reply(choices=[]), "provider_error"),
    "nothing at all in the reply": (reply(choices=[{"message": {"content": None}}]),
                                    "provider_error"),
    "a context that is too long": (reply(400, error={"code": "context_length_exceeded"}),
                                   "context_overflow"),
    "an answer cut by the output limit": (chat('{"head": "HT', "length"), "output_limit"),
    "a read timeout": (raises(httpx.ReadTimeout("late")), "ambiguous_dispatch"),
    "a connection lost after sending": (raises(httpx.ReadError("gone")), "ambiguous_dispatch"),
    "a server that hangs up": (raises(httpx.RemoteProtocolError("gone")), "ambiguous_dispatch"),
    "a gateway that waited in vain": (lambda _: httpx.Response(504, html="<p>late</p>"),
                                      "ambiguous_dispatch"),
    "a reply that is not JSON": (lambda _: httpx.Response(200, html="<p>hello</p>"),
                                 "ambiguous_dispatch"),
}  # fmt: skip


def disturbed(one: Bench, at: int, ending: Ending) -> Watched:
    """A transport that ends so from dispatch number `at` until that stage has ended."""
    failed: list[bytes] = []

    def instead(number: int, request: httpx.Request) -> httpx.Response | None:
        same = failed and request.read() == failed[0]
        if number == at or same:
            failed.append(request.read())
            return ending(request)
        return None

    return Watched(one.plan, instead)


@pytest.fixture
def one(tmp_path: Path) -> Bench:
    return bench(tmp_path, TASK, config())


@pytest.mark.parametrize(("ending", "reason"), STOPS.values(), ids=STOPS)
def test_a_capture_that_stops_has_its_reason_and_no_arms(
    one: Bench, ending: Ending, reason: str
) -> None:
    assert one.run(disturbed(one, 1, ending)) is None
    pair = one.result()
    assert (pair.run.capture_outcome, pair.run.capture_reason) == ("stopped", reason)
    assert pair.run.capture_detail
    assert not pair.arms
    assert pair.boundary is None
    completed = [sent for sent in pair.requests["capture"] if sent.row.completed_at]
    assert len(completed) == (2 if reason == "output_limit" else 1)


@pytest.mark.parametrize(("ending", "reason"), STOPS.values(), ids=STOPS)
def test_a_first_arm_that_stops_has_its_reason_and_its_companion_runs(
    one: Bench, ending: Ending, reason: str
) -> None:
    assert one.run(disturbed(one, PREFIX + 1, ending)) is None
    pair = one.result()
    assert pair.endpoints == {"F": ("stopped", reason), "P": ("correct", None)}
    arm = pair.arms["F"]
    assert arm.detail
    assert arm.answer_blob_id is arm.extracted is arm.strict is None
    assert arm.suffix_requests == (2 if reason == "output_limit" else 1)


def test_a_stop_is_final_and_is_not_sent_again_by_a_later_command(one: Bench) -> None:
    assert one.run(disturbed(one, PREFIX + 1, STOPS["a read timeout"][0])) is None
    before = one.result().endpoints
    again = Watched(one.plan)
    assert one.run(again) is None
    assert one.result().endpoints == before
    assert again.bodies == []


ANSWERS = {
    "gold": ({"extracted": True, "strict": True}, "correct"),
    "wrong": ({"extracted": False, "strict": False}, "wrong"),
    "prose around gold": ({"extracted": True, "strict": False}, "correct"),
    "no JSON": ({"extracted": False, "strict": False}, "wrong"),
    "empty": ({"extracted": False, "strict": False}, "wrong"),
}


def answer_text(one: Bench, kind: str) -> str:
    gold = json.dumps(dict(one.plan.task.gold))
    return {
        "gold": gold,
        "wrong": "{}",
        "prose around gold": f"So it is {gold}.",
        "no JSON": "I do not know",
        "empty": "",
    }[kind]


@pytest.mark.parametrize("contract", ["extracted", "strict"])
@pytest.mark.parametrize("kind", ANSWERS)
def test_a_final_answer_is_scored_by_both_contracts_and_the_plan_names_the_one_that_counts(
    tmp_path: Path, kind: str, contract: str
) -> None:
    one = bench(tmp_path, TASK, config(contract=contract))
    assert one.run(disturbed(one, PREFIX, chat(answer_text(one, kind)))) is None
    arm = one.result().arms["F"]
    verdicts, _ = ANSWERS[kind]
    assert {"extracted": arm.extracted, "strict": arm.strict} == verdicts
    assert (arm.endpoint, arm.reason) == ("correct" if verdicts[contract] else "wrong", None)
    assert arm.suffix_requests == 1


def test_an_answer_in_request_k_counts_and_the_need_of_one_more_is_capped(
    tmp_path: Path,
) -> None:
    for limit, endpoints in {5: ("correct", "capped"), 4: ("capped", "capped")}.items():
        chosen = config(limits={"suffix_requests": limit})
        one = bench(tmp_path / str(limit), TASK, chosen)
        assert one.run(Watched(one.plan)) is None
        pair = one.result()
        assert (pair.endpoints["F"], pair.endpoints["P"]) == tuple((e, None) for e in endpoints)
        assert pair.arms["F"].suffix_requests == pair.arms["P"].suffix_requests == limit


def test_a_capture_that_needs_more_than_its_cap_is_stopped(tmp_path: Path) -> None:
    one = bench(tmp_path, TASK, config(limits={"prefix_requests": PREFIX - 1}))
    transport = Watched(one.plan)
    assert one.run(transport) is None
    run = one.result().run
    assert (run.capture_outcome, run.capture_reason) == ("stopped", "prefix_cap")
    assert len(transport.bodies) == PREFIX - 1


@pytest.mark.parametrize("at", [1, PREFIX + 1])
@pytest.mark.parametrize(
    ("ending", "reason", "code"),
    [
        (reply(402, error={"message": "pay"}), "no_credit", 4),
        (reply(429, error={"code": "insufficient_quota"}), "no_credit", 4),
        (reply(401, error={"message": "no"}), "access_denied", 3),
        (reply(429, error={"code": "slow"}), "rate_limited", 3),
        (reply(503, error={"message": "busy"}), "unavailable", 3),
        (raises(httpx.ConnectError("refused")), "no_connection", 3),
        (lambda _: httpx.Response(503, headers={"Retry-After": "86400"}), "long_wait", 3),
    ],
)
def test_what_costs_nothing_and_decides_nothing_pauses_the_run_and_is_taken_up_later(
    one: Bench, tmp_path: Path, at: int, ending: Ending, reason: str, code: int
) -> None:
    paused = one.run(disturbed(one, at, ending))
    assert isinstance(paused, PausedError)
    assert (paused.reason, paused.exit_code) == (reason, code)
    run, arms = one.result().run, one.result().arms
    if at == 1:
        assert (run.capture_outcome, run.capture_reason) == ("stopped", "interrupted")
        assert not arms
    else:
        assert arms["F"].reason == StopReason.INTERRUPTED
        assert (arms["P"].endpoint, arms["P"].reason) == ("unexecuted", "not_started")
    rest = Watched(one.plan)
    assert one.run(rest) is None
    whole = bench(tmp_path / "whole", TASK, config())
    all_of_it = Watched(whole.plan)
    assert whole.run(all_of_it) is None
    assert one.result().endpoints == whole.result().endpoints
    assert rest.bodies == all_of_it.bodies[at:], "what was completed is not sent again"


@pytest.mark.parametrize("at", [1, PREFIX + 1])
def test_a_signal_while_a_reply_is_awaited_is_ambiguous_and_ends_the_command(
    one: Bench, at: int
) -> None:
    signals = Signals()

    def interrupted(_: httpx.Request) -> httpx.Response:
        raise SignalledError(15, waiting=True)

    with pytest.raises(SignalledError) as ended:
        one.run(disturbed(one, at, interrupted), signals=signals)
    assert ended.value.exit_code == 143
    pair: Pair = one.result()
    if at == 1:
        assert (pair.run.capture_outcome, pair.run.capture_reason) == (
            "stopped", "ambiguous_dispatch",
        )  # fmt: skip
    else:
        assert pair.endpoints["F"] == ("stopped", "ambiguous_dispatch")
        assert pair.endpoints["P"] == ("unexecuted", "not_started")
