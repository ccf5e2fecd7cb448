"""Tool calls as servers really send them: every call gets one result, and the run goes on."""

import json
from typing import Any

import pytest

from tests.loopback import ABSENT, AsObject, Response, error, ok
from tests.wire.lab import BIG, BOTH, FILES, RIGHT, Lab, texts

SMALL = FILES["tiny/small.py"].rstrip("\n")
READ_SMALL = '{"path": "tiny/small.py"}'

ARGUMENTS: list[tuple[str, Any, str, str]] = [
    # (case, arguments on the wire, arguments sent back, beginning of the result)
    ("as text", READ_SMALL, READ_SMALL, SMALL),
    ("as an object", AsObject(path="tiny/small.py"), '{"path":"tiny/small.py"}', SMALL),
    ("empty", "", "{}", "error: bad_arguments: path must be a string"),
    ("null", None, "{}", "error: bad_arguments: path must be a string"),
    ("the text null", "null", "{}", "error: bad_arguments: the arguments are not a JSON object"),
    ("a list", [], "{}", "error: bad_arguments: the arguments are not a JSON object"),
    ("the text of a list", "[]", "{}", "error: bad_arguments: the arguments are not a JSON object"),
    (
        "the text of a string",
        '"tiny/small.py"',
        "{}",
        "error: bad_arguments: the arguments are not a JSON object",
    ),
    ("a number", 7, "{}", "error: bad_arguments: the arguments are not a JSON object"),
    ("cut", '{"path":"tiny/small.py', "{}", "error: bad_arguments: the arguments are not JSON"),
    ("with a tail", READ_SMALL + "}", "{}", "error: bad_arguments: the arguments are not JSON"),
    (
        "a repeated key",
        '{"path": "tiny/big.py", "path": "tiny/small.py"}',
        "{}",
        "error: bad_arguments: the arguments are not JSON",
    ),
    ("NaN", '{"limit": NaN}', "{}", "error: bad_arguments: the arguments are not JSON"),
    ("a wrong type", '{"path": 7}', '{"path": 7}', "error: bad_arguments: path must be a string"),
    (
        "a key too many",
        '{"path": "tiny/small.py", "x": 1}',
        '{"path": "tiny/small.py", "x": 1}',
        "error: bad_arguments: allowed are path, offset and limit",
    ),
    ("deep", '{"x":' * 3000, "{}", "error: bad_arguments: the arguments are not JSON"),
]


@BOTH
def test_arguments_go_back_as_a_valid_object_and_get_one_result(lab: Lab) -> None:
    calls = [(f"c{n}", "read", row[1]) for n, row in enumerate(ARGUMENTS)]
    lab.serve(lab.reply(calls=calls), lab.right)
    assert lab.capture().code == 0
    body = lab.server.hits[1].body
    got = zip(lab.wire.calls(body), lab.wire.results(body), lab.rows("observation"), strict=True)
    for (case, _, sent, result), (call, (call_id, text), row) in zip(ARGUMENTS, got, strict=True):
        assert (case, call) == (case, (call_id, "read", sent))
        assert (case, text[: len(result)]) == (case, result)
        kind = "bad_arguments" if result.startswith("error") else None
        assert (case, row["arguments"], row["error"]) == (case, sent, kind)
    assert lab.reply_blob(0) == lab.server.answers[0].data
    lab.audit()


def test_a_call_without_the_arguments_field_has_none(lab: Lab) -> None:
    body = lab.wire.body(None, [("c1", "read", "")])
    del body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    lab.serve(ok(body), lab.right)
    assert lab.capture().code == 0
    assert lab.wire.calls(lab.server.hits[1].body) == [("c1", "read", "{}")]


@BOTH
def test_the_substitute_is_the_same_in_the_capture_and_in_both_arms(lab: Lab) -> None:
    broken = lab.reply(calls=[("c_broken", "read", '{"path":"tiny/sm')])
    big, small, _ = lab.prefix
    lab.serve(big, broken, small, broken, lab.right, broken, lab.right)
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 2), ("correct", None, 2))
    capture, f, p = (lab.wire.items(lab.server.hits[at].body) for at in (2, 3, 5))
    assert f[: len(capture)] == capture
    # P differs from F in the one observation that is projected: the fourth item
    assert [at for at in range(len(f)) if f[at] != p[at]] == [3]
    f_next, p_next = (lab.wire.calls(lab.server.hits[at].body) for at in (4, 6))
    assert f_next == p_next
    assert [sent for _, _, sent in f_next][1] == [sent for _, _, sent in f_next][3] == "{}"
    assert lab.reply_blob(1) == broken.data
    lab.audit()


@BOTH
def test_a_server_that_parses_old_arguments_is_never_given_broken_ones(lab: Lab) -> None:
    answers = [
        lab.reply(calls=[("c0", "read", '{"path":')]),
        lab.reply(calls=[("c1", "read", '"text"')]),
        lab.reply(calls=[("c2", "read", None), ("c3", "read", AsObject(path="tiny/small.py"))]),
        lab.right,
    ]

    def strict(number: int, body: Any) -> Response:
        for _, _, arguments in lab.wire.calls(body):
            if not isinstance(arguments, str) or not isinstance(json.loads(arguments), dict):
                return error(500, "cannot parse old arguments")
        return answers[number]

    lab.serve_by(strict)
    assert lab.capture().code == 0
    assert lab.stop == ("finished", None)
    assert len(lab.server.hits) == 4


