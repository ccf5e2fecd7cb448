"""What an audit looks at and what it finds: the rows of one run, its bytes, disagreements."""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, Table, select

from revereval.canonical import sha256_hex
from revereval.ledger.tables import (
    ArchiveCall,
    Arm,
    Attempt,
    Blob,
    Decision,
    Observation,
    Plan,
    Request,
    Run,
    of_run,
    table,
)
from revereval.terms import Endpoint, Stage, StopReason
from revereval.words import amount

Value = str | int | float | None

_BLOB, _ATTEMPT, _REQUEST = table(Blob), table(Attempt), table(Request)


@dataclass(frozen=True)
class Disagreement:
    """A stored value that is not what the stored bytes and rows give."""

    run_id: int | None
    table: str
    row_id: int | None
    field: str
    stored: Value
    recomputed: Value

    def __str__(self) -> str:
        place = "ledger" if self.run_id is None else f"run {self.run_id}"
        row = self.table if self.row_id is None else f"{self.table} {self.row_id}"
        return f"{place}: {row}: {self.field}: stored {self.stored}, recomputed {self.recomputed}"


@dataclass
class Findings:
    """What the audit of one run (None: of the file itself) came to."""

    run_id: int | None
    disagreements: list[Disagreement] = field(default_factory=list)
    unchecked: list[tuple[str, str]] = field(default_factory=list)
    """(what, why) of everything that could not be recomputed."""
    open_intents: int = 0
    """Dispatches whose outcome is not recorded: a run at work, or one that died in flight."""

    def equal(
        self, rows: str, row_id: int | None, column: str, stored: Value, recomputed: Value
    ) -> bool:
        if stored != recomputed:
            self.differ(rows, row_id, column, stored, recomputed)
        return stored == recomputed

    def differ(
        self, rows: str, row_id: int | None, column: str, stored: Value, recomputed: Value
    ) -> None:
        found = Disagreement(self.run_id, rows, row_id, column, stored, recomputed)
        self.disagreements.append(found)

    def skip(self, what: str, why: str) -> None:
        self.unchecked.append((what, why))


@dataclass
class Summary:
    """The findings of a whole audit, counted."""

    runs: int = 0
    disagreements: int = 0
    unchecked: Counter[str] = field(default_factory=Counter)
    """How many things could not be recomputed, by the reason."""
    open_intents: int = 0

    def add(self, findings: Findings) -> None:
        self.runs += findings.run_id is not None
        self.disagreements += len(findings.disagreements)
        self.unchecked.update(why for _, why in findings.unchecked)
        self.open_intents += findings.open_intents

    def lines(self) -> Iterator[str]:
        yield f"{amount(self.runs, 'run')} audited, {amount(self.disagreements, 'disagreement')}"
        for why, count in self.unchecked.items():
            yield f"not checked: {count} ({why})"
        if self.open_intents:
            yield f"dispatches without a recorded outcome: {self.open_intents}"


@dataclass
class Bytes:
    """A run's blobs; each is read, checked and, where it has changed, reported once."""

    connection: Connection
    findings: Findings
    _known: dict[int, bytes | None] = field(default_factory=dict)

    def get(self, blob_id: int | None) -> bytes | None:
        """The bytes; None where they have changed."""
        if blob_id is None:
            return None
        if blob_id not in self._known:
            self._known[blob_id] = self._read(blob_id)
        return self._known[blob_id]

    def _read(self, blob_id: int) -> bytes | None:
        row = self.connection.execute(select(_BLOB).where(_BLOB.c.id == blob_id)).one_or_none()
        if row is None:
            self.findings.differ("blob", blob_id, "id", blob_id, "no such row")
            return None
        try:
            data: bytes = zlib.decompress(row.data) if row.zlib else row.data
        except zlib.error:
            self.findings.differ("blob", blob_id, "data", row.digest, "cannot be decompressed")
            return None
        same = self.findings.equal("blob", blob_id, "digest", row.digest, sha256_hex(data))
        self.findings.equal("blob", blob_id, "size_bytes", row.size_bytes, len(data))
        return data if same else None


