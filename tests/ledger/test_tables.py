"""What the database itself refuses."""

import sqlite3

import pytest
from sqlalchemy import Enum
from sqlmodel import SQLModel

from tests.ledger.build import Build

CLOSED = [
    (table.name, column.name, column.type)
    for table in SQLModel.metadata.tables.values()
    for column in table.columns
    if isinstance(column.type, Enum)
]


@pytest.mark.parametrize(("table", "column", "listed"), CLOSED)
def test_a_closed_list_takes_its_own_values_and_no_other(
    paired: Build, table: str, column: str, listed: Enum
) -> None:
    pause = "INSERT INTO pause VALUES (1, 1, 'F', 'no_credit', '', '2026-01-01', NULL)"
    paired.database.driver.execute(pause)
    refused = f"CHECK constraint failed: {listed.name}"
    for value in listed.enums:
        assert _refusal(paired, table, column, value) != refused
    for value in ("", "x", listed.enums[0].swapcase(), listed.enums[0] + " "):
        assert _refusal(paired, table, column, value) == refused


def _refusal(build: Build, table: str, column: str, value: str) -> str:
    """What is said against the value in the table's first row; another rule may be broken too."""
    change = f"UPDATE {table} SET {column} = ? WHERE id = (SELECT min(id) FROM {table})"
    try:
        assert build.database.driver.execute(change, (value,)).rowcount == 1
    except sqlite3.IntegrityError as error:
        return str(error)
    return ""
