"""What the code decides with, under digests that a plan covers beside its settings.

A part's digest is that of its texts, or of what it makes of a fixed battery of inputs: it changes
when the behaviour does and not when code is moved. Its version is kept by hand, beside the code.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, Final

from revereval.agent import prompt, tools
from revereval.agent.loop import Conversation
from revereval.canonical import digest, strict_json
from revereval.pair.view import Viewer
from revereval.projection import archive, excerpt, policy
from revereval.projection.policy import Observation, ProjectionConfig
from revereval.provider import wire
from revereval.provider.error_body import WireError
from revereval.provider.meaning import meaning
from revereval.provider.wire import WIRES, Call, Reply, ReplyError, Wire
from revereval.tasks import scoring
from revereval.tasks.spec import KeyType

Part = Mapping[str, Any]
"""`version` and `digest`."""


@cache
def implementation() -> Mapping[str, Part]:
    """Of each part that decides, by its name; not to be changed."""
    parts = {
        "prompt": (prompt.VERSION, _prompt()),
        "tools": (tools.VERSION, _tools()),
        "archive": (archive.VERSION, _archive()),
        "projection_text": (excerpt.VERSION, _projection_text()),
        "boundary_rule": (policy.VERSION, _boundary_rule()),
        "scorer": (scoring.VERSION, _scorer()),
        "wire": (wire.VERSION, _wire()),
    }
    return {
        name: {"version": version, "digest": digest(list(made))}
        for name, (version, made) in parts.items()
    }


def changed_since(planned: Mapping[str, Part] | None) -> str | None:
    """Which parts are not those of a plan, in words; None where all are.

    planned: `implementation` of the plan's document; None in a plan from before there was one.
    """
    if planned is None:
        return "the plan was recorded without the versions of its rules"
    mine = implementation()
    said = [
        _change(name, planned.get(name), mine.get(name))
        for name in sorted(planned.keys() | mine.keys())
        if planned.get(name) != mine.get(name)
    ]
    return f"changed since the plan: {', '.join(said)}" if said else None


def _change(name: str, then: Part | None, now: Part | None) -> str:
    was, now_is = (part["version"] if part else "none" for part in (then, now))
    if was == now_is:
        return f"{name} (version {was}, with other results)"
    return f"{name} (version {was}, here {now_is})"


_TEXTS: Final = (
    "", "a", "x = 1\r\ny = 2\n" * 30, "é" * 200, "語" * 150, "\U0001f600" * 90,
    "a\ud83d" * 99, "ab\0]\n" * 50, "a" * 255, "a" * 256, "a" * 257, "\n" * 600,
)  # fmt: skip
"""Of one to four bytes a character, lone surrogates and controls included, around every size."""


def _prompt() -> Iterator[Any]:
    texts = [value for name, value in vars(prompt).items() if name.isupper()]
    yield sorted(text for text in texts if isinstance(text, str))
    keys = {"n": "integer", "s": "string"}
    for files in (["a.py", "b/c.py"], []):
        yield prompt.opening("\n What? \n", "p 1", files, {"python": "3"}, keys)


def _tools() -> Iterator[Any]:
    yield [vars(spec) for spec in tools.tool_specs(ProjectionConfig())]
    lines = "".join(f"{number}\n" for number in range(2100))
    files = {"a": "x\ny\nz", "lines": lines, "wide": ("é" * 999 + "\n") * 30, "line": "é" * 26000}
    surface = tools.ReadOnlyTools(files, archive.Archive(ProjectionConfig()))
    asked: list[dict[str, Any]] = [
        *({"path": path} for path in (*files, "/a", "../a", "", 1, None)),
        *({"path": "a", "offset": value} for value in (2, 3, 4, 0, -1, True, "2", None)),
        *({"path": "lines", "limit": value} for value in (1, 2000, 2001, 0, True, None)),
        {"path": "wide", "offset": 20, "limit": 20}, {"path": "a", "from": 1}, {},
    ]  # fmt: skip
    calls = [Call(f"r{at}", tools.READ, arguments, "{}") for at, arguments in enumerate(asked)]
    calls += [
        Call("u", "grep", {}, "{}"),
        Call("p", tools.READ, {}, "{}", "not JSON"),
        Call("q", tools.ARCHIVE_TOOLS[0], {}, "{}", "not JSON"),
        Call("s", tools.ARCHIVE_TOOLS[0], {"query": "Z"}, "{}"),
    ]
    for call in calls:
        result = surface.observe(call)
        yield [result.text, result.error, result.archive, result.archive_calls_left]


def _archive() -> Iterator[Any]:
    kept = archive.Archive(ProjectionConfig(archive_calls=10))
    texts = [f"{number}. " + text + "Needle İ" + text for number, text in enumerate(_TEXTS)]
    handles = [kept.add(text) for text in (*texts, texts[0])]
    search: list[dict[str, Any]] = [
        {"query": "needle"}, {"query": "NEEDLE İ", "chars": 1000}, {"query": "needle", "chars": 4},
        {"query": "11. ", "chars": 999}, {"query": "none"}, {"query": "a" * 256},
        {"query": "a" * 257}, {"query": ""}, {"query": 1}, {}, {"query": "a", "chars": 1001},
        {"query": "a", "chars": 0}, {"query": "a", "chars": True}, {"query": "a", "of": 1},
    ]  # fmt: skip
    recover: list[dict[str, Any]] = [
        {}, {"start": 5, "chars": 3}, {"start": 1, "chars": 6000}, {"chars": 6001}, {"chars": 0},
        {"start": -1}, {"start": 10**9}, {"start": True}, {"of": 1}, {"handle": "0" * 64},
        {"handle": 1},
    ]  # fmt: skip
    asked = [("search_evidence", arguments) for arguments in search]
    asked += [("recover_evidence", {"handle": handles[2], **arguments}) for arguments in recover]
    asked += asked[:1] * 4  # beyond the allowance
    for at, (name, arguments) in enumerate(asked):
        yield vars(kept.call(str(at), name, arguments))
    yield vars(kept.call("0", *asked[-1]))


def _projection_text() -> Iterator[str]:
    for text, limit in product(_TEXTS, (0, 1, 7, 256)):
        yield excerpt.projected_text(text, "read", limit)


def _boundary_rule() -> Iterator[Any]:
    config = ProjectionConfig(min_observation_bytes=600, excerpt_bytes=64)
    seen = [
        Observation("read", text, *flags)
        for text, flags in product(
            ("x" * 599, "x" * 600, "x" * 9000), ((False, False), (True, False), (False, True))
        )
    ]
    nothing_saved = config.model_copy(update={"excerpt_bytes": 600})
    recent = config.model_copy(update={"keep_recent": 3, "full_exposures": 3})
    for chosen, exposures in product((config, nothing_saved, recent), range(4)):
        decided = policy.decide(seen, [exposures] * len(seen), {8: "fixed"}, chosen)
        yield [[str(decision.reason), decision.text is not None] for decision in decided]
    for project in (False, True):
        yield from _exposures(Viewer(WIRES["chat"], config, project=project))


def _exposures(viewer: Viewer) -> Iterator[Any]:
    """A conversation with one more result each turn; every second request fails once."""
    conversation = Conversation(b"", [])
    for turn in range(6):
        call = Call(f"c{turn}", "read", {}, "{}")
        conversation.add_result(WIRES["chat"], tools.ToolResult(call, f"{turn}" * 700))
        for _ in range(1 + turn % 2):
            view = viewer.prepare(conversation)
            items = zip(view.body.items, conversation.items, strict=True)
            full = [shown.data == original.data for shown, original in items]
            reasons = [str(decision.reason) for decision in view.decisions]
            yield [reasons, view.eligible, view.newly_projected, full]
        viewer.completed()


def _scorer() -> Iterator[Any]:
    right = '{"n": 2.0, "i": 1, "b": true, "s": "a\\u00e9", "l": [1, {"k": null}], "z": null}'
    kinds = {"n": "number", "i": "integer", "b": "boolean", "s": "string", "l": "array"}
    keys = {name: KeyType(kind) for name, kind in kinds.items()} | {"z": KeyType("null")}
    changes = [
        ("2.0", "2"), ("2.0", "2.00001"), ("2.0", "NaN"), ("2.0", "1e999"), ("2.0", "-Infinity"),
        ("2.0", "01.5"), ("2.0", "1.5,"), ("2.0", "[" * 2000), ('"n"', '"m"'), ("{", '{"y": 1, '),
        ('"i": 1', '"i": 1.0'), ('"i": 1', '"i": true'), ('"i": 1', '"i": 1, "i": 1'),
        ("true", "1"), ("true", '"true"'), ("\\u00e9", "é"), ("\\u00e9", "e\u0301"), ("[1", "[1.0"),
        ("[1, ", "["), ('{"k": null}', '{"k": 0}'), ('{"k": null}', "{}"),
        ("null}", 'null, "m": 0}'), ('"z": null', '"z": 0'), (', "z": null', ""),
    ]  # fmt: skip
    changed = [right.replace(old, new, 1) for old, new in changes]
    around = (
        "{}", " \n{}\t", "It is {}.", "```json\n{}\n```", "```\r\n{}\r\n```",
        "```json\n{}\n```\nso", "{}{}", "[{}]",
        '{"a": {}}', "{ {}", "{not} {}", "'{}'", '"{}"', "\ufeff{}", "\ud83d{}",
        "<think>{}</think>{}", "<think>no</think>{}", "<think>{}", "{} {}", '{"n": 1} {}',
        '```json\n{"n": 1}\n```\n{}', "\x00{}", "{",
    )  # fmt: skip
    answers = ["", "null", "none", *changed, *(shape.replace("{}", right) for shape in around)]
    for answer in answers:
        yield vars(scoring.score(answer, strict_json(right), keys))


def _wire() -> Iterator[Any]:
    yield wire.SUBSTITUTE_ARGUMENTS
    for protocol in WIRES.values():
        yield protocol.settings("m", [wire.ToolSpec("t", "d", {"type": "object"})])
        result = protocol.result("c", "text")
        items = [protocol.message("user", "u"), result, protocol.with_text(result, "short")]
        yield [[item.data.decode(), protocol.result_text(item.value)] for item in items]
        replies = _CHAT if protocol.items_field == "messages" else _RESPONSES
        for raw, echo, limit in product(replies, (True, False), (None, 1)):
            yield _turn(protocol, raw, echo, limit)
    for status, code in product((200, 400, 401, 402, 404, 429, 500, 502, 503, 529), _CODES):
        yield str(meaning(status, WireError((code,) if code else ()), ""))


def _turn(protocol: Wire, raw: str, echo: bool, limit: int | None) -> Any:
    """What a raw reply comes to."""
    try:
        reply: Reply = protocol.read_reply(raw.encode(), 3, {"used"}, echo, limit)
    except ReplyError:
        return "no turn"
    items = [item.data.decode() for item in reply.items]
    return vars(reply) | {"items": items, "calls": [vars(call) for call in reply.calls]}


_ARGUMENTS: Final = (
    r'"{\"p\": 1}"', '{"p": 1}', '""', "null", '"[]"', r'"\"a\""', r'"{\"p\": 1"',
    r'"{\"p\": NaN}"', r'"{\"p\": 1, \"p\": 2}"', r'"{\"p\": \"\ud83d\"}"',
)  # fmt: skip
_IDS: Final = ('"a"', '"a"', '""', "null", "7", '"used"', '"call_3_1"', '"b"', '"c"', '"d"')
_CALLS: Final = tuple(zip(_IDS, _ARGUMENTS, strict=True))
_TOOL_CALLS: Final = ",".join(
    f'{{"id":{call_id},"type":"function","x":1,"function":{{"name":"t","arguments":{arguments}}}}}'
    for call_id, arguments in _CALLS
)
_CODES: Final = ("", "other", "insufficient_quota", "context_length_exceeded", "content_filter")
_USAGE: Final = '{"prompt_tokens":1,"completion_tokens":1}'
_CHAT: Final = (
    *(
        f'{{"choices":[{{"message":{{{message}}},"finish_reason":"{finish}"}}],"usage":{_USAGE}}}'
        for message, finish in (
            *product(
                ('"content":"a"', f'"content":null,"tool_calls":[{_TOOL_CALLS}]'),
                ("stop", "length", "tool_calls", "content_filter", "error"),
            ),
            ('"content":"","tool_calls":[]', "tool_calls"),
            ('"content":"a","reasoning_content":"r","refusal":"no"', "stop"),
            ('"content":[{"type":"text","text":"a"},{"type":"x"}],"tool_calls":null', "stop"),
            ('"content":null,"reasoning_content":"r"', "stop"),
            ('"content":null,"function_call":{"name":"t","arguments":"{}"}', "function_call"),
        )
    ),
    '{"choices":[{"message":{"content":null}}]}', '{"choices":[]}', '{"error":{"code":429}}',
    '{"choices":[{}]}', '{"choices":[{"message":{"content":"a","n":NaN}}]}', "not JSON", "[]",
)  # fmt: skip
_OUTPUT_CALLS: Final = ",".join(
    f'{{"type":"function_call","call_id":{call_id},"name":"t","arguments":{arguments}}}'
    for call_id, arguments in _CALLS
)
_RESPONSES: Final = tuple(
    f'{{"output":[{output}],"status":{status},"usage":{{"input_tokens":1,"output_tokens":1}}}}'
    for output, status in (
        *product(
            ('{"type":"message","content":[{"type":"output_text","text":"a"}]}', _OUTPUT_CALLS),
            (
                '"completed"', '"failed"', '"cancelled"',
                '"incomplete","incomplete_details":{"reason":"max_output_tokens"}',
                '"incomplete","incomplete_details":{"reason":"content_filter"}',
            ),
        ),
        ("", '"completed"'),
        ('{"type":"reasoning","encrypted_content":"r"}', '"completed"'),
        ('{"type":"message","content":[{"type":"refusal","refusal":"no"}]}', '"completed"'),
    )
)  # fmt: skip
