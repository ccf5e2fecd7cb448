"""Repeats: further pairs of continuations from one sealed tape, each a run that shares it."""

from typing import Any

from revereval.errors import FaultError
from revereval.ledger.database import Database
from revereval.terms import ArmName, CaptureOutcome

SHARED = ("plan_id", "boundary_request_id", "prefix_requests", "tape_head", "seal", "history_bytes")
"""What a repeat has from the run that captured its tape."""


def first_of_repeat(first: ArmName, repeat: int) -> ArmName:
    """The arm that goes first in a repeat, counted from 1: they take turns from the plan's on."""
    return first if repeat % 2 else first.companion


def repeats_of(database: Database, run: Any) -> list[int]:
    """The ids of all runs on one tape in order, the run that captured it first."""
    tape = run.tape_run_id or run.id
    rows = database.rows("SELECT id FROM run WHERE tape_run_id = ? ORDER BY repeat", tape)
    return [tape, *(row.id for row in rows)]


def require_repeats(database: Database, run_id: int, plan_digest: str, repeats: int) -> list[int]:
    """The ids of the runs on one tape, all as the plan has them; only one before the boundary.

    Raises FaultError for rows that somebody changed, before anything is sent for any of them. Each
    run's seal is checked when one of its arms starts.
    """
    (tape,) = database.rows("SELECT * FROM run WHERE id = ?", run_id)
    others = database.rows("SELECT * FROM run WHERE tape_run_id = ? ORDER BY repeat", run_id)
    (plan,) = database.rows("SELECT digest FROM plan WHERE id = ?", tape.plan_id)
    reached = tape.capture_outcome == CaptureOutcome.BOUNDARY
    numbers = [tape.repeat, *(row.repeat for row in others)]
    faults = [f"run {row.id}" for row in others if row.plan_id != tape.plan_id]
    if plan.digest != plan_digest or tape.tape_run_id is not None:
        faults.append(f"run {run_id}")
    if numbers != list(range(1, (repeats if reached else 1) + 1)):
        faults.append(f"repeats {', '.join(map(str, numbers))} of {repeats}")
    for row in (tape, *others):
        arms = database.rows("SELECT name FROM arm WHERE run_id = ? ORDER BY name", row.id)
        if [arm.name for arm in arms] != (list(ArmName) if reached else []):
            faults.append(f"arms of run {row.id}")
    if faults:
        problem = f"not as its plan has it ({faults[0]}); `revereval ledger audit` says more"
        raise FaultError(f"run {run_id}: {problem}")
    return [run_id, *(row.id for row in others)]
