"""A clean pair to be tampered with, and what an audit then says."""

from typing import Any

from revereval.ledger.audit import audit
from revereval.ledger.audit_material import Findings
from revereval.ledger.recording import Outcome
from revereval.terms import AttemptState, Endpoint
from tests.ledger.build import ANSWERS, PREFIX, RIGHT, ArmScript, Build, both
from tests.ledger.script import READ, REFUSED, SEARCH, Turn, used

BUSY = Outcome(AttemptState.FAILED, 429, "slow down", "1")
LOST = Outcome(AttemptState.AMBIGUOUS, problem="read timeout")


def write_pair(build: Build) -> None:
    """Run 1: F searches and is right, P has parallel calls, a retry, unknown usage, and is wrong.

    Requests: 1 and 2 the tape, 3 the boundary, 4 and 5 of F, 6 and 7 of P. Arms: 1 is F, 2 is P.
    """
    f = [Turn([SEARCH], usage=used(200, 150, 20)), ANSWERS]
    p = [Turn([READ, REFUSED], usage=None, failed=[BUSY]), Turn(answer=f"It is {RIGHT}, no? {{}}")]
    arms = both(ArmScript(f, Endpoint.CORRECT), ArmScript(p, Endpoint.WRONG))
    build.pair(PREFIX, arms, contract="strict")


def findings(build: Build, *run_ids: int) -> list[Findings]:
    return list(audit(build.database, run_ids, build.tasks_dir))


def disagreements(build: Build) -> set[tuple[str, str, Any, Any]]:
    """(table, field, stored, recomputed) of all that the audit reports."""
    return {
        (found.table, found.field, found.stored, found.recomputed)
        for run in findings(build)
        for found in run.disagreements
    }


def fields(build: Build) -> set[tuple[str, str]]:
    return {(table, field) for table, field, _, _ in disagreements(build)}


def tamper(build: Build, statement: str, *values: Any) -> None:
    with build.database.reading() as connection, build.database.transaction():
        changed = connection.exec_driver_sql(statement, values).rowcount
        assert changed >= 1
