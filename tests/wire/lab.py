"""One made-up task, one programmable server, one ledger: what the wire tests work with."""

import json
import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.loopback import (
    Calls,
    Done,
    Loopback,
    Reply,
    Response,
    chat_reply,
    ok,
    responses_reply,
    run_here,
    script,
)

BIG = "".join(f"def big_{n:03}(value):  # line {n} of big.py\n" for n in range(1, 301))
"""12 KiB: projected once two completed requests have carried it."""
OTHER = "".join(f"def other_{n:03}(value):  # line {n} of other.py\n" for n in range(1, 301))
FILES = {
    "tiny/big.py": BIG,
    "tiny/other.py": OTHER,
    "tiny/small.py": "def add(a, b):\n    return a + b\n",
    "tiny/nul.py": "ZERO = '\0'\n",
}
GOLD = {"sum": 3, "name": "tiny"}
RIGHT = '{"sum": 3, "name": "tiny"}'
WRONG = '{"sum": 4, "name": "tiny"}'
F_FIRST, P_FIRST = "a", "b"
"""Seeds: SHA-256 of `a NUL tiny` ends in an even byte, of `b NUL tiny` in an odd one."""

TASK = """
prompt = "What is the sum?"
reads = 2
[keys]
sum = "integer"
name = "string"
[premises]
python = "any"
[[evidence.sum]]
file = "tiny/small.py"
line = 2
span = "return a + b"
[[evidence.name]]
file = "tiny/big.py"
line = 1
span = "big_001"
"""

BOTH = pytest.mark.parametrize("lab", ["chat", "responses"], indirect=True)
"""Run a test of `lab` under each protocol."""


def write_task(tasks: Path, cache: Path) -> None:
    """The group `tiny` with the task `tiny-sum`, its snapshot in the cache already."""
    files = {path: sha256(text.encode()).hexdigest() for path, text in FILES.items()}
    group = tasks / "tiny"
    group.mkdir(parents=True)
    lines = [f'"{path}" = "{digest}"' for path, digest in files.items()]
    head = ['package = "tiny"', 'version = "1.0"', 'split = "development"', "[files]"]
    (group / "source.toml").write_text("\n".join([*head, *lines]))
    (group / "tiny-sum.toml").write_text(TASK)
    (group / "tiny-sum.oracle.py").write_text("print()\n")
    (group / "tiny-sum.gold.json").write_text(json.dumps(GOLD))
    pinned = {"package": "tiny", "version": "1.0", "files": files}
    text = json.dumps(pinned, sort_keys=True, separators=(",", ":"))
    root = cache / "revereval" / "snapshots" / sha256(text.encode()).hexdigest()
    for path, content in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, newline="")


