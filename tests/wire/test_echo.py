"""Unknown assistant fields, reasoning included: sent back word for word, or not at all."""

import json
from typing import Any

import pytest

from tests.loopback import Response, error
from tests.wire.lab import Lab

READ = {"path": "tiny/small.py"}
THOUGHT = "First I look at `small.py`.\n\tThen é 🙂 \ud83d.  "
REASONING = {
    "type": "reasoning",
    "id": "rs_made_up",
    "summary": [{"type": "summary_text", "text": THOUGHT}],
    "content": None,
    "encrypted_content": "gAAAAABmadeup==",
    "status": None,
}


def assistant(lab: Lab, hit: int) -> list[Any]:
    """The assistant's messages of a request."""
    items = lab.wire.items(lab.server.hits[hit].body)
    return [item for item in items if item.get("role") == "assistant"]


def test_unknown_message_fields_go_back_word_for_word(lab: Lab) -> None:
    fields = {
        "reasoning_content": THOUGHT,
        "reasoning_details": [{"type": "reasoning.text", "signature": "c2ln+/==", "index": 0}],
        "annotations": [],
        "audio": None,
        "made_up": {"deep": [1, -0.5, 1e300, 2**53 + 1, True, "\0"]},
    }
    lab.serve(lab.reply("", [("c", "read", READ)], **fields), lab.right)
    assert lab.capture().code == 0
    (message,) = assistant(lab, 1)
    received = json.loads(lab.server.answers[0].data)["choices"][0]["message"]
    assert message == received
    assert received.items() >= fields.items()
    lab.audit()


def test_unknown_fields_of_a_call_go_back_too(lab: Lab) -> None:
    body = lab.wire.body(None, [("c", "read", READ)])
    call = body["choices"][0]["message"]["tool_calls"][0]
    call["extra_content"] = {"google": {"thought_signature": "made-up"}}
    call["index"] = 0
    lab.serve(Response(json.dumps(body).encode()), lab.right)
    assert lab.capture().code == 0
    assert assistant(lab, 1)[0]["tool_calls"] == [call]


def test_without_echo_only_the_fields_of_the_api_go_back(lab: Lab) -> None:
    lab.configure(provider={"echo_unknown": False})
    fields = {"reasoning_content": THOUGHT, "reasoning": "x", "annotations": []}
    lab.serve(lab.reply("text", [("c", "read", READ)], **fields), lab.right)
    assert lab.capture().code == 0
    (message,) = assistant(lab, 1)
    assert message.keys() == {"role", "content", "refusal", "tool_calls"}
    # what came is kept on the tape all the same
    assert lab.reply_blob(0) == lab.server.answers[0].data
    lab.audit()


@pytest.mark.parametrize("echo", [True, False])
def test_the_echo_policy_is_in_the_plan_and_equal_in_both_arms(lab: Lab, echo: bool) -> None:
    lab.configure(provider={"echo_unknown": echo})
    thinking = lab.reply("", [("c", "read", READ)], reasoning_content=THOUGHT)
    lab.serve(*lab.prefix[:2], thinking, thinking, lab.right, thinking, lab.right)
    assert lab.run_pair().code == 0
    (plan,) = lab.rows("plan")
    assert json.loads(plan["document"])["provider"]["echo_unknown"] is echo
    f, p = assistant(lab, 4), assistant(lab, 6)
    assert f == p
    assert [message.get("reasoning_content") for message in f] == [
        None, None, *[THOUGHT if echo else None] * 2
    ]  # fmt: skip


def demanding(lab: Lab, answers: list[Response]) -> None:
    """Server A: an assistant message with calls must bring its reasoning_content back."""

    def reply(number: int, body: Any) -> Response:
        for message in lab.wire.items(body):
            if message.get("tool_calls") and message.get("reasoning_content") != THOUGHT:
                return error(400, message="Missing `reasoning_content` at message 2")
        return answers[number]

    lab.serve_by(reply)


