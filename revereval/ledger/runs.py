"""Plan, run and arm rows: created once, closed once, found again when something is owed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from revereval.errors import InputError
from revereval.ledger import sql
from revereval.ledger.blobs import put_blob
from revereval.ledger.database import Database
from revereval.ledger.recording import NewRequest, StageRecorder
from revereval.ledger.repeats import first_of_repeat
from revereval.ledger.seal import chain, seal
from revereval.ledger.sql import insert_sql, update_sql
from revereval.terms import (
    ArmName,
    CaptureOutcome,
    Endpoint,
    Stage,
    StopReason,
    UnexecutedReason,
)

IN_DOUBT = (StopReason.IN_DOUBT, StopReason.AMBIGUOUS_DISPATCH)
"""Endings that only an explicit resend takes up again."""


@dataclass(frozen=True)
class RunRows:
    """One run as recorded: rows of `plan`, `run` and `arm`, their columns as attributes."""

    plan: Any
    run: Any
    arms: Sequence[Any]
    """In the order they go; none or two."""


def load_run(database: Database, run_id: int) -> RunRows:
    """Raises InputError when there is no such run."""
    found = database.rows("SELECT * FROM run WHERE id = ?", run_id)
    if not found:
        raise InputError(database.path, "", f"no run {run_id} in this ledger")
    (plan,) = database.rows("SELECT * FROM plan WHERE id = ?", found[0].plan_id)
    arms = database.rows("SELECT * FROM arm WHERE run_id = ? ORDER BY turn", run_id)
    return RunRows(plan, found[0], arms)


def find_or_create_run(
    database: Database, plan: Mapping[str, Any], *, arms: bool, resend: bool, create: bool
) -> int | None:
    """The newest run of the plan that is owed something, else a new one; returns its id.

    Where a repeat is owed something, the run that captured its tape stands for it.

    plan: the columns of a plan row. arms: whether owed continuations count, or only captures.
    resend: whether what is in doubt is owed too. create: None is returned and nothing is written
    where it is false and nothing is owed.
    """
    reasons = [StopReason.INTERRUPTED, *(IN_DOUBT if resend else ())]
    owed = f"capture_reason IN ({_marks(reasons)})"
    values: list[Any] = [*reasons]
    if arms:
        resumable = [*reasons, UnexecutedReason.NOT_STARTED]
        its_arms = "SELECT 1 FROM arm WHERE arm.run_id = run.id"
        owed += f" OR EXISTS ({its_arms} AND arm.reason IN ({_marks(resumable)}))"
        owed += f" OR EXISTS ({its_arms} AND {_WITHHELD_NO_MORE})"
        values += resumable
    newest = f"SELECT max(coalesce(tape_run_id, id)) AS id FROM run WHERE plan_id = ? AND ({owed})"  # noqa: S608 - marks
    with database.transaction():
        known = database.rows("SELECT id FROM plan WHERE digest = ?", plan["digest"])
        found = [row.id for plan in known for row in database.rows(newest, plan.id, *values)]
        if found and found[0] is not None:
            return int(found[0])
        return _new_run(database, plan) if create else None


_WITHHELD_NO_MORE = """
arm.reason = 'companion_rule' AND EXISTS (
  SELECT 1 FROM arm AS first
  WHERE first.run_id = arm.run_id AND first.turn = 1 AND first.endpoint IN ('correct', 'wrong'))