@dataclass(frozen=True)
class Content:
    """A request's recorded parts, and the digest of the bytes they make."""

    head: bytes
    item_ids: tuple[int, ...]
    items: tuple[bytes, ...]
    digest: str


@dataclass
class Material:
    """One run's rows, each list in order, and what the checks made of them so far."""

    findings: Findings
    bytes: Bytes
    run: Row[Any]
    plan: Row[Any]
    arms: Mapping[str, Row[Any]]
    requests: Sequence[Row[Any]]
    """By id, so that each comes after the one it extends."""
    attempts: Mapping[int, Sequence[Row[Any]]]
    """By request, in order of their number."""
    observations: Sequence[Row[Any]]
    decisions: Sequence[Row[Any]]
    archive_calls: Sequence[Row[Any]]
    tape: Row[Any]
    """The run that captured the tape: this one, but for a repeat."""
    repeats: Sequence[int]
    """The numbers of the repeats from this run's tape, where it is its own."""
    document: Mapping[str, Any] | None = None
    """The plan's document; None when it is not what the plan's digest covers."""
    contents: dict[int, Content] = field(default_factory=dict)
    """By request; those whose bytes have changed are missing."""

    def stage(self, stage: str) -> list[Row[Any]]:
        """A stage's dispatched requests in order; the boundary is none of them."""
        return sorted(
            (
                request
                for request in self.requests
                if request.stage == stage and request.id != self.run.boundary_request_id
            ),
            key=lambda request: request.position,
        )

    def completed(self, stage: str) -> list[Row[Any]]:
        return [row for row in self.stage(stage) if row.reply_blob_id is not None]

    def interrupted(self, stage: str) -> bool:
        """The stage is at work or was interrupted: its last facts may still be to come."""
        if stage == Stage.CAPTURE:
            return bool(self.run.capture_reason == StopReason.INTERRUPTED)
        arm = self.arms.get(stage)
        return (
            arm is not None
            and arm.endpoint == Endpoint.STOPPED
            and arm.reason == StopReason.INTERRUPTED
        )


def load_material(connection: Connection, findings: Findings) -> Material:
    """The rows of the run that `findings` is about."""
    run_id = findings.run_id
    run_table, plan_table = table(Run), table(Plan)
    run = connection.execute(select(run_table).where(run_table.c.id == run_id)).one()
    plan = connection.execute(select(plan_table).where(plan_table.c.id == run.plan_id)).one()

    def of_its_run(rows: Table) -> list[Row[Any]]:
        wanted = select(rows).where(of_run(rows, run)).order_by(rows.c.id)
        return list(connection.execute(wanted))

    wanted_tape = select(run_table).where(run_table.c.id == run.tape_run_id)
    tape = connection.execute(wanted_tape).one_or_none()
    repeats = select(run_table.c.repeat).where(run_table.c.tape_run_id == run_id)
    repeats = repeats.order_by(run_table.c.repeat)
    arm_table = table(Arm)
    arms = connection.execute(select(arm_table).where(arm_table.c.run_id == run_id))
    wanted = select(_ATTEMPT).join(_REQUEST, _ATTEMPT.c.request_id == _REQUEST.c.id)
    wanted = wanted.where(of_run(_REQUEST, run)).order_by(_ATTEMPT.c.number)
    attempts: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for attempt in connection.execute(wanted):
        attempts[attempt.request_id].append(attempt)
    return Material(
        findings=findings,
        bytes=Bytes(connection, findings),
        run=run,
        plan=plan,
        arms={arm.name: arm for arm in arms},
        requests=of_its_run(_REQUEST),
        attempts=attempts,
        observations=of_its_run(table(Observation)),
        decisions=of_its_run(table(Decision)),
        archive_calls=of_its_run(table(ArchiveCall)),
        tape=tape or run,
        repeats=list(connection.execute(repeats).scalars()),
    )
