"""Error answers: what is sent again, what is not, and what the user and the ledger are told."""

import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.loopback import AsObject, Response, error
from tests.wire.lab import BOTH, P_FIRST, Lab


@BOTH
def test_a_pair_over_http_dispatches_each_request_once(lab: Lab) -> None:
    lab.serve(*lab.prefix, lab.right, lab.right)
    done = lab.run_pair()
    assert done.code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))
    # the fourth request is the boundary: prepared, never sent
    assert [request for request, *_ in lab.attempts] == [1, 2, 3, 5, 6]
    assert {(number, state, status) for _, number, state, status in lab.attempts} == {
        (1, "completed", 200)
    }
    assert lab.server.connections == 1
    lab.audit()


def test_the_arm_that_goes_first_is_dispatched_first(lab: Lab) -> None:
    lab.configure(seed=P_FIRST)
    lab.serve(*lab.prefix, lab.right, lab.reply("no object"))
    assert lab.run_pair().code == 0
    assert (lab.arm("P"), lab.arm("F")) == (("correct", None, 1), ("wrong", None, 1))


def test_an_unreachable_server_is_tried_as_often_as_configured(lab: Lab) -> None:
    with socket.socket() as deaf:  # bound, so nobody else listens there; not listening itself
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        lab.configure(provider={"base_url": url})
        done = lab.capture()
    assert done.code == 3
    assert f"cannot connect to {url}" in done.said
    assert lab.stop == ("stopped", "interrupted")
    assert [row["reason"] for row in lab.rows("pause")] == ["no_connection"]
    assert lab.attempts == [(1, 1, "failed", None), (1, 2, "failed", None), (1, 3, "failed", None)]
    lab.audit()


def test_the_waits_double_from_the_first(lab: Lab) -> None:
    lab.configure(provider={"retry": {"attempts": 3, "first_wait_s": 0.1}})
    lab.serve(error(503), error(503), lab.right)
    begin = time.monotonic()
    assert lab.capture().code == 0
    assert time.monotonic() - begin >= 0.1 + 0.2
    assert [state for _, _, state, _ in lab.attempts] == ["failed", "failed", "completed"]


@BOTH
@pytest.mark.parametrize("status", [429, 503])
def test_what_cannot_have_been_billed_is_sent_again_as_the_same_request(
    lab: Lab, status: int
) -> None:
    lab.serve(error(status), lab.right)
    assert lab.capture().code == 0
    assert lab.attempts == [(1, 1, "failed", status), (1, 2, "completed", 200)]
    assert lab.server.hits[0].data == lab.server.hits[1].data
    assert lab.stop == ("finished", None)
    lab.audit()


def test_a_retried_request_uses_up_one_request_of_an_arm(lab: Lab) -> None:
    lab.configure(limits={"suffix_requests": 1})
    lab.serve(*lab.prefix, error(429), error(503), lab.right, error(429), lab.read("small.py"))
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("capped", None, 1))
    assert [row["attempts"] for row in lab.exported("requests")] == [1, 1, 1, 0, 3, 2]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, None, "invalid_request_error"),
        (404, "model_not_found", "invalid_request_error"),
        (422, None, "made_up"),
        (500, None, "server_error"),
        (529, None, "made_up"),
        (302, None, "made_up"),
        (201, None, "made_up"),
    ],
)
def test_any_other_error_answer_is_final_after_one_attempt(
    lab: Lab, status: int, code: str | None, kind: str
) -> None:
    lab.serve(error(status, code, kind))
    done = lab.capture()
    assert done.code == 3
    assert f"HTTP {status} from {lab.server.url} ({code or kind}: made up)" in done.said
    assert lab.attempts == [(1, 1, "failed", status)]
    assert lab.stop == ("stopped", "provider_error")
    assert lab.reply_blob(-1) == lab.server.answers[0].data


