"""The audit of answers: each is the last reply's text; it is scored again where its gold is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from revereval.errors import InputError
from revereval.ledger.audit_exchanges import read_reply
from revereval.ledger.audit_material import Material
from revereval.ledger.audit_rule import version_of
from revereval.provider.no_answer import WORDS
from revereval.provider.wire import Reply
from revereval.tasks.scoring import VERSION, Scores, score
from revereval.tasks.spec import KeyType, Task, load_task
from revereval.terms import (
    INTEGRITY_FAULTS,
    CaptureOutcome,
    Contract,
    Endpoint,
    Stage,
    StopReason,
)


class Scorer:
    """Scores answers against the gold of a tasks directory; each task is read once."""

    def __init__(self, tasks_dir: Path) -> None:
        self._tasks_dir = tasks_dir
        self._tasks: dict[str, Task | str] = {}

    def scores(self, plan: Mapping[str, Any], answer: str) -> Scores | str:
        """Both verdicts, or why there are none. plan: the plan's document."""
        version = version_of(plan, "scorer")
        if version != VERSION:
            return f"scorer of version {version}; here is version {VERSION}"
        task_id = plan["task"]["id"]
        if task_id not in self._tasks:
            self._tasks[task_id] = self._load(task_id)
        task = self._tasks[task_id]
        if isinstance(task, str):
            return task
        if task.gold_digest != plan["gold_digest"]:
            return f"the gold of task {task_id} is not the planned one any more"
        keys = {key: KeyType(kind) for key, kind in plan["task"]["keys"].items()}
        return score(answer, task.gold, keys)

    def _load(self, task_id: str) -> Task | str:
        try:
            return load_task(self._tasks_dir, task_id)
        except InputError as error:
            return f"no gold: {error}"


@dataclass(frozen=True)
class AnswerColumns:
    """Where a table keeps a final answer and the verdicts on it."""

    rows: str
    answered: Callable[[Row[Any]], bool]
    """Whether the row claims a final answer."""
    extracted: str
    strict: str
    key_scores: str
    reason: str


CAPTURE_ANSWER = AnswerColumns(
    "run",
    lambda run: bool(run.capture_outcome == CaptureOutcome.FINISHED),
    "answer_extracted",
    "answer_strict",
    "answer_key_scores",
    "capture_reason",
)
ARM_ANSWER = AnswerColumns(
    "arm",
    lambda arm: arm.endpoint in (Endpoint.CORRECT, Endpoint.WRONG),
    "extracted",
    "strict",
    "key_scores",
    "reason",
)

_OF_REPLIES = frozenset(WORDS) - {StopReason.CONTENT_FILTER}
"""Reasons that only a completed reply gives; a filter may also refuse the request."""


def check_answer(
    material: Material, scorer: Scorer, columns: AnswerColumns, stage: Stage, row: Row[Any]
) -> None:
    """An answer is there iff the row claims one, is the last reply's, and is worth its verdicts."""
    findings, rows = material.findings, columns.rows
    answered, stored = columns.answered(row), row.answer_blob_id
    completed = material.completed(stage)
    reply = read_reply(material, completed[-1]) if completed else None
    if answered != (stored is not None):
        wanted = "an answer" if answered else None
        findings.differ(rows, row.id, "answer_blob_id", stored, wanted)
    if not answered:
        if _is_final(reply) and not material.interrupted(stage):
            wanted = "an answer: the last reply is final"
            findings.differ(rows, row.id, "answer_blob_id", stored, wanted)
        reason = getattr(row, columns.reason)
        exempt = material.interrupted(stage) or reason in INTEGRITY_FAULTS
        stop = None if reply is None or exempt else reply.stop
        if (stop is not None or reason in _OF_REPLIES) and reason != stop:
            findings.differ(rows, row.id, columns.reason, reason, stop or "another")
        for name in (columns.extracted, columns.strict, columns.key_scores):
            findings.equal(rows, row.id, name, getattr(row, name), None)
        return
    data = material.bytes.get(stored)
    if reply is None or data is None or material.document is None:
        findings.skip(f"answer of {rows} {row.id}", "bytes that it needs have changed")
        return
    if not _is_final(reply) or reply.text.encode("utf-8", "surrogatepass") != data:
        findings.differ(rows, row.id, "answer_blob_id", stored, "the text of the last reply")
    _check_verdicts(material, scorer.scores(material.document, reply.text), columns, row)


def _is_final(reply: Reply | None) -> bool:
    return reply is not None and not reply.calls and reply.stop is None


def _check_verdicts(
    material: Material, scores: Scores | str, columns: AnswerColumns, row: Row[Any]
) -> None:
    """Both verdicts, and for an arm their reasons and the endpoint under the plan's contract."""
    findings, rows = material.findings, columns.rows
    extracted, strict = getattr(row, columns.extracted), getattr(row, columns.strict)
    if isinstance(scores, str):
        findings.skip("score of an answer", scores)
    else:
        findings.equal(rows, row.id, columns.extracted, extracted, scores.extracted)
        findings.equal(rows, row.id, columns.strict, strict, scores.strict)
        extracted, strict = scores.extracted, scores.strict
        stored = getattr(row, columns.key_scores)
        if stored is not None or material.plan.implementation:  # older ledgers kept none
            recomputed = scores.key_scores(Contract(material.plan.contract))
            findings.equal(rows, row.id, columns.key_scores, stored, recomputed)
    if columns is not ARM_ANSWER:
        return
    if isinstance(scores, Scores):
        for name in ("extracted_reason", "strict_reason"):
            findings.equal(rows, row.id, name, getattr(row, name), getattr(scores, name) or "")
    accepted = strict if material.plan.contract == Contract.STRICT else extracted
    endpoint = Endpoint.CORRECT if accepted else Endpoint.WRONG
    findings.equal(rows, row.id, "endpoint", row.endpoint, endpoint)
