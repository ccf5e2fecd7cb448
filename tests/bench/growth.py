"""Ledger bytes of a 48-request conversation against a 12-request one, observations of one size."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from revereval.cli.execution import How, started
from revereval.pair.run import run_pair
from tests.bench.synthetic import make_task

NEW = How(new=True, resend=False, arms=True)

OBSERVATION_KIB = 12
AIM = 6.0


def run(folder: Path) -> Iterator[str]:
    tasks = make_task(folder, files=60, kib=OBSERVATION_KIB)
    sizes = {count: _full(folder, tasks, count) for count in (12, 48)}
    yield _row("one full conversation", sizes)
    sizes = {count: _pair(folder, tasks, count) for count in (12, 48)}
    yield _row("a pair, each arm so many requests", sizes)


def _row(what: str, sizes: dict[int, int]) -> str:
    short, long = sizes[12], sizes[48]
    return (
        f"growth  {what}: {short:,} bytes at 12 requests, {long:,} at 48: "
        f"ratio {long / short:.2f} (aim: at most {AIM:.0f})"
    )


def _full(folder: Path, tasks: Path, requests: int) -> int:
    """A capture that never meets anything eligible and stops at its cap."""
    limits = f"prefix_requests = {requests}"
    return _bytes(folder, tasks, f"full{requests}", limits, "min_observation_bytes = 1000000000")


def _pair(folder: Path, tasks: Path, requests: int) -> int:
    limits = f"suffix_requests = {requests}"
    return _bytes(folder, tasks, f"pair{requests}", limits, "")


def _bytes(folder: Path, tasks: Path, name: str, limits: str, projection: str) -> int:
    config = folder / f"{name}.toml"
    config.write_text(f"[limits]\n{limits}\n[projection]\n{projection}\n")
    ledger = folder / f"{name}.sqlite"
    with started("long-read", config, ledger, tasks, NEW) as (work, run_id):
        run_pair(work, run_id)
    with sqlite3.connect(ledger) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ledger.stat().st_size
