"""`ledger audit`: everything recomputed from stored bytes, run by run; it changes nothing.

An exchange is checked from its raw bytes, a request from the replies before it and the rule, a
tape from its exchanges, a counter from the rows it counts, an endpoint from the answer. What
stored bytes that have changed would be needed for is not recomputed but listed as unchecked, so
one fault is reported once.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from revereval.errors import InputError
from revereval.ledger.audit_answers import Scorer
from revereval.ledger.audit_archive import check_archive
from revereval.ledger.audit_endings import check_arms, check_capture
from revereval.ledger.audit_exchanges import check_exchanges
from revereval.ledger.audit_material import Findings, load_material
from revereval.ledger.audit_pauses import check_pauses
from revereval.ledger.audit_projection import check_projection
from revereval.ledger.database import Database
from revereval.ledger.tables import Run, table

_RUN = table(Run)
_PAGE = 500


def audit(database: Database, run_ids: Sequence[int], tasks_dir: Path) -> Iterator[Findings]:
    """The findings of the file itself, then of each run; without ids, of every run.

    tasks_dir: where tasks with their gold are; answers of other tasks are not scored again.
    Raises InputError when there is no such run.
    """
    chosen = list(run_ids)
    with database.reading() as connection:
        found = set(connection.execute(select(_RUN.c.id).where(_RUN.c.id.in_(chosen))).scalars())
    for run_id in chosen:
        if run_id not in found:
            raise InputError(database.path, "", f"no run {run_id} in this ledger")
    yield _check_file(database)
    scorer = Scorer(tasks_dir)
    for run_id in chosen or _every_run(database):
        yield _check_run(database, run_id, scorer)


def _every_run(database: Database) -> Iterator[int]:
    after = -1
    while True:
        wanted = select(_RUN.c.id).where(_RUN.c.id > after).order_by(_RUN.c.id).limit(_PAGE)
        with database.reading() as connection:
            ids = list(connection.execute(wanted).scalars())
        if not ids:
            return
        after = ids[-1]
        yield from ids


def _check_file(database: Database) -> Findings:
    findings = Findings(None)
    with database.reading() as connection:
        for (problem,) in connection.exec_driver_sql("PRAGMA quick_check"):
            findings.equal("sqlite", None, "quick_check", problem, "ok")
        for rows, row_id, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            findings.differ(rows, row_id, "foreign key", parent, "no such row")
    return findings


def _check_run(database: Database, run_id: int, scorer: Scorer) -> Findings:
    """One run in one snapshot, so that a run at work is seen between two of its commits."""
    findings = Findings(run_id)
    try:
        with database.reading() as connection:
            connection.exec_driver_sql("BEGIN")
            try:
                _check_rows(connection, findings, scorer)
            finally:
                connection.exec_driver_sql("ROLLBACK")
    except DBAPIError as error:
        findings.differ("run", run_id, "rows", str(error.orig), "readable")
    return findings


def _check_rows(connection: Connection, findings: Findings, scorer: Scorer) -> None:
    material = load_material(connection, findings)
    check_exchanges(material)
    check_projection(material)
    check_archive(material)
    check_capture(material, scorer)
    check_arms(material, scorer)
    check_pauses(material)
