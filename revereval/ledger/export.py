"""`ledger export`: one table in one format, streamed, with a manifest of what was written."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from revereval.errors import InputError
from revereval.ledger.columns import TABLES
from revereval.ledger.database import Database
from revereval.ledger.file import files_of
from revereval.ledger.formats import FORMATS
from revereval.ledger.pages import pages
from revereval.ledger.tables import SCHEMA_VERSION


@dataclass(frozen=True)
class Manifest:
    """What an export holds, to be checked against its bytes."""

    table: str
    format: str
    columns: dict[str, str]
    """Type of each column by name, in order."""
    rows: int
    size_bytes: int
    sha256: str
    """Of the exported bytes."""
    schema_version: int
    """Of the ledger."""
    revereval: str
    """Version of the program that wrote it."""

    def json_bytes(self) -> bytes:
        return json.dumps(asdict(self), indent=2).encode() + b"\n"


class _Counted:
    """An output that is hashed as it is written; closing it leaves the file open."""

    closed = False

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._sha256 = hashlib.sha256()
        self._size = 0

    def write(self, data: bytes) -> int:
        self._output.write(data)
        self._sha256.update(data)
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        self._output.flush()

    def close(self) -> None:
        self.flush()

    def hexdigest(self) -> str:
        return self._sha256.hexdigest()


def export(database: Database, table: str, file_format: str, output: BinaryIO) -> Manifest:
    """Write a table to an open binary file, a page at a time.

    Raises InputError without the parquet extra, FaultError for an answer that cannot be read.
    """
    columns = TABLES[table].columns
    counted, rows = _Counted(output), 0
    with FORMATS[file_format](counted, columns) as writer:
        for page in pages(database, table):
            writer.write(page)
            rows += len(page)
    counted.flush()
    return Manifest(
        table=table,
        format=file_format,
        columns={column.name: column.type for column in columns},
        rows=rows,
        size_bytes=counted.tell(),
        sha256=counted.hexdigest(),
        schema_version=SCHEMA_VERSION,
        revereval=version("revereval"),
    )


def export_to_file(
    database: Database, table: str, file_format: str, path: Path, manifest_path: Path | None
) -> Manifest:
    """Write a table to a file, whole or not at all, and its manifest beside it.

    manifest_path: None for the file's name with `.manifest.json` added. Raises InputError where
    one of them cannot be written or would replace the ledger.
    """
    if manifest_path is None:
        manifest_path = path.with_name(path.name + ".manifest.json")
    if manifest_path.resolve() == path.resolve():
        raise InputError(manifest_path, "--manifest", "must be another file than --output")
    with _replacing(database, manifest_path) as manifest_file:
        with _replacing(database, path) as file:
            manifest = export(database, table, file_format, file)
        manifest_file.write(manifest.json_bytes())
    return manifest


def write_manifest(database: Database, manifest: Manifest, path: Path) -> None:
    """Raises InputError where the file cannot be written or would replace the ledger."""
    with _replacing(database, path) as file:
        file.write(manifest.json_bytes())


@contextmanager
def _replacing(database: Database, path: Path) -> Iterator[BinaryIO]:
    """A new file, mode 0600, that takes the place of `path` once it is complete."""
    target = path.resolve()
    if target in files_of(database.path):
        raise InputError(path, "", "this is the ledger; name another file")
    if target.exists() and not target.is_file():
        raise InputError(path, "", "not a regular file; use --output - for standard output")
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be written") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be written") from None
    finally:
        Path(name).unlink(missing_ok=True)
