"""Replies that are neither an answer nor calls: each has its own reason, and none is `wrong`."""

from typing import Any

import pytest

from tests.loopback import ABSENT, Response, chat_reply, ok, responses_reply
from tests.wire.lab import BOTH, RIGHT, WRONG, Lab

READ = [("c", "read", {"path": "tiny/small.py"})]
REASONING = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": RIGHT}]}
OLD = {"name": "read", "arguments": '{"path": "tiny/small.py"}'}


def message(*parts: dict[str, Any], **more: Any) -> Response:
    """A Responses body whose message has these parts."""
    item = {"type": "message", "id": "m", "role": "assistant", "content": list(parts)}
    return ok(responses_reply(before=[item], **more))


def chat(*arguments: Any, **more: Any) -> Response:
    return ok(chat_reply(*arguments, **more))


CHAT: dict[str, tuple[Response, str]] = {
    "filtered": (chat(WRONG[:5], finish="content_filter"), "content_filter"),
    "filtered to nothing": (chat("", finish="content_filter"), "content_filter"),
    "filtered, uncounted": (chat(None, finish="content_filter", usage=ABSENT), "content_filter"),
    "filtered calls": (chat(None, READ, finish="content_filter"), "content_filter"),
    "sensitive": (chat("", finish="sensitive"), "content_filter"),
    "refusal": (chat(None, refusal="I can't help."), "refusal"),
    "refusal, uncounted": (chat(None, refusal="I can't help.", usage=ABSENT), "refusal"),
    "refusal beside text": (chat("Well", refusal="I can't help."), "refusal"),
    "refusal part": (chat([{"type": "refusal", "refusal": "I can't help."}]), "refusal"),
    "reasoning_content": (chat("", reasoning_content=RIGHT), "reasoning_only"),
    "reasoning": (chat(None, reasoning=RIGHT, usage=ABSENT), "reasoning_only"),
    "white space": (chat("\n\n", reasoning_content=RIGHT), "reasoning_only"),
    "thinking part": (chat([{"type": "thinking", "thinking": RIGHT}]), "reasoning_only"),
    "function_call": (chat(None, function_call=OLD, finish="function_call"), "function_call"),
    "function_call and text": (chat("I read.", function_call=OLD), "function_call"),
}
RESPONSES: dict[str, tuple[Response, str]] = {
    "filtered": (ok(responses_reply(WRONG[:5], cut="content_filter")), "content_filter"),
    "filtered calls": (ok(responses_reply(None, READ, cut="content_filter")), "content_filter"),
    "incomplete": (ok(responses_reply(RIGHT, cut="made_up")), "output_limit"),
    "refusal": (message({"type": "refusal", "refusal": "I can't help."}), "refusal"),
    "refusal after text": (
        message({"type": "output_text", "text": "Well"}, {"type": "refusal", "refusal": "No."}),
        "refusal",
    ),
    "reasoning": (ok(responses_reply(before=[REASONING])), "reasoning_only"),
    "reasoning, uncounted": (ok(responses_reply(before=[REASONING], usage=None)),
                             "reasoning_only"),
    "reasoning and no text": (ok(responses_reply("", before=[REASONING])), "reasoning_only"),
}  # fmt: skip


def check(lab: Lab, response: Response, reason: str) -> None:
    lab.serve(*lab.prefix, response, lab.right)
    done = lab.run_pair("--json")
    assert done.code == 3
    assert lab.arm("F") == ("stopped", reason, 1), "paid for and counted"
    assert lab.arm("P") == ("correct", None, 1)
    (row,) = lab.rows("arm", "name = 'F'")
    assert (row["answer_blob_id"], row["extracted"]) == (None, None)
    assert lab.rows("observation", "stage = 'F'") == [], "nothing is executed"
    assert lab.attempts[3] == (5, 1, "completed", 200)
    assert done.json["p_minus_f"] == [0, 1]
    assert lab.reply_blob(3) == response.data
    lab.audit()
    lab.serve()
    assert lab.resume().code == 3, "it is final"


@pytest.mark.parametrize("kind", CHAT)
def test_a_chat_reply_that_is_no_answer_has_its_own_reason(lab: Lab, kind: str) -> None:
    check(lab, *CHAT[kind])


@pytest.mark.parametrize("lab", ["responses"], indirect=True)
@pytest.mark.parametrize("kind", RESPONSES)
def test_a_response_that_is_no_answer_has_its_own_reason(lab: Lab, kind: str) -> None:
    check(lab, *RESPONSES[kind])


def test_the_models_own_words_of_refusal_are_shown(lab: Lab) -> None:
    lab.serve(chat(None, refusal="I can't help with \x1b[2J that."))
    done = lab.capture()
    assert (done.code, lab.stop) == (3, ("stopped", "refusal"))
    assert "the model refused to answer: I can't help with \\x1b[2J that." in done.said


