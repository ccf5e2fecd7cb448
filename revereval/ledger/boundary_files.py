"""Boundary tables read from files and ledgers: documented columns only, every cell checked."""

import csv
import importlib
import json
import re
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from revereval.errors import InputError
from revereval.ledger.columns import BOUNDARIES, Column
from revereval.ledger.database import Database
from revereval.ledger.pages import pages

COLUMNS: Final[Mapping[str, Column]] = {column.name: column for column in BOUNDARIES.columns}
LARGEST: Final = 2**53
"""From it on a double need not be the number that was written."""
_CELL_LIMIT: Final = 2**24
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BOOLEANS: Final = {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0, "true": 1.0, "false": 0.0}
_A: Final[Mapping[str, str]] = {
    "text": "a text", "integer": "a whole number", "number": "a number", "boolean": "a boolean",
}  # fmt: skip
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}


class TextColumn(NamedTuple):
    """`values[code]` of each row, code -1 where empty."""

    codes: np.ndarray
    values: tuple[str, ...]


R = TypeVar("R")
Cells = TextColumn | np.ndarray
"""A text column, or doubles of shape (rows,) with NaN where empty."""


def read_boundaries(path: Path, wanted: Collection[str] = frozenset(COLUMNS)) -> dict[str, Cells]:
    """The wanted columns of a .csv, .jsonl or .parquet file, of those that it has.

    Raises InputError naming row and column: an unknown column, a cell of another type, a row of
    another length; or the file: unreadable, without rows of its own kind, of another kind.
    """
    readers = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(path, "", f"not a boundary table; allowed: {', '.join(readers)}")
    if not path.is_file():
        raise InputError(path, "", "no such file")
    try:
        return reader(path, wanted)
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be read") from None
    except UnicodeDecodeError:
        raise InputError(path, "", "not UTF-8") from None


def ledger_boundaries(database: Database, wanted: Collection[str]) -> dict[str, Cells]:
    """The wanted columns of the ledger's own boundary runs, read page by page."""
    names = BOUNDARIES.names
    places = [index for index, name in enumerate(names) if name in wanted]
    columns = [_Growing(COLUMNS[names[place]]) for place in places]
    for page in pages(database, "boundaries"):
        for column, place in zip(columns, places, strict=True):
            column.extend(row[place] for row in page)
    return {column.name: column.cells() for column in columns}


def capture_counts(database: Database) -> list[tuple[str, str, str, str, str, int]]:
    """Runs by treatment, model, plan digest, outcome of their capture and first arm.

    The outcome is `none` while the capture has not ended. A control is no treatment.
    """
    query = """
        SELECT plan.treatment, plan.model, plan.digest,
          CASE WHEN capture_ended_at IS NULL THEN 'none' ELSE capture_outcome END AS outcome,
          plan.first_arm, count(*) AS runs
        FROM run JOIN plan ON plan.id = run.plan_id
        WHERE run.tape_run_id IS NULL AND plan.control IS NULL GROUP BY plan.id, outcome"""
    return [
        (row.treatment, row.model, row.digest, row.outcome, row.first_arm, row.runs)
        for row in database.rows(query)
    ]


def joined(records: Iterable[Mapping[str, Any]], wanted: Collection[str]) -> dict[str, Cells]:
    """Columns from records of checked values; a column that no record has is left out."""
    columns = {name: _Growing(column) for name, column in COLUMNS.items() if name in wanted}
    present: set[str] = set()
    for record in records:
        present |= record.keys()
        for name, column in columns.items():
            column.append(record.get(name))
    return {name: column.cells() for name, column in columns.items() if name in present}


def stacked(first: Mapping[str, Cells], second: Mapping[str, Cells]) -> dict[str, Cells]:
    """The rows of one table after those of another; what a table lacks is unknown in its rows."""
    sizes = [_size(first), _size(second)]
    if not all(sizes):
        return dict(second if sizes[1] else first)
    found = {}
    for name in {**first, **second}:
        parts = [first.get(name), second.get(name)]
        if COLUMNS[name].type == "text":
            grown = _Growing(COLUMNS[name])
            for part, size in zip(parts, sizes, strict=True):
                if isinstance(part, TextColumn):
                    values = (*part.values, None)
                    grown.extend(values[code] for code in part.codes)
                else:
                    grown.extend([None] * size)
            found[name] = grown.cells()
        else:
            numbers = [
                np.full(size, np.nan) if part is None else np.asarray(part)
                for part, size in zip(parts, sizes, strict=True)
            ]
            found[name] = np.concatenate(numbers)
    return found


