"""The `scripted` provider: the reader behind both wire formats, in process.

It keeps no conversation. All it remembers is which prefixes it has been sent, to estimate cached
tokens as a server with a prefix cache would report them.
"""

import json
import marshal
import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, repeat
from typing import Any, NoReturn

import httpx

from revereval.canonical import canonical_bytes, sha256_hex
from revereval.provider.reader import (
    RECOVER,
    RECOVER_CHARS,
    ReaderSettings,
    ReaderTask,
    ToolCall,
    Turn,
    View,
    next_turn,
)
from revereval.provider.wire import WIRES

MODEL = "scripted"
ROOT = "/v1/"
MAX_PREFIXES = 4096
BYTES_PER_TOKEN = 4


class _RequestError(Exception):
    def __init__(self, status: int, code: str, problem: str) -> None:
        super().__init__(problem)
        self.status, self.code = status, code


@dataclass(frozen=True)
class _Usage:
    """Estimated tokens, labelled so on the wire."""

    prompt: int
    cached: int
    completion: int

    def fields(self, prompt: str, completion: str) -> dict[str, Any]:
        return {
            f"{prompt}_tokens": self.prompt,
            f"{prompt}_tokens_details": {"cached_tokens": self.cached},
            f"{completion}_tokens": self.completion,
            f"{completion}_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self.prompt + self.completion,
            "estimated": True,
        }


class ScriptedApp:
    """Answers requests of any number of conversations about its tasks; safe to share by threads."""

    def __init__(self, tasks: Iterable[ReaderTask], settings: ReaderSettings) -> None:
        self._tasks = {
            text: task for task in tasks for text in (task.opening, task.closed_opening) if text
        }
        self._settings = settings
        self._prefixes = _Prefixes()

    def respond(self, path: str, body: bytes) -> tuple[int, bytes]:
        """The HTTP status and the JSON reply to one POST.

        All of it but the count of cached tokens is a pure function of the arguments.
        """
        try:
            return 200, self._reply(path, body)
        except _RequestError as error:
            return error.status, error_body(error.code, str(error))
        except RecursionError:
            return 400, error_body("invalid_json", "the body is nested too deeply")

    def _reply(self, path: str, body: bytes) -> bytes:
        found = next((name for name in WIRES if path == ROOT + WIRES[name].path), None)
        if found is None:
            raise _RequestError(404, "not_found", f"no such endpoint: {path}")
        request = _request(body)
        items = _objects(request.pop(WIRES[found].items_field, None))
        task = next((self._tasks[text] for text in _openings(items) if text in self._tasks), None)
        if task is None:
            raise _RequestError(400, "unknown_task", "no user message opens a task known here")
        turn = next_turn(_view(items, request.get("tools")), task, self._settings)
        arguments = [canonical_bytes(call.arguments).decode() for call in turn.calls]
        output = "".join([turn.text, *arguments]).encode("utf-8", "surrogatepass")
        prompt = _tokens(len(body))
        cached = min(prompt, self._prefixes.known_bytes(request, items) // BYTES_PER_TOKEN)
        usage = _Usage(prompt, cached, _tokens(len(output)))
        shape = _chat if found == "chat" else _responses
        return canonical_bytes(shape(sha256_hex(body)[:24], turn, arguments, usage))


class _Prefixes:
    """The most recent conversation prefixes and their bytes, by digest of head and items."""

    def __init__(self) -> None:
        self._sizes: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def known_bytes(self, head: dict[str, Any], items: Iterable[dict[str, Any]]) -> int:
        """Bytes of the longest prefix met before; remembers all prefixes of this request."""
        # marshal is several times as fast as JSON; its version 2 writes equal values alike
        rolling = sha256(marshal.dumps(head, 2))
        size, known = len(canonical_bytes(head)), 0
        with self._lock:
            for item in items:
                rolling.update(marshal.dumps(item, 2))
                digest = rolling.digest()
                if digest in self._sizes:
                    known = size = self._sizes[digest]
                    self._sizes.move_to_end(digest)
                else:
                    size += len(canonical_bytes(item)) + len(b",")
                    self._sizes[digest] = size
            while len(self._sizes) > MAX_PREFIXES:
                self._sizes.popitem(last=False)
        return known


def error_body(code: str, problem: str) -> bytes:
    kind = "invalid_request_error"
    error = {"message": problem, "type": kind, "param": None, "code": code}
    return canonical_bytes({"error": error})


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)


