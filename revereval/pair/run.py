"""A whole run: its plan row, its capture, its boundary, and both continuations in their order."""

from collections.abc import Mapping
from typing import Any

from revereval.canonical import canonical_bytes, digest
from revereval.errors import FaultError, InputError
from revereval.ledger import pauses
from revereval.ledger.database import Database
from revereval.ledger.pauses import end_pause
from revereval.ledger.repeats import repeats_of, require_repeats
from revereval.ledger.runs import in_doubt, load_run, update_arm, update_run
from revereval.ledger.treatment import treatment_digest
from revereval.pair.capture import capture
from revereval.pair.continuation import continue_arm
from revereval.pair.lock import run_lock
from revereval.pair.plan import Plan
from revereval.pair.stage import Work
from revereval.pair.tape import PLAN_CHANGED, plan_changed
from revereval.terms import ArmName, Endpoint, Stage, StopReason, UnexecutedReason


def plan_row(plan: Plan, now: str) -> Mapping[str, Any]:
    """The plan as a row of the ledger."""
    config, task, planned = plan.config, plan.task, plan.document
    return {
        "digest": plan.digest,
        "document": canonical_bytes(planned).decode(),
        "task_id": task.id,
        "source_group": task.source.group,
        "task_digest": planned["task"]["digest"],
        "snapshot_digest": planned["snapshot_digest"],
        "gold_digest": planned["gold_digest"],
        "provider": config.provider.kind,
        "model": config.provider.model,
        "seed": config.seed,
        "first_arm": plan.first_arm,
        "companion": config.companion,
        "endpoint_definition": config.endpoint,
        "contract": config.contract,
        "fitting": planned["fitting"],
        "treatment": treatment_digest(planned),
        "implementation": digest(planned["implementation"]) if "implementation" in planned else "",
        "control": planned.get("control"),
        "created_at": now,
    }


def run_capture(work: Work, run_id: int) -> None:
    """The capture alone. Raises as `capture` does, and InputError while the run is locked."""
    with run_lock(work.database.path, run_id):
        _require(work, run_id)
        capture(work, run_id)


def run_pair(work: Work, run_id: int) -> None:
    """Capture if needed, then the continuations that are owed, repeat after repeat.

    run_id: the run that captures. Raises as `run_capture` does.
    """
    with run_lock(work.database.path, run_id):
        _require(work, run_id)
        capture(work, run_id)
        for repeat in _require(work, run_id):
            for arm in load_run(work.database, repeat).arms:
                continue_arm(work, repeat, ArmName(arm.name))


def give_up(database: Database, run_id: int, now: str) -> int:
    """End a run that waits, with its repeats, for good; returns the run that captured its tape.

    What waits becomes `stopped(given_up)` and what has not started stays unexecuted, given up too.
    Raises InputError where nothing waits, and while the run is locked.
    """
    every = repeats_of(database, load_run(database, run_id).run)
    with run_lock(database.path, every[0]):
        if not pauses.give_up(database, every, now):
            problem = "is not paused: there is nothing to give up"
            raise InputError(database.path, f"run {run_id}", problem)
    return every[0]


def _require(work: Work, run_id: int) -> list[int]:
    """The runs on this run's tape, as the command's plan has them. Raises FaultError."""
    plan = work.plan
    return require_repeats(work.database, run_id, plan.digest, plan.config.repeats)


def require_its_plan(database: Database, run_id: int, now: str) -> None:
    """Raise FaultError, with the seal recorded as broken, where a run's plan has changed."""
    if not plan_changed(load_run(database, run_id)):
        return
    with run_lock(database.path, run_id):
        rows = load_run(database, run_id)
        if rows.run.capture_reason == StopReason.INTERRUPTED:
            reason = _broken(database, run_id, Stage.CAPTURE, now)
            end_pause(database, run_id, Stage.CAPTURE, now)
            ended = {"capture_detail": PLAN_CHANGED, "capture_ended_at": now}
            update_run(database, run_id, capture_reason=reason, **ended)
        for repeat in repeats_of(database, rows.run):
            _break_arms(database, repeat, now)
    raise FaultError(f"run {run_id}: {PLAN_CHANGED}: {StopReason.SEAL_BROKEN}")


def _break_arms(database: Database, run_id: int, now: str) -> None:
    """The first arm that is owed something stops at the broken seal; its companion never starts."""
    owed = (StopReason.INTERRUPTED, UnexecutedReason.NOT_STARTED)
    arms = load_run(database, run_id).arms
    stopped = any(arm.reason == StopReason.SEAL_BROKEN for arm in arms if arm.started_at)
    for arm in arms:
        name, started = ArmName(arm.name), arm.started_at or now
        if arm.reason in owed and not (stopped and arm.started_at is None):
            values = {
                "endpoint": Endpoint.STOPPED,
                "reason": _broken(database, run_id, Stage(name), now),
            }
            end_pause(database, run_id, Stage(name), now)
            ended = {"started_at": started, "detail": PLAN_CHANGED, "ended_at": now}
            update_arm(database, run_id, name, **values, **ended)
            stopped = True
        elif arm.reason == UnexecutedReason.NOT_STARTED:
            update_arm(database, run_id, name, reason=UnexecutedReason.SEAL_BROKEN)


def _broken(database: Database, run_id: int, stage: Stage, now: str) -> StopReason:
    """Why a stage ends at a broken seal: what may have been billed stays in doubt."""
    doubtful = in_doubt(database, run_id, stage, now)
    return StopReason.IN_DOUBT if doubtful else StopReason.SEAL_BROKEN
