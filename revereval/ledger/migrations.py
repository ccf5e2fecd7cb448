"""Migrations: what each schema version added, applied in order and never edited."""

from typing import Final

from sqlalchemy import Connection

MIGRATIONS: Final[dict[int, tuple[str, ...]]] = {
    2: (
        "ALTER TABLE run ADD COLUMN repeat INTEGER DEFAULT 1 NOT NULL",
        "ALTER TABLE run ADD COLUMN tape_run_id INTEGER REFERENCES run (id)",
        "CREATE UNIQUE INDEX ix_run_tape_repeat ON run (tape_run_id, repeat)",
        "CREATE TABLE imported_boundary (id INTEGER NOT NULL, source_digest VARCHAR NOT NULL, "
        "row INTEGER NOT NULL, record VARCHAR NOT NULL, PRIMARY KEY (id), "
        "UNIQUE (source_digest, row))",
    ),
}
"""The statements that lead to each version from the one before it."""


def migrate(connection: Connection, version: int) -> int:
    """Bring a ledger of `version` up to date in the caller's transaction; returns the newest."""
    for newer in sorted(MIGRATIONS):
        if newer > version:
            for statement in MIGRATIONS[newer]:
                connection.exec_driver_sql(statement)
            connection.exec_driver_sql(f"PRAGMA user_version = {newer}")
            version = newer
    return version
