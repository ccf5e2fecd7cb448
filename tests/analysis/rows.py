"""Boundary rows as plain dictionaries, and what turns them into tables, files and reports."""

import csv
import importlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from revereval.analysis.boundaries import Boundaries, Coded, Column
from revereval.analysis.bounds import Interval
from revereval.analysis.checks import boundaries
from revereval.analysis.study import Study
from revereval.ledger.columns import BOUNDARIES
from revereval.report.section import Section
from revereval.report.whole import sections
from tests.loopback import run_here

REFERENCE = Path(__file__).parents[1] / "data" / "reverpi_boundaries.csv"
TYPES = {column.name: column.type for column in BOUNDARIES.columns} | {"repeat": "integer"}
Row = dict[str, Any]


def row(task: str = "a", f: str = "correct", p: str = "correct", **more: Any) -> Row:
    """One boundary row; a task's group is its own unless it is given."""
    return {
        "task_id": task, "source_group": f"group of {task}", "first_arm": "F",
        "f_endpoint": f, "p_endpoint": p, **more,
    }  # fmt: skip


def names(rows: Iterable[Row]) -> list[str]:
    """Every column that a row has, in the order in which they come."""
    return list(dict.fromkeys(name for one in rows for name in one))


def table(rows: Sequence[Row], source: str = "made-up") -> Boundaries:
    """The rows through the checks of the analysis."""
    return boundaries(source, {name: _column(name, rows) for name in names(rows)})


def _column(name: str, rows: Sequence[Row]) -> Column:
    cells = [one.get(name) for one in rows]
    if TYPES[name] != "text":
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    values = tuple(dict.fromkeys(cell for cell in cells if cell is not None))
    codes = [-1 if cell is None else values.index(cell) for cell in cells]
    return Coded(np.array(codes, np.int32), values)


def reference_rows() -> list[Row]:
    """The published record, cells typed, empty ones None."""
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        return [
            {
                name: None if cell == "" else cell if TYPES[name] == "text" else int(cell)
                for name, cell in one.items()
            }
            for one in csv.DictReader(file)
        ]


def write(path: Path, rows: Sequence[Row]) -> Path:
    """The rows as the kind of file that the suffix says, written without the product."""
    columns = names(rows)
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            for one in rows:
                writer.writerow(["" if one.get(n) is None else one[n] for n in columns])
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(_typed(one, columns)) + "\n" for one in rows))
    else:
        arrow, parquet = (importlib.import_module(n) for n in ("pyarrow", "pyarrow.parquet"))
        parquet.write_table(arrow.Table.from_pylist([_typed(o, columns) for o in rows]), path)
    return path


def _typed(one: Row, columns: Sequence[str]) -> Row:
    def cell(name: str) -> Any:
        value = one.get(name)
        return bool(value) if TYPES.get(name) == "boolean" and value is not None else value

    return {name: cell(name) for name in columns}


class Report:
    """Tables by title and sentences, from the objects or from `--json`."""

    def __init__(self, document: Sequence[Mapping[str, Any]]) -> None:
        self._tables: dict[str, tuple[list[str], list[list[str]]]] = {}
        self.sentences: list[str] = []
        for section in document:
            self.sentences += [*section["sentences"], *section["caveats"]]
            for one in section["tables"]:
                assert one["title"] not in self._tables, "titles tell tables apart"
                rows = [list(cells) for cells in one["rows"]]
                self._tables[one["title"]] = (list(one["columns"]), rows)

    @property
    def titles(self) -> list[str]:
        return list(self._tables)

    def columns(self, title: str) -> list[str]:
        return self._tables[title][0]

    def rows(self, title: str) -> list[list[str]]:
        return self._tables[title][1]

    def row(self, title: str, *key: str) -> list[str]:
        """What comes after the key in the one row that begins with it."""
        [found] = [cells for cells in self.rows(title) if cells[: len(key)] == list(key)]
        return found[len(key) :]

    def says(self, part: str) -> bool:
        return any(part in sentence for sentence in self.sentences)


def report(study: Study) -> Report:
    """Everything the report says of a study."""
    return Report([_document(section) for section in sections(study)])


def one_section(section: Section) -> Report:
    return Report([_document(section)])


def _document(section: Section) -> dict[str, Any]:
    tables = [{"title": t.title, "columns": t.columns, "rows": t.rows} for t in section.tables]
    return {"sentences": section.sentences, "tables": tables, "caveats": section.caveats}


def figures(*found: Any) -> tuple[Any, ...]:
    """Figures of any kind, to be compared with whole numbers or fractions."""
    return found


def ends(interval: Interval) -> tuple[Any, Any]:
    """Both ends, to be compared with whole numbers or fractions."""
    return interval.low, interval.high


def analyzed(*arguments: str) -> Report:
    """`revereval analyze … --json`, which must succeed without a word on standard error."""
    done = run_here("analyze", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    apart = [one for treatment in document.get("treatments", ()) for one in treatment["sections"]]
    return Report([*document["sections"], *apart])


def refused(*arguments: str) -> str:
    """The one line of `revereval analyze` on bad input: exit code 2 and nothing on stdout."""
    done = run_here("analyze", *arguments)
    assert (done.code, done.out) == (2, ""), done.err
    assert "Traceback" not in done.err
    assert re.fullmatch(r"revereval: [^\n]+\n", done.err)
    return done.err
