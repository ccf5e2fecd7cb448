"""The ledger's tables: whoever knows these rows knows the program (DESIGN §5).

Digests are SHA-256 in hex, times are ISO 8601 in UTC, NULL is unknown and never zero. A stage that
has begun is `stopped(interrupted)` until it ends otherwise, so a killed process leaves no row that
claims to be running.
"""

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Enum,
    Index,
    Table,
    UniqueConstraint,
    and_,
    or_,
)
from sqlmodel import Field, SQLModel

from revereval.terms import (
    ArchiveOutcome,
    ArmName,
    AttemptState,
    CaptureOutcome,
    Companion,
    Contract,
    ControlKind,
    DecisionReason,
    Endpoint,
    EndpointDefinition,
    PauseReason,
    Stage,
    StopReason,
)

SCHEMA_VERSION = 3


def table(model: type[SQLModel]) -> Table:
    """The SQLAlchemy table of a row class, for statements on the hot path."""
    return SQLModel.metadata.tables[str(model.__tablename__)]


def of_run(rows: Table, run: Any) -> ColumnElement[bool]:
    """The rows of a run by `run_id` and `stage`, those of the tape that a repeat shares included.

    run: its row, with `id` and `tape_run_id` as attributes.
    """
    own: ColumnElement[bool] = rows.c.run_id == run.id
    if run.tape_run_id is None:
        return own
    both = rows.c.run_id.in_([run.id, run.tape_run_id])  # an index serves IN and not OR
    return and_(both, or_(own, rows.c.stage == Stage.CAPTURE))


def _closed(enum: type[StrEnum]) -> Any:
    """A column that holds the values of one closed list; `_check_closed_lists` sees to it."""

    def values(members: type[StrEnum]) -> list[str]:
        return [member.value for member in members]

    return Enum(enum, values_callable=values, native_enum=False)


class Blob(SQLModel, table=True):
    """Bytes stored once, by their SHA-256."""

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    size_bytes: int
    """Of the original bytes."""
    zlib: bool
    data: bytes


class Plan(SQLModel, table=True):
    """Everything fixed before any outcome is seen; `digest` is of the canonical JSON `document`."""

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    document: str
    task_id: str = Field(index=True)
    source_group: str
    task_digest: str
    snapshot_digest: str
    gold_digest: str
    provider: str
    model: str
    seed: str
    first_arm: ArmName = Field(sa_type=_closed(ArmName))
    companion: Companion = Field(sa_type=_closed(Companion))
    endpoint_definition: EndpointDefinition = Field(sa_type=_closed(EndpointDefinition))
    contract: Contract = Field(sa_type=_closed(Contract))
    fitting: bool
    """The task is one of those that the projection rule was fitted on."""
    treatment: str
    """Digest of what the plan fixes apart from the task; plans that share it share a frame."""
    implementation: str
    """Digest of the versions of what decides; empty for a plan recorded without them."""
    control: ControlKind | None = Field(default=None, sa_type=_closed(ControlKind))
    """NULL for a treatment."""
    created_at: str


class Run(SQLModel, table=True):
    """One execution of a plan, and what its capture came to."""

    __table_args__ = (Index("ix_run_tape_repeat", "tape_run_id", "repeat", unique=True),)
    id: int | None = Field(default=None, primary_key=True)
    plan_id: int = Field(foreign_key="plan.id", index=True)
    created_at: str
    repeat: int = Field(default=1, ge=1, sa_column_kwargs={"server_default": "1"})
    """Which pair of continuations of its tape, from 1."""
    tape_run_id: int | None = Field(default=None, foreign_key="run.id")
    """The run that captured the tape; NULL where it is this one. A repeat has no capture rows."""
    capture_outcome: CaptureOutcome = Field(
        default=CaptureOutcome.STOPPED, sa_type=_closed(CaptureOutcome)
    )
    capture_reason: StopReason | None = Field(
        default=StopReason.INTERRUPTED, sa_type=_closed(StopReason)
    )
    """Why it stopped; NULL for boundary and finished."""
    capture_detail: str = ""
    """The same in words, for a person."""
    capture_ended_at: str | None = None
    answer_blob_id: int | None = Field(default=None, foreign_key="blob.id")
    """The answer of a capture that finished."""
    answer_extracted: bool | None = None
    answer_strict: bool | None = None
    answer_key_scores: str | None = None
    """JSON object: `right`, `wrong` or `missing` for each key of the gold."""
    boundary_request_id: int | None = Field(default=None, foreign_key="request.id")
    """Prepared, never dispatched by the capture."""
    prefix_requests: int | None = None
    """Exchanges on the tape."""
    prefix_archive_calls: int | None = None
    """Successful archive calls on the tape; they count against both arms alike."""
    tape_head: str | None = None
    """Digest of the last entry of the hash chain; of the plan digest when the tape is empty."""
    seal: str | None = None
    eligible_bytes: int | None = None
    """UTF-8 bytes of the observations eligible at the boundary."""
    eligible_count: int | None = None
    history_bytes: int | None = None
    """UTF-8 bytes of the canonical JSON of the boundary request's messages."""
    last_cached_fraction: float | None = None
    """Cached over total input of the tape's last reply; NULL when unknown."""
    f_first_request_digest: str | None = None
    p_first_request_digest: str | None = None
    """First suffix request of each arm with every tool-result text blanked."""
    first_requests_match: bool | None = None
    """Equal but for tool-result text; NULL until both were sent."""


