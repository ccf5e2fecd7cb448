"""A request that left and got no whole reply: never sent again unless somebody asks for it."""

import time

import pytest

from tests.loopback import CLOSED, SILENT, Response
from tests.wire.lab import BOTH, Lab


def lost(kind: str, lab: Lab) -> Response:
    right = lab.right.data
    return {
        "truncated": Response(right[:-9], missing_bytes=9, hang_up=True),
        "no body": Response(missing_bytes=200, hang_up=True),
        "closed": CLOSED,
        "garbage": Response(b"no HTTP at all\r\n\r\n", raw=True, hang_up=True),
        "cut head": Response(b"HTTP/1.1 200 OK\r\nContent-Le", raw=True, hang_up=True),
        "cut chunk": Response(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{", raw=True, hang_up=True
        ),
        "cut error": Response(b"", 429, missing_bytes=5, hang_up=True),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["truncated", "no body", "closed", "garbage", "cut head", "cut chunk", "cut error"]
)
def test_a_lost_reply_is_ambiguous_and_not_sent_for_again(lab: Lab, kind: str) -> None:
    lab.serve(lost(kind, lab))
    done = lab.capture()
    assert done.code == 3
    assert "no whole reply" in done.said
    assert lab.stop == ("stopped", "ambiguous_dispatch")
    assert [(number, state) for _, number, state, _ in lab.attempts] == [(1, "ambiguous")]


@BOTH
def test_a_lost_reply_leaves_success_and_usage_unknown(lab: Lab) -> None:
    lab.serve(*lab.prefix, lost("truncated", lab), lab.right)
    done = lab.run_pair("--json")
    assert done.code == 3
    assert lab.arm("F") == ("stopped", "ambiguous_dispatch", 0)
    assert lab.arm("P") == ("correct", None, 1)
    assert done.json["p_minus_f"] == [0, 1]
    f = next(row for row in lab.exported("requests") if row["stage"] == "F")
    assert (f["attempts"], f["uncounted_attempts"], f["attempt_state"]) == (1, 1, "ambiguous")
    assert (f["input_tokens"], f["uncached_tokens"], f["output_tokens"]) == (None, None, None)
    (boundary,) = lab.exported("boundaries")
    assert (boundary["f_suffix_uncounted_attempts"], boundary["f_suffix_tokens"]) == (1, 0)
    assert (boundary["p_suffix_uncounted_attempts"], boundary["p_suffix_tokens"]) == (0, 1020)
    lab.audit()


@BOTH
def test_a_read_timeout_is_ambiguous(lab: Lab) -> None:
    lab.configure(provider={"read_timeout_s": 0.8})
    lab.serve(*lab.prefix, SILENT, lab.right)
    begin = time.monotonic()
    assert lab.run_pair().code == 3
    assert time.monotonic() - begin >= 0.8
    assert lab.arm("F") == ("stopped", "ambiguous_dispatch", 0)
    assert lab.arm("P") == ("correct", None, 1)
    assert lab.attempts[3:] == [(5, 1, "ambiguous", None), (6, 1, "completed", 200)]


def test_a_reply_that_trickles_in_has_the_same_time_limit(lab: Lab) -> None:
    lab.configure(provider={"read_timeout_s": 0.4})
    lab.serve(Response(lab.right.data, trickle_s=0.05, hang_up=True))
    begin = time.monotonic()
    assert lab.capture().code == 3
    assert time.monotonic() - begin < 8
    assert lab.stop == ("stopped", "ambiguous_dispatch")
    assert [state for _, _, state, _ in lab.attempts] == ["ambiguous"]


def test_a_slow_reply_within_the_time_limit_is_a_reply(lab: Lab) -> None:
    lab.serve(Response(lab.right.data, delay_s=0.3))
    assert lab.capture().code == 0
    assert lab.stop == ("finished", None)


def test_running_the_run_again_sends_nothing(lab: Lab) -> None:
    lab.serve(*lab.prefix, CLOSED, CLOSED)
    assert lab.run_pair().code == 3
    lab.serve()
    assert lab.resume().code == 3
    assert lab.arm("F") == ("stopped", "ambiguous_dispatch", 0)
    assert lab.arm("P") == ("stopped", "ambiguous_dispatch", 0)


@BOTH
def test_an_explicit_resend_is_a_second_attempt_at_the_same_request(lab: Lab) -> None:
    lab.serve(*lab.prefix, CLOSED, lab.right)
    lab.run_pair()
    lab.serve(lab.right)
    assert lab.resume(1, "--resend-in-doubt").code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))
    f = [attempt for attempt in lab.attempts if attempt[0] == 5]
    assert f == [(5, 1, "ambiguous", None), (5, 2, "completed", 200)]
    assert lab.server.hits[3].data == lab.server.hits[5].data
    (boundary,) = lab.exported("boundaries")
    # the second attempt's usage is known, the first one's never will be
    assert (boundary["f_suffix_uncounted_attempts"], boundary["f_suffix_tokens"]) == (1, 1020)
    lab.audit()


def test_a_lost_reply_in_the_capture_is_resent_only_on_request(lab: Lab) -> None:
    lab.serve(lab.prefix[0], CLOSED)
    assert lab.capture().code == 3
    assert lab.stop == ("stopped", "ambiguous_dispatch")
    assert lab.resume().code == 3
    lab.serve(*lab.prefix[1:], lab.right, lab.right)
    assert lab.run_pair("--resend-in-doubt").code == 0
    assert len(lab.rows("run")) == 1
    assert lab.attempts[:3] == [
        (1, 1, "completed", 200),
        (2, 1, "ambiguous", None),
        (2, 2, "completed", 200),
    ]
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))
    lab.audit()


def test_a_resend_that_is_lost_again_is_ambiguous_again(lab: Lab) -> None:
    lab.serve(*lab.prefix, CLOSED, lab.right)
    lab.run_pair()
    lab.serve(CLOSED)
    assert lab.resume(1, "--resend-in-doubt").code == 3
    assert lab.arm("F") == ("stopped", "ambiguous_dispatch", 0)
    assert [number for request, number, *_ in lab.attempts if request == 5] == [1, 2]
    lab.audit()
