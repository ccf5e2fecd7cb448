"""Whole pairs in this process, with the real controller, and their requests read back as JSON."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Row, select

from revereval.errors import RevEvalError
from revereval.ledger.blobs import request_parts
from revereval.ledger.database import Database
from revereval.ledger.runs import create_run, load_run
from revereval.ledger.tables import Request, table
from revereval.pair.annotations import reader_task
from revereval.pair.config import Config
from revereval.pair.plan import Plan, make_plan
from revereval.pair.run import plan_row, run_capture, run_pair
from revereval.pair.signals import Signals
from revereval.pair.stage import Work
from revereval.provider import body
from revereval.provider.http import Client
from revereval.provider.scripted import ScriptedApp, ScriptedTransport
from revereval.tasks.snapshot import open_snapshot

ROOT = Path(__file__).parents[2]
TASKS = ROOT / "tasks"
NOW = "2026-01-01T00:00:00.000+00:00"
MARK = "[This observation is shortened."
"""How a projected text begins."""
ARCHIVE_TOOLS = ("search_evidence", "recover_evidence")
REQUEST = table(Request)

Items = list[dict[str, Any]]


def config(**values: Any) -> Config:
    """A config as a file would give it; nested tables as dicts."""
    return Config.model_validate(values)


def reading(wire: str, **reader: Any) -> Config:
    """The scripted reader with these settings on one of the two wires."""
    return config(provider={"wire": wire, "reader": reader})


class Watched(httpx.BaseTransport):
    """The scripted reader in process, and the bytes of every request that reached it.

    `instead` may answer in its place: it gets the number of the request, counted from 0.
    """

    def __init__(
        self,
        plan: Plan,
        instead: Callable[[int, httpx.Request], httpx.Response | None] = lambda *_: None,
    ) -> None:
        app = ScriptedApp([reader_task(plan.task)], plan.config.provider.reader)
        self._inner = ScriptedTransport(app)
        self._instead = instead
        self.bodies: list[bytes] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.read())
        other = self._instead(len(self.bodies) - 1, request)
        return self._inner.handle_request(request) if other is None else other


@dataclass
class Bench:
    """One ledger and one run of a plan in it, which can be run, paused and run again."""

    ledger: Path
    plan: Plan
    run_id: int = field(init=False)
    naps: list[float] = field(default_factory=list)
    """Waits that were asked for; nobody waits."""

    def __post_init__(self) -> None:
        with_database = Database(self.ledger, write=True)
        self.run_id = create_run(with_database, plan_row(self.plan, NOW))
        with_database.close()

    def run(
        self,
        transport: httpx.BaseTransport,
        *,
        arms: bool = True,
        signals: Signals | None = None,
        plan: Plan | None = None,
        resend: bool = False,
    ) -> RevEvalError | None:
        """Take the run up; returns the error that paused it, as the command line would see it."""
        plan = plan or self.plan
        database = Database(self.ledger, write=True)
        client = Client(plan.config.provider, plan.wire.path, None, transport)
        work = Work(
            database, plan, open_snapshot(plan.task.source), client, signals or Signals(),
            self.naps.append, lambda _: None,
            lambda: NOW, resend,
        )  # fmt: skip
        try:
            (run_pair if arms else run_capture)(work, self.run_id)
        except RevEvalError as error:
            return error
        finally:
            client.close()
            database.close()
        return None

    def result(self) -> "Pair":
        return read_pair(self.ledger, self.run_id)


def bench(folder: Path, task_id: str, chosen: Config) -> Bench:
    return Bench(folder / "ledger.sqlite", make_plan(TASKS, task_id, chosen))


@dataclass(frozen=True)
class Sent:
    """One recorded request, rebuilt from the ledger."""

    row: Row[Any]
    data: bytes

    @cached_property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.data)
        return value

    @property
    def items(self) -> Items:
        value: Items = self.json["messages"] if "messages" in self.json else self.json["input"]
        return value

    @cached_property
    def settings(self) -> dict[str, Any]:
        return {k: v for k, v in self.json.items() if k not in ("messages", "input")}

    @property
    def results(self) -> list[str]:
        """Tool-result texts in order."""
        return [item[key] for item in self.items if (key := result_key(item))]


@dataclass(frozen=True)
class Pair:
    """One run as the ledger has it."""

    plan: Row[Any]
    run: Row[Any]
    arms: dict[str, Row[Any]]
    requests: dict[str, list[Sent]]
    """By stage, in order; the capture's without the boundary request."""
    boundary: Sent | None

    @property
    def every(self) -> list[Sent]:
        boundary = [self.boundary] if self.boundary else []
        return [*self.requests["capture"], *boundary, *self.requests["F"], *self.requests["P"]]

    @property
    def endpoints(self) -> dict[str, tuple[str, str | None]]:
        return {name: (str(arm.endpoint), arm.reason) for name, arm in self.arms.items()}


def read_pair(ledger: Path, run_id: int) -> Pair:
    database = Database(ledger, write=False)
    rows = load_run(database, run_id)
    requests: dict[str, list[Sent]] = {"capture": [], "F": [], "P": []}
    boundary = None
    with database.reading() as connection:
        chosen = select(REQUEST).where(REQUEST.c.run_id == run_id).order_by(REQUEST.c.position)
        for row in list(connection.execute(chosen)):
            head, items = request_parts(connection, row.id)
            sent = Sent(row, body.join(head, items))
            if row.id == rows.run.boundary_request_id:
                boundary = sent
            else:
                requests[str(row.stage)].append(sent)
    database.close()
    arms = {str(arm.name): arm for arm in rows.arms}
    return Pair(rows.plan, rows.run, arms, requests, boundary)


def result_key(item: dict[str, Any]) -> str | None:
    """Where the text of a tool result is, by the API references; None for any other item."""
    if item.get("role") == "tool":
        return "content"
    return "output" if item.get("type") == "function_call_output" else None


def blanked(items: Items) -> Items:
    """The items with every tool-result text empty."""
    return [{**item, key: ""} if (key := result_key(item)) else item for item in items]


def calls_of(items: Items) -> list[tuple[str, str]]:
    """(id, tool name) of every tool call, in order."""
    found = []
    for item in items:
        found += [(call["id"], call["function"]["name"]) for call in item.get("tool_calls", ())]
        if item.get("type") == "function_call":
            found.append((item["call_id"], item["name"]))
    return found


def result_ids(items: Items) -> list[str]:
    return [item.get("tool_call_id") or item["call_id"] for item in items if result_key(item)]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def metered(requests: Sequence[Sent]) -> list[int]:
    """Four bytes a token, rounded up, from the bytes themselves."""
    return [(len(sent.data) + 3) // 4 for sent in requests]
