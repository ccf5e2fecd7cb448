"""Pauses: a stage that waits is `interrupted` and has one open row that says for what."""

from collections.abc import Sequence
from typing import Any

from revereval.ledger import sql
from revereval.ledger.database import Database
from revereval.ledger.sql import insert_sql
from revereval.terms import PauseReason, Stage


def pause(
    database: Database, run_id: int, stage: Stage, reason: PauseReason, detail: str, now: str
) -> None:
    """Record that the stage waits, in its own row too, where a person looks for it first."""
    row = {"run_id": run_id, "stage": stage, "reason": reason, "detail": detail, "paused_at": now}
    said = {"detail": detail, "run": run_id, "stage": stage}
    with database.transaction():
        sql.run(database.driver, insert_sql("pause", row), row)
        sql.run(database.driver, _SAY_CAPTURE if stage is Stage.CAPTURE else _SAY_ARM, said)


def end_pause(database: Database, run_id: int, stage: Stage, now: str) -> None:
    """The stage is taken up again, or ended; nothing is written where it does not wait."""
    if any(row.stage == stage for row in open_pauses(database, run_id)):
        with database.transaction():
            database.driver.execute(_END, {"run": run_id, "stage": stage, "now": now})


def give_up(database: Database, run_ids: Sequence[int], now: str) -> bool:
    """End what waits in these runs for good, and what has not started; whether anything waited."""
    waiting = [row for run_id in run_ids for row in open_pauses(database, run_id)]
    if not waiting:
        return False
    with database.transaction():
        for row in waiting:
            given_up = _GIVE_UP_CAPTURE if row.stage == Stage.CAPTURE else _GIVE_UP_ARM
            at = {"run": row.run_id, "stage": row.stage, "now": now}
            database.driver.execute(given_up, at)
            database.driver.execute(_END, at)
        database.driver.executemany(_NEVER_START, [(run_id,) for run_id in run_ids])
    return True


def open_pauses(database: Database, run_id: int) -> list[Any]:
    """The pause rows of a run that have not ended."""
    return database.rows("SELECT * FROM pause WHERE run_id = ? AND ended_at IS NULL", run_id)


def pauses_of(database: Database, run_id: int) -> list[Any]:
    """All pause rows of a run in order."""
    return database.rows("SELECT * FROM pause WHERE run_id = ? ORDER BY id", run_id)


_SAY_CAPTURE = "UPDATE run SET capture_detail = :detail WHERE id = :run"
_SAY_ARM = "UPDATE arm SET detail = :detail WHERE run_id = :run AND name = :stage"
_GIVE_UP_CAPTURE = """
UPDATE run SET capture_reason = 'given_up', capture_ended_at = :now
WHERE id = :run AND capture_reason = 'interrupted'
"""
_GIVE_UP_ARM = """
UPDATE arm SET reason = 'given_up', ended_at = :now
WHERE run_id = :run AND name = :stage AND reason = 'interrupted'
"""
_NEVER_START = "UPDATE arm SET reason = 'given_up' WHERE run_id = ? AND reason = 'not_started'"
_END = """
UPDATE pause SET ended_at = :now WHERE run_id = :run AND stage = :stage AND ended_at IS NULL
"""
