"""Recorded exchanges, read back for replay, and the sealed tape with its boundary request."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from revereval.canonical import sha256_hex
from revereval.ledger.blobs import BlobChangedError, get_blob, request_parts
from revereval.ledger.database import Database
from revereval.ledger.seal import chain, seal
from revereval.ledger.tables import Attempt, Plan, Request, Run, table
from revereval.provider.body import Body, Item
from revereval.terms import Stage

_REQUEST, _RUN, _PLAN, _ATTEMPT = table(Request), table(Run), table(Plan), table(Attempt)


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


def load_recorded(database: Database, run_id: int, stage: Stage) -> Recorded:
    """Raises BlobChangedError when stored bytes have changed."""
    with database.reading() as connection:
        exchanges, pending = [], None
        for row in _requests(connection, run_id, stage):
            if row.reply_blob_id is not None:
                reply = get_blob(connection, row.reply_blob_id)
                exchanges.append(Exchange(row.id, row.digest, reply))
                continue
            attempts = select(_ATTEMPT.c.id).where(_ATTEMPT.c.request_id == row.id)
            count = len(connection.execute(attempts).all())
            pending = Pending(row.id, row.digest, count)
        return Recorded(tuple(exchanges), pending)


def load_tape(database: Database, run_id: int) -> Tape:
    """Read and verify a sealed tape from its bytes. Raises SealBrokenError."""
    try:
        with database.reading() as connection:
            return _verified(connection, run_id)
    except BlobChangedError as error:
        raise SealBrokenError(str(error)) from None


def _verified(connection: Connection, run_id: int) -> Tape:
    run = connection.execute(select(_RUN).where(_RUN.c.id == run_id)).one()
    plan = connection.execute(select(_PLAN).where(_PLAN.c.id == run.plan_id)).one()
    if sha256_hex(plan.document.encode()) != plan.digest:
        raise SealBrokenError("the plan's document has not the plan's digest")
    exchanges, digests, boundary = [], [], None
    for row in _requests(connection, run_id, Stage.CAPTURE):
        body = _body(connection, row.id)
        if sha256_hex(body.data) != row.digest:
            raise SealBrokenError(f"the bytes of request {row.position} have changed")
        if row.id == run.boundary_request_id:
            boundary = body
            continue
        reply = get_blob(connection, row.reply_blob_id)
        exchanges.append(Exchange(row.id, row.digest, reply))
        digests.append((row.digest, sha256_hex(reply)))
    if boundary is None:
        raise SealBrokenError("the boundary request is missing")
    if seal(chain(plan.digest, digests), boundary.digest, plan.digest) != run.seal:
        raise SealBrokenError("the tape's entries do not give the recorded seal")
    return Tape(tuple(exchanges), run.boundary_request_id, boundary)


def _requests(connection: Connection, run_id: int, stage: Stage) -> list[Row[Any]]:
    chosen = (_REQUEST.c.run_id == run_id) & (_REQUEST.c.stage == stage)
    return list(connection.execute(select(_REQUEST).where(chosen).order_by(_REQUEST.c.position)))


def _body(connection: Connection, request_id: int) -> Body:
    head, items = request_parts(connection, request_id)
    return Body(head, tuple(Item(json.loads(item)) for item in items))


def load_body(database: Database, request_id: int) -> Body:
    """A recorded request's body. Raises BlobChangedError."""
    with database.reading() as connection:
        return _body(connection, request_id)
