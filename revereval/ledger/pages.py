"""The rows of `ledger export`, read in pages, each in one short read of its own."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from revereval.errors import FaultError
from revereval.ledger.blobs import BlobChangedError, get_blob
from revereval.ledger.database import Database
from revereval.ledger.sources import SOURCES, Source

PAGE_TEXT_CHARS: Final = 4_000_000
"""A page ends after the row that passes this much text, however few rows it has."""

Row = Sequence[Any]
"""Values in the order of the table's columns."""


def pages(database: Database, name: str) -> Iterator[list[Row]]:
    """Every row of one of `columns.TABLES` in order of its id, at most a page in memory.

    Between two pages nothing is read, so the WAL can shrink; each page shows the ledger as it is
    when its turn comes. Raises FaultError where an answer's stored bytes have changed.
    """
    source = SOURCES[name]
    key = source.export.names.index(source.key)
    after = -1
    while True:
        try:
            with database.reading() as connection:
                page = _page(connection, source, after)
        except (BlobChangedError, UnicodeDecodeError) as error:
            problem = f"an answer cannot be read, `revereval ledger audit` says more: {error}"
            raise FaultError(f"{database.path}: {problem}") from None
        if not page:
            return
        after = page[-1][key]
        yield page


def _page(connection: Connection, source: Source, after: int) -> list[Row]:
    names = source.export.names
    answer = names.index("answer") if "answer" in names else None
    page: list[Row] = []
    size = 0
    found = connection.execute(source.statement, {"after": after, "rows": source.rows})
    for row in found:
        values = list(row)
        if answer is not None and values[answer] is not None:
            # the statement gives the blob's id
            data = get_blob(connection, values[answer])
            values[answer] = data.decode("utf-8", "surrogatepass")
        page.append(values)
        size += sum(len(value) for value in values if isinstance(value, str))
        if size > PAGE_TEXT_CHARS:
            break
    found.close()
    return page
