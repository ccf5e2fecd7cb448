"""Writing one stage of one run as it happens: intent before a dispatch, the facts after it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, insert, update

from revereval.ledger.blobs import edits_json, inserted_id, put_blob
from revereval.ledger.database import Database
from revereval.ledger.tables import (
    ArchiveCall,
    Arm,
    Attempt,
    Decision,
    Observation,
    Request,
    Run,
    table,
)
from revereval.terms import ArchiveOutcome, AttemptState, DecisionReason, Stage

_RUN, _REQUEST, _ATTEMPT, _ARM = table(Run), table(Request), table(Attempt), table(Arm)
_OBSERVATION, _DECISION, _ARCHIVE = table(Observation), table(Decision), table(ArchiveCall)


@dataclass(frozen=True)
class NewObservation:
    """An observation that no recorded request of this run carries yet."""

    position: int
    item_index: int
    tool: str
    call_id: str
    arguments: str
    handle: str
    size_bytes: int
    code_points: int
    error: str | None
    item: bytes
    archive: tuple[ArchiveOutcome, int] | None
    """Outcome and remaining calls, for archive calls."""


@dataclass(frozen=True)
class NewDecision:
    observation: int
    reason: DecisionReason
    saved_bytes: int | None


@dataclass(frozen=True)
class NewRequest:
    """A prepared request; `edits` are the items in which it differs from `base_id`'s."""

    position: int
    digest: str
    size_bytes: int
    metered_tokens: int
    head: bytes
    base_id: int | None
    item_count: int
    edits: Sequence[tuple[int, bytes]]
    newly_projected: int
    observations: Sequence[NewObservation] = ()
    decisions: Sequence[NewDecision] = ()


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended."""

    state: AttemptState
    status: int | None = None
    problem: str = ""
    retry_after: str | None = None
    reply: bytes | None = None
    """The raw body, where one came back whole."""


@dataclass(frozen=True)
class Completion:
    """What a completed request's reply said; the fields are columns of `request`."""

    reply_model: str | None
    input_tokens: int | None
    uncached_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    usage_flags: str
    usage_raw: str | None


@dataclass(frozen=True)
class Meters:
    """An arm's counters after a completed request; the fields are columns of `arm`."""

    suffix_requests: int
    archive_calls: int
    metered_tokens: int
    largest_metered_prompt: int
    metered_since_projection: int


