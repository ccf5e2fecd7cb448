"""A programmable HTTP server on 127.0.0.1, reply bodies of both APIs, and the CLI to point at it.

with Loopback(script(ok(chat_reply("hello")))) as server:
    done = run_here("run-pair", "some-task", "--config", config_for(server.url))
    assert [hit.body["model"] for hit in server.hits] == ["made-up-1"]
"""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from revereval.cli.app import _run

ROOT = Path(__file__).parents[1]
ABSENT: Any = object()
"""A field to leave out of a body."""
_CHUNK = b" " * 65536


@dataclass(frozen=True)
class Response:
    """One answer, or the lack of one; as it stands, a whole one with status 200."""

    data: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    """Before the first byte of the answer."""
    missing_bytes: int = 0
    """The Content-Length promises so many more than come before the connection is closed."""
    streamed_bytes: int = 0
    """Not `data` but so many spaces, chunked, made as they are sent."""
    raw: bool = False
    """`data` is all that is sent: its own status line and headers, or none."""
    trickle_s: float = 0.0
    """The pause after each byte of `data`."""
    hang_up: bool = False
    """Close the connection after the answer, without a word of it in the headers."""
    answered: bool = True
    silent: bool = False
    """Without an answer: the connection stays open until the server is released."""


CLOSED = Response(answered=False, hang_up=True)
"""The request is read and the connection closed."""
SILENT = Response(answered=False, silent=True)


@dataclass(frozen=True)
class Hit:
    """One request as it was received."""

    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    data: bytes
    body: Any
    """`data` parsed as JSON."""


Reply = Callable[[int, Any], Response]
"""(number of the request, counted from 0; its parsed body) -> the answer."""


def script(*responses: Response) -> Reply:
    """The responses in turn; one request too many fails the test."""

    def reply(number: int, _: Any) -> Response:
        assert number < len(responses), f"no answer is scripted for request {number}"
        return responses[number]

    return reply


