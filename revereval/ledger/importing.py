"""`ledger import`: boundary rows of another harness, kept beside the ledger's own."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import numpy as np

from revereval.errors import InputError
from revereval.ledger import sql
from revereval.ledger.boundary_files import COLUMNS, Cells, TextColumn, joined
from revereval.ledger.database import Database
from revereval.ledger.sql import insert_sql
from revereval.terms import IMPORTED

_PAGE: Final = 1000
_INSERT: Final = insert_sql("imported_boundary", ["source_digest", "row", "record"])


def import_boundaries(database: Database, digest: str, columns: Mapping[str, Cells]) -> int:
    """Store all rows of a checked table in one transaction; returns their number.

    digest: SHA-256 of the file they come from. Raises InputError where it was imported before.
    """
    number = 0
    with database.transaction():
        refuse_imported(database, digest)
        for number, record in enumerate(_records(columns), 1):
            row = {"source_digest": digest, "row": number, "record": json.dumps(record)}
            sql.run(database.driver, _INSERT, row)
    return number


def refuse_imported(database: Database, digest: str) -> None:
    """Raise InputError where a file of this digest was imported before."""
    known = "SELECT 1 AS found FROM imported_boundary WHERE source_digest = ? LIMIT 1"
    if database.rows(known, digest):
        raise InputError(database.path, digest[:12], "this very file was imported before")


def _records(columns: Mapping[str, Cells]) -> Iterator[dict[str, Any]]:
    """Each row as JSON values, what it does not know left out."""
    size = max(len(c.codes if isinstance(c, TextColumn) else c) for c in columns.values())
    for row in range(size):
        values = {name: _value(name, cells, row) for name, cells in columns.items()}
        yield {name: value for name, value in values.items() if value is not None}


def _value(name: str, cells: Cells, row: int) -> Any:
    if isinstance(cells, TextColumn):
        code = cells.codes[row]
        return cells.values[code] if code >= 0 else None
    number = float(cells[row])
    if np.isnan(number):
        return None
    kinds: Mapping[str, type] = {"boolean": bool, "integer": int, "number": float}
    return kinds[COLUMNS[name].type](number)


def imported_boundaries(database: Database, wanted: Collection[str]) -> dict[str, Cells]:
    """The wanted columns of all imported rows, read page by page.

    Rows that do not say their treatment are never taken for those of another file, or for the
    ledger's own: their treatment is the file.
    """
    columns = "id, source_digest, record"
    page = f"SELECT {columns} FROM imported_boundary WHERE id > ? ORDER BY id LIMIT {_PAGE}"  # noqa: S608 - constants

    def records() -> Iterator[dict[str, Any]]:
        after = -1
        while rows := database.rows(page, after):
            after = rows[-1].id
            for row in rows:
                record = json.loads(row.record)
                yield {"treatment": f"{IMPORTED}{row.source_digest}"} | record

    return joined(records(), wanted)