def test_a_refusal_of_what_was_sent_back_is_not_taken_for_transient(lab: Lab) -> None:
    lab.serve(lab.reply(calls=[("c", "read", "{")]), error(400, "invalid_tool_call"))
    assert lab.capture().code == 3
    assert lab.attempts[-1] == (2, 1, "failed", 400)


@BOTH
def test_an_unknown_tool_is_an_error_observation(lab: Lab) -> None:
    names = ["write", "", "Read", "read\0", "\x1b[2J", "\ud83d", "x" * 5000]
    calls = [(f"c{n}", name, {"path": "tiny/small.py"}) for n, name in enumerate(names)]
    lab.serve(lab.reply(calls=calls), lab.right)
    assert lab.capture().code == 0
    body = lab.server.hits[1].body
    assert [called for _, called, _ in lab.wire.calls(body)] == names
    for text in texts(lab.wire.results(body)):
        assert text.startswith("error: unknown_tool: the tools are read, search_evidence")
    assert [row["error"] for row in lab.rows("observation")] == ["unknown_tool"] * 7
    lab.audit()


@BOTH
def test_a_tool_name_of_another_type_is_no_tool(lab: Lab) -> None:
    lab.serve(lab.reply(calls=[("c", name, READ_SMALL) for name in (None, 7, ["x"])]), lab.right)
    assert lab.capture().code == 0
    body = lab.server.hits[1].body
    assert [called for _, called, _ in lab.wire.calls(body)] == ["", "", ""]
    assert [row["error"] for row in lab.rows("observation")] == ["unknown_tool"] * 3


def test_elements_of_the_list_that_are_no_calls_are_answered_too(lab: Lab) -> None:
    body = lab.wire.body("", [("c", "read", READ_SMALL)])
    body["choices"][0]["message"]["tool_calls"] += ["x", None, {}, {"function": "read"}]
    lab.serve(ok(body), lab.right)
    assert lab.capture().code == 0
    sent = lab.server.hits[1].body
    ids = [call_id for call_id, _, _ in lab.wire.calls(sent)]
    assert ids == [call_id for call_id, _ in lab.wire.results(sent)]
    assert len(set(ids)) == 5


def test_a_file_that_is_not_listed_is_a_recorded_denied_access(lab: Lab) -> None:
    paths = ["/etc/passwd", "../tiny/small.py", "tiny/../tiny/small.py", "tiny", "tiny/no.py", ""]
    lab.serve(lab.reply(calls=[(f"c{p}", "read", {"path": p}) for p in paths]), lab.right)
    assert lab.capture().code == 0
    refusal = "error: denied_access: not one of the listed files"
    assert texts(lab.wire.results(lab.server.hits[1].body)) == [refusal] * 6
    assert [row["error"] for row in lab.rows("observation")] == ["denied_access"] * 6


@BOTH
def test_parallel_calls_have_their_results_in_call_order(lab: Lab) -> None:
    calls = [
        ("z", "read", {"path": "tiny/big.py"}),
        ("a", "search_evidence", {"query": "RETURN A", "chars": 20}),
        ("m", "read", "{"),
        ("k", "nothing", {}),
        ("b", "read", {"path": "tiny/small.py"}),
    ]
    lab.serve(lab.reply("Let me look.", calls), lab.right)
    assert lab.capture().code == 0
    body = lab.server.hits[1].body
    results = lab.wire.results(body)
    assert [call_id for call_id, _ in results] == ["z", "a", "m", "k", "b"]
    shown = texts(results)
    assert shown[0] == BIG.rstrip("\n")
    assert shown[1].startswith("no match")  # small.py is read after it
    assert shown[2].startswith("error: bad_arguments")
    assert shown[3].startswith("error: unknown_tool")
    assert shown[4] == SMALL
    assert lab.wire.items(body)[-5:] == [
        item for item in lab.wire.items(body) if lab.wire.is_result(item)
    ]
    lab.audit()


@BOTH
def test_equal_replies_give_equal_request_bytes(lab: Lab) -> None:
    calls = [("c", "read", {"path": "tiny/small.py"}), ("d", "read", "{")]
    for _ in range(3):
        lab.serve(lab.reply("", calls), lab.reply("", calls), lab.right)
        assert lab.capture("--new").code == 0
    data = [hit.data for hit in lab.server.hits]
    assert data[:3] == data[3:6] == data[6:]


@pytest.mark.parametrize(
    ("listed", "finish"),
    [
        ([], "tool_calls"),
        ([], "stop"),
        (None, "tool_calls"),
        (ABSENT, "tool_calls"),
        (ABSENT, None),
        ("x", "stop"),
    ],
)
def test_without_a_call_in_the_list_the_text_is_the_answer(
    lab: Lab, listed: Any, finish: str | None
) -> None:
    body = lab.wire.body(RIGHT)
    message = body["choices"][0]["message"]
    body["choices"][0]["finish_reason"] = finish
    if listed is not ABSENT:
        message["tool_calls"] = listed
    lab.serve(ok(body))
    assert lab.capture().code == 0
    assert lab.stop == ("finished", None)
    assert lab.run_row["answer_extracted"] == 1


@pytest.mark.parametrize(
    ("text", "finish"), [(None, "stop"), ("", "function_call"), (RIGHT, "made_up")]
)
def test_a_call_in_the_list_is_executed_whatever_the_finish_reason(
    lab: Lab, text: str | None, finish: str
) -> None:
    lab.serve(lab.reply(text, [("c", "read", READ_SMALL)], finish=finish), lab.right)
    assert lab.capture().code == 0
    assert lab.wire.results(lab.server.hits[1].body) == [("c", SMALL)]
    assert lab.wire.items(lab.server.hits[1].body)[2]["content"] == text
