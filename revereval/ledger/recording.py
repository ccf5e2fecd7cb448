"""Writing one stage of one run as it happens: intent before a dispatch, the facts after it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from revereval.ledger import sql
from revereval.ledger.blobs import edits_json, put_blob
from revereval.ledger.database import Database
from revereval.ledger.sql import insert_sql, update_sql
from revereval.terms import ArchiveOutcome, AttemptState, DecisionReason, Stage, StopReason


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
    blanked_digest: str | None = None
    """Digest with tool-result text blanked, for the first suffix request of an arm."""
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
    ends_with: StopReason | None = None
    """The reason with which it ends its stage."""


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
    usage_estimated: bool
    usage_flags: str
    usage_raw: str | None
    possibly_cut: bool


@dataclass(frozen=True)
class Meters:
    """An arm's counters after a completed request; the fields are columns of `arm`."""

    suffix_requests: int
    metered_tokens: int
    largest_metered_prompt: int
    metered_since_projection: int


@dataclass
class StageRecorder:
    """Records the requests of the capture or of one arm. Methods are transactions of their own."""

    database: Database
    run_id: int
    stage: Stage
    now: Callable[[], str]
    """ISO 8601 time in UTC."""
    _head_ids: dict[bytes, int] = field(default_factory=dict)
    """Blob ids of heads: all requests of a stage have the same."""

    def intend(self, request: NewRequest) -> tuple[int, int]:
        """Record a request and the intent of its first attempt; returns both ids."""
        with self.database.transaction():
            request_id = self.prepare(request)
            return request_id, self._attempt(request_id, 1)

    def intend_again(self, request_id: int, number: int) -> int:
        """Record the intent of a further attempt at the same request."""
        with self.database.transaction():
            return self._attempt(request_id, number)

    def fail(self, attempt_id: int, outcome: Outcome) -> None:
        """Close an attempt that did not complete its request."""
        with self.database.transaction():
            self._close(attempt_id, outcome)

    def complete(
        self,
        request_id: int,
        attempt_id: int,
        outcome: Outcome,
        completion: Completion,
        meters: Meters | None,
    ) -> None:
        """Close a request with its reply; `meters` for the stages that have an arm row."""
        with self.database.transaction():
            reply_blob_id = self._close(attempt_id, outcome)
            done = {"completed_at": self.now(), "reply_blob_id": reply_blob_id}
            self._run(_COMPLETE, {**vars(completion), **done, "row_id": request_id})
            if meters is not None:
                key = {"row_run": self.run_id, "row_name": self.stage.value}
                self._run(_METER, {**vars(meters), **key})

    def note(self, request: NewRequest) -> None:
        """Record the observations and decisions of a request that is never sent."""
        with self.database.transaction():
            self._note(request, {})

    def first_suffix_request(self, blanked_digest: str) -> None:
        """Record a first suffix request that is not the boundary's and will never be sent."""
        with self.database.transaction():
            self._first_suffix_request(blanked_digest)

    def _first_suffix_request(self, blanked_digest: str) -> None:
        """Its digest with tool-result text blanked, and whether both arms' match."""
        mine, other = ("f", "p") if self.stage is Stage.F else ("p", "f")
        self._run(
            f"UPDATE run SET {mine}_first_request_digest = :digest, first_requests_match ="  # noqa: S608 - the columns are ours: f or p
            f" {other}_first_request_digest = :digest WHERE id = :run",
            {"digest": blanked_digest, "run": self.run_id},
        )

    def prepare(self, request: NewRequest) -> int:
        """Record a request without an attempt, in the caller's transaction; returns its id."""
        driver, head = self.database.driver, request.head
        edits = [(index, put_blob(driver, data)) for index, data in request.edits]
        self._note(request, dict(edits))
        if head not in self._head_ids:
            self._head_ids[head] = put_blob(driver, head)
        row = {
            "run_id": self.run_id,
            "stage": self.stage.value,
            "position": request.position,
            "digest": request.digest,
            "size_bytes": request.size_bytes,
            "metered_tokens": request.metered_tokens,
            "head_blob_id": self._head_ids[head],
            "base_id": request.base_id,
            "item_count": request.item_count,
            "edits": edits_json(edits),
            "newly_projected": request.newly_projected,
            "usage_estimated": False,
            "usage_flags": "",
            "prepared_at": self.now(),
        }
        return self._run(_NEW_REQUEST, row)

    def _note(self, request: NewRequest, stored: Mapping[int, int]) -> None:
        """stored: blob ids of items by their index; the others are stored here."""
        if request.blanked_digest is not None:
            self._first_suffix_request(request.blanked_digest)
        key = {"run_id": self.run_id, "stage": self.stage.value}
        at = {**key, "request_position": request.position}
        for new in request.observations:
            blob_id = stored.get(new.item_index) or put_blob(self.database.driver, new.item)
            row = {**vars(new), **at, "item_blob_id": blob_id}
            self._run(_NEW_OBSERVATION, row)
            if new.archive is not None:
                outcome, remaining = new.archive
                call = {"observation": new.position, "remaining": remaining}
                self._run(_NEW_ARCHIVE, {**key, **call, "outcome": outcome.value})
                self._run(_COUNT_ARCHIVE, key)
        decided = [
            {**at, **vars(decision), "reason": decision.reason.value}
            for decision in request.decisions
        ]
        self.database.driver.executemany(_NEW_DECISION, decided)

    def _attempt(self, request_id: int, number: int) -> int:
        row = {"request_id": request_id, "number": number, "state": AttemptState.INTENT.value}
        return self._run(_NEW_ATTEMPT, {**row, "started_at": self.now(), "problem": ""})

    def _close(self, attempt_id: int, outcome: Outcome) -> int | None:
        blob_id = None if outcome.reply is None else put_blob(self.database.driver, outcome.reply)
        closed = {"ended_at": self.now(), "reply_blob_id": blob_id, "row_id": attempt_id}
        self._run(_CLOSE, {**vars(outcome), "state": outcome.state.value, **closed})
        return blob_id

    def _run(self, statement: str, values: Mapping[str, Any]) -> int:
        return sql.run(self.database.driver, statement, values)


