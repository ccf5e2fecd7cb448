"""Ledgers for the tests: whole runs with chosen endings, written through the ledger itself."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from revereval.canonical import canonical_bytes, digest, sha256_hex, utf8
from revereval.ledger import runs
from revereval.ledger.blobs import request_parts
from revereval.ledger.database import Database
from revereval.ledger.recording import StageRecorder
from revereval.ledger.treatment import treatment_digest
from revereval.provider.usage import read_usage
from revereval.tasks import scoring
from revereval.tasks.spec import load_task
from revereval.terms import (
    ArchiveOutcome,
    ArmName,
    CaptureOutcome,
    Endpoint,
    Stage,
    StopReason,
    UsageConvention,
)
from tests.ledger.script import (
    HEAD,
    LONG,
    NOW,
    OPENING,
    POLICY,
    READ,
    SEARCH,
    StageWriter,
    Turn,
)

IMPLEMENTATION = {
    part: {"version": version, "digest": "0" * 64}
    for part, version in {
        "prompt": 1, "tools": 2, "archive": 2, "projection_text": 1, "boundary_rule": 1,
        "scorer": scoring.VERSION, "wire": 1,
    }.items()
}  # fmt: skip
"""Of the rules by which the made-up runs are written."""
LATER = {
    "search_matches",
    "search_match_chars",
    "search_chars",
    "recover_chars",
    "recover_default_chars",
}
"""Settings that plans got together with their implementation."""
RIGHT, WRONG = '{"x": 1}', '{"x": 2}'


@dataclass(frozen=True)
class ArmScript:
    """What an arm does, and how it is closed."""

    turns: Sequence[Turn]
    endpoint: Endpoint
    reason: str | None = None


@dataclass
class Build:
    """Writes runs into one ledger. `tasks_dir` holds the task with its gold."""

    database: Database
    tasks_dir: Path

    def plan(
        self, implementation: Mapping[str, Any] | None = MappingProxyType({}), **changes: Any
    ) -> dict[str, Any]:
        """A plan row; `changes` are columns of it that the document shares.

        implementation: parts of it that are other ones; None for a plan from before it.
        """
        task = load_task(self.tasks_dir, "what-is-x")
        shared = {
            "snapshot_digest": task.source.snapshot_digest, "gold_digest": task.gold_digest,
            "seed": "s", "first_arm": "F", "companion": "always", "endpoint_definition": "request",
            "contract": "extracted", "fitting": False,
        } | changes  # fmt: skip
        document = {
            "version": 1,
            "task": {
                "id": task.id, "source_group": task.source.group, "digest": task.digest,
                "keys": {"x": "integer"},
            },
            "provider": {
                "kind": "openai-chat", "wire": "chat", "model": "m", "echo_unknown": True,
                "usage_convention": "cached_in_input",
            },
            "head_digest": sha256_hex(HEAD),
            "opening_digest": digest([dict(item.value) for item in OPENING]),
            "projection": POLICY.model_dump(),
            "limits": {"prefix_requests": 12, "suffix_requests": 12, "metered_tokens": None},
            **shared,
        }  # fmt: skip
        covered = ""
        if implementation is None:  # the settings of then
            document["projection"] = POLICY.model_dump(exclude=LATER)
        else:
            document["implementation"] = IMPLEMENTATION | dict(implementation)
            covered = digest(document["implementation"])
        return {
            "digest": digest(document), "document": canonical_bytes(document).decode(),
            "task_id": task.id, "source_group": task.source.group, "task_digest": task.digest,
            "provider": "openai-chat", "model": "m", "created_at": NOW,
            "treatment": treatment_digest(document),
            "implementation": covered, "control": None,
            **shared,
        }  # fmt: skip

    def capture(self, turns: Sequence[Turn], **plan: Any) -> tuple[int, StageWriter]:
        """A run with its capture at work."""
        run_id = runs.create_run(self.database, self.plan(**plan))
        writer = StageWriter(self._recorder(run_id, Stage.CAPTURE), list(OPENING))
        for turn in turns:
            writer.send(turn)
        return run_id, writer

    def finished(self, turns: Sequence[Turn], **plan: Any) -> int:
        run_id, _ = self.capture(turns, **plan)
        text = turns[-1].answer
        runs.update_run(
            self.database, run_id, capture_outcome=CaptureOutcome.FINISHED, capture_reason=None,
            capture_ended_at=NOW, answer=utf8(text),
            answer_extracted=text == RIGHT, answer_strict=text == RIGHT,
            answer_key_scores='{"x":"right"}' if text == RIGHT else '{"x":"wrong"}',
        )  # fmt: skip
        return run_id

    def stopped(self, turns: Sequence[Turn], reason: StopReason, detail: str = "") -> int:
        run_id, _ = self.capture(turns)
        runs.update_run(
            self.database, run_id, capture_reason=reason, capture_detail=detail,
            capture_ended_at=NOW,
        )  # fmt: skip
        return run_id

    def pair(self, capture: Sequence[Turn], arms: Mapping[ArmName, ArmScript], **plan: Any) -> int:
        """A boundary run: observation 0 is eligible at the boundary, and P projects it."""
        run_id, writer = self.capture(capture, **plan)
        request = writer.request(eligible=[0])
        calls = sum(asked.archive is ArchiveOutcome.OK for _, asked, _ in writer.observations)
        last = read_usage(capture[-1].usage, UsageConvention.CACHED_IN_INPUT)
        cached, total = last.cached_tokens, last.input_tokens
        row = runs.load_run(self.database, run_id).plan
        runs.write_boundary(
            writer.recorder,
            request,
            row,
            {
                "eligible_bytes": 2100, "eligible_count": 1,
                "history_bytes": request.size_bytes - len(HEAD),
                "last_cached_fraction": cached / total if total and cached is not None else None,
                "prefix_archive_calls": calls,
            },
            {
                "allowed_requests": 12, "allowed_archive_calls": 3 - calls,
                "allowed_metered_tokens": None,
            },
            repeats=1,
        )  # fmt: skip
        boundary_id = runs.load_run(self.database, run_id).run.boundary_request_id
        for name, script in arms.items():
            branch = writer.branch(self._recorder(run_id, Stage(name)), (boundary_id, writer._data))
            self._arm(run_id, name, branch, script)
        return run_id

    def _arm(self, run_id: int, name: ArmName, writer: StageWriter, script: ArmScript) -> None:
        interrupted = {"endpoint": Endpoint.STOPPED, "reason": StopReason.INTERRUPTED}
        runs.update_arm(self.database, run_id, name, started_at=NOW, **interrupted)
        for number, turn in enumerate(script.turns):
            writer.send(turn, eligible=[0] if number == 0 else ())
        values: dict[str, Any] = {"endpoint": script.endpoint, "reason": script.reason}
        if script.endpoint in (Endpoint.CORRECT, Endpoint.WRONG):
            text = script.turns[-1].answer
            strict = text == RIGHT
            judged = runs.load_run(self.database, run_id).plan.contract
            found = text if judged == "extracted" or strict or text == WRONG else ""
            right = "right" if RIGHT in found else "wrong" if WRONG in found else "missing"
            values |= {
                "key_scores": f'{{"x":"{right}"}}',
                "answer": utf8(text),
                "extracted": RIGHT in text, "strict": strict,
                "extracted_reason": "" if RIGHT in text else "wrong_value:x",
                "strict_reason": "" if strict else "not_json" if RIGHT in text else "wrong_value:x",
            }  # fmt: skip
        runs.update_arm(self.database, run_id, name, ended_at=NOW, **values)
        blanked = sha256_hex(self._blanked(run_id))
        column = {f"{name.lower()}_first_request_digest": blanked}
        if script.turns:
            runs.update_run(self.database, run_id, **column)
        run = runs.load_run(self.database, run_id).run
        if run.f_first_request_digest and run.p_first_request_digest:
            runs.update_run(self.database, run_id, first_requests_match=True)

    def _blanked(self, run_id: int) -> bytes:
        """The boundary's bytes with every tool-result text empty."""
        run = runs.load_run(self.database, run_id).run
        with self.database.reading() as connection:
            start, items = request_parts(connection, run.boundary_request_id)
        values = [json.loads(item) for item in items]
        for value in values:
            if value["role"] == "tool":
                value["content"] = ""
        return start + b",".join(map(canonical_bytes, values)) + b"]}"

    def _recorder(self, run_id: int, stage: Stage) -> StageRecorder:
        return StageRecorder(self.database, run_id, stage, lambda: NOW)


