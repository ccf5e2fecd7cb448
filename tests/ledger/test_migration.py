"""A ledger of an older schema: brought up to date when opened, with nothing of it changed."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from revereval.errors import InputError
from revereval.ledger.database import Database
from revereval.ledger.tables import SCHEMA_VERSION
from revereval.terms import StopReason

DATA = Path(__file__).parents[1] / "data"
PLAN = """INSERT INTO plan VALUES (1, 'd', '{"task": {}, "limits": {"K": 12}}', 'old-task', 'group',
't', 's', 'g', 'scripted', 'scripted', 'seed', 'F', 'always', 'request', 'extracted', 0, 'then')"""
RUN = """INSERT INTO run (id, plan_id, created_at, capture_outcome, capture_reason, capture_detail)
VALUES (1, 1, 'then', 'stopped', 'prefix_cap', '')"""
REQUEST = """INSERT INTO request (id, run_id, stage, position, digest, size_bytes, metered_tokens,
head_blob_id, item_count, edits, newly_projected, prepared_at, usage_estimated, usage_flags)
VALUES (1, 1, 'capture', 0, 'd', 4, 1, 1, 0, '[]', 0, 'then', 0, '')"""
ATTEMPT = """INSERT INTO attempt (id, request_id, number, state, started_at, problem, ends_with)
VALUES (1, 1, 1, 'failed', 'then', 'busy', 'provider_error')"""
BLOB = "INSERT INTO blob VALUES (1, 'd', 1, 0, x'00')"


@pytest.fixture(params=[1, 2])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A ledger of an older version with one run."""
    path = tmp_path / "ledger.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript((DATA / f"ledger-v{request.param}.sql").read_text("utf-8"))
    for row in (PLAN, RUN, BLOB, REQUEST, ATTEMPT):
        connection.execute(row)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.commit()
    connection.close()
    return path


def version(path: Path) -> int:
    connection = sqlite3.connect(path)
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return int(found)


@pytest.mark.parametrize("write", [True, False])
def test_opening_migrates_and_keeps_what_was_recorded(old: Path, write: bool) -> None:
    assert version(old) < SCHEMA_VERSION
    database = Database(old, write=write)
    (run,) = database.rows("SELECT id, plan_id, capture_reason, repeat, tape_run_id FROM run")
    assert vars(run) == {
        "id": 1, "plan_id": 1, "capture_reason": "prefix_cap", "repeat": 1, "tape_run_id": None,
    }  # fmt: skip
    assert database.rows("SELECT * FROM imported_boundary") == []
    (attempt,) = database.rows("SELECT request_id, problem, ends_with FROM attempt")
    assert vars(attempt) == {"request_id": 1, "problem": "busy", "ends_with": "provider_error"}
    database.close()
    assert version(old) == SCHEMA_VERSION


def test_a_migrated_ledger_has_the_columns_and_indexes_of_a_new_one(
    old: Path, tmp_path: Path
) -> None:
    Database(old, write=True).close()
    Database(tmp_path / "new.sqlite", write=True).close()

    def shape(path: Path) -> Any:
        connection = sqlite3.connect(path)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
        found = {
            name: sorted(
                # name, type, not null, part of the key: the order of columns may differ
                (row[1], row[2], row[3], row[5])
                for row in connection.execute(f"PRAGMA table_info('{name}')")
            )
            for name in tables
        }
        connection.close()
        return found

    assert shape(old) == shape(tmp_path / "new.sqlite")


def test_a_migrated_plan_has_the_treatment_of_what_its_document_fixes(old: Path) -> None:
    fixed = {
        "companion": None, "contract": None, "control": None, "endpoint_definition": None,
        "head_digest": None, "implementation": None, "limits": {"K": 12}, "projection": None,
        "provider": None,
    }  # fmt: skip
    text = json.dumps(fixed, separators=(",", ":"))
    database = Database(old, write=True)
    (plan,) = database.rows("SELECT treatment, implementation, control FROM plan")
    database.close()
    assert plan.treatment == hashlib.sha256(text.encode()).hexdigest()
    assert (plan.implementation, plan.control) == ("", None)


@pytest.mark.parametrize("table, column", [("run", "capture_reason"), ("attempt", "ends_with")])
def test_a_migrated_ledger_takes_every_reason_and_no_other(
    old: Path, table: str, column: str
) -> None:
    database = Database(old, write=True)
    for reason in StopReason:
        with database.transaction():
            database.driver.execute(f"UPDATE {table} SET {column} = ?", (reason.value,))
    with pytest.raises(sqlite3.IntegrityError), database.transaction():
        database.driver.execute(f"UPDATE {table} SET {column} = 'whim'")
    assert database.rows("PRAGMA foreign_key_check") == []
    (enforced,) = database.rows("PRAGMA foreign_keys")
    assert enforced.foreign_keys == 1
    database.close()


def test_an_older_ledger_that_cannot_be_written_is_refused_in_words(old: Path) -> None:
    old.chmod(0o400)
    with pytest.raises(InputError, match="read-only"):
        Database(old, write=False)
    old.chmod(0o600)
    assert version(old) < SCHEMA_VERSION


def test_a_migration_that_fails_leaves_the_ledger_as_it_was(old: Path) -> None:
    before = version(old)
    connection = sqlite3.connect(old)
    connection.execute("CREATE TABLE pause (mine TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(Exception, match="pause"):
        Database(old, write=True)
    assert version(old) == before
    connection = sqlite3.connect(old)
    assert "treatment" not in [row[1] for row in connection.execute("PRAGMA table_info(plan)")]
    connection.close()