def test_a_401_names_the_variable_that_holds_the_key(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADE_UP_KEY", "made-up-key-777")
    lab.configure(provider={"api_key_env": "MADE_UP_KEY"})
    lab.serve(error(401))
    done = lab.capture()
    assert done.code == 3
    assert "the key comes from MADE_UP_KEY" in done.said
    assert lab.server.hits[0].headers["authorization"] == "Bearer made-up-key-777"


def test_a_401_without_a_key_says_how_to_give_one(lab: Lab) -> None:
    lab.serve(error(401))
    assert "api_key_env" in lab.capture().said
    assert "authorization" not in lab.server.hits[0].headers


def test_a_404_points_at_the_url_and_the_model(lab: Lab) -> None:
    lab.serve(Response(b"not here", 404, {"Content-Type": "text/plain"}))
    assert "check provider.base_url and provider.model" in lab.capture().said


def test_an_error_in_an_arm_leaves_its_companion_untouched(lab: Lab) -> None:
    lab.serve(*lab.prefix, error(500), lab.right)
    done = lab.run_pair("--json")
    assert done.code == 3
    assert lab.arm("F") == ("stopped", "provider_error", 0)
    assert lab.arm("P") == ("correct", None, 1)
    assert f"HTTP 500 from {lab.server.url}" in done.json["arms"]["F"]["detail"]
    assert done.json["p_minus_f"] == [0, 1]
    lab.audit()


def test_an_arm_that_stopped_says_why_to_a_person_too(lab: Lab) -> None:
    lab.serve(*lab.prefix, error(404, "model_not_found"), lab.right)
    done = lab.run_pair()
    assert done.code == 3
    assert "HTTP 404" in done.said
    assert "provider.model" in done.said


@pytest.mark.parametrize("status", [408, 502, 504, 520, 524])
def test_who_stands_on_the_way_cannot_know_what_was_done(lab: Lab, status: int) -> None:
    lab.serve(error(status, None, "server_error"))
    done = lab.capture()
    assert done.code == 3
    assert f"HTTP {status} from {lab.server.url} (server_error: made up)" in done.said
    assert lab.attempts == [(1, 1, "ambiguous", status)]
    assert lab.stop == ("stopped", "ambiguous_dispatch")
    assert lab.reply_blob(-1) == lab.server.answers[0].data


def test_a_wait_in_seconds_is_honoured(lab: Lab) -> None:
    lab.serve(error(429, headers={"Retry-After": "1"}), lab.right)
    begin = time.monotonic()
    assert lab.capture().code == 0
    assert time.monotonic() - begin >= 1.0
    assert lab.attempts == [(1, 1, "failed", 429), (1, 2, "completed", 200)]
    assert lab.rows("attempt")[0]["retry_after"] == "1"


def test_a_wait_until_a_date_is_honoured(lab: Lab) -> None:
    until = datetime.now(UTC) + timedelta(seconds=2)
    date = format_datetime(until, usegmt=True)
    lab.serve(error(503, headers={"Retry-After": date}), lab.right)
    assert lab.capture().code == 0
    assert datetime.now(UTC) >= until.replace(microsecond=0)
    assert lab.attempts == [(1, 1, "failed", 503), (1, 2, "completed", 200)]
    assert lab.rows("attempt")[0]["retry_after"] == date


@pytest.mark.parametrize("wait", ["Sun, 06 Nov 1994 08:49:37 GMT", "-4", "soon", "nan", ""])
def test_a_wait_that_says_nothing_leaves_our_own(lab: Lab, wait: str) -> None:
    lab.serve(error(429, headers={"Retry-After": wait}), lab.right)
    assert lab.capture().code == 0
    assert lab.attempts == [(1, 1, "failed", 429), (1, 2, "completed", 200)]


@BOTH
@pytest.mark.parametrize("wait", ["86400"])
def test_a_wait_beyond_the_limit_pauses_the_capture_and_it_resumes(lab: Lab, wait: str) -> None:
    lab.serve(lab.prefix[0], error(429, headers={"Retry-After": wait}))
    done = lab.run_pair()
    assert done.code == 3
    assert f"the server asks to wait {wait} s (at most 2" in done.err
    assert done.err.count("\n") == 1
    assert lab.stop == ("stopped", "interrupted")
    assert lab.rows("arm") == []
    lab.serve(*lab.prefix[1:], lab.right, lab.right)
    assert lab.run_pair().code == 0
    assert len(lab.rows("run")) == 1
    # the refused request is the one that is sent again, as its second attempt
    assert lab.attempts[:3] == [
        (1, 1, "completed", 200),
        (2, 1, "failed", 429),
        (2, 2, "completed", 200),
    ]
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))
    lab.audit()


def test_a_wait_beyond_the_limit_pauses_an_arm_and_it_resumes(lab: Lab) -> None:
    busy = error(503, headers={"Retry-After": "3600"})
    lab.serve(*lab.prefix, lab.read("other.py"), busy)
    assert lab.run_pair().code == 3
    assert lab.arm("F") == ("stopped", "interrupted", 1)
    assert lab.arm("P") == ("unexecuted", "not_started", 0)
    lab.serve(lab.right, lab.right)
    assert lab.resume().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 2), ("correct", None, 1))
    lab.audit()