class Arm(SQLModel, table=True):
    """F or P of one run. Both rows exist from the boundary on: an arm not run is a row."""

    __table_args__ = (
        UniqueConstraint("run_id", "name"),
        CheckConstraint("(endpoint IN ('stopped', 'unexecuted')) = (reason IS NOT NULL)"),
        CheckConstraint("endpoint != 'unexecuted' OR (started_at IS NULL AND suffix_requests = 0)"),
    )
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    name: ArmName = Field(sa_type=_closed(ArmName))
    turn: int = Field(ge=1, le=2)
    """1 for the arm that goes first, 2 for its companion."""
    endpoint: Endpoint = Field(sa_type=_closed(Endpoint))
    reason: str | None = None
    """Why it stopped or was not run; NULL for correct, wrong and capped."""
    detail: str = ""
    allowed_requests: int
    """K, reserved at the boundary."""
    allowed_archive_calls: int
    """What the prefix left of the allowance, reserved at the boundary."""
    allowed_metered_tokens: int | None = None
    """The budget of this arm; NULL is no limit."""
    suffix_requests: int = Field(default=0, ge=0)
    """Newly dispatched and completed; replayed prefix requests do not count."""
    archive_calls: int = Field(default=0, ge=0)
    """Successful ones of this arm, the prefix's left out."""
    metered_tokens: int = Field(default=0, ge=0)
    """Cumulative input of the continuation, metered from the bytes sent (4 bytes a token)."""
    largest_metered_prompt: int = Field(default=0, ge=0)
    metered_since_projection: int = Field(default=0, ge=0)
    """Metered tokens of the suffix requests from the last one that projected something new on."""
    answer_blob_id: int | None = Field(default=None, foreign_key="blob.id")
    extracted: bool | None = None
    strict: bool | None = None
    extracted_reason: str = ""
    strict_reason: str = ""
    key_scores: str | None = None
    """JSON object: `right`, `wrong` or `missing` for each key of the gold; NULL: no answer."""
    started_at: str | None = None
    ended_at: str | None = None


