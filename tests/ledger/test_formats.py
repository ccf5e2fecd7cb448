"""The bytes of an export: exactness, hostile text, manifests, files, and how much is held."""

import csv
import hashlib
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from revereval.errors import FaultError, InputError
from revereval.ledger import formats
from revereval.ledger.columns import TABLES, Column
from revereval.ledger.export import export, export_to_file
from revereval.ledger.formats import FORMATS
from revereval.terms import Endpoint
from tests.ledger.build import PREFIX, ArmScript, Build, both
from tests.ledger.script import Turn

HOSTILE = '=1+1,"x"\r\n\0 \ud83d \x1b[2J é </script>'
COLUMNS = (
    Column("t", "text", ""), Column("i", "integer", ""), Column("n", "number", ""),
    Column("b", "boolean", ""),
)  # fmt: skip


class Sink(io.BytesIO):
    """Keeps its bytes when a writer closes it."""

    def close(self) -> None:
        return


def written(file_format: str, *pages_: list[list[Any]]) -> bytes:
    sink = Sink()
    with FORMATS[file_format](sink, COLUMNS) as writer:
        for page in pages_:
            writer.write(page)
    return sink.getvalue()


def read_parquet(data: bytes) -> Any:
    """Skips the test where the parquet extra is not installed."""
    return pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(data))


def answered(build: Build, text: str) -> None:
    wrong = ArmScript([Turn(answer=text)], Endpoint.WRONG)
    build.pair(PREFIX, both(wrong, wrong))


# cells


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\t=1", "\r=1"])
def test_csv_disarms_a_text_that_begins_like_a_formula(text: str) -> None:
    data = written("csv", [[text, -1, -0.5, 1]]).decode()
    [_, row] = csv.reader(io.StringIO(data, newline=""))
    assert row == ["'" + text, "-1", "-0.5", "1"]


def test_csv_is_utf8_with_bare_newlines_and_empty_cells_for_unknown() -> None:
    data = written("csv", [["é", None, 0.1, 0], [None, 0, None, None]])
    assert data == "t,i,n,b\né,,0.1,0\n,0,,\n".encode()


def test_csv_quotes_every_text_that_would_break_a_row() -> None:
    texts = ['a"b', "a,b", "a\nb", "a\rb", "a\r\nb", '"', "\0", " x "]
    data = written("csv", [[text, None, None, None] for text in texts]).decode()
    assert [row[0] for row in csv.reader(io.StringIO(data, newline=""))][1:] == texts


def test_jsonl_keeps_every_text_in_ascii() -> None:
    data = written("jsonl", [[HOSTILE, 2**53, 0.1, 1], [None, None, None, None]])
    assert data.isascii() and data.count(b"\n") == 2
    first, second = (json.loads(line) for line in data.splitlines())
    assert first == {"t": HOSTILE, "i": 2**53, "n": 0.1, "b": True}
    assert second == {"t": None, "i": None, "n": None, "b": None}


def test_jsonl_never_writes_a_number_that_json_lacks() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        written("jsonl", [["", 1, float("inf"), 1]])


def test_parquet_keeps_types_over_pages_without_values() -> None:
    data = written("parquet", [[None] * 4], [["=1+1\0é", 2**60 + 1, 0.1, 0]])
    read = read_parquet(data)
    assert [str(field.type) for field in read.schema] == ["string", "int64", "double", "bool"]
    assert read.to_pylist() == [
        {"t": None, "i": None, "n": None, "b": None},
        {"t": "=1+1\0é", "i": 2**60 + 1, "n": 0.1, "b": False},
    ]


def test_utf8_formats_spell_lone_surrogates_out() -> None:
    assert written("csv", [["a\ud83d", None, None, None]]).endswith(b"a\\ud83d,,,\n")
    read = read_parquet(written("parquet", [["a\ud83d", 1, 1.0, 1]]))
    assert read.to_pylist()[0]["t"] == "a\\ud83d"


def test_without_the_parquet_extra_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(InputError, match=r"needs the parquet extra: pip install"):
        written("parquet")


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "parquet"])
def test_a_hostile_answer_survives_every_format(build: Build, file_format: str) -> None:
    answered(build, HOSTILE)
    output = io.BytesIO()
    export(build.database, "arms", file_format, output)
    if file_format == "jsonl":
        answers = [json.loads(line)["answer"] for line in output.getvalue().splitlines()]
        assert answers == [HOSTILE, HOSTILE]
        return
    escaped = HOSTILE.replace("\ud83d", "\\ud83d")
    if file_format == "parquet":
        read = read_parquet(output.getvalue()).to_pylist()
        assert [row["answer"] for row in read] == [escaped] * 2
    else:
        text = io.StringIO(output.getvalue().decode(), newline="")
        assert [row["answer"] for row in csv.DictReader(text)] == ["'" + escaped] * 2


# files


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "parquet"])
def test_the_manifest_describes_the_bytes(build: Build, tmp_path: Path, file_format: str) -> None:
    answered(build, "{}")
    path = tmp_path / "out"
    export_to_file(build.database, "plans", file_format, path, None)
    data = path.read_bytes()
    manifest = json.loads((tmp_path / "out.manifest.json").read_text())
    assert manifest["sha256"] == hashlib.sha256(data).hexdigest()
    assert (manifest["rows"], manifest["size_bytes"]) == (1, len(data))
    assert (manifest["table"], manifest["format"]) == ("plans", file_format)
    assert list(manifest["columns"]) == TABLES["plans"].names
    assert (manifest["schema_version"], manifest["revereval"]) == (3, "0.1.0")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_failed_export_leaves_the_old_file_and_no_other(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(build, "{}")
    folder = tmp_path / "exports"
    folder.mkdir()
    path = folder / "out.csv"
    path.write_text("old")

    def full(_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(formats, "_csv_cell", full)
    with pytest.raises(InputError, match="No space left on device"):
        export_to_file(build.database, "plans", "csv", path, None)
    assert path.read_text() == "old" and list(folder.iterdir()) == [path]


def test_an_export_never_replaces_the_ledger_or_a_device(build: Build, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(build.database.path)
    for path in (build.database.path, Path(f"{build.database.path}-wal"), link):
        with pytest.raises(InputError, match="this is the ledger"):
            export_to_file(build.database, "plans", "csv", path, None)
    with pytest.raises(InputError, match="not a regular file"):
        export_to_file(build.database, "plans", "csv", Path(os.devnull), tmp_path / "m")
    with pytest.raises(InputError, match="another file than --output"):
        export_to_file(build.database, "plans", "csv", tmp_path / "o", tmp_path / "o")
    with pytest.raises(InputError, match="No such file or directory"):
        export_to_file(build.database, "plans", "csv", tmp_path / "none" / "o", None)


def test_an_answer_whose_bytes_changed_ends_the_export_with_a_clear_line(build: Build) -> None:
    answered(build, "not json")
    with build.database.reading() as connection, build.database.transaction():
        connection.exec_driver_sql(
            "UPDATE blob SET data = x'00' WHERE data = CAST('not json' AS BLOB)"
        )
        changed = connection.exec_driver_sql("SELECT count(*) FROM blob WHERE data = x'00'")
        assert changed.scalar() == 1
    with pytest.raises(FaultError, match="an answer cannot be read"):
        export(build.database, "arms", "csv", io.BytesIO())
