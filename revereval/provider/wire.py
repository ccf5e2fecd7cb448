"""What a reply is and what a request looks like on the wire, one small class for each protocol."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol

from revereval.canonical import StrictJSONError, strict_json
from revereval.provider.body import Item
from revereval.provider.content import (
    REASONING,
    has_reasoning,
    mapping,
    refusal_of,
    sequence,
    text_of,
)
from revereval.provider.error_body import WireError, error_of
from revereval.provider.no_answer import Held, no_answer, possibly_cut
from revereval.terms import StopReason

VERSION: Final = 2
"""Of what a reply is read as and sent back as: raised with each change of either."""

SUBSTITUTE_ARGUMENTS = "{}"
"""Sent back in place of arguments that are not a JSON object, alike in capture, F and P."""


class ReplyError(Exception):
    """A 200 that is no turn of a conversation; `unreadable` where it may be one all the same."""

    def __init__(
        self, problem: str, error: WireError | None = None, *, unreadable: bool = False
    ) -> None:
        super().__init__(problem)
        self.error, self.unreadable = error or WireError(), unreadable


@dataclass(frozen=True)
class Call:
    """One tool call. `problem` says why `arguments` could not be read; then they are empty."""

    id: str
    """Unique in the conversation; the provider's own unless that was empty or repeated."""
    name: str
    arguments: Mapping[str, Any]
    sent: str
    """The arguments as they are sent back: as received, or `SUBSTITUTE_ARGUMENTS`."""
    problem: str | None = None


@dataclass(frozen=True)
class Reply:
    """One turn: the items to append to the conversation, and what they ask for."""

    items: tuple[Item, ...]
    calls: tuple[Call, ...]
    text: str
    stop: StopReason | None
    """It is no answer and nothing of it is executed: its stage ends with this reason."""
    refusal: str
    """The words with which the model declined; empty where it did not."""
    possibly_cut: bool
    """Its output is as long as was allowed, whatever the reply says ended it."""
    model: str | None
    raw_usage: Any


@dataclass(frozen=True)
class ToolSpec:
    name: str
    description: str
    parameters: Mapping[str, Any]