"""
"""A companion whose first arm answered after all, on a resend."""


def create_run(database: Database, plan: Mapping[str, Any]) -> int:
    """A new run of the plan, whatever older ones are owed."""
    with database.transaction():
        return _new_run(database, plan)


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" for _ in values)


def _new_run(database: Database, plan: Mapping[str, Any]) -> int:
    sql.run(database.driver, insert_sql("plan", plan, or_ignore=True), plan)
    (known,) = database.rows("SELECT id FROM plan WHERE digest = ?", plan["digest"])
    row = {
        "plan_id": known.id,
        "created_at": plan["created_at"],
        "repeat": 1,
        "capture_outcome": CaptureOutcome.STOPPED,
        "capture_reason": StopReason.INTERRUPTED,
        "capture_detail": "",
    }
    return sql.run(database.driver, insert_sql("run", row), row)


def update_run(database: Database, run_id: int, **values: Any) -> None:
    """values: columns, or `answer`: the bytes of the answer, stored with them."""
    with database.transaction():
        _update_run(database, run_id, _columns(database, values))


def _update_run(database: Database, run_id: int, values: Mapping[str, Any]) -> None:
    statement = update_sql("run", values, "id = :row_id")
    sql.run(database.driver, statement, {**values, "row_id": run_id})


def update_arm(database: Database, run_id: int, name: ArmName, **values: Any) -> None:
    """values: as for `update_run`."""
    with database.transaction():
        row = _columns(database, values)
        statement = update_sql("arm", row, "run_id = :row_run AND name = :row_name")
        sql.run(database.driver, statement, {**row, "row_run": run_id, "row_name": name})


def _columns(database: Database, values: dict[str, Any]) -> dict[str, Any]:
    if "answer" in values:
        values["answer_blob_id"] = put_blob(database.driver, values.pop("answer"))
    return values


def in_doubt(database: Database, run_id: int, stage: Stage, now: str) -> bool:
    """Whether a dispatch of the stage's uncompleted request may have been billed.

    Closes the intents that nobody can complete any more.
    """
    chosen = {"run": run_id, "stage": stage, "now": now}
    with database.transaction():
        database.driver.execute(_CLOSE_INTENTS, chosen)
        (found,) = database.rows(_DOUBTFUL, run_id, stage)
    return bool(found.count)


_CLOSE_INTENTS = """
UPDATE attempt
SET state = 'in_doubt', ended_at = :now, problem = 'the process ended between intent and reply'
WHERE state = 'intent'
  AND request_id IN (SELECT id FROM request WHERE run_id = :run AND stage = :stage)
"""
_DOUBTFUL = """
SELECT count(*) AS count FROM request JOIN attempt ON attempt.request_id = request.id
WHERE run_id = ? AND stage = ? AND completed_at IS NULL AND state IN ('in_doubt', 'ambiguous')
"""


def write_boundary(
    recorder: StageRecorder,
    request: NewRequest,
    plan: Any,
    features: Mapping[str, Any],
    allowances: Mapping[str, Any],
    repeats: int,
) -> None:
    """Seal the tape and enter the run into the frame, both arms unexecuted: one transaction.

    plan: the plan row; features: predecision columns of `run`; allowances: `allowed_*` of `arm`.
    repeats: pairs of continuations that the plan takes from the tape; each further one is a run.
    """
    database, run_id = recorder.database, recorder.run_id
    with database.transaction():
        taped = database.rows(_TAPED, run_id, Stage.CAPTURE)
        boundary_id = recorder.prepare(request)
        entries = chain(plan.digest, [(row.digest, row.reply_digest) for row in taped])
        chained = [(entry, row.id) for entry, row in zip(entries, taped, strict=True)]
        database.driver.executemany("UPDATE request SET entry_digest = ? WHERE id = ?", chained)
        sealed = {
            "capture_outcome": CaptureOutcome.BOUNDARY,
            "capture_reason": None,
            "capture_detail": "",
            "capture_ended_at": recorder.now(),
            "boundary_request_id": boundary_id,
            "prefix_requests": len(entries),
            "tape_head": entries[-1] if entries else plan.digest,
            "seal": seal(entries, request.digest, plan.digest),
        }
        _update_run(database, run_id, {**sealed, **features})
        for repeat in range(1, repeats + 1):
            repeated = run_id if repeat == 1 else _new_repeat(database, run_id, repeat)
            first = first_of_repeat(ArmName(plan.first_arm), repeat)
            for turn, name in enumerate((first, first.companion), start=1):
                arm = {**_UNEXECUTED, **allowances, "run_id": repeated, "name": name, "turn": turn}
                sql.run(database.driver, insert_sql("arm", arm), arm)


def _new_repeat(database: Database, tape_run_id: int, repeat: int) -> int:
    """A run with the boundary of another: all its columns but those of the arms to come."""
    (tape,) = database.rows("SELECT * FROM run WHERE id = ?", tape_run_id)
    row = {**vars(tape), "repeat": repeat, "tape_run_id": tape_run_id}
    del row["id"]
    return sql.run(database.driver, insert_sql("run", row), row)


_TAPED = """
SELECT request.id, request.digest, blob.digest AS reply_digest
FROM request JOIN blob ON blob.id = request.reply_blob_id
WHERE run_id = ? AND stage = ? ORDER BY position
"""
_UNEXECUTED = {
    "endpoint": Endpoint.UNEXECUTED,
    "reason": UnexecutedReason.NOT_STARTED,
    "detail": "",
    "extracted_reason": "",
    "strict_reason": "",
    "suffix_requests": 0,
    "archive_calls": 0,
    "metered_tokens": 0,
    "largest_metered_prompt": 0,
    "metered_since_projection": 0,
}
