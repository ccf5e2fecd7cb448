"""Migrations: what each schema version added, applied in order and never edited."""

import json
import re
from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection

from revereval.ledger.treatment import treatment_digest

Step = str | Callable[[Connection], None]


def _more_stop_reasons(connection: Connection) -> None:
    reasons = (
        "budget", "ambiguous_dispatch", "provider_error", "prefix_mismatch", "seal_broken",
        "snapshot_changed", "interrupted", "in_doubt", "context_overflow", "output_limit",
        "content_filter", "refusal", "reasoning_only", "function_call", "given_up", "prefix_cap",
    )  # fmt: skip
    for table, column in (("run", "capture_reason"), ("attempt", "ends_with")):
        allowed = " OR ".join(f"{column} = '{reason}'" for reason in reasons)
        _replace_check(connection, table, "stopreason", allowed)


def _replace_check(connection: Connection, table: str, name: str, check: str) -> None:
    """Rebuild a table with another named constraint, as SQLite's ALTER TABLE page has it (7.)."""
    query = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND type = ? AND sql NOT NULL"
    (old,) = connection.exec_driver_sql(query, (table, "table")).scalars()
    indexes = list(connection.exec_driver_sql(query, (table, "index")).scalars())
    constraint = rf"CONSTRAINT {name} CHECK \((?:[^()]|\([^()]*\))*\)"
    new, found = re.subn(constraint, f"CONSTRAINT {name} CHECK ({check})", old)
    assert found == 1, f"{table} has its constraint {name}"
    rebuilt = re.sub(rf'CREATE TABLE "?{table}"? ', f"CREATE TABLE rebuilt_{table} ", new)
    for statement in (
        rebuilt,
        f"INSERT INTO rebuilt_{table} SELECT * FROM {table}",  # noqa: S608 - the names are ours
        f"DROP TABLE {table}",
        f"ALTER TABLE rebuilt_{table} RENAME TO {table}",
        *indexes,
    ):
        connection.exec_driver_sql(statement)


def _treatments(connection: Connection) -> None:
    """Of the plans there are: what was recorded without an implementation has none."""
    for plan_id, document in connection.exec_driver_sql("SELECT id, document FROM plan").all():
        treatment = treatment_digest(json.loads(document))
        update = "UPDATE plan SET treatment = ? WHERE id = ?"
        connection.exec_driver_sql(update, (treatment, plan_id))


MIGRATIONS: Final[dict[int, tuple[Step, ...]]] = {
    2: (
        "ALTER TABLE run ADD COLUMN repeat INTEGER DEFAULT 1 NOT NULL",
        "ALTER TABLE run ADD COLUMN tape_run_id INTEGER REFERENCES run (id)",
        "CREATE UNIQUE INDEX ix_run_tape_repeat ON run (tape_run_id, repeat)",
        "CREATE TABLE imported_boundary (id INTEGER NOT NULL, source_digest VARCHAR NOT NULL, "
        "row INTEGER NOT NULL, record VARCHAR NOT NULL, PRIMARY KEY (id), "
        "UNIQUE (source_digest, row))",
    ),
    3: (
        "ALTER TABLE plan ADD COLUMN treatment VARCHAR DEFAULT '' NOT NULL",
        "ALTER TABLE plan ADD COLUMN implementation VARCHAR DEFAULT '' NOT NULL",
        "ALTER TABLE plan ADD COLUMN control VARCHAR(11) CHECK (control = 'closed_book')",
        _treatments,
        _more_stop_reasons,
        "ALTER TABLE run ADD COLUMN answer_key_scores VARCHAR",
        "ALTER TABLE arm ADD COLUMN key_scores VARCHAR",
        "ALTER TABLE request ADD COLUMN possibly_cut BOOLEAN DEFAULT 0 NOT NULL",
        "CREATE TABLE pause (id INTEGER NOT NULL, run_id INTEGER NOT NULL, "
        "stage VARCHAR(7) NOT NULL, reason VARCHAR(13) NOT NULL, detail VARCHAR NOT NULL, "
        "paused_at VARCHAR NOT NULL, ended_at VARCHAR, PRIMARY KEY (id), "
        "FOREIGN KEY(run_id) REFERENCES run (id), "
        "CONSTRAINT stage CHECK (stage = 'capture' OR stage = 'F' OR stage = 'P'), "
        "CONSTRAINT pausereason CHECK (reason = 'no_connection' OR reason = 'access_denied' "
        "OR reason = 'no_credit' OR reason = 'rate_limited' OR reason = 'unavailable' "
        "OR reason = 'redirected' OR reason = 'long_wait'))",
        "CREATE INDEX ix_pause_run_id ON pause (run_id)",
    ),
}
"""The steps that lead to each version from the one before it."""


def migrate(connection: Connection, version: int) -> int:
    """Bring a ledger of `version` up to date in the caller's transaction; returns the newest.

    Foreign keys must be off: a table that is rebuilt is dropped while others refer to it.
    """
    for newer in sorted(MIGRATIONS):
        if newer > version:
            for step in MIGRATIONS[newer]:
                if isinstance(step, str):
                    connection.exec_driver_sql(step)
                else:
                    step(connection)
            connection.exec_driver_sql(f"PRAGMA user_version = {newer}")
            version = newer
    return version