class Wire(Protocol):
    """Where the parts of a conversation are in a protocol's bodies. All methods are pure."""

    path: str
    items_field: str

    def settings(self, model: str, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        """The body's fields other than the conversation and the sampling settings.

        Without tools there is no field for them: servers refuse an empty list.
        """
        ...

    def message(self, role: str, text: str) -> Item: ...

    def result(self, call_id: str, text: str) -> Item: ...

    def result_text(self, value: Mapping[str, Any]) -> str | None:
        """The text of an item that is a tool result; None for any other item."""
        ...

    def with_text(self, item: Item, text: str) -> Item:
        """The same tool result with another text; every other field is kept."""
        ...

    def read_reply(
        self,
        raw: bytes,
        turn: int,
        used_ids: Collection[str],
        echo_unknown: bool,
        output_limit: int | None = None,
    ) -> Reply:
        """output_limit: tokens that the request allowed, where it named a limit.

        Raises ReplyError where the body is not a turn, whatever its HTTP status was.
        """
        ...


class ChatWire:
    """OpenAI API reference, Chat Completions: `POST /chat/completions`, not streamed."""

    path = "chat/completions"
    items_field = "messages"
    _KNOWN = ("role", "content", "name", "refusal", "tool_calls")

    def settings(self, model: str, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        functions = [{"type": "function", "function": _function(tool)} for tool in tools]
        return {"model": model, "stream": False, **_tools(functions)}

    def message(self, role: str, text: str) -> Item:
        return Item({"role": role, "content": text})

    def result(self, call_id: str, text: str) -> Item:
        return Item({"role": "tool", "tool_call_id": call_id, "content": text})

    def result_text(self, value: Mapping[str, Any]) -> str | None:
        return value["content"] if value.get("role") == "tool" else None

    def with_text(self, item: Item, text: str) -> Item:
        return Item({**item.value, "content": text})

    def read_reply(
        self,
        raw: bytes,
        turn: int,
        used_ids: Collection[str],
        echo_unknown: bool,
        output_limit: int | None = None,
    ) -> Reply:
        body = _object(raw)
        choices = body.get("choices")
        if not isinstance(choices, list) or not choices:
            raise ReplyError("the reply has no choices")
        choice = mapping(choices[0])
        message = choice.get("message")
        if not isinstance(message, dict):
            raise ReplyError("the reply's first choice has no message")
        if choice.get("finish_reason") == "error":
            raise ReplyError("the reply's finish_reason is error", error_of(choice))
        wire_calls = [mapping(call) for call in sequence(message.get("tool_calls"))]
        functions = [mapping(call.get("function")) for call in wire_calls]
        calls = _calls(
            [
                (call.get("id"), f.get("name"), f.get("arguments"))
                for call, f in zip(wire_calls, functions, strict=True)
            ],
            turn,
            used_ids,
        )
        content, usage = message.get("content"), body.get("usage")
        held = Held(
            ended=_FINISHES.get(str(choice.get("finish_reason"))),
            calls=len(calls),
            unread_calls=sum(call.problem is not None for call in calls),
            text=text_of(content),
            refusal=text_of(message.get("refusal")) or refusal_of(content),
            reasoning=any(message.get(name) for name in REASONING) or has_reasoning(content),
            function_call=bool(message.get("function_call")),
            possibly_cut=possibly_cut(usage, output_limit),
        )
        _refuse_nothing(held, usage)
        sent = {k: v for k, v in message.items() if echo_unknown or k in self._KNOWN}
        sent["role"] = "assistant"
        sent.pop("tool_calls", None)
        if calls:
            sent["tool_calls"] = [
                {
                    **wire_call,
                    "id": call.id,
                    "type": "function",
                    "function": {**function, "name": call.name, "arguments": call.sent},
                }
                for wire_call, function, call in zip(wire_calls, functions, calls, strict=True)
            ]
        return _reply([Item(sent)], calls, held, body)


class ResponsesWire:
    """OpenAI API reference, Responses: `POST /responses`, stateless, the whole input each time."""

    path = "responses"
    items_field = "input"
    _KNOWN = ("message", "function_call")

    def settings(self, model: str, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        functions = [{"type": "function", "strict": False, **_function(tool)} for tool in tools]
        return {
            "model": model,
            "stream": False,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            **_tools(functions),
        }

    def message(self, role: str, text: str) -> Item:
        return Item({"role": role, "content": text})

    def result(self, call_id: str, text: str) -> Item:
        return Item({"type": "function_call_output", "call_id": call_id, "output": text})

    def result_text(self, value: Mapping[str, Any]) -> str | None:
        return value["output"] if value.get("type") == "function_call_output" else None

    def with_text(self, item: Item, text: str) -> Item:
        return Item({**item.value, "output": text})

    def read_reply(
        self,
        raw: bytes,
        turn: int,
        used_ids: Collection[str],
        echo_unknown: bool,
        output_limit: int | None = None,
    ) -> Reply:
        body = _object(raw)
        output = body.get("output")
        if not isinstance(output, list):
            raise ReplyError("the reply has no output")
        if body.get("status") in ("failed", "cancelled"):
            raise ReplyError(f"the response's status is {body['status']}")
        items = [mapping(item) for item in output]
        wire_calls = [item for item in items if item.get("type") == "function_call"]
        calls = _calls(
            [(item.get("call_id"), item.get("name"), item.get("arguments")) for item in wire_calls],
            turn,
            used_ids,
        )
        contents = [item.get("content") for item in items if item.get("type") == "message"]
        usage = body.get("usage")
        held = Held(
            ended=_ended(body),
            calls=len(calls),
            unread_calls=sum(call.problem is not None for call in calls),
            text="".join(map(text_of, contents)),
            refusal="".join(map(refusal_of, contents)),
            reasoning=any(item.get("type") in REASONING for item in items)
            or any(map(has_reasoning, contents)),
            function_call=False,
            possibly_cut=possibly_cut(usage, output_limit),
        )
        _refuse_nothing(held, usage)
        remaining = iter(calls)
        sent: list[Item] = []
        for item in items:
            if item.get("type") == "function_call":
                call = next(remaining)
                sent.append(
                    Item({**item, "call_id": call.id, "name": call.name, "arguments": call.sent})
                )
            elif echo_unknown or item.get("type") in self._KNOWN:
                sent.append(Item(item))
        return _reply(sent, calls, held, body)


_FINISHES = {
    "length": StopReason.OUTPUT_LIMIT,
    "model_length": StopReason.OUTPUT_LIMIT,
    "max_tokens": StopReason.OUTPUT_LIMIT,
    "content_filter": StopReason.CONTENT_FILTER,
    "sensitive": StopReason.CONTENT_FILTER,
    "refusal": StopReason.REFUSAL,
}
"""By `finish_reason`; those that other servers than OpenAI's send are from their references."""


def _ended(body: Mapping[str, Any]) -> StopReason | None:
    """What ended a response: an incomplete one is cut, but for the content filter."""
    if body.get("status") != "incomplete":
        return None
    reason = mapping(body.get("incomplete_details")).get("reason")
    return StopReason.CONTENT_FILTER if reason == "content_filter" else StopReason.OUTPUT_LIMIT


def _reply(
    items: Sequence[Item], calls: tuple[Call, ...], held: Held, body: Mapping[str, Any]
) -> Reply:
    return Reply(
        items=tuple(items),
        calls=calls,
        text=held.text,
        stop=no_answer(held),
        refusal=held.refusal,
        possibly_cut=held.possibly_cut,
        model=_name(body.get("model")),
        raw_usage=body.get("usage"),
    )


def _tools(functions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"tools": functions} if functions else {}


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = _DECODER.decode(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ReplyError("the reply is not JSON", unreadable=True) from None
    if not isinstance(body, dict):
        raise ReplyError("the reply is not a JSON object", unreadable=True)
    if body.get("error") or body.get("object") == "error":
        raise ReplyError("the reply is an error object", error_of(body))
    return body


def _not_json(number: str) -> NoReturn:
    raise ValueError(number)


def _finite(number: str) -> float:
    return value if math.isfinite(value := float(number)) else _not_json(number)


_DECODER = json.JSONDecoder(parse_constant=_not_json, parse_float=_finite)


def _calls(
    raw: Sequence[tuple[Any, Any, Any]], turn: int, used_ids: Collection[str]
) -> tuple[Call, ...]:
    """Calls in wire order; an id that is empty, repeated or no string gets a made-up one."""
    ids = set(used_ids)
    calls = []
    for index, (wire_id, name, arguments) in enumerate(raw):
        call_id = wire_id if isinstance(wire_id, str) and wire_id and wire_id not in ids else ""
        suffix = ""
        while not call_id or call_id in ids:
            call_id = f"call_{turn}_{index}{suffix}"
            suffix += "_"
        ids.add(call_id)
        known = name if isinstance(name, str) else ""
        calls.append(Call(call_id, known, *_arguments(arguments)))
    return tuple(calls)


def _arguments(raw: object) -> tuple[Mapping[str, Any], str, str | None]:
    """The parsed arguments, what is sent back for them, and what is wrong with them."""
    if raw is None or raw == "":
        return {}, SUBSTITUTE_ARGUMENTS, None
    text = raw if isinstance(raw, str) else json.dumps(raw, separators=(",", ":"))
    try:
        strict_json(text)
    except StrictJSONError as error:
        return {}, SUBSTITUTE_ARGUMENTS, f"the arguments are not JSON: {error}"
    value = json.loads(text)
    if not isinstance(value, dict):
        return {}, SUBSTITUTE_ARGUMENTS, "the arguments are not a JSON object"
    return value, text, None


def _refuse_nothing(held: Held, usage: object) -> None:
    reported = any(count is not None for count in mapping(usage).values())
    if held.nothing and held.ended is None and not reported:
        raise ReplyError("the reply has no text, no tool call and no usage")


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else None


WIRES: Mapping[str, Wire] = {"chat": ChatWire(), "responses": ResponsesWire()}
