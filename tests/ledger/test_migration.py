"""A ledger of an older schema: brought up to date when opened, with nothing of it changed."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from revereval.errors import InputError
from revereval.ledger.database import Database
from revereval.ledger.tables import SCHEMA_VERSION

SCHEMA = Path(__file__).parents[1] / "data/ledger-v1.sql"
PLAN = """INSERT INTO plan VALUES (1, 'd', '{"task": {}}', 'old-task', 'group', 't', 's', 'g',
'scripted', 'scripted', 'seed', 'F', 'always', 'request', 'extracted', 0, 'then')"""
RUN = """INSERT INTO run (id, plan_id, created_at, capture_outcome, capture_reason, capture_detail)
VALUES (1, 1, 'then', 'stopped', 'prefix_cap', '')"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A version 1 ledger with one run."""
    path = tmp_path / "ledger.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA.read_text("utf-8"))
    connection.execute(PLAN)
    connection.execute(RUN)
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
    assert version(old) == 1
    database = Database(old, write=write)
    (run,) = database.rows("SELECT id, plan_id, capture_reason, repeat, tape_run_id FROM run")
    assert vars(run) == {
        "id": 1, "plan_id": 1, "capture_reason": "prefix_cap", "repeat": 1, "tape_run_id": None,
    }  # fmt: skip
    assert database.rows("SELECT * FROM imported_boundary") == []
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


def test_an_older_ledger_that_cannot_be_written_is_refused_in_words(old: Path) -> None:
    old.chmod(0o400)
    with pytest.raises(InputError, match="read-only"):
        Database(old, write=False)
    old.chmod(0o600)
    assert version(old) == 1


def test_a_migration_that_fails_leaves_the_ledger_as_it_was(old: Path) -> None:
    connection = sqlite3.connect(old)
    connection.execute("CREATE TABLE imported_boundary (mine TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(Exception, match="imported_boundary"):
        Database(old, write=True)
    assert version(old) == 1
    connection = sqlite3.connect(old)
    assert "repeat" not in [row[1] for row in connection.execute("PRAGMA table_info(run)")]
    connection.close()
