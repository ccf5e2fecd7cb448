"""Recorded exchanges, read back for replay, and the sealed tape with its boundary request."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from revereval.canonical import sha256_hex, utf8
from revereval.ledger.blobs import BlobChangedError, get_blob, request_parts
from revereval.ledger.database import Database
from revereval.ledger.runs import RunRows, load_run
from revereval.ledger.seal import chain, seal
from revereval.provider.body import Body, Item, RunningDigest
from revereval.terms import Stage, StopReason


class SealBrokenError(Exception):
    """The tape is not what was sealed; the message says where."""


@dataclass(frozen=True)
class Exchange:
    """One completed request and the raw reply to it."""

    request_id: int
    request_digest: str
    reply: bytes


@dataclass(frozen=True)
class Pending:
    """A recorded request that no reply completed, and how many attempts it has."""

    request_id: int
    request_digest: str
    attempts: int
    ends_with: StopReason | None
    """What the last attempt ended its stage with, had the process lived to record it."""
    problem: str


@dataclass(frozen=True)
class Recorded:
    """What a stage has behind it: exchanges in order, then perhaps one request not completed."""

    exchanges: tuple[Exchange, ...] = ()
    pending: Pending | None = None


@dataclass(frozen=True)
class Tape:
    """The sealed prefix: replayed by sequence number, verified by digest."""

    exchanges: tuple[Exchange, ...]
    boundary_id: int
    boundary: Body
    seal: str


PLAN_CHANGED = "the plan's document has not the plan's digest"


def plan_changed(rows: RunRows) -> bool:
    return sha256_hex(utf8(str(rows.plan.document))) != str(rows.plan.digest)


def load_recorded(database: Database, run_id: int, stage: Stage) -> Recorded:
    """Raises BlobChangedError when stored bytes have changed."""
    exchanges, pending = [], None
    with database.reading() as connection:
        for row in database.rows(_REQUESTS, run_id, stage):
            if row.reply_blob_id is not None:
                reply = get_blob(connection, row.reply_blob_id)
                exchanges.append(Exchange(row.id, row.digest, reply))
                continue
            last = database.rows(_ATTEMPTS, row.id)[-1]
            ends_with = None if last.ends_with is None else StopReason(last.ends_with)
            pending = Pending(row.id, row.digest, last.number, ends_with, last.problem)
    return Recorded(tuple(exchanges), pending)


_ATTEMPTS = """
SELECT number, ends_with, problem FROM attempt WHERE request_id = ? ORDER BY number
"""


def load_tape(database: Database, run_id: int) -> Tape:
    """Read and verify a sealed tape from its bytes. Raises SealBrokenError."""
    rows = load_run(database, run_id)
    if plan_changed(rows):
        raise SealBrokenError(PLAN_CHANGED)
    try:
        with database.reading() as connection:
            taped = database.rows(_REQUESTS, run_id, Stage.CAPTURE)
            return _verified(connection, rows, taped)
    except BlobChangedError as error:
        raise SealBrokenError(str(error)) from None


def _verified(connection: Connection, rows: RunRows, taped: Sequence[Any]) -> Tape:
    run, plan = rows.run, rows.plan
    exchanges, digests, boundary = [], [], None
    known: dict[int, bytes] = {}
    running = RunningDigest()
    for row in taped:
        head, items = request_parts(connection, row.id, known)
        if running.of(head, items) != row.digest:
            raise SealBrokenError(f"the bytes of request {row.position} have changed")
        if row.id == run.boundary_request_id:
            boundary = _parsed(head, items, running)
            continue
        reply = get_blob(connection, row.reply_blob_id)
        exchanges.append(Exchange(row.id, row.digest, reply))
        digests.append((row.digest, sha256_hex(reply)))
    if boundary is None:
        raise SealBrokenError("the boundary request is missing")
    if seal(chain(plan.digest, digests), boundary.digest, plan.digest) != run.seal:
        raise SealBrokenError("the tape's entries do not give the recorded seal")
    return Tape(tuple(exchanges), run.boundary_request_id, boundary, run.seal)


_REQUESTS = """
SELECT id, position, digest, reply_blob_id FROM request
WHERE run_id = ? AND stage = ? ORDER BY position
"""


def _parsed(head: bytes, items: list[bytes], running: RunningDigest) -> Body:
    return Body(head, tuple(Item(json.loads(item), item) for item in items), running)


def load_body(database: Database, request_id: int) -> Body:
    """A recorded request's body. Raises BlobChangedError."""
    with database.reading() as connection:
        return _parsed(*request_parts(connection, request_id), RunningDigest())
