"""Statements and rows of the hot path, without SQLAlchemy (see `Database.driver`)."""

import sqlite3
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from revereval.canonical import escaped


def insert_sql(table: str, columns: Iterable[str], *, or_ignore: bool = False) -> str:
    """An insert whose parameters have the columns' names."""
    names = tuple(columns)
    verb = "INSERT OR IGNORE" if or_ignore else "INSERT"
    values = ", ".join(f":{name}" for name in names)
    return f"{verb} INTO {table} ({', '.join(names)}) VALUES ({values})"


def update_sql(table: str, columns: Iterable[str], where: str) -> str:
    """An update whose parameters have the columns' names, and those that `where` names."""
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    return f"UPDATE {table} SET {assignments} WHERE {where}"  # noqa: S608 - names from our code


def run(driver: sqlite3.Connection, statement: str, values: Mapping[str, Any]) -> int:
    """Execute in the caller's transaction; returns the id of an inserted row.

    Texts that SQLite could not hold are escaped: a paid reply is recorded whatever it holds.
    """
    held = {name: escaped(value) if type(value) is str else value for name, value in values.items()}
    return driver.execute(statement, held).lastrowid or 0


def rows(driver: sqlite3.Connection, query: str, *values: Any) -> list[Any]:
    """All rows of a short query, columns as attributes."""
    cursor = driver.execute(query, values)
    names = [column[0] for column in cursor.description]
    return [SimpleNamespace(**dict(zip(names, row, strict=True))) for row in cursor]
