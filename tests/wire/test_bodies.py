"""Status 200 decides nothing: what a reply is, is decided by its body."""

import time
from typing import Any

import pytest

from tests.loopback import (
    ABSENT,
    Response,
    chat_reply,
    error,
    ok,
    responses_reply,
    run_here,
)
from tests.wire.lab import BOTH, RIGHT, WRONG, Lab

HTML = b"<!doctype html><html><title>Sign in</title></html>"
NULL_USAGE = {"prompt_tokens": None, "completion_tokens": None, "prompt_tokens_details": None}


def unreadable() -> dict[str, Response]:
    """Chat Completions: answers of which nobody can say that they are no turn."""
    whole = ok(chat_reply(RIGHT)).data
    return {
        "html": Response(HTML, headers={"Content-Type": "text/html"}),
        "html called json": Response(HTML),
        "nothing": Response(b""),
        "cut json": Response(whole[: len(whole) // 2]),
        "two documents": Response(whole + whole),
        "not utf-8": Response(whole.replace(b"made-up-1", b"made-up-\xff")),
        "nan": Response(whole.replace(b"1000", b"NaN", 1)),
        "deep": Response(b"[" * 100_000),
        "a list": ok([chat_reply(RIGHT)]),
        "null": ok(None),
    }


def no_turns() -> dict[str, Response]:
    """Chat Completions: answers that are no turn of a conversation."""
    failed_choice = chat_reply(RIGHT, finish="error", usage=NULL_USAGE)
    failed_choice["choices"][0]["error"] = {"code": 502, "message": "upstream"}
    no_message = chat_reply(RIGHT)
    del no_message["choices"][0]["message"]
    return {
        "an empty object": ok({}),
        "no choices": ok(chat_reply(RIGHT) | {"choices": []}),
        "null choices": ok(chat_reply(RIGHT) | {"choices": None}),
        "choices of another type": ok(chat_reply(RIGHT) | {"choices": "x"}),
        "a choice of another type": ok(chat_reply(RIGHT) | {"choices": ["x"]}),
        "no message": ok(no_message),
        "error object": error(200, 502),
        "error text": ok({"error": "model is loading"}),
        "error object at the top": ok({"object": "error", "message": "x", "code": 500}),
        "error beside choices": ok(chat_reply(RIGHT) | {"error": {"code": 500, "message": "x"}}),
        "finish error": ok(failed_choice),
        "null text without usage": ok(chat_reply(None, usage=ABSENT)),
        "null text with null usage": ok(chat_reply(None, usage=None)),
        "null text with null counts": ok(chat_reply(None, usage=NULL_USAGE)),
        "empty text without usage": ok(chat_reply("", usage=ABSENT)),
        "no text and an empty list": ok(
            chat_reply("", usage=ABSENT, finish="tool_calls", tool_calls=[])
        ),
    }


@pytest.mark.parametrize("kind", no_turns())
def test_what_is_no_chat_turn_is_a_failed_attempt(lab: Lab, kind: str) -> None:
    response = no_turns()[kind]
    lab.serve(response)
    assert lab.capture().code == 3
    assert lab.stop == ("stopped", "provider_error")
    assert lab.attempts == [(1, 1, "failed", 200)]
    assert lab.reply_blob(0) == response.data
    assert lab.rows("attempt")[0]["problem"].startswith("the repl")


@pytest.mark.parametrize("kind", unreadable())
def test_what_cannot_be_read_may_have_been_billed(lab: Lab, kind: str) -> None:
    response = unreadable()[kind]
    lab.serve(*lab.prefix, response, lab.right)
    done = lab.run_pair("--json")
    assert done.code == 3
    assert lab.arm("F") == ("stopped", "ambiguous_dispatch", 0)
    assert lab.arm("P") == ("correct", None, 1)
    assert lab.attempts[3] == (5, 1, "ambiguous", 200)
    assert lab.reply_blob(3) == response.data
    assert done.json["arms"]["F"]["unknown_counts"] == 1
    shown = run_here("ledger", "show", "1", "--json", "--ledger", str(lab.ledger))
    assert {arm["name"]: arm["unknown_usage"] for arm in shown.json["arms"]} == {"F": 1, "P": 0}
    lab.audit()
    lab.serve(lab.right)
    assert lab.resume(1, "--resend-in-doubt").code == 0
    assert lab.arm("F") == ("correct", None, 1)


@pytest.mark.parametrize("encoding", ["br", "zstd, br", "gzip"])
def test_an_encoding_that_was_not_asked_for_is_named(lab: Lab, encoding: str) -> None:
    lab.serve(Response(b"\x8b\x02\x80not it", headers={"Content-Encoding": encoding}))
    done = lab.capture()
    assert done.code == 3
    assert f"encoded as '{encoding}', which was not asked for" in done.said
    assert lab.stop == ("stopped", "ambiguous_dispatch")


def test_an_encoded_refusal_is_still_one_and_names_the_encoding(lab: Lab) -> None:
    lab.serve(Response(b"\x8b\x02\x80", 401, {"Content-Encoding": "br"}))
    done = lab.capture()
    assert done.code == 3
    assert "encoded as 'br'" in done.said
    assert lab.rows("pause")[0]["reason"] == "access_denied"


@BOTH
def test_a_byte_order_mark_before_good_json_is_no_fault(lab: Lab) -> None:
    marked = Response(b"\xef\xbb\xbf" + lab.right.data)
    lab.serve(marked)
    assert lab.capture().code == 0
    assert lab.stop == ("finished", None)
    assert lab.reply_blob(0) == marked.data
    lab.audit()


@pytest.mark.parametrize("kind", ["error object", "null text without usage"])
def test_an_arm_without_a_turn_is_stopped_and_its_companion_runs(lab: Lab, kind: str) -> None:
    lab.serve(*lab.prefix, no_turns()[kind], lab.right)
    assert lab.run_pair().code == 3
    assert lab.arm("F") == ("stopped", "provider_error", 0)
    assert lab.arm("P") == ("correct", None, 1)
    assert lab.attempts[3] == (5, 1, "failed", 200)
    lab.audit()


@pytest.mark.parametrize("lab", ["responses"], indirect=True)
@pytest.mark.parametrize(
    "body",
    [
        responses_reply(RIGHT) | {"output": None},
        {key: value for key, value in responses_reply(RIGHT).items() if key != "output"},
        responses_reply(RIGHT, status="failed", usage=None),
        responses_reply(RIGHT, status="cancelled"),
        responses_reply(None, status="failed") | {"error": {"code": "server_error"}},
        responses_reply(None, usage=ABSENT),
        responses_reply("", usage=None),
        responses_reply(None, usage={"input_tokens": None, "output_tokens": None}),
    ],
    ids=["null", "absent", "failed", "cancelled", "error", "silent", "empty", "null counts"],
)
def test_what_is_no_responses_turn_is_a_failed_attempt(lab: Lab, body: Any) -> None:
    lab.serve(ok(body))
    assert lab.capture().code == 3
    assert lab.stop == ("stopped", "provider_error")
    assert lab.attempts == [(1, 1, "failed", 200)]


@pytest.mark.parametrize("code", [429, "429", 503, "rate_limit_exceeded"])
def test_an_inner_rate_limit_is_sent_again(lab: Lab, code: object) -> None:
    lab.serve(error(200, code), lab.right)
    assert lab.capture().code == 0
    assert lab.attempts == [(1, 1, "failed", 200), (1, 2, "completed", 200)]


def test_an_inner_rate_limit_is_sent_again_after_the_servers_wait(lab: Lab) -> None:
    lab.serve(error(200, 429, headers={"Retry-After": "1"}), lab.right)
    begin = time.monotonic()
    assert lab.capture().code == 0
    assert time.monotonic() - begin >= 1.0
    assert lab.rows("attempt")[0]["retry_after"] == "1"


def test_an_inner_rate_limit_with_a_wait_beyond_the_limit_pauses_the_run(lab: Lab) -> None:
    lab.serve(error(200, 429, headers={"Retry-After": "3600"}), lab.right)
    assert lab.capture().code == 3
    assert lab.stop == ("stopped", "interrupted")


@pytest.mark.parametrize("kind", ["text/event-stream", "text/event-stream; charset=utf-8"])
def test_an_event_stream_is_refused_by_name(lab: Lab, kind: str) -> None:
    chunk = b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'
    lab.serve(Response(chunk, headers={"Content-Type": kind}))
    done = lab.capture()
    assert done.code == 3
    assert "event stream" in done.said
    assert lab.attempts == [(1, 1, "ambiguous", 200)]
    assert lab.server.hits[0].body["stream"] is False


@BOTH
@pytest.mark.parametrize("text", ["", None])
def test_an_empty_answer_that_was_counted_is_a_wrong_answer(lab: Lab, text: str | None) -> None:
    lab.serve(*lab.prefix, lab.reply(text), lab.right)
    assert lab.run_pair().code == 0
    assert lab.arm("F") == ("wrong", None, 1)
    (row,) = lab.rows("arm", "name = 'F'")
    assert lab.blob(row["answer_blob_id"]) == b""


@BOTH
def test_an_answer_needs_no_usage(lab: Lab) -> None:
    lab.serve(*lab.prefix, lab.reply(RIGHT, usage=ABSENT), lab.reply(WRONG, usage=None))
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("wrong", None, 1))


def test_the_text_parts_of_a_content_list_are_one_answer(lab: Lab) -> None:
    parts = [{"type": "text", "text": RIGHT[:9]}, {"type": "text", "text": RIGHT[9:]}]
    lab.serve(*lab.prefix, lab.reply(parts), lab.right)
    assert lab.run_pair().code == 0
    assert lab.arm("F") == ("correct", None, 1)


def test_white_space_around_the_reply_is_part_of_json(lab: Lab) -> None:
    """Gateways send line feeds to keep a slow connection open."""
    lab.serve(Response(b"\n\n \r\n" + lab.right.data + b"\n"))
    assert lab.capture().code == 0
    assert lab.stop == ("finished", None)


def test_the_model_that_answers_is_recorded_beside_the_one_asked(lab: Lab) -> None:
    lab.serve(*lab.prefix, lab.reply(RIGHT, model="made-up-1-0806"), lab.reply(RIGHT, model=None))
    assert lab.run_pair().code == 0
    asked = {hit.body["model"] for hit in lab.server.hits}
    answered = [row["reply_model"] for row in lab.rows("request", "reply_blob_id IS NOT NULL")]
    assert asked == {"made-up-1"}
    assert answered == ["made-up-1", "made-up-1", "made-up-1", "made-up-1-0806", None]


@pytest.mark.parametrize("model", [7, ["x"], "\ud83d", "a\0b", "x" * 5000])
def test_no_model_name_loses_the_paid_reply(lab: Lab, model: object) -> None:
    lab.serve(lab.reply(RIGHT, model=model))
    assert lab.capture().code == 0
    assert lab.stop == ("finished", None)
    lab.audit()


@pytest.mark.parametrize("depth", [100, 900, 980])
@pytest.mark.parametrize("place", ["message", "usage"])
def test_a_deeply_nested_field_ends_nothing_in_a_traceback(
    lab: Lab, place: str, depth: int
) -> None:
    """A turn or one that cannot be read, but recorded either way."""
    body = chat_reply(None, [("c", "read", {"path": "tiny/small.py"})])
    deep = b"[" * depth + b"]" * depth
    target = body["choices"][0]["message"] if place == "message" else body["usage"]
    target["made_up"] = "DEEP"
    lab.serve(Response(ok(body).data.replace(b'"DEEP"', deep)), lab.right)
    if lab.capture().code == 0:
        assert lab.stop == ("finished", None)
    else:
        assert lab.stop == ("stopped", "ambiguous_dispatch")
    assert lab.rows("attempt", "state = 'intent'") == []
