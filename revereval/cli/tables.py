"""Where an analysis gets its boundary rows: a ledger, or a table in a file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from revereval.analysis.boundaries import Boundaries, Column
    from revereval.analysis.flow import Captured
    from revereval.ledger.boundary_files import Cells
    from revereval.ledger.database import Database


def boundary_table(file: Path | None, ledger: Path) -> "tuple[Boundaries, list[Captured] | None]":
    """The checked rows of a file, or of a ledger with its imported ones and its runs' captures.

    Raises InputError for a fault in them.
    """
    from revereval.analysis.checks import COLUMNS, boundaries
    from revereval.analysis.flow import Captured
    from revereval.ledger.boundary_files import (
        capture_counts,
        read_boundaries,
    )
    from revereval.ledger.database import Database

    if file is not None:
        return boundaries(str(file), _meant(read_boundaries(file, COLUMNS))), None
    with Database(ledger, write=False) as database:
        rows = boundaries(str(ledger), _meant(_of_ledger(database)))
        return rows, [Captured(*counted) for counted in capture_counts(database)]


def _of_ledger(database: "Database") -> "dict[str, Cells]":
    """Its own boundary runs, then the imported ones."""
    from revereval.analysis.checks import COLUMNS
    from revereval.ledger.boundary_files import ledger_boundaries, stacked
    from revereval.ledger.importing import imported_boundaries

    own = ledger_boundaries(database, COLUMNS)
    return stacked(own, imported_boundaries(database, COLUMNS))


def checked_table(file: Path, ledger: Path) -> "tuple[str, dict[str, Cells]]":
    """The SHA-256 of a boundary table's file and all its columns, checked as for an analysis.

    Also beside what the ledger holds, if there is one: together they can still be analysed.
    """
    from revereval.analysis.checks import boundaries
    from revereval.canonical import sha256_hex
    from revereval.ledger.boundary_files import read_boundaries, stacked
    from revereval.ledger.database import Database
    from revereval.ledger.importing import refuse_imported

    columns = read_boundaries(file)
    boundaries(str(file), _meant(columns))
    digest = sha256_hex(file.read_bytes())
    if os.path.exists(ledger):  # noqa: PTH110 - raises nothing
        with Database(ledger, write=False) as database:
            refuse_imported(database, digest)
            both = stacked(_of_ledger(database), columns)
        boundaries(f"{ledger} with {file}", _meant(both))
    return digest, columns


def _meant(columns: "Mapping[str, Cells]") -> "dict[str, Column]":
    from revereval.analysis.boundaries import Coded
    from revereval.ledger.boundary_files import TextColumn

    return {
        name: Coded(*cells) if isinstance(cells, TextColumn) else cells
        for name, cells in columns.items()
    }
