"""CPU of `run-pair` a request against a bare httpx loop with the same conversations.

Both talk to one scripted server in a process of its own, at concurrency 1. The bare loop sends
the recorded bodies as JSON, reads the replies as JSON, and commits one row before and one after
each request to a ledger with the same SQLite settings. Client and ledger are open before the
clock starts in both; our caches are empty then, as when a command begins.
"""

import json
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from revereval.cli.execution import How, started
from revereval.ledger.blobs import request_parts
from revereval.ledger.database import Database
from revereval.ledger.runs import create_run, load_run
from revereval.ledger.tables import Request, table
from revereval.pair.run import plan_row, run_pair
from revereval.provider.body import join

NEW = How(new=True, resend=False, arms=True)

TASKS = ("h11-states", "packaging-specifiers", "markdown-it-lists")
ROUNDS = 7
AIM = 1.5


@dataclass
class Cost:
    """Of one round."""

    requests: int
    cpu_s: float
    wall_s: float

    @property
    def cpu_ms(self) -> float:
        return self.cpu_s / self.requests * 1000


def run(folder: Path) -> Iterator[str]:
    program = "from revereval.cli.app import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "serve-scripted"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        try:
            yield from (_compare(folder, url, task) for task in TASKS)
        finally:
            server.terminate()


def _compare(folder: Path, url: str, task: str) -> str:
    config = folder / f"{task}.toml"
    config.write_text(f'[provider]\nkind = "openai-chat"\nmodel = "scripted"\nbase_url = "{url}"\n')
    ledger = folder / f"{task}.sqlite"
    ours: list[Cost] = []
    bare: list[Cost] = []
    with started(task, config, ledger, Path("tasks"), NEW) as (work, run_id):
        run_pair(work, run_id)
        bodies = _bodies(work.database, run_id)
        loop = _BareLoop(folder / f"{task}.bare.sqlite", url)
        loop.send(bodies)
        for _ in range(ROUNDS):
            _forget()
            wall, cpu = time.perf_counter(), time.process_time()
            run_id = create_run(work.database, plan_row(work.plan, work.now()))
            run_pair(work, run_id)
            ours.append(_cost(len(bodies), wall, cpu))
            wall, cpu = time.perf_counter(), time.process_time()
            loop.send(bodies)
            bare.append(_cost(len(bodies), wall, cpu))
        assert load_run(work.database, run_id).arms
    mine = statistics.median(cost.cpu_ms for cost in ours)
    base = statistics.median(cost.cpu_ms for cost in bare)
    a_second = statistics.median(cost.requests / cost.wall_s for cost in ours)
    bare_a_second = statistics.median(cost.requests / cost.wall_s for cost in bare)
    size = statistics.mean(len(json.dumps(body)) for body in bodies) / 1000
    return (
        f"pair    {task}: {len(bodies)} requests of {size:.0f} kB: "
        f"{mine:.2f} ms CPU a request, bare loop {base:.2f} ms: ratio {mine / base:.2f} "
        f"(aim: at most {AIM}); {a_second:.0f} requests/s, bare loop {bare_a_second:.0f}"
    )


def _forget() -> None:
    """Empty the package's caches of what earlier rounds have read, encoded and hashed."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith("revereval."):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def _cost(requests: int, wall: float, cpu: float) -> Cost:
    return Cost(requests, time.process_time() - cpu, time.perf_counter() - wall)


class _BareLoop:
    def __init__(self, path: Path, url: str) -> None:
        self._url = f"{url}/chat/completions"
        self._client = httpx.Client(timeout=60)
        self._ledger = sqlite3.connect(path, isolation_level=None)
        self._ledger.execute("PRAGMA journal_mode = WAL")
        self._ledger.execute("PRAGMA synchronous = FULL")
        self._ledger.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, what TEXT, at REAL)")

    def send(self, bodies: list[Any]) -> None:
        for body in bodies:
            self._commit("intent")
            reply = self._client.post(self._url, json=body)
            assert reply.json()["choices"]
            self._commit("reply")

    def _commit(self, what: str) -> None:
        self._ledger.execute("INSERT INTO row (what, at) VALUES (?, ?)", (what, time.time()))


def _bodies(database: Database, run_id: int) -> list[Any]:
    """The dispatched bodies of a run, in the order they left."""
    request = table(Request)
    chosen = (request.c.run_id == run_id) & request.c.completed_at.is_not(None)
    with database.reading() as connection:
        ids = connection.execute(select(request.c.id).where(chosen).order_by(request.c.id))
        parts = [request_parts(connection, row.id) for row in ids.all()]
    return [json.loads(join(head, items)) for head, items in parts]