@pytest.mark.parametrize(
    "refusal",
    [
        error(429, "insufficient_quota", "insufficient_quota"),
        error(429, None, "insufficient_quota"),
        error(429, "429", "insufficient_quota"),
        error(403, "billing_hard_limit_reached"),
        error(429, "billing_not_active", "billing_not_active"),
        error(429, None, "exceeded_current_quota_error"),
        error(400, "Arrearage"),
        error(400, None, "invalid_request_error", "Your credit balance is too low to go on."),
        error(402),
        Response(b"Payment Required", 402, {"Content-Type": "text/plain"}),
        error(200, "insufficient_quota"),
    ],
    ids=[
        "code",
        "type",
        "code is the status",
        "billing",
        "not active",
        "current quota",
        "arrearage",
        "words",
        "402",
        "402 text",
        "200",
    ],
)
def test_without_credit_nothing_more_is_sent_and_the_run_waits(lab: Lab, refusal: Response) -> None:
    lab.serve(refusal)
    done = lab.capture()
    assert done.code == 4
    assert "no_credit" in done.err
    assert done.err.count("\n") == 1
    assert lab.attempts == [(1, 1, "failed", refusal.status)]
    assert lab.stop == ("stopped", "interrupted")
    lab.serve(lab.right)
    assert lab.capture().code == 0
    assert lab.attempts[1:] == [(1, 2, "completed", 200)]
    assert len(lab.rows("run")) == 1


@BOTH
def test_an_arm_without_credit_leaves_its_companion_unexecuted_and_resumes(lab: Lab) -> None:
    lab.serve(*lab.prefix, error(429, "insufficient_quota", "insufficient_quota"))
    assert lab.run_pair().code == 4
    assert lab.arm("F") == ("stopped", "interrupted", 0)
    assert lab.arm("P") == ("unexecuted", "not_started", 0)
    lab.audit()
    lab.serve(lab.right, lab.right)
    assert lab.run_pair().code == 0
    assert len(lab.rows("run")) == 1
    assert lab.attempts[-2:] == [(5, 2, "completed", 200), (6, 1, "completed", 200)]
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))
    lab.audit()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "context_length_exceeded"),
        (413, "request_too_large"),
        (400, "string_above_max_length"),
        (200, "context_length_exceeded"),
    ],
)
def test_a_request_beyond_the_context_is_an_ending_of_its_own(
    lab: Lab, status: int, code: str
) -> None:
    lab.serve(error(status, code))
    assert lab.capture().code == 3
    assert lab.stop == ("stopped", "context_overflow")
    assert lab.attempts == [(1, 1, "failed", status)]


def test_full_observations_may_overflow_where_projected_ones_do_not(lab: Lab) -> None:
    lab.serve(*lab.prefix, error(400, "context_length_exceeded"), lab.right)
    assert lab.run_pair().code == 3
    assert lab.arm("F") == ("stopped", "context_overflow", 0)
    assert lab.arm("P") == ("correct", None, 1)


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b'{"error": "busy"}', b"[" * 5000])
def test_an_error_answer_need_not_be_json(lab: Lab, body: bytes) -> None:
    lab.serve(Response(body, 429), lab.right)
    assert lab.capture().code == 0
    assert lab.attempts == [(1, 1, "failed", 429), (1, 2, "completed", 200)]
    assert lab.reply_blob(0) == body


@pytest.mark.parametrize("code", [AsObject(a=1), ["x"], True, 3.5, "", 0])
def test_an_error_code_of_any_type_is_no_crash(lab: Lab, code: Any) -> None:
    lab.serve(error(400, code))
    done = lab.capture()
    assert (done.code, lab.stop) == (3, ("stopped", "provider_error"))
    assert f"HTTP 400 from {lab.server.url}" in done.said


@pytest.mark.parametrize("code", ["\x1b[2J", "\ud83d", "a\0b", "x" * 100_000, "two\nlines"])
def test_a_hostile_error_code_is_recorded_and_shown_as_text(lab: Lab, code: str) -> None:
    lab.serve(error(400, code, message=code))
    done = lab.capture()
    assert (done.code, lab.stop) == (3, ("stopped", "provider_error"))
    assert not {"\x1b", "\0"} & set(done.out + done.err)
    assert len(done.out + done.err) < 2000
    assert lab.reply_blob(-1) == lab.server.answers[0].data
    lab.audit()


def test_a_server_that_hangs_up_between_requests_costs_nothing(lab: Lab) -> None:
    responses = [*lab.prefix, lab.right, lab.right]
    lab.serve(*(Response(each.data, hang_up=True) for each in responses))
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))
    assert lab.server.connections == 5
