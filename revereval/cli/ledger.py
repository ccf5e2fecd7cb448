"""`revereval ledger`: show, audit and export what was recorded, and import what others did."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Show, audit, export and import boundary runs.")

LedgerFile = Annotated[Path, typer.Option("--ledger", help="The ledger file.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
LEDGER = Path("runs/ledger.sqlite")
TASKS = Path("tasks")


class TableName(StrEnum):
    BOUNDARIES = "boundaries"
    ARMS = "arms"
    REQUESTS = "requests"
    OBSERVATIONS = "observations"
    PLANS = "plans"
    PAUSES = "pauses"


class Format(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


@app.command()
def show(
    run: Annotated[int | None, typer.Argument(help="A run; without it, the last ten.")] = None,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Show a run, or the last ten.

    A run is shown as its plan, its capture, its boundary, both arms, and request by request.
    """
    from revereval.cli import output
    from revereval.ledger.database import Database
    from revereval.ledger.show import recent_runs, run_facts
    from revereval.ledger.show_text import Grid, run_lines, run_sections

    with Database(ledger, write=False) as database:
        facts = recent_runs(database) if run is None else run_facts(database, run)
    if as_json:
        output.print_json(facts)
        return
    sections = [run_lines(facts)] if isinstance(facts, list) else run_sections(facts)
    for section in sections:
        if isinstance(section, Grid):
            output.table(section.title, section.columns, section.rows)
        else:
            for text in (section.title, *section.lines):
                output.line(text)
        output.line()


@app.command()
def audit(
    runs: Annotated[list[int] | None, typer.Argument(metavar="RUN", help="Default: all.")] = None,
    ledger: LedgerFile = LEDGER,
    tasks: Annotated[
        Path, typer.Option("--tasks", help="Tasks whose gold scores the answers again.")
    ] = TASKS,
    as_json: AsJson = False,
) -> None:
    """Check the ledger against its bytes.

    Everything is recomputed, each disagreement is reported, and nothing is changed. Exit code 0
    where all agrees, 3 where something does not.
    """
    from dataclasses import asdict

    from revereval.cli import output
    from revereval.ledger.audit import audit as audit_ledger
    from revereval.ledger.audit_material import Summary
    from revereval.ledger.database import Database

    summary = Summary()
    listed = []
    with Database(ledger, write=False) as database:
        for findings in audit_ledger(database, runs or [], tasks):
            summary.add(findings)
            if as_json:
                listed += [asdict(disagreement) for disagreement in findings.disagreements]
                continue
            for disagreement in findings.disagreements:
                output.line(str(disagreement))
    if as_json:
        output.print_json({**vars(summary), "disagreements": listed})
    else:
        for text in summary.lines():
            output.line(text)
    if summary.disagreements:
        raise typer.Exit(3)


@app.command()
def export(
    table: Annotated[TableName, typer.Option(help="What to export.")] = TableName.BOUNDARIES,
    file_format: Annotated[Format, typer.Option("--format", help="How.")] = Format.CSV,
    file: Annotated[
        Path, typer.Option("--output", "-o", help="Where to; - is standard output.")
    ] = Path("-"),
    manifest: Annotated[
        Path | None,
        typer.Option(help="Where the manifest goes; by default beside the output file."),
    ] = None,
    ledger: LedgerFile = LEDGER,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the manifest; needs an --output file.")
    ] = False,
) -> None:
    """Export a table, streamed.

    Its columns are documented in revereval/ledger/COLUMNS.md. In CSV, a text that begins like a
    formula gets a leading apostrophe; JSON lines keep it exact.
    """
    import sys
    from dataclasses import asdict

    from revereval.cli import output
    from revereval.errors import InputError
    from revereval.ledger.database import Database
    from revereval.ledger.export import export as export_table
    from revereval.ledger.export import export_to_file, write_manifest
    from revereval.words import amount

    with Database(ledger, write=False) as database:
        if str(file) != "-":
            written = export_to_file(database, table, file_format, file, manifest)
            if as_json:
                output.print_json(asdict(written))
            else:
                output.note(f"{amount(written.rows, 'row')} in {file}, SHA-256 {written.sha256}")
            return
        if as_json:
            raise InputError("--json", "", "the rows go to standard output: name an --output file")
        if file_format is Format.PARQUET and sys.stdout.isatty():
            raise InputError("--format parquet", "", "binary: name an --output file or a pipe")
        sys.stdout.flush()
        written = export_table(database, table, file_format, sys.stdout.buffer)
        if manifest is not None:
            write_manifest(database, written, manifest)


@app.command("import")
def import_table(
    file: Annotated[Path, typer.Argument(help="A boundary table: .csv, .jsonl or .parquet.")],
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Import boundary rows of another harness.

    They are checked as `analyze` checks them, and kept apart from the ledger's own runs. A table
    that does not say its treatment is one of its own.
    """
    from revereval.cli import output
    from revereval.cli.tables import checked_table
    from revereval.ledger.database import Database
    from revereval.ledger.importing import import_boundaries
    from revereval.words import amount

    digest, columns = checked_table(file, ledger)
    with Database(ledger, write=True) as database:
        rows = import_boundaries(database, digest, columns)
    if as_json:
        output.print_json({"rows": rows, "sha256": digest})
    else:
        output.line(f"{amount(rows, 'row')} of {file}, SHA-256 {digest}")