def _size(columns: Mapping[str, Cells]) -> int:
    first = next(iter(columns.values()), np.zeros(0))
    return len(first.codes if isinstance(first, TextColumn) else first)


class _Growing:
    """One column while its rows come in."""

    def __init__(self, column: Column) -> None:
        self.column, self.name, self.type = column, column.name, column.type
        self._codes, self._numbers = array("i"), array("d")
        self._code_of: dict[str, int] = {}

    def extend(self, values: Iterable[Any]) -> None:
        for value in values:
            self.append(value)

    def append(self, value: Any) -> None:
        """A checked value, None for an empty one."""
        if self.type == "text":
            code = -1 if value is None else self._code_of.setdefault(value, len(self._code_of))
            self._codes.append(code)
        else:
            self._numbers.append(float("nan") if value is None else value)

    def cells(self) -> Cells:
        if self.type == "text":
            return TextColumn(np.array(self._codes, np.int32), tuple(self._code_of))
        return np.array(self._numbers, np.float64)


def _known_names(path: Path, names: Sequence[str]) -> None:
    for name in names:
        if name not in COLUMNS:
            close = get_close_matches(name, COLUMNS, 1)
            hint = f"; close: {close[0]}" if close else "; see revereval/ledger/COLUMNS.md"
            raise InputError(path, name, f"unknown column{hint}")
        if names.count(name) > 1:
            raise InputError(path, name, "a column that comes twice")


def _csv(path: Path, wanted: Collection[str]) -> dict[str, Cells]:
    csv.field_size_limit(min(_CELL_LIMIT, sys.maxsize))
    with path.open(encoding="utf-8-sig", newline="") as file:
        _separated_by_commas(path, file.readline(_CELL_LIMIT))
        file.seek(0)
        rows = csv.reader(file, strict=True)
        try:
            names = next(rows, [])
            _known_names(path, names)
            columns = [_Growing(COLUMNS[name]) if name in wanted else None for name in names]
            for number, row in _but_last_blanks(rows, lambda row: not "".join(row).strip()):
                if len(row) != len(names):
                    problem = f"{len(row)} cells, the header has {len(names)}"
                    raise InputError(path, f"row {number}", problem)
                for column, cell in zip(columns, row, strict=True):
                    if column is not None:
                        column.append(_cell(path, number, column.column, cell))
        except csv.Error as error:
            raise InputError(path, f"line {rows.line_num}", f"not CSV: {error}") from None
    if not names:
        raise InputError(path, "", "empty: a header is needed")
    return {column.name: column.cells() for column in columns if column is not None}


def _separated_by_commas(path: Path, header: str) -> None:
    for separator, word in _SEPARATORS.items():
        names = {name.strip().strip('"') for name in header.split(separator)}
        if separator in header and "," not in header and names & COLUMNS.keys():
            raise InputError(path, "", f"separated by {word}; allowed: commas")


def _but_last_blanks(rows: Iterable[R], blank: Callable[[R], bool]) -> Iterator[tuple[int, R]]:
    """Numbered from 1, without the blank ones after which nothing comes."""
    held: list[tuple[int, R]] = []
    for number, row in enumerate(rows, 1):
        held.append((number, row))
        if not blank(row):
            yield from held
            held.clear()


def _cell(path: Path, row: int, column: Column, cell: str) -> str | float | None:
    if cell == "":
        return None
    if column.type == "text":
        # the export's guard against spreadsheet formulas
        return cell[1:] if cell.startswith(("'=", "'+", "'-", "'@", "'\t", "'\r")) else cell
    if column.type == "boolean":
        if (value := _BOOLEANS.get(cell.lower())) is not None:
            return value
        raise _wrong(path, row, column, "1, 0, true or false")
    if not _NUMBER.fullmatch(cell):
        raise _wrong(path, row, column, _A[column.type])
    number = _exact(path, row, column, float(cell))
    if column.type == "integer" and not cell.isdigit() and Decimal(cell) != int(number):
        raise _wrong(path, row, column, _A[column.type])
    return number