class Request(SQLModel, table=True):
    """One request of the capture or of a continuation; replays are not requests.

    Its bytes are `head`, its items and a fixed tail. `edits` lists only the items in which it
    differs from the request it extends, so the ledger grows with new content.
    """

    __table_args__ = (UniqueConstraint("run_id", "stage", "position"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    stage: Stage = Field(sa_type=_closed(Stage))
    position: int = Field(ge=0)
    """In the conversation, counted from 0; a suffix continues the prefix's count."""
    digest: str
    size_bytes: int
    metered_tokens: int
    """ceil(size_bytes / 4): the one meter of every limit."""
    head_blob_id: int = Field(foreign_key="blob.id")
    base_id: int | None = Field(default=None, foreign_key="request.id")
    item_count: int
    edits: str
    """JSON [[index, blob id], ...] against the base request."""
    newly_projected: int = 0
    """Observations that are projected in this request and in none before it."""
    prepared_at: str
    completed_at: str | None = None
    """NULL: no reply completed it."""
    reply_blob_id: int | None = Field(default=None, foreign_key="blob.id")
    entry_digest: str | None = None
    """Of the hash chain, for the entries of a sealed tape."""
    possibly_cut: bool = Field(default=False, sa_column_kwargs={"server_default": "0"})
    """Its output has the length of the requested limit, whatever the reply says."""
    reply_model: str | None = None
    input_tokens: int | None = None
    uncached_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    usage_estimated: bool = False
    """The reply calls its own usage an estimate, as the scripted reader's does."""
    usage_flags: str = ""
    """Contradictions in the reported usage, separated by spaces."""
    usage_raw: str | None = None
    """The reply's usage object as JSON."""


class Attempt(SQLModel, table=True):
    """One dispatch of a request, committed as intent before a byte leaves."""

    __table_args__ = (UniqueConstraint("request_id", "number"),)
    id: int | None = Field(default=None, primary_key=True)
    request_id: int = Field(foreign_key="request.id")
    number: int = Field(ge=1)
    state: AttemptState = Field(sa_type=_closed(AttemptState))
    started_at: str
    ended_at: str | None = None
    status: int | None = None
    """HTTP status of the reply; NULL where none came."""
    problem: str = ""
    ends_with: StopReason | None = Field(default=None, sa_type=_closed(StopReason))
    """The reason with which it ends its stage; NULL where it completed or may be sent again."""
    retry_after: str | None = None
    """The header as received."""
    reply_blob_id: int | None = Field(default=None, foreign_key="blob.id")


class Pause(SQLModel, table=True):
    """A stage that waits: what stopped it billed nothing and decided nothing."""

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    stage: Stage = Field(sa_type=_closed(Stage))
    reason: PauseReason = Field(sa_type=_closed(PauseReason))
    detail: str = ""
    """In words, the server's own among them."""
    paused_at: str
    ended_at: str | None = None
    """When the stage was taken up again or given up; NULL while it waits."""


class Observation(SQLModel, table=True):
    """One tool result as the agent received it; the text is in its conversation item."""

    __table_args__ = (UniqueConstraint("run_id", "stage", "position"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    stage: Stage = Field(sa_type=_closed(Stage))
    position: int
    """Among the conversation's observations, counted from 0."""
    request_position: int
    """The first request that carries it."""
    item_index: int
    tool: str
    call_id: str
    arguments: str
    """As sent back to the model."""
    handle: str
    """SHA-256 of the text."""
    size_bytes: int
    code_points: int
    error: str | None = None
    item_blob_id: int = Field(foreign_key="blob.id")


class Decision(SQLModel, table=True):
    """Why an observation is or is not projected, from one request on; a row when it changes."""

    __table_args__ = (UniqueConstraint("run_id", "stage", "request_position", "observation"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    stage: Stage = Field(sa_type=_closed(Stage))
    request_position: int
    observation: int
    """Position among the conversation's observations."""
    reason: DecisionReason = Field(sa_type=_closed(DecisionReason))
    saved_bytes: int | None = None
    """Original less projected UTF-8 bytes, where a projected text exists."""


class ImportedBoundary(SQLModel, table=True):
    """A boundary row of another harness, as its table had it."""

    __tablename__ = "imported_boundary"
    __table_args__ = (UniqueConstraint("source_digest", "row"),)
    id: int | None = Field(default=None, primary_key=True)
    source_digest: str
    """SHA-256 of the imported file."""
    row: int = Field(ge=1)
    """In that file, from 1."""
    record: str
    """JSON object: the documented columns that the row knows."""


class ArchiveCall(SQLModel, table=True):
    """One search_evidence or recover_evidence call; `observation` holds its arguments and text."""

    __tablename__ = "archive_call"
    __table_args__ = (UniqueConstraint("run_id", "stage", "observation"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    stage: Stage = Field(sa_type=_closed(Stage))
    observation: int
    outcome: ArchiveOutcome = Field(sa_type=_closed(ArchiveOutcome))
    remaining: int
    """Successful calls left to the arm after this one."""


def _check_closed_lists() -> None:
    """Let the database check them, by comparisons: of an IN list SQLite makes a table at each row.

    Some ten of these constraints are checked for one request.
    """
    for checked in SQLModel.metadata.tables.values():
        for column in checked.columns:
            if isinstance(column.type, Enum):
                equal = [f"{column.name} = '{value}'" for value in column.type.enums]
                constraint = CheckConstraint(" OR ".join(equal), name=column.type.name)
                checked.append_constraint(constraint)


_check_closed_lists()
