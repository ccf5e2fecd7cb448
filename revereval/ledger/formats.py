"""The formats of `ledger export`: each turns pages of rows into bytes as they come."""

import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from revereval.errors import InputError
from revereval.ledger.columns import Column
from revereval.ledger.pages import Row

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_QUOTED: Final = re.compile('[",\r\n]')


class Output(Protocol):
    """Where bytes go; `tell` counts those written."""

    def write(self, data: bytes) -> int: ...

    def tell(self) -> int: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class Writer(AbstractContextManager["Writer"], Protocol):
    """Writes what comes before the first row when opened, what comes after the last when closed."""

    def write(self, rows: Sequence[Row]) -> None: ...


class _TextWriter(AbstractContextManager["_TextWriter"]):
    def __init__(self, output: Output, head: str, row: Callable[[Row], str]) -> None:
        self._output, self._row = output, row
        output.write(head.encode())

    def write(self, rows: Sequence[Row]) -> None:
        self._output.write(_utf8("".join(map(self._row, rows))))

    def __exit__(self, *_: object) -> None:
        return None


def csv_writer(output: Output, columns: Sequence[Column]) -> Writer:
    """RFC 4180 with `\\n` for line ends; NULL is an empty cell, a boolean 1 or 0."""

    def row(values: Row) -> str:
        return ",".join(map(_csv_cell, values)) + "\n"

    return _TextWriter(output, row([column.name for column in columns]), row)


def _csv_cell(value: str | float | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    cell = "'" + value if value.startswith(_FORMULA) else value
    return '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell


def jsonl_writer(output: Output, columns: Sequence[Column]) -> Writer:
    """One ASCII JSON object a line, with every column; texts exactly as recorded."""
    encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
    names = [column.name for column in columns]

    def row(values: Row) -> str:
        return encode(dict(zip(names, _typed(columns, values), strict=True))) + "\n"

    return _TextWriter(output, "", row)


def _typed(columns: Sequence[Column], values: Row) -> list[Any]:
    """SQLite's 0 and 1 as the booleans they are."""
    return [
        bool(value) if column.type == "boolean" and value is not None else value
        for column, value in zip(columns, values, strict=True)
    ]


class _ParquetWriter(AbstractContextManager["_ParquetWriter"]):
    """A row group for each page; the schema is fixed, so an all-NULL column keeps its type."""

    def __init__(self, output: Output, columns: Sequence[Column]) -> None:
        try:
            self._arrow: Any = importlib.import_module("pyarrow")
            parquet: Any = importlib.import_module("pyarrow.parquet")
        except ImportError:
            problem = "needs the parquet extra: pip install 'revereval[parquet]'"
            raise InputError("--format parquet", "", problem) from None
        types = {
            "text": self._arrow.string(),
            "integer": self._arrow.int64(),
            "number": self._arrow.float64(),
            "boolean": self._arrow.bool_(),
        }
        self._columns = columns
        self._schema = self._arrow.schema([(c.name, types[c.type]) for c in columns])
        self._writer = parquet.ParquetWriter(output, self._schema, compression="zstd")

    def write(self, rows: Sequence[Row]) -> None:
        typed = [_typed(self._columns, row) for row in rows]
        texts = [column.type == "text" for column in self._columns]
        arrays = [
            [None if value is None else _utf8(value) for value in values] if is_text else values
            for is_text, values in zip(texts, zip(*typed, strict=True), strict=True)
        ]
        arrow_arrays = [
            self._arrow.array(values, field.type)
            for values, field in zip(arrays, self._schema, strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(arrow_arrays, schema=self._schema))

    def __exit__(self, *_: object) -> None:
        self._writer.close()


def _utf8(text: str) -> bytes:
    """UTF-8; lone surrogates, which it cannot hold, as `\\udXXX` escapes."""
    return text.encode("utf-8", "backslashreplace")


FORMATS: Final[Mapping[str, Callable[[Output, Sequence[Column]], Writer]]] = {
    "csv": csv_writer,
    "jsonl": jsonl_writer,
    "parquet": _ParquetWriter,
}