def _exact(path: Path, row: int, column: Column, number: float) -> float:
    if not abs(number) < LARGEST:  # NaN too
        raise _wrong(path, row, column, "a finite number below 2**53")
    return number


def _wrong(path: Path, row: int, column: Column, allowed: str) -> InputError:
    return InputError(path, f"row {row}: {column.name}", f"allowed: {allowed}, or empty")


def _jsonl(path: Path, wanted: Collection[str]) -> dict[str, Cells]:
    return joined(_checked(path, wanted), wanted)


def _checked(path: Path, wanted: Collection[str]) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(_records(path), 1):
        if not record.keys() <= COLUMNS.keys():
            _known_names(path, list(record))
        yield {
            name: _value(path, number, COLUMNS[name], value)
            for name, value in record.items()
            if name in wanted
        }


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in _but_last_blanks(file, lambda line: not line.strip()):
            try:
                record = json.loads(line, object_pairs_hook=_once)
            except (ValueError, RecursionError) as error:
                raise InputError(path, f"row {number}", f"not a JSON object: {error}") from None
            if not isinstance(record, dict):
                raise InputError(path, f"row {number}", "not a JSON object")
            yield record


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key that comes twice")
    return record


def _value(path: Path, row: int, column: Column, value: Any) -> str | float | None:
    if value is None:
        return None
    allowed: Mapping[str, tuple[type, ...]] = {
        "text": (str,), "boolean": (bool,), "integer": (int, float), "number": (int, float),
    }  # fmt: skip
    fraction = column.type == "integer" and isinstance(value, float) and not value.is_integer()
    if type(value) not in allowed[column.type] or fraction:
        raise _wrong(path, row, column, _A[column.type])
    if not isinstance(value, str):
        return _exact(path, row, column, value)
    if not value:
        raise _wrong(path, row, column, "null for an unknown text")
    return value


def _parquet(path: Path, wanted: Collection[str]) -> dict[str, Cells]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
        arrow: Any = importlib.import_module("pyarrow")
    except ImportError:
        problem = "needs the parquet extra: pip install 'revereval[parquet]'"
        raise InputError(path, "", problem) from None
    try:
        with path.open("rb") as source:
            names = parquet.read_schema(source).names
        _known_names(path, names)
        read = [name for name in names if name in wanted]
        texts = [name for name in read if COLUMNS[name].type == "text"]
        # not its path, of which a folder `name=value` would be taken for a column
        with path.open("rb") as source:
            table = parquet.read_table(source, columns=read, read_dictionary=texts)
    except arrow.ArrowInvalid as error:
        problem = str(error).splitlines()[0]
        raise InputError(path, "", f"not a Parquet file: {problem}") from None
    return {
        name: _arrow_cells(arrow, path, COLUMNS[name], table.column(name))
        for name in table.column_names
    }


def _arrow_cells(arrow: Any, path: Path, column: Column, cells: Any) -> Cells:
    types, kind = arrow.types, cells.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    text = types.is_string(kind) or types.is_large_string(kind)
    number = types.is_integer(kind) or types.is_floating(kind)
    fits = {"text": text, "boolean": types.is_boolean(kind)}.get(column.type, number)
    if not (fits or types.is_null(kind)):
        raise InputError(path, column.name, f"of type {kind}, allowed: {column.type}")
    if column.type == "text":
        if types.is_null(kind):
            return TextColumn(np.full(len(cells), -1, np.int32), ())
        coded = cells.dictionary_encode().unify_dictionaries().combine_chunks()
        if isinstance(coded, arrow.ChunkedArray):
            coded = (
                coded.chunk(0) if coded.num_chunks else arrow.array([], kind).dictionary_encode()
            )
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return TextColumn(
            codes.astype(np.int32), tuple(coded.dictionary.to_numpy(zero_copy_only=False))
        )
    values: np.ndarray = cells.cast(arrow.float64(), safe=False).to_numpy().astype(np.float64)
    whole = np.isnan(values) | (np.abs(values) < LARGEST)
    if column.type == "integer":
        whole &= np.isnan(values) | (values == np.floor(values))
    if not whole.all():
        row = int(np.argmin(whole)) + 1
        raise _wrong(path, row, column, f"{_A[column.type]}, finite and below 2**53")
    return values
