"""The one loop: results in call order, one for each call, whatever the calls are."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.agent.loop import Conversation, answer
from revereval.agent.tools import ReadOnlyTools, tool_specs
from revereval.canonical import text_digest
from revereval.projection.archive import Archive
from revereval.projection.policy import ProjectionConfig
from revereval.provider.body import head
from revereval.provider.wire import WIRES, Call, Reply, Wire

FILES = {"a.py": "alpha = 1\n", "b.py": "beta = 2\n", "c.py": "gamma = 3\n"}
Calls = list[tuple[Any, Any, Any]]
"""(id, name, arguments) as a model sends them, anything at all."""


def raw_reply(protocol: str, calls: Calls, text: str | None) -> bytes:
    """A reply body as the API references of both protocols give it."""
    if protocol == "chat":
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": {"name": name, "arguments": arguments}}
                for i, name, arguments in calls
            ]
        return json.dumps({"choices": [{"message": message}], "usage": {"n": 1}}).encode()
    output: list[dict[str, Any]] = [
        {"type": "function_call", "call_id": i, "name": name, "arguments": arguments}
        for i, name, arguments in calls
    ]
    if text is not None:
        content = [{"type": "output_text", "text": text}]
        output.insert(0, {"type": "message", "role": "assistant", "content": content})
    return json.dumps({"output": output, "usage": {"n": 1}}).encode()


@dataclass
class Replying:
    """A gate that has its replies beforehand and keeps every body it was asked to send."""

    protocol: str
    replies: list[bytes]
    bodies: list[Any] = field(default_factory=list)

    def send(self, conversation: Conversation) -> Reply:
        self.bodies.append(json.loads(conversation.body.data))
        raw = self.replies[len(self.bodies) - 1]
        return WIRES[self.protocol].read_reply(
            raw, conversation.turns, conversation.call_ids, echo_unknown=True
        )


def converse(protocol: str, *turns: Calls, final: str = "{}") -> tuple[str, list[Any]]:
    """The final answer and the bodies of a conversation with these turns of tool calls."""
    wire: Wire = WIRES[protocol]
    replies = [raw_reply(protocol, calls, None) for calls in turns]
    gate = Replying(protocol, [*replies, raw_reply(protocol, [], final)])
    settings_ = head(wire.settings("m", tool_specs(ProjectionConfig())), wire.items_field)
    conversation = Conversation(settings_, [wire.message("user", "What is it?")])
    text = answer(conversation, wire, gate, ReadOnlyTools(FILES, Archive(ProjectionConfig())))
    return text, gate.bodies


def after_the_first(body: Any) -> list[Any]:
    items: list[Any] = body["messages"] if "messages" in body else body["input"]
    return items[1:]


def results(body: Any) -> list[tuple[str, str]]:
    """(call id, text) of every tool result in a body, in order."""
    return [
        (item.get("tool_call_id", item.get("call_id")), item.get("content", item.get("output")))
        for item in after_the_first(body)
        if item.get("role") == "tool" or item.get("type") == "function_call_output"
    ]


def call_ids(body: Any) -> list[str]:
    ids: list[str] = []
    for item in after_the_first(body):
        ids += [call["id"] for call in item.get("tool_calls", [])]
        ids += [item["call_id"]] if item.get("type") == "function_call" else []
    return ids


BOTH = pytest.mark.parametrize("protocol", ["chat", "responses"])


def read_call(call_id: Any, path: str) -> tuple[Any, str, str]:
    return call_id, "read", json.dumps({"path": path})


@BOTH
def test_an_answer_without_a_call_ends_the_loop_at_once(protocol: str) -> None:
    text, bodies = converse(protocol, final='{"a": 1}')
    assert text == '{"a": 1}'
    assert len(bodies) == 1


@BOTH
def test_results_of_parallel_calls_follow_in_call_order_before_anything_else(
    protocol: str,
) -> None:
    calls = [
        read_call("z", "c.py"),
        ("y", "search_evidence", '{"query": "alpha", "chars": 5}'),
        read_call("x", "a.py"),
    ]
    _, bodies = converse(protocol, calls, [read_call("w", "b.py")])
    assert [call_id for call_id, _ in results(bodies[2])] == ["z", "y", "x", "w"]
    texts = [text for _, text in results(bodies[2])]
    assert texts[0] == "gamma = 3"
    assert texts[1].startswith("no match"), "what comes later in the turn was not seen yet"
    assert texts[2:] == ["alpha = 1", "beta = 2"]
    kinds = [item.get("role", item.get("type")) for item in after_the_first(bodies[2])]
    if protocol == "chat":
        assert kinds == ["assistant", "tool", "tool", "tool", "assistant", "tool"]
    else:
        call, result = "function_call", "function_call_output"
        assert kinds == [call] * 3 + [result] * 3 + [call, result]


FAULTY = [
    # name, arguments as sent, what the observation must begin with
    ("read", '{"path":"a.py', "error: bad_arguments: the arguments are not JSON"),
    ("read", '"\\"a.py\\""', "error: bad_arguments: the arguments are not a JSON object"),
    ("read", "[]", "error: bad_arguments: the arguments are not a JSON object"),
    ("read", "null", "error: bad_arguments: the arguments are not a JSON object"),
    ("read", "3", "error: bad_arguments: the arguments are not a JSON object"),
    ("read", '{"path":"a.py","path":"b.py"}', "error: bad_arguments: the arguments are not JSON"),
    ("read", '{"path":"a.py","offset":NaN}', "error: bad_arguments: the arguments are not JSON"),
    ("read", '{"path":"a.py","offset":true}', "error: bad_arguments: "),
    ("read", '{"path":"a.py","limit":1.5}', "error: bad_arguments: "),
    ("read", "", "error: bad_arguments: path must be a string"),
    ("read", None, "error: bad_arguments: path must be a string"),
    ("read", {"path": 5}, "error: bad_arguments: path must be a string"),
    ("read", '{"path":"../a.py"}', "error: denied_access: "),
    ("write", '{"path":"a.py"}', "error: unknown_tool: "),
    ("", "{}", "error: unknown_tool: "),
    (None, "{}", "error: unknown_tool: "),
    (7, "{}", "error: unknown_tool: "),
    ("search_evidence", "{", "error: bad_arguments: the arguments are not JSON"),
    ("search_evidence", '{"query":"x","chars":true}', "error: bad_arguments: "),
    ("recover_evidence", "{}", "error: bad_arguments: "),
]


@BOTH
@pytest.mark.parametrize(("name", "arguments", "expected"), FAULTY)
def test_a_faulty_call_gets_an_error_observation_and_the_loop_goes_on(
    protocol: str, name: object, arguments: object, expected: str
) -> None:
    calls = [read_call("1", "a.py"), ("2", name, arguments), read_call("3", "b.py")]
    text, bodies = converse(protocol, calls, final="done")
    assert text == "done"
    first, faulty, last = results(bodies[1])
    assert (first, last) == (("1", "alpha = 1"), ("3", "beta = 2"))
    assert faulty[0] == "2"
    assert faulty[1].startswith(expected)


@BOTH
@pytest.mark.parametrize("arguments", ['{"path":"a.py', "[]", "null", '{"a":1,"a":1}', "", None])
def test_what_is_sent_back_for_arguments_is_always_the_text_of_a_json_object(
    protocol: str, arguments: object
) -> None:
    _, bodies = converse(protocol, [("1", "read", arguments)])
    (item,) = after_the_first(bodies[1])[:1]
    sent = item["arguments"] if protocol == "responses" else (
        item["tool_calls"][0]["function"]["arguments"]
    )  # fmt: skip
    assert sent == "{}"


@BOTH
def test_arguments_that_come_as_an_object_are_served_and_go_back_as_a_string(
    protocol: str,
) -> None:
    _, bodies = converse(protocol, [("1", "read", {"path": "a.py"})])
    assert results(bodies[1]) == [("1", "alpha = 1")]
    (item,) = after_the_first(bodies[1])[:1]
    sent = item["arguments"] if protocol == "responses" else (
        item["tool_calls"][0]["function"]["arguments"]
    )  # fmt: skip
    assert json.loads(sent) == {"path": "a.py"}


IDS = st.sampled_from(["c0", "", "c1", None, 7, "call_0_0", "call_0_1", "call_1_0", "call_1_0_"])


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(["chat", "responses"]), st.lists(st.lists(IDS, min_size=1), max_size=4))
def test_every_call_has_one_result_under_an_id_of_its_own(
    protocol: str, ids: list[list[Any]]
) -> None:
    paths = list(FILES)
    turns: list[Calls] = [
        [read_call(call_id, paths[at % 3]) for at, call_id in enumerate(turn)] for turn in ids
    ]
    _, bodies = converse(protocol, *turns)
    found = results(bodies[-1])
    texts = [FILES[paths[at % 3]].rstrip() for turn in ids for at, _ in enumerate(turn)]
    assert [text for _, text in found] == texts
    used = [call_id for call_id, _ in found]
    assert used == call_ids(bodies[-1])
    assert len(set(used)) == len(used)
    assert all(isinstance(call_id, str) and call_id for call_id in used)
    _, again = converse(protocol, *turns)
    assert again == bodies


@BOTH
def test_the_provider_own_ids_are_kept_where_they_are_unique(protocol: str) -> None:
    _, bodies = converse(protocol, [read_call("first", "a.py"), read_call("second", "b.py")])
    assert call_ids(bodies[1]) == ["first", "second"]


def observed(name: str, **arguments: Any) -> Any:
    tools = ReadOnlyTools(FILES, Archive(ProjectionConfig(archive_calls=1)))
    return tools.observe(Call("c", name, arguments, "{}"))


def test_a_result_says_beside_its_text_whether_it_is_an_error_and_whose_it_is() -> None:
    good = observed("read", path="a.py")
    assert (good.error, good.archive, good.archive_calls_left) == (None, None, None)
    denied = observed("read", path="/a.py")
    assert (denied.error, denied.archive) == ("denied_access", None)
    unknown = observed("grep", path="a.py")
    assert (unknown.error, unknown.archive) == ("unknown_tool", None)
    found = observed("search_evidence", query="alpha", chars=5)
    assert (found.error, found.archive, found.archive_calls_left) == (None, "ok", 0)
    lost = observed("recover_evidence", handle="f" * 64, start=0, chars=1)
    assert lost.error == lost.archive == "unknown_handle"
    assert lost.archive_calls_left == 1


def test_the_archive_holds_what_was_read_in_full_and_no_error_text() -> None:
    archive = Archive(ProjectionConfig())
    tools = ReadOnlyTools(FILES, archive)
    for path in ("a.py", "../a.py"):
        tools.observe(Call(path, "read", {"path": path}, "{}"))
    recovered = archive.call(
        "1", "recover_evidence", {"handle": text_digest("alpha = 1"), "start": 0, "chars": 9}
    )
    assert recovered.text.endswith("\n---\nalpha = 1\n---")
    nothing = archive.call("2", "search_evidence", {"query": "denied_access", "chars": 9})
    assert nothing.text.startswith("no match")


def test_the_tool_surface_names_three_tools_with_closed_parameters() -> None:
    specs = tool_specs(ProjectionConfig())
    assert [spec.name for spec in specs] == ["read", "search_evidence", "recover_evidence"]
    for spec in specs:
        assert spec.parameters["additionalProperties"] is False
        assert set(spec.parameters["required"]) <= spec.parameters["properties"].keys()


def test_the_definitions_state_the_limits_that_the_plan_has() -> None:
    chosen = ProjectionConfig(
        search_matches=7, search_match_chars=77, search_chars=777, recover_chars=7777,
        recover_default_chars=70,
    )  # fmt: skip
    _, search, recover = tool_specs(chosen)
    assert "at most 7, " in search.description
    assert "at most 77 code points around it" in search.description
    assert search.parameters["properties"]["chars"]["maximum"] == 777
    assert "(default and maximum 777)" in search.parameters["properties"]["chars"]["description"]
    assert recover.parameters["properties"]["chars"]["maximum"] == 7777
    said = recover.parameters["properties"]["chars"]["description"]
    assert said == "Code points to show, 1 to 7777 (default 70)."
    assert (search.parameters["required"], recover.parameters["required"]) == (
        ["query"], ["handle"],
    )  # fmt: skip
