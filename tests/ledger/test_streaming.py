"""An export holds one page at a time and keeps no read open between pages."""

import io
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from revereval.ledger import pages
from revereval.ledger.columns import TABLES
from revereval.ledger.database import Database
from revereval.ledger.export import export
from revereval.ledger.sources import SOURCES
from revereval.ledger.tables import Arm, Plan, Request, Run, table
from revereval.terms import Endpoint
from tests.ledger.build import PREFIX, ArmScript, Build, both
from tests.ledger.script import NOW, Turn


def answered(build: Build, text: str) -> None:
    wrong = ArmScript([Turn(answer=text)], Endpoint.WRONG)
    build.pair(PREFIX, both(wrong, wrong))


def many_runs(database: Database, build: Build, count: int, first: int = 1) -> None:
    """Boundary runs with one request a stage, in bulk."""
    run = {
        "plan_id": 1, "created_at": NOW, "capture_outcome": "boundary", "capture_detail": "d" * 300,
        "boundary_request_id": 1,
    }  # fmt: skip
    arm = {
        "detail": "", "allowed_requests": 12, "allowed_archive_calls": 3, "extracted_reason": "",
        "strict_reason": "", "suffix_requests": 1, "archive_calls": 0, "metered_tokens": 1,
        "largest_metered_prompt": 1, "metered_since_projection": 1, "endpoint": "capped",
    }  # fmt: skip
    request = {
        "position": 0, "digest": "0" * 64, "size_bytes": 4, "metered_tokens": 1, "head_blob_id": 1,
        "item_count": 0, "edits": "[]", "newly_projected": 0, "prepared_at": NOW,
        "completed_at": NOW, "input_tokens": 3, "output_tokens": 4, "usage_estimated": False,
        "usage_flags": "",
    }  # fmt: skip
    ids = range(first, count + 1)
    with database.reading() as connection, database.transaction():
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        connection.exec_driver_sql("INSERT OR IGNORE INTO blob VALUES (1, '', 0, 0, x'')")
        connection.execute(table(Plan).insert().prefix_with("OR IGNORE"), build.plan())
        connection.execute(table(Run).insert(), [{"id": n, **run} for n in ids])
        arms = [{"run_id": n, "name": a, "turn": 1, **arm} for n in ids for a in ("F", "P")]
        connection.execute(table(Arm).insert(), arms)
        stages = ("capture", "F", "P")
        connection.execute(
            table(Request).insert(),
            [{"run_id": n, "stage": stage, **request} for n in ids for stage in stages],
        )


class Nowhere(io.BytesIO):
    def write(self, data: Any) -> int:
        return len(data)


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "parquet"])
def test_memory_does_not_grow_with_the_ledger(
    build: Build, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    small_pages = {"boundaries": replace(SOURCES["boundaries"], rows=50)}
    monkeypatch.setattr(pages, "SOURCES", small_pages)
    many_runs(build.database, build, 100)
    export(build.database, "boundaries", file_format, Nowhere())  # imports and caches
    few = peak_of_export(build.database, file_format)
    many_runs(build.database, build, 1_500, first=101)
    # a whole ledger in memory would be fifteen times as much
    assert peak_of_export(build.database, file_format) < 3 * few


def peak_of_export(database: Database, file_format: str) -> int:
    tracemalloc.start()
    export(database, "boundaries", file_format, Nowhere())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_totals_of_every_page_are_right(build: Build) -> None:
    many_runs(build.database, build, 1_201)
    output = io.BytesIO()
    export(build.database, "boundaries", "jsonl", output)
    rows = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [row["run_id"] for row in rows] == list(range(1, 1_202))
    totals = {(r["prefix_tokens"], r["f_suffix_tokens"], r["p_suffix_tokens"]) for r in rows}
    assert totals == {(7, 7, 7)}


def test_a_page_of_long_texts_has_few_rows(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        answered(build, "x" * 1000)
    monkeypatch.setattr(pages, "PAGE_TEXT_CHARS", 500)
    sizes = [len(page) for page in pages.pages(build.database, "arms")]
    assert (sum(sizes), max(sizes)) == (6, 1)


def test_the_wal_can_shrink_while_an_export_is_slow(build: Build) -> None:
    many_runs(build.database, build, 1_201)
    reader = Database(build.database.path, write=False)
    export_pages = pages.pages(reader, "boundaries")
    next(export_pages)
    with build.database.reading() as connection:
        busy, left, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    assert (busy, left) == (0, 0)
    assert Path(f"{build.database.path}-wal").stat().st_size == 0
    assert sum(map(len, export_pages)) == 701
    reader.close()


@pytest.mark.parametrize("name", list(TABLES))
def test_every_page_is_read_along_an_index(build: Build, name: str) -> None:
    answered(build, "{}")
    statement = SOURCES[name].statement
    with build.database.reading() as connection:
        text = f"EXPLAIN QUERY PLAN {statement}".replace(":after", "-1").replace(":rows", "9")
        details = [row[-1] for row in connection.exec_driver_sql(text)]
    # scanned are only the few rows that the page itself produced
    produced = (
        "SCAN page",
        "SCAN chosen",
        "SCAN (subquery",
        "SCAN usage",
        "SCAN request USING INDEX",
        "SCAN json_each VIRTUAL TABLE",
    )
    scans = [d for d in details if d.startswith("SCAN") and not d.startswith(produced)]
    assert scans == []
    assert any("USING INTEGER PRIMARY KEY (rowid>?)" in detail for detail in details)
