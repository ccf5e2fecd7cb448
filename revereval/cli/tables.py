"""Where an analysis gets its boundary rows: a ledger, or a table in a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from revereval.analysis.boundaries import Boundaries, Column
    from revereval.analysis.flow import Plans
    from revereval.ledger.boundary_files import Cells


def boundary_table(file: Path | None, ledger: Path) -> "tuple[Boundaries, Plans | None]":
    """The checked rows of a file, or of a ledger with its imported ones and its plans.

    Raises InputError for a fault in them.
    """
    from revereval.analysis.checks import COLUMNS, boundaries
    from revereval.analysis.flow import plans
    from revereval.ledger.boundary_files import (
        capture_counts,
        ledger_boundaries,
        read_boundaries,
        stacked,
    )
    from revereval.ledger.database import Database
    from revereval.ledger.importing import imported_boundaries

    found = None
    if file is not None:
        columns = read_boundaries(file, COLUMNS)
    else:
        database = Database(ledger, write=False)
        own = ledger_boundaries(database, COLUMNS)
        columns = stacked(own, imported_boundaries(database, COLUMNS))
        found = plans(*capture_counts(database))
    return boundaries(str(file or ledger), _meant(columns)), found


def checked_table(file: Path) -> "tuple[str, dict[str, Cells]]":
    """The SHA-256 of a boundary table's file and all its columns, checked as for an analysis."""
    from revereval.analysis.checks import boundaries
    from revereval.canonical import sha256_hex
    from revereval.ledger.boundary_files import read_boundaries

    columns = read_boundaries(file)
    boundaries(str(file), _meant(columns))
    return sha256_hex(file.read_bytes()), columns


def _meant(columns: "Mapping[str, Cells]") -> "dict[str, Column]":
    from revereval.analysis.boundaries import Coded
    from revereval.ledger.boundary_files import TextColumn

    return {
        name: Coded(*cells) if isinstance(cells, TextColumn) else cells
        for name, cells in columns.items()
    }