class Loopback:
    """The server; a fault in `reply` closes the connection and is raised when the server ends."""

    def __init__(self, reply: Reply, port: int = 0) -> None:
        self.reply, self._port = reply, port
        self.hits: list[Hit] = []
        self.answers: list[Response] = []
        self.connections = 0
        self.streamed_bytes = 0
        """What was sent of streamed bodies before the client had enough."""
        self._released = threading.Event()
        self._lock = threading.Lock()
        self._faults: list[Exception] = []
        self._open: set[socket.socket] = set()

    @property
    def url(self) -> str:
        """The base URL of an OpenAI-compatible provider."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def release(self) -> None:
        """Close what is held silent."""
        self._released.set()

    def __enter__(self) -> Self:
        owner: Loopback = self

        class Handler(_Handler):
            loopback = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._thread.join()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        if self._faults and kind is None:
            raise self._faults[0]

    def take(self, hit: Hit) -> Response:
        """Record a request and choose its answer."""
        with self._lock:
            number = len(self.hits)
            self.hits.append(hit)
        try:
            response = self.reply(number, hit.body)
        except Exception as error:  # noqa: BLE001 - raised again in the test's own thread
            self._faults.append(error)
            response = CLOSED
        with self._lock:
            self.answers.append(response)
        return response

    def wait(self) -> None:
        self._released.wait()

    def opened(self, connection: socket.socket) -> None:
        with self._lock:
            self.connections += 1
            self._open.add(connection)

    def ended(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    loopback: Loopback

    def setup(self) -> None:
        super().setup()
        self.loopback.opened(self.connection)

    def finish(self) -> None:
        self.loopback.ended(self.connection)
        with suppress(OSError):
            super().finish()

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client has gone: what it has seen is the test's
            super().handle()

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.loopback.take(Hit(self.path, headers, data, json.loads(data)))
        time.sleep(response.delay_s)
        if response.silent:
            self.loopback.wait()
        if response.answered:
            self._answer(response)
        if response.missing_bytes or response.hang_up or response.silent:
            self.close_connection = True

    def _answer(self, response: Response) -> None:
        headers = {"Content-Type": "application/json", **response.headers}
        if response.streamed_bytes:
            headers["Transfer-Encoding"] = "chunked"
        else:
            headers["Content-Length"] = str(len(response.data) + response.missing_bytes)
        lines = [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join([f"HTTP/1.1 {response.status} Made Up", *lines, "", ""]).encode()
        if response.raw:
            self.wfile.write(response.data)
        elif response.streamed_bytes:
            self.wfile.write(head)
            self._stream(response.streamed_bytes)
        elif response.trickle_s:
            self.wfile.write(head)
            for byte in response.data:
                time.sleep(response.trickle_s)
                self.wfile.write(bytes([byte]))
        else:
            self.wfile.write(head + response.data)

    def _stream(self, size: int) -> None:
        chunk = b"%x\r\n%b\r\n" % (len(_CHUNK), _CHUNK)
        for _ in range(0, size, len(_CHUNK)):
            self.wfile.write(chunk)
            self.loopback.streamed_bytes += len(_CHUNK)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        return


Calls = Sequence[tuple[Any, Any, Any]]
"""(id, name, arguments): arguments as the wire carries them, or a plain dict for short."""

CHAT_USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 20,
    "total_tokens": 1020,
    "prompt_tokens_details": {"cached_tokens": 400},
    "completion_tokens_details": {"reasoning_tokens": 5},
}
"""U 600, C 400, O 20."""
RESPONSES_USAGE = {
    "input_tokens": 1000,
    "output_tokens": 20,
    "total_tokens": 1020,
    "input_tokens_details": {"cached_tokens": 400},
    "output_tokens_details": {"reasoning_tokens": 5},
}


def ok(body: Any, **more: Any) -> Response:
    """A whole JSON answer; texts are ASCII-escaped, so any text can be in it."""
    return Response(json.dumps(body).encode(), **more)


def error(
    status: int,
    code: Any = None,
    kind: str = "made_up_error",
    message: str = "made up",
    **more: Any,
) -> Response:
    """An error answer in the form both APIs use."""
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return ok(body, status=status, **more)


class AsObject(dict[str, Any]):
    """Arguments that a server sends as a JSON object and not as the text of one."""


def as_sent(arguments: Any) -> Any:
    """A plain dict as the JSON text that providers send, anything else as it is."""
    return json.dumps(arguments) if type(arguments) is dict else arguments


def chat_reply(
    text: Any = None,
    calls: Calls = (),
    *,
    finish: str | None = None,
    usage: Any = CHAT_USAGE,
    model: Any = "made-up-1",
    **message: Any,
) -> dict[str, Any]:
    """A Chat Completions body; `message` are further fields of the assistant message."""
    listed = [
        {"id": i, "type": "function", "function": {"name": name, "arguments": as_sent(arguments)}}
        for i, name, arguments in calls
    ]
    said = {"role": "assistant", "content": text, "refusal": None}
    finish = finish or ("tool_calls" if calls else "stop")
    said |= ({"tool_calls": listed} if listed else {}) | message
    body = {
        "id": "chatcmpl-made-up",
        "object": "chat.completion",
        "created": 1700000000,
        "model": model,
        "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": finish}],
        "usage": usage,
        "service_tier": "default",
        "system_fingerprint": None,
    }
    return {name: value for name, value in body.items() if value is not ABSENT}


def responses_reply(
    text: Any = None,
    calls: Calls = (),
    *,
    status: str = "completed",
    cut: str | None = None,
    usage: Any = RESPONSES_USAGE,
    model: Any = "made-up-1",
    before: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """A Responses body; `before` are output items ahead of the message, such as reasoning."""
    output = [dict(item) for item in before]
    if text is not None:
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": "msg_made_up",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        )
    for number, (call_id, name, arguments) in enumerate(calls):
        output.append(
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": call_id,
                "name": name,
                "arguments": as_sent(arguments),
                "status": "completed",
            }
        )
    body = {
        "id": "resp_made_up",
        "object": "response",
        "created_at": 1700000000,
        "status": "incomplete" if cut else status,
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        "model": model,
        "output": output,
        "usage": usage,
    }
    return {name: value for name, value in body.items() if value is not ABSENT}


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def said(self) -> str:
        """Both outputs, folded lines joined again."""
        return " ".join((self.out + " " + self.err).split())


def run_here(*arguments: str) -> Done:
    """Run a command in this process; as the real one, but for start-up and the exit itself."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = _run(list(arguments))
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return Done(code, out.getvalue(), err.getvalue())


def run_cli(
    *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command as a process of its own."""
    return subprocess.run(
        cli(*arguments),
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def cli(*arguments: str) -> list[str]:
    """The command line of `run_cli`, for tests that start and stop it themselves."""
    return [sys.executable, "-c", "from revereval.cli.app import main; main()", *arguments]
