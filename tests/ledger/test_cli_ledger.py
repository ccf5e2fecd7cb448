"""`revereval ledger export` and `audit` as a user meets them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from revereval.cli.ledger import app
from revereval.errors import InputError
from revereval.terms import ArmName, Endpoint
from tests.ledger.build import ANSWERS, PREFIX, ArmScript, Build


@pytest.fixture
def paired(build: Build) -> Build:
    build.pair(PREFIX, {ArmName.F: ArmScript([ANSWERS], Endpoint.CORRECT)})
    return build


def invoke(build: Build, *arguments: str) -> Result:
    command = [*arguments, "--ledger", str(build.database.path)]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def test_export_writes_boundaries_as_csv_to_standard_output(paired: Build) -> None:
    result = invoke(paired, "export")
    header, row = result.stdout_bytes.decode().splitlines()
    assert header.startswith("flow,task_id,")
    assert row.startswith("paired,what-is-x,made-up-group,F,")
    assert result.stderr == ""


def test_a_manifest_beside_standard_output_is_written_when_named(
    paired: Build, tmp_path: Path
) -> None:
    path = tmp_path / "m.json"
    result = invoke(paired, "export", "--format", "jsonl", "--manifest", str(path))
    assert json.loads(path.read_text())["size_bytes"] == len(result.stdout_bytes)


def test_export_to_a_file_is_quiet_on_standard_output(paired: Build, tmp_path: Path) -> None:
    path = tmp_path / "arms.jsonl"
    result = invoke(paired, "export", "--table", "arms", "--format", "jsonl", "-o", str(path))
    assert result.stdout == ""
    assert result.stderr.startswith("2 rows in ")
    assert len(path.read_text().splitlines()) == 2
    as_json = invoke(paired, "export", "--table", "arms", "-o", str(path), "--json")
    assert json.loads(as_json.stdout) == json.loads(Path(f"{path}.manifest.json").read_text())


def test_rows_and_manifest_do_not_share_standard_output(paired: Build) -> None:
    with pytest.raises(InputError, match="name an --output file"):
        invoke(paired, "export", "--json")


def test_a_reader_that_went_away_reaches_the_caller(
    paired: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    class Gone(io.BytesIO):
        def write(self, _: object) -> int:
            raise BrokenPipeError

    for file_format in ("csv", "jsonl", "parquet"):
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(Gone()))
        from revereval.cli.ledger import Format, TableName, export

        with pytest.raises(BrokenPipeError):
            export(TableName.PLANS, Format(file_format), ledger=paired.database.path)
        monkeypatch.undo()


def test_unknown_tables_and_formats_are_bad_usage(paired: Build) -> None:
    for arguments in (["--table", "blobs"], ["--format", "xml"]):
        result = invoke(paired, "export", *arguments)
        assert result.exit_code == 2


def test_a_missing_ledger_is_one_clear_line(tmp_path: Path) -> None:
    for command in ("show", "audit", "export"):
        with pytest.raises(InputError, match="no ledger here"):
            CliRunner().invoke(
                app, [command, "--ledger", str(tmp_path / "none")], catch_exceptions=False
            )


def test_audit_ends_with_0_when_all_agrees_and_3_when_not(paired: Build) -> None:
    tasks = ["--tasks", str(paired.tasks_dir)]
    clean = invoke(paired, "audit", *tasks)
    assert (clean.exit_code, clean.stdout) == (0, "1 run audited, 0 disagreements\n")
    with paired.database.reading() as connection, paired.database.transaction():
        connection.exec_driver_sql("UPDATE arm SET suffix_requests = 5 WHERE name = 'F'")
    tampered = invoke(paired, "audit", *tasks)
    assert tampered.exit_code == 3
    assert tampered.stdout == (
        "run 1: arm 1: suffix_requests: stored 5, recomputed 1\n1 run audited, 1 disagreement\n"
    )
    document = json.loads(invoke(paired, "audit", "1", "--json", *tasks).stdout)
    assert document["disagreements"] == [
        {
            "run_id": 1, "table": "arm", "row_id": 1, "field": "suffix_requests",
            "stored": 5, "recomputed": 1,
        }
    ]  # fmt: skip
    assert document["runs"] == 1