def refusing(lab: Lab, answers: list[Response]) -> None:
    """Server B: no message may have a reasoning_content."""

    def reply(number: int, body: Any) -> Response:
        for message in lab.wire.items(body):
            if "reasoning_content" in message:
                return error(400, message="reasoning_content is not permitted")
        return answers[number]

    lab.serve_by(reply)


def thinking_pair(lab: Lab) -> list[Response]:
    calls = [[("c", "read", {"path": f"tiny/{name}.py"})] for name in ("big", "small", "small")]
    return [
        *(lab.reply(None, call, reasoning_content=THOUGHT) for call in calls),
        lab.right,
        lab.right,
    ]


def test_a_server_that_demands_its_reasoning_back_gets_it(lab: Lab) -> None:
    demanding(lab, thinking_pair(lab))
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))


def test_a_server_that_refuses_reasoning_never_gets_it(lab: Lab) -> None:
    lab.configure(provider={"echo_unknown": False})
    refusing(lab, thinking_pair(lab))
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))


@pytest.mark.parametrize("echo", [True, False])
def test_the_wrong_policy_is_one_refused_attempt_that_says_so(lab: Lab, echo: bool) -> None:
    lab.configure(provider={"echo_unknown": echo})
    (refusing if echo else demanding)(lab, thinking_pair(lab))
    done = lab.capture()
    assert done.code == 3
    assert "reasoning_content" in done.said
    assert lab.stop == ("stopped", "provider_error")
    assert lab.attempts == [(1, 1, "completed", 200), (2, 1, "failed", 400)]


@pytest.mark.parametrize("lab", ["responses"], indirect=True)
def test_reasoning_items_go_back_in_their_place_as_received(lab: Lab) -> None:
    unknown = {"type": "made_up_call", "id": "x", "deep": {"é": [None, 0.5, "\0"]}}
    lab.serve(
        *lab.prefix[:2],
        lab.reply("Looking.", [("c", "read", READ)], before=[REASONING, unknown]),
        lab.right,
        lab.right,
    )
    assert lab.run_pair().code == 0
    received = json.loads(lab.server.answers[2].data)["output"]
    assert [item["type"] for item in received] == [
        "reasoning", "made_up_call", "message", "function_call"
    ]  # fmt: skip
    for hit in lab.server.hits[3:]:
        assert lab.wire.items(hit.body)[6:10] == received
        assert hit.body["store"] is False
        assert hit.body["include"] == ["reasoning.encrypted_content"]
    lab.audit()


@pytest.mark.parametrize("lab", ["responses"], indirect=True)
def test_without_echo_reasoning_items_stay_on_the_tape(lab: Lab) -> None:
    lab.configure(provider={"echo_unknown": False})
    lab.serve(lab.reply(None, [("c", "read", READ)], before=[REASONING]), lab.right)
    assert lab.capture().code == 0
    types = [item.get("type") for item in lab.wire.items(lab.server.hits[1].body)]
    assert types == [None, None, "function_call", "function_call_output"]
    assert b"gAAAAABmadeup" in lab.reply_blob(0)


def test_a_request_is_what_the_plan_says(lab: Lab) -> None:
    sampling = {"temperature": 0.5, "max_completion_tokens": 900, "reasoning_effort": "low"}
    lab.configure(provider={"sampling": sampling})
    lab.serve(*lab.prefix, lab.right, lab.right)
    assert lab.run_pair().code == 0
    for hit in lab.server.hits:
        assert hit.body.keys() == {"model", "stream", "tools", "messages", *sampling}
        assert {name: hit.body[name] for name in sampling} == sampling
        assert [tool["function"]["name"] for tool in hit.body["tools"]] == [
            "read", "search_evidence", "recover_evidence"
        ]  # fmt: skip
    assert [item["role"] for item in lab.server.hits[0].body["messages"]] == ["system", "user"]