@dataclass
class StageRecorder:
    """Records the requests of the capture or of one arm. Methods are transactions of their own."""

    database: Database
    run_id: int
    stage: Stage
    now: Any
    """() -> ISO 8601 time in UTC."""
    _blob_ids: dict[bytes, int] = field(default_factory=dict)

    def intend(self, request: NewRequest) -> tuple[int, int]:
        """Record a request and the intent of its first attempt; returns both ids."""
        with self.database.writing() as connection:
            request_id = self.prepare(connection, request)
            return request_id, self._attempt(connection, request_id, 1)

    def intend_again(self, request_id: int, number: int) -> int:
        """Record the intent of a further attempt at the same request."""
        with self.database.writing() as connection:
            return self._attempt(connection, request_id, number)

    def fail(self, attempt_id: int, outcome: Outcome) -> None:
        """Close an attempt that did not complete its request."""
        with self.database.writing() as connection:
            self._close(connection, attempt_id, outcome)

    def complete(
        self,
        request_id: int,
        attempt_id: int,
        outcome: Outcome,
        completion: Completion,
        meters: Meters | None,
    ) -> None:
        """Close a request with its reply; `meters` for the stages that have an arm row."""
        with self.database.writing() as connection:
            reply_blob_id = self._close(connection, attempt_id, outcome)
            values = {"completed_at": self.now(), "reply_blob_id": reply_blob_id}
            values |= asdict(completion)
            connection.execute(_COMPLETE, {"row_id": request_id, **values})
            if meters is not None:
                key = {"row_run": self.run_id, "row_name": self.stage.value}
                connection.execute(_METER, {**key, **asdict(meters)})

    def note(self, request: NewRequest) -> None:
        """Record the observations and decisions of a request that is never sent."""
        with self.database.writing() as connection:
            self._note(connection, request)

    def first_suffix_request(self, blanked_digest: str) -> None:
        """Record the first suffix request with tool-result text blanked, and whether both match."""
        f, p = _RUN.c.f_first_request_digest, _RUN.c.p_first_request_digest
        column, other = (f, p) if self.stage is Stage.F else (p, f)
        values = {column.name: blanked_digest, "first_requests_match": other == blanked_digest}
        with self.database.writing() as connection:
            connection.execute(update(_RUN).where(_RUN.c.id == self.run_id).values(values))

    def prepare(self, connection: Connection, request: NewRequest) -> int:
        """Record a request without an attempt, in the caller's transaction; returns its id."""
        self._note(connection, request)
        edits = [(index, self._blob(connection, data)) for index, data in request.edits]
        row = {
            "run_id": self.run_id,
            "stage": self.stage,
            "position": request.position,
            "digest": request.digest,
            "size_bytes": request.size_bytes,
            "metered_tokens": request.metered_tokens,
            "head_blob_id": self._blob(connection, request.head),
            "base_id": request.base_id,
            "item_count": request.item_count,
            "edits": edits_json(edits),
            "newly_projected": request.newly_projected,
            "usage_flags": "",
            "prepared_at": self.now(),
        }
        return inserted_id(connection.execute(_NEW_REQUEST, row))

    def _note(self, connection: Connection, request: NewRequest) -> None:
        key = {"run_id": self.run_id, "stage": self.stage}
        at = {**key, "request_position": request.position}
        archived = []
        observed = []
        for new in request.observations:
            row = asdict(new)
            archive, item = row.pop("archive"), row.pop("item")
            observed.append({**at, **row, "item_blob_id": self._blob(connection, item)})
            if archive is not None:
                outcome, remaining = archive
                call = {"observation": new.position, "outcome": outcome, "remaining": remaining}
                archived.append({**key, **call})
        decided = [{**at, **asdict(decision)} for decision in request.decisions]
        pairs = ((_NEW_OBSERVATION, observed), (_NEW_ARCHIVE, archived), (_NEW_DECISION, decided))
        for statement, rows in pairs:
            if rows:
                connection.execute(statement, rows)

    def _attempt(self, connection: Connection, request_id: int, number: int) -> int:
        row = {
            "request_id": request_id,
            "number": number,
            "state": AttemptState.INTENT,
            "started_at": self.now(),
            "problem": "",
        }
        return inserted_id(connection.execute(_NEW_ATTEMPT, row))

    def _close(self, connection: Connection, attempt_id: int, outcome: Outcome) -> int | None:
        reply = outcome.reply
        reply_blob_id = None if reply is None else put_blob(connection, reply)
        row = {
            "row_id": attempt_id,
            "state": outcome.state,
            "ended_at": self.now(),
            "status": outcome.status,
            "problem": outcome.problem,
            "retry_after": outcome.retry_after,
            "reply_blob_id": reply_blob_id,
        }
        connection.execute(_CLOSE, row)
        return reply_blob_id

    def _blob(self, connection: Connection, data: bytes) -> int:
        """The blob id of an item or head; what this stage stored before is not looked up again."""
        if data not in self._blob_ids:
            self._blob_ids[data] = put_blob(connection, data)
        return self._blob_ids[data]


def _set(row_table: Any, columns: Sequence[str], **where: str) -> Any:
    """An update of `columns`, the rows chosen by bound names that differ from the columns'."""
    statement = update(row_table).values({name: bindparam(name) for name in columns})
    for column, bound in where.items():
        statement = statement.where(row_table.c[column] == bindparam(bound))
    return statement


def _fields(row_class: Any) -> list[str]:
    names: Mapping[str, Any] = row_class.__dataclass_fields__
    return list(names)


_NEW_REQUEST, _NEW_ATTEMPT = insert(_REQUEST), insert(_ATTEMPT)
# a resumed stage meets what it recorded before its interruption again
_NEW_OBSERVATION = insert(_OBSERVATION).prefix_with("OR IGNORE")
_NEW_ARCHIVE = insert(_ARCHIVE).prefix_with("OR IGNORE")
_NEW_DECISION = insert(_DECISION).prefix_with("OR IGNORE")
_COMPLETE = _set(_REQUEST, ["completed_at", "reply_blob_id", *_fields(Completion)], id="row_id")
_METER = _set(_ARM, _fields(Meters), run_id="row_run", name="row_name")
_CLOSE = _set(
    _ATTEMPT,
    ["state", "ended_at", "status", "problem", "retry_after", "reply_blob_id"],
    id="row_id",
)
