"""Plan, run and arm rows: created once, closed once, found again when something is owed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, insert, select, update

from revereval.errors import InputError
from revereval.ledger.blobs import inserted_id, put_blob
from revereval.ledger.database import Database
from revereval.ledger.recording import NewRequest, StageRecorder
from revereval.ledger.seal import chain, seal
from revereval.ledger.tables import Arm, Attempt, Blob, Plan, Request, Run, table
from revereval.terms import (
    ArmName,
    AttemptState,
    CaptureOutcome,
    Endpoint,
    Stage,
    StopReason,
    UnexecutedReason,
)

_PLAN, _RUN, _ARM = table(Plan), table(Run), table(Arm)
_REQUEST, _ATTEMPT, _BLOB = table(Request), table(Attempt), table(Blob)

IN_DOUBT = frozenset({StopReason.IN_DOUBT, StopReason.AMBIGUOUS_DISPATCH})
"""Endings that only an explicit resend takes up again."""


@dataclass(frozen=True)
class RunRows:
    """One run as recorded: its plan, itself, and its arms in the order they go (none or two)."""

    plan: Row[Any]
    run: Row[Any]
    arms: tuple[Row[Any], ...]


def load_run(database: Database, run_id: int) -> RunRows:
    """Raises InputError when there is no such run."""
    with database.reading() as connection:
        run = connection.execute(select(_RUN).where(_RUN.c.id == run_id)).one_or_none()
        if run is None:
            raise InputError(database.path, "", f"no run {run_id} in this ledger")
        plan = connection.execute(select(_PLAN).where(_PLAN.c.id == run.plan_id)).one()
        arms = select(_ARM).where(_ARM.c.run_id == run_id).order_by(_ARM.c.turn)
        return RunRows(plan, run, tuple(connection.execute(arms)))


def find_or_create_run(
    database: Database, plan: Mapping[str, Any], *, arms: bool, resend: bool
) -> int:
    """The newest run of the plan that is owed something, else a new one; returns its id.

    plan: the columns of a plan row. arms: whether owed continuations count, or only captures.
    resend: whether what is in doubt is owed too.
    """
    with database.writing() as connection:
        plan_id = _plan_id(connection, plan)
        reasons = {StopReason.INTERRUPTED, *(IN_DOUBT if resend else ())}
        owed: ColumnElement[bool] = _RUN.c.capture_reason.in_(reasons)
        if arms:
            resumable = _ARM.c.reason.in_({*reasons, UnexecutedReason.NOT_STARTED})
            owed |= exists().where((_ARM.c.run_id == _RUN.c.id) & resumable)
        newest = select(_RUN.c.id).where((_RUN.c.plan_id == plan_id) & owed)
        run_id = connection.execute(newest.order_by(_RUN.c.id.desc()).limit(1)).scalar()
        return _new_run(connection, plan_id, plan) if run_id is None else int(run_id)


def create_run(database: Database, plan: Mapping[str, Any]) -> int:
    """A new run of the plan, whatever older ones are owed."""
    with database.writing() as connection:
        return _new_run(connection, _plan_id(connection, plan), plan)


def _plan_id(connection: Connection, plan: Mapping[str, Any]) -> int:
    found = connection.execute(select(_PLAN.c.id).where(_PLAN.c.digest == plan["digest"])).scalar()
    return inserted_id(connection.execute(insert(_PLAN), dict(plan))) if found is None else found


def _new_run(connection: Connection, plan_id: int, plan: Mapping[str, Any]) -> int:
    row = {
        "plan_id": plan_id,
        "created_at": plan["created_at"],
        "capture_outcome": CaptureOutcome.STOPPED,
        "capture_reason": StopReason.INTERRUPTED,
        "capture_detail": "",
    }
    return inserted_id(connection.execute(insert(_RUN), row))


def update_run(database: Database, run_id: int, **values: Any) -> None:
    with database.writing() as connection:
        connection.execute(update(_RUN).where(_RUN.c.id == run_id).values(values))


def update_arm(database: Database, run_id: int, name: ArmName, **values: Any) -> None:
    with database.writing() as connection:
        arm = (_ARM.c.run_id == run_id) & (_ARM.c.name == name)
        connection.execute(update(_ARM).where(arm).values(values))


def store_blob(database: Database, data: bytes) -> int:
    with database.writing() as connection:
        return put_blob(connection, data)


def mark_in_doubt(database: Database, run_id: int, stage: Stage, now: str) -> bool:
    """Close the stage's intents that nobody can complete any more; whether there were any."""
    with database.writing() as connection:
        requests = select(_REQUEST.c.id).where(
            (_REQUEST.c.run_id == run_id) & (_REQUEST.c.stage == stage)
        )
        open_intents = (_ATTEMPT.c.state == AttemptState.INTENT) & _ATTEMPT.c.request_id.in_(
            requests
        )
        values = {
            "state": AttemptState.IN_DOUBT,
            "ended_at": now,
            "problem": "the process ended between intent and reply",
        }
        return bool(
            connection.execute(update(_ATTEMPT).where(open_intents).values(values)).rowcount
        )


def write_boundary(
    recorder: StageRecorder,
    request: NewRequest,
    plan: Row[Any],
    features: Mapping[str, Any],
    allowances: Mapping[str, Any],
) -> None:
    """Seal the tape and enter the run into the frame, both arms unexecuted: one transaction.

    features: predecision columns of `run`; allowances: `allowed_*` columns of `arm`.
    """
    with recorder.database.writing() as connection:
        run_id, now = recorder.run_id, recorder.now()
        taped = _taped(connection, run_id)
        boundary_id = recorder.prepare(connection, request)
        entries = chain(plan.digest, [(row.digest, row.reply_digest) for row in taped])
        for row, entry in zip(taped, entries, strict=True):
            chosen = update(_REQUEST).where(_REQUEST.c.id == row.id)
            connection.execute(chosen.values(entry_digest=entry))
        values = {
            "capture_outcome": CaptureOutcome.BOUNDARY,
            "capture_reason": None,
            "capture_detail": "",
            "capture_ended_at": now,
            "boundary_request_id": boundary_id,
            "prefix_requests": len(entries),
            "tape_head": entries[-1] if entries else plan.digest,
            "seal": seal(entries, request.digest, plan.digest),
            **features,
        }
        connection.execute(update(_RUN).where(_RUN.c.id == run_id).values(values))
        arm = {
            "run_id": run_id,
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
            **allowances,
        }
        first = ArmName(plan.first_arm)
        names = enumerate((first, first.companion), start=1)
        rows = [{**arm, "name": name, "turn": turn} for turn, name in names]
        connection.execute(insert(_ARM), rows)


def _taped(connection: Connection, run_id: int) -> list[Row[Any]]:
    """The completed requests of the capture, in order."""
    columns = select(_REQUEST.c.id, _REQUEST.c.digest, _BLOB.c.digest.label("reply_digest"))
    joined = columns.join_from(_REQUEST, _BLOB, _REQUEST.c.reply_blob_id == _BLOB.c.id)
    chosen = (_REQUEST.c.run_id == run_id) & (_REQUEST.c.stage == Stage.CAPTURE)
    return list(connection.execute(joined.where(chosen).order_by(_REQUEST.c.position)))