@pytest.mark.parametrize(
    "response",
    [
        chat(None, READ, refusal="No."),
        chat(None, READ, reasoning_content="hm"),
        chat(None, READ, function_call=OLD),
    ],
    ids=["refusal", "reasoning", "function_call"],
)
def test_calls_beside_it_are_executed(lab: Lab, response: Response) -> None:
    lab.serve(response, lab.right)
    assert lab.capture().code == 0
    assert len(lab.rows("observation")) == 1


@pytest.mark.parametrize(
    "parts",
    [
        [{"type": "thinking", "thinking": [{"type": "text", "text": WRONG}]},
         {"type": "text", "text": RIGHT}],
        [{"type": "reasoning", "text": WRONG}, {"type": "text", "text": RIGHT}],
        [{"type": "output_text", "text": RIGHT}, {"type": "made_up", "text": WRONG}],
    ],
)  # fmt: skip
def test_only_text_parts_are_the_answer(lab: Lab, parts: list[dict[str, Any]]) -> None:
    lab.serve(lab.reply(parts))
    assert lab.capture().code == 0
    assert lab.blob(lab.run_row["answer_blob_id"]) == RIGHT.encode()


@pytest.mark.parametrize("lab", ["responses"], indirect=True)
def test_only_text_parts_of_a_response_are_the_answer(lab: Lab) -> None:
    thought = {"type": "reasoning_text", "text": WRONG}
    lab.serve(message(thought, {"type": "output_text", "text": RIGHT}))
    assert lab.capture().code == 0
    assert lab.blob(lab.run_row["answer_blob_id"]) == RIGHT.encode()


HALF = [("c", "search_evidence", '{"query":"hand')]


def limited(lab: Lab, tokens: int, calls: Any = (), text: Any = None) -> Response:
    """A reply of so many output tokens that claims to have ended by itself."""
    names = ("prompt", "completion") if lab.wire.name == "chat" else ("input", "output")
    usage = {f"{names[0]}_tokens": 100, f"{names[1]}_tokens": tokens}
    return ok(lab.wire.body(text, calls, usage=usage))


@BOTH
@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
@pytest.mark.parametrize(
    ("tokens", "calls", "reason"),
    [(64, HALF, "output_limit"), (63, HALF, None), (64, READ, None)],
)
def test_half_a_call_at_the_limit_is_cut_in_the_capture_and_in_both_arms(
    lab: Lab, name: str, tokens: int, calls: Any, reason: str | None
) -> None:
    lab.configure(provider={"sampling": {name: 64}})
    reply = limited(lab, tokens, calls)
    more = [] if reason else [lab.right]
    lab.serve(*lab.prefix, reply, *more, reply, *more)
    assert lab.run_pair().code == (3 if reason else 0)
    ending = ("stopped", reason, 1) if reason else ("correct", None, 2)
    assert (lab.arm("F"), lab.arm("P")) == (ending, ending)
    marked = [row["possibly_cut"] for row in lab.rows("request", "stage != 'capture'")]
    assert marked == ([1, 1] if reason else [int(tokens == 64), 0] * 2)
    lab.audit()
    lab.serve(reply, *more)
    assert lab.capture("--new").code == (3 if reason else 0)
    assert lab.stop == (("stopped", reason) if reason else ("finished", None))
    lab.audit()


def test_an_answer_at_the_limit_is_scored_and_marked(lab: Lab) -> None:
    lab.configure(provider={"sampling": {"max_tokens": 64}})
    lab.serve(*lab.prefix, limited(lab, 64, text=WRONG), limited(lab, 63, text=RIGHT))
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("wrong", None, 1), ("correct", None, 1))
    marked = {row["stage"]: row["possibly_cut"] for row in lab.exported("requests")[4:]}
    assert marked == {"F": True, "P": False}
    lab.audit()


def test_a_total_of_more_than_its_parts_is_flagged_and_counted_apart(lab: Lab) -> None:
    usage = {"prompt_tokens": 6604, "completion_tokens": 25, "total_tokens": 6679}
    both = {**usage, "prompt_tokens_details": {"cached_tokens": 7000}}
    one_more = [lab.reply(calls=READ, usage=both), lab.reply(RIGHT, usage=usage)]
    lab.serve(*lab.prefix, *one_more, lab.right)
    done = lab.run_pair("--json")
    assert done.code == 0
    first, second = lab.rows("request", "stage = 'F'")
    assert first["usage_flags"] == "cached_exceeds_input total_exceeds_parts"
    assert second["usage_flags"] == "total_exceeds_parts"
    assert (second["input_tokens"], second["output_tokens"]) == (6604, 25)
    f, p = done.json["arms"]["F"], done.json["arms"]["P"]
    assert (f["flagged_usage"], f["excess_totals"]) == (2, 2)
    assert (p["flagged_usage"], p["excess_totals"]) == (0, 0)
    (row,) = lab.exported("boundaries")
    assert (row["f_suffix_excess_totals"], row["p_suffix_excess_totals"]) == (2, 0)
    lab.audit()