def toml(table: Mapping[str, Any], name: str = "") -> str:
    """Nested mappings as TOML tables; other values as JSON spells them."""
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    lines = [f"[{name}]"] if name else []
    lines += [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
    nested = [
        toml(value, f"{name}.{key}" if name else key)
        for key, value in table.items()
        if isinstance(value, Mapping)
    ]
    return "\n".join([*lines, *nested]) + "\n"


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


@dataclass(frozen=True)
class Protocol:
    """One API: how it replies, and where the parts of a request to it are."""

    name: Literal["chat", "responses"]

    @property
    def path(self) -> str:
        return "/v1/chat/completions" if self.name == "chat" else "/v1/responses"

    def body(self, text: Any = None, calls: Calls = (), **more: Any) -> dict[str, Any]:
        build: Callable[..., dict[str, Any]] = (
            chat_reply if self.name == "chat" else responses_reply
        )
        return build(text, calls, **more)

    def cut(self, text: Any = None, calls: Calls = ()) -> dict[str, Any]:
        """A reply that the output limit ended."""
        if self.name == "chat":
            return chat_reply(text, calls, finish="length")
        return responses_reply(text, calls, cut="max_output_tokens")

    def items(self, body: Any) -> list[Any]:
        items: list[Any] = body["messages" if self.name == "chat" else "input"]
        return items

    def is_result(self, item: Any) -> bool:
        if self.name == "chat":
            return bool(item["role"] == "tool")
        return bool(item.get("type") == "function_call_output")

    def results(self, body: Any) -> list[tuple[str, str]]:
        """(call id, text) of every tool result of a request, in order."""
        id_field, text_field = (
            ("tool_call_id", "content") if self.name == "chat" else ("call_id", "output")
        )
        results = filter(self.is_result, self.items(body))
        return [(item[id_field], item[text_field]) for item in results]

    def calls(self, body: Any) -> list[tuple[str, str, str]]:
        """(id, name, arguments) of every tool call that a request carries, in order."""
        if self.name == "chat":
            calls = [call for item in self.items(body) for call in item.get("tool_calls", [])]
            return [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls]
        calls = [item for item in self.items(body) if item.get("type") == "function_call"]
        return [(call["call_id"], call["name"], call["arguments"]) for call in calls]


class Lab:
    """Runs commands on the made-up task against the server and reads back what was recorded."""

    def __init__(self, folder: Path, wire: Literal["chat", "responses"], server: Loopback) -> None:
        self.folder, self.wire, self.server = folder, Protocol(wire), server
        self.ledger = folder / "ledger.sqlite"
        self.tasks = folder / "tasks"
        self.config = folder / "config.toml"
        write_task(self.tasks, folder / "cache")
        self.configure()

    def configure(self, **tables: Any) -> None:
        """Write the config: short waits, F first, and the given tables over it."""
        provider = {
            "kind": f"openai-{self.wire.name}",
            "model": "made-up-1",
            "base_url": self.server.url,
            "connect_timeout_s": 5.0,
            "read_timeout_s": 5.0,
            "retry": {"attempts": 3, "first_wait_s": 0.01, "max_wait_s": 2.0},
        }
        settings = merged({"seed": F_FIRST, "provider": provider}, tables)
        self.config.write_text(toml(settings))

    def serve(self, *responses: Response) -> None:
        """Script the server's answers from the next request on."""
        done, scripted = len(self.server.hits), script(*responses)
        self.server.reply = lambda number, body: scripted(number - done, body)

    def serve_by(self, reply: Reply) -> None:
        self.server.reply = reply

    def reply(self, text: Any = None, calls: Calls = (), **more: Any) -> Response:
        return ok(self.wire.body(text, calls, **more))

    def read(self, path: str, call_id: str = "") -> Response:
        """A reply that reads one whole file of the task; its id is made from the path."""
        call = (call_id or f"id-{path}-{id(object())}", "read", {"path": f"tiny/{path}"})
        return self.reply(calls=[call])

    @property
    def prefix(self) -> list[Response]:
        """Three replies after which the read of big.py can be projected: the tape."""
        return [
            self.read("big.py", "call_big"),
            self.read("small.py", "call_small"),
            self.read("small.py", "call_again"),
        ]

    @property
    def right(self) -> Response:
        return self.reply(RIGHT)

    def command(self, *arguments: str) -> Done:
        return run_here(*arguments, "--ledger", str(self.ledger), "--tasks", str(self.tasks))

    def capture(self, *more: str) -> Done:
        return self.command("capture", "tiny-sum", "--config", str(self.config), *more)

    def run_pair(self, *more: str) -> Done:
        return self.command("run-pair", "tiny-sum", "--config", str(self.config), *more)

    def resume(self, run: int = 1, *more: str) -> Done:
        return self.command("run-pair", str(run), *more)

    def audit(self) -> None:
        """The whole ledger agrees with its bytes."""
        done = self.command("ledger", "audit")
        assert (done.code, done.err) == (0, ""), done.said

    def exported(self, table: str) -> list[dict[str, Any]]:
        """The rows of one export, as JSON Lines hold them."""
        path = self.folder / f"{table}.jsonl"
        ledger, output = ["--ledger", str(self.ledger)], ["--output", str(path)]
        done = run_here("ledger", "export", "--table", table, "--format", "jsonl", *ledger, *output)
        assert done.code == 0, done.said
        return [json.loads(line) for line in path.read_text().splitlines()]

    def rows(self, table: str, where: str = "1") -> list[dict[str, Any]]:
        """Rows of a ledger table by id, read without any of our code."""
        with closing(sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            found = connection.execute(f"SELECT * FROM {table} WHERE {where} ORDER BY id")
            return [dict(row) for row in found]

    @property
    def run_row(self) -> dict[str, Any]:
        return self.rows("run")[-1]

    def arm(self, name: str) -> tuple[Any, ...]:
        """(endpoint, reason, suffix requests) of an arm of the newest run."""
        (row,) = self.rows("arm", f"run_id = {self.run_row['id']} AND name = '{name}'")
        return row["endpoint"], row["reason"], row["suffix_requests"]

    @property
    def stop(self) -> tuple[Any, Any]:
        """(outcome, reason) of the newest capture."""
        return self.run_row["capture_outcome"], self.run_row["capture_reason"]

    @property
    def attempts(self) -> list[tuple[int, int, str, int | None]]:
        """(request, number, state, HTTP status) of every attempt, in order."""
        return [
            (row["request_id"], row["number"], row["state"], row["status"])
            for row in self.rows("attempt")
        ]

    def reply_blob(self, attempt: int) -> bytes:
        """The raw reply that an attempt is recorded with, by place; -1 is the last attempt."""
        return self.blob(self.rows("attempt")[attempt]["reply_blob_id"])

    def blob(self, blob_id: int) -> bytes:
        (row,) = self.rows("blob", f"id = {blob_id}")
        return zlib.decompress(row["data"]) if row["zlib"] else bytes(row["data"])

    def request_bytes(self, request_id: int) -> bytes:
        """The bytes of a recorded request, put together from head, bases and edits."""
        chain, at = [], request_id
        while at is not None:
            (row,) = self.rows("request", f"id = {at}")
            chain.append(row)
            at = row["base_id"]
        ids: dict[int, int] = {}
        for row in reversed(chain):
            ids |= dict(json.loads(row["edits"]))
        items = [self.blob(ids[index]) for index in range(chain[0]["item_count"])]
        return self.blob(chain[0]["head_blob_id"]) + b",".join(items) + b"]}"

    def check_hits(self) -> None:
        """Every request the server saw is one attempt row, byte for byte, and no other row is."""
        dispatched = [
            row
            for row in (self.rows("attempt") if self.ledger.exists() else [])
            if row["state"] != "intent" and not row["problem"].startswith("cannot connect")
        ]
        assert len(dispatched) == len(self.server.hits)
        for hit, row in zip(self.server.hits, dispatched, strict=True):
            assert self.request_bytes(row["request_id"]) == hit.data
            assert hit.path == self.wire.path


def texts(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [text for _, text in pairs]
