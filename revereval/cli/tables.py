"""Where an analysis gets its boundary rows: a ledger, or a table in a file."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from revereval.analysis.boundaries import Boundaries
    from revereval.analysis.flow import Plans


def boundary_table(file: Path | None, ledger: Path) -> "tuple[Boundaries, Plans | None]":
    """The checked rows of a file, or of a ledger with its imported ones and its plans.

    Raises InputError for a fault in them.
    """
    from revereval.analysis.boundaries import Coded
    from revereval.analysis.checks import COLUMNS, boundaries
    from revereval.analysis.flow import plans
    from revereval.ledger.boundary_files import (
        TextColumn,
        capture_counts,
        ledger_boundaries,
        read_boundaries,
    )
    from revereval.ledger.database import Database

    found = None
    if file is not None:
        columns = read_boundaries(file, COLUMNS)
    else:
        database = Database(ledger, write=False)
        columns = ledger_boundaries(database, COLUMNS)
        found = plans(*capture_counts(database))
    meant = {
        name: Coded(*cells) if isinstance(cells, TextColumn) else cells
        for name, cells in columns.items()
    }
    return boundaries(str(file or ledger), meant), found