PREFIX = (Turn([READ]), Turn([SEARCH]))
ANSWERS = Turn(answer=RIGHT)
ERRS = Turn(answer=WRONG)


def both(f: ArmScript, p: ArmScript) -> dict[ArmName, ArmScript]:
    return {ArmName.F: f, ArmName.P: p}


def write_tasks(folder: Path) -> Path:
    """A tasks directory with one task, `what-is-x`, whose gold is `{"x": 1}`."""
    group = folder / "made-up-group"
    group.mkdir(parents=True)
    (group / "source.toml").write_text(
        'package = "made-up"\nversion = "1"\nsplit = "development"\n'
        f'[files]\n"a.py" = "{sha256_hex(LONG.encode())}"\n'
    )
    (group / "what-is-x.toml").write_text(
        'prompt = "What is x?"\nreads = 1\n[keys]\nx = "integer"\n[premises]\n'
        '[[evidence.x]]\nfile = "a.py"\nline = 1\nspan = "x = 1"\n'
    )
    (group / "what-is-x.oracle.py").write_text("")
    (group / "what-is-x.gold.json").write_text('{"x": 1}')
    return folder


def open_build(folder: Path) -> Iterator[Build]:
    database = Database(folder / "ledger.sqlite", write=True)
    yield Build(database, write_tasks(folder / "tasks"))
    database.close()
