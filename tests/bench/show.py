"""`ledger show` of one run on a ledger of 10,000 runs against a ledger of ten."""

import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from revereval.cli.execution import How, started
from revereval.ledger.database import Database
from revereval.ledger.show import run_facts
from revereval.pair.run import run_pair

NEW = How(new=True, resend=False, arms=True)

ROUNDS = 9
AIM = 2.0
_TABLES = ("run", "arm", "request", "attempt", "observation", "decision", "archive_call")
_SHIFT = 1_000_000
"""Ids of the n-th copy are moved by n times this."""


def run(folder: Path) -> Iterator[str]:
    ledgers = {count: _ledger(folder, count) for count in (10, 10_000)}
    for what, measure in (("command", _command), ("query", _query)):
        taken: dict[int, list[float]] = {count: [] for count in ledgers}
        for _ in range(ROUNDS):
            for count, ledger in ledgers.items():
                taken[count].append(measure(ledger))
        few, many = (statistics.median(times) * 1000 for times in taken.values())
        yield (
            f"show    {what}: {many:.1f} ms with 10,000 runs, {few:.1f} ms with 10: "
            f"ratio {many / few:.2f} (aim: at most {AIM:.0f})"
        )


def _command(ledger: Path) -> float:
    start = time.perf_counter()
    program = "from revereval.cli.app import main; main()"
    arguments = ["ledger", "show", "1", "--ledger", str(ledger)]
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def _query(ledger: Path) -> float:
    database = Database(ledger, write=False)
    start = time.perf_counter()
    run_facts(database, 1)
    taken = time.perf_counter() - start
    database.close()
    return taken


def _ledger(folder: Path, runs: int) -> Path:
    """One real run, copied row by row."""
    path = folder / f"{runs}.sqlite"
    with started("h11-framing", None, path, Path("tasks"), NEW) as (work, run_id):
        run_pair(work, run_id)
    with sqlite3.connect(path) as connection:
        for table in _TABLES:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            moved = {"id", "request_id", "base_id", "boundary_request_id"}
            shifts = {name: f"{name} + n * {_SHIFT}" for name in moved}
            shifts["run_id"] = "run_id + n"
            if table == "run":
                shifts["id"] = "id + n"
            values = ", ".join(shifts.get(name, name) for name in columns)
            connection.execute(
                f"INSERT INTO {table} WITH RECURSIVE c(n) AS "
                f"(SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {runs - 1}) "
                f"SELECT {values} FROM {table}, c ORDER BY n, id"
            )
    return path