_NEW_REQUEST = insert_sql("request", [
    "run_id", "stage", "position", "digest", "size_bytes", "metered_tokens", "head_blob_id",
    "base_id", "item_count", "edits", "newly_projected", "usage_estimated",
    "usage_flags", "prepared_at",
])  # fmt: skip
_NEW_ATTEMPT = insert_sql("attempt", ["request_id", "number", "state", "started_at", "problem"])
# a resumed stage meets what it recorded before its interruption again
_NEW_OBSERVATION = insert_sql("observation", [
    "run_id", "stage", "position", "request_position", "item_index", "tool", "call_id",
    "arguments", "handle", "size_bytes", "code_points", "error", "item_blob_id",
], or_ignore=True)  # fmt: skip
_NEW_ARCHIVE = insert_sql("archive_call", [
    "run_id", "stage", "observation", "outcome", "remaining",
], or_ignore=True)  # fmt: skip
_NEW_DECISION = insert_sql("decision", [
    "run_id", "stage", "request_position", "observation", "reason", "saved_bytes",
], or_ignore=True)  # fmt: skip
_COUNT_ARCHIVE = """
UPDATE arm SET archive_calls = (
  SELECT count(*) FROM archive_call
  WHERE run_id = :run_id AND stage = :stage AND outcome = 'ok')
WHERE run_id = :run_id AND name = :stage
"""
_COMPLETE = update_sql(
    "request",
    ["completed_at", "reply_blob_id", *(column.name for column in fields(Completion))],
    "id = :row_id",
)
_METER = update_sql(
    "arm",
    [column.name for column in fields(Meters)],
    "run_id = :row_run AND name = :row_name",
)
_CLOSE = update_sql(
    "attempt",
    ["state", "ended_at", "status", "problem", "ends_with", "retry_after", "reply_blob_id"],
    "id = :row_id",
)
