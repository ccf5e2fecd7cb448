"""`report` of a ledger with 5,000 pairs: seconds, bytes of the page, and peak memory."""

import hashlib
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PAIRS = 5_000
AIM_S, AIM_BYTES = 30.0, 5_000_000
TASKS = ("h11-framing", "packaging-specifiers")
"""One goes F first and answers twice, the other P first and is capped."""
_COMMAND = (sys.executable, "-c", "from revereval.cli.app import main; main()")
_TABLES = ("plan", "run", "arm", "request", "attempt", "observation", "decision", "archive_call")
_SHIFT = 1_000_000
"""Ids of the n-th copy are moved by n times this."""
_RUNS = 10
"""And those of plans and runs by n times this."""


def run(folder: Path) -> Iterator[str]:
    ledger = make_ledger(folder, PAIRS)
    for kind in ("html", "md"):
        page = folder / f"report.{kind}"
        arguments = ["report", "--ledger", str(ledger), "--format", kind, "--output", str(page)]
        seconds, peak = _measured(arguments)
        yield (
            f"report  {kind} of {PAIRS:,} pairs: {seconds:.1f} s (aim: at most {AIM_S:.0f}), "
            f"{page.stat().st_size:,} bytes (aim: at most {AIM_BYTES:,}), {peak:.0f} MiB at most"
        )


def _measured(arguments: list[str]) -> tuple[float, float]:
    """Seconds from start to end of the command, and its peak memory in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen([*_COMMAND, *arguments], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def make_ledger(folder: Path, pairs: int) -> Path:
    """Two real pairs, copied row by row with other plans, tasks, tokens and endpoints."""
    path = folder / "pairs.sqlite"
    for task in TASKS:
        arguments = ["run-pair", task, "--new", "--ledger", str(path)]
        subprocess.run([*_COMMAND, *arguments], check=True, capture_output=True)
    with sqlite3.connect(path) as connection:
        for table in _TABLES:
            _copy(connection, table, pairs // len(TASKS))
        _vary(connection)
    return path


def _copy(connection: sqlite3.Connection, table: str, times: int) -> None:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    moved = {"id", "request_id", "base_id", "boundary_request_id"}
    shifts = {name: f"{name} + n * {_SHIFT}" for name in moved}
    shifts |= {name: f"{name} + n * {_RUNS}" for name in ("run_id", "plan_id")}
    if table in ("plan", "run"):
        shifts["id"] = f"id + n * {_RUNS}"
    if table == "plan":
        shifts |= {"digest": "digest || n", "task_id": "task_id || '-' || (n % 400)",
                   "source_group": "source_group || '-' || (n % 150)",
                   "fitting": "n % 10 = 0"}  # fmt: skip
    values = ", ".join(shifts.get(name, name) for name in columns)
    connection.execute(
        f"INSERT INTO {table} WITH RECURSIVE c(n) AS "
        f"(SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {times - 1}) "
        f"SELECT {values} FROM {table}, c ORDER BY n, id"
    )


def _vary(connection: sqlite3.Connection) -> None:
    """Log-normal factors on the input of each arm; some arms wrong, some stopped."""

    def factor(run_id: int, stage: str) -> float:
        return random.Random(f"{run_id} {stage}").lognormvariate(0, 0.6)  # noqa: S311 - a benchmark

    connection.create_function("factor", 2, factor, deterministic=True)
    connection.create_function(
        "sha", 1, lambda text: hashlib.sha256(text.encode()).hexdigest(), deterministic=True
    )
    connection.execute("UPDATE plan SET digest = sha(digest)")
    for feature in ("history_bytes", "eligible_bytes"):
        varied = f"CAST({feature} * factor(id, '{feature}') AS INTEGER)"
        connection.execute(f"UPDATE run SET {feature} = {varied}")
    connection.execute(
        "UPDATE request SET input_tokens = CAST(input_tokens * factor(run_id, stage) AS INTEGER)"
    )
    connection.execute(
        "UPDATE arm SET endpoint = 'wrong', extracted = 0, strict = 0 "
        "WHERE endpoint = 'correct' AND factor(run_id, name || 'w') > 1.7"
    )
    connection.execute(
        "UPDATE arm SET endpoint = 'stopped', reason = 'provider_error', extracted = NULL, "
        "strict = NULL, answer_blob_id = NULL WHERE factor(run_id, name || 's') > 2.2"
    )