def _request(body: bytes) -> dict[str, Any]:
    try:
        request = _DECODER.decode(body.decode())
    except ValueError:
        raise _RequestError(400, "invalid_json", "the body is not JSON") from None
    if not isinstance(request, dict):
        raise _RequestError(400, "invalid_json", "the body is not a JSON object")
    if request.get("stream"):
        raise _RequestError(400, "unsupported_value", "stream: replies are not streamed here")
    return request


def _not_json(number: str) -> NoReturn:
    raise ValueError(number)


def _finite(number: str) -> float:
    return value if math.isfinite(value := float(number)) else _not_json(number)


_DECODER = json.JSONDecoder(parse_constant=_not_json, parse_float=_finite)


def _objects(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _RequestError(400, "invalid_type", "the conversation is not an array of objects")
    return value


def _openings(items: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    return (_text(item.get("content")) for item in items if item.get("role") == "user")


def _view(items: Iterable[Mapping[str, Any]], tools: object) -> View:
    """What a conversation of either protocol shows; calls and results pair by position."""
    notes: list[str] = []
    calls: list[ToolCall] = []
    results: list[str] = []
    for item in items:
        role, kind = item.get("role"), item.get("type")
        if role == "assistant":
            notes.append(_text(item.get("content")))
            calls.extend(_call(call.get("function")) for call in _mappings(item.get("tool_calls")))
        elif role == "tool":
            results.append(_text(item.get("content")))
        elif kind == "function_call":
            calls.append(_call(item))
        elif kind == "function_call_output":
            results.append(_text(item.get("output")))
    pairs = zip(calls, chain(results, repeat("")), strict=False)
    functions = _mappings([tool.get("function", tool) for tool in _mappings(tools)])
    defined = {str(tool.get("name")): tool.get("parameters") for tool in functions}
    recovered = _maximum(defined.get(RECOVER), "chars") or RECOVER_CHARS
    return View(tuple(filter(None, notes)), tuple(pairs), frozenset(defined), recovered)


def _maximum(parameters: object, name: str) -> int | None:
    """What a tool's definition says of the largest value of one of its parameters."""
    for key in ("properties", name, "maximum"):
        parameters = parameters.get(key) if isinstance(parameters, dict) else None
    return parameters if type(parameters) is int and parameters > 0 else None


def _call(function: object) -> ToolCall:
    fields = function if isinstance(function, Mapping) else {}
    try:
        arguments = _DECODER.decode(str(fields.get("arguments")))
    except ValueError:
        arguments = {}
    known = arguments if isinstance(arguments, dict) else {}
    return ToolCall(str(fields.get("name")), known)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(content: object) -> str:
    """A content that is a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in _mappings(content) if isinstance(part.get("text"), str))


def _chat(key: str, turn: Turn, arguments: Sequence[str], usage: _Usage) -> dict[str, Any]:
    """A Chat Completions reply. No clock: `created` is 0."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None, "refusal": None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{key}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": text},
            }
            for index, (call, text) in enumerate(zip(turn.calls, arguments, strict=True))
        ]
    finish = "tool_calls" if turn.calls else "stop"
    return {
        "id": f"chatcmpl-{key}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": usage.fields("prompt", "completion"),
    }


def _responses(key: str, turn: Turn, arguments: Sequence[str], usage: _Usage) -> dict[str, Any]:
    """A Responses reply. No clock: `created_at` is 0."""
    message = {
        "id": f"msg_{key}",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": turn.text, "annotations": []}],
    }
    calls = [
        {
            "id": f"fc_{key}_{index}",
            "type": "function_call",
            "status": "completed",
            "call_id": f"call_{key}_{index}",
            "name": call.name,
            "arguments": text,
        }
        for index, (call, text) in enumerate(zip(turn.calls, arguments, strict=True))
    ]
    return {
        "id": f"resp_{key}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": MODEL,
        "output": [message, *calls] if turn.text else calls,
        "usage": usage.fields("input", "output"),
    }


class ScriptedTransport(httpx.BaseTransport):
    """The app in process, behind the same httpx client as any other provider."""

    def __init__(self, app: ScriptedApp) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        status, data = self._app.respond(request.url.path, request.read())
        return httpx.Response(status, headers={"Content-Type": "application/json"}, content=data)
