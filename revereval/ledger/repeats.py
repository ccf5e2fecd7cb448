"""Repeats: further pairs of continuations from one sealed tape, each a run that shares it."""

from typing import Any

from revereval.ledger.database import Database
from revereval.terms import ArmName


def first_of_repeat(first: ArmName, repeat: int) -> ArmName:
    """The arm that goes first in a repeat, counted from 1: they take turns from the plan's on."""
    return first if repeat % 2 else first.companion


def repeats_of(database: Database, run: Any) -> list[int]:
    """The ids of all runs on one tape in order, the run that captured it first."""
    tape = run.tape_run_id or run.id
    rows = database.rows("SELECT id FROM run WHERE tape_run_id = ? ORDER BY repeat", tape)
    return [tape, *(row.id for row in rows)]
