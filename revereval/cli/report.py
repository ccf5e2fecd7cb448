"""`revereval report`: everything a record identifies as one file that can be handed on."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from revereval.cli.analyze import (
    FEATURE,
    LEDGER,
    ComparablePrefix,
    ContractOption,
    DefinitionOption,
    Exclude,
    Feature,
    File,
    JointPrefix,
    LedgerFile,
    Models,
    PlanDigests,
    Pool,
    PricesOption,
    Relax,
    RuleOption,
    Treatments,
)
from revereval.cli.asking import ContractName, Definition, record_of, selected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from revereval.analysis.study import Study
    from revereval.analysis.treatments import Record
    from revereval.ledger.boundary_files import Cells
    from revereval.ledger.database import Database
    from revereval.report.document import PlanUsed, Singles
    from revereval.report.drawing import Drawn


class Format(StrEnum):
    HTML = "html"
    MD = "md"


def report(
    file: File = None,
    save: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to; report.html by default.")
    ] = None,
    file_format: Annotated[Format, typer.Option("--format", help="How.")] = Format.HTML,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write each figure as SVG and PNG.")
    ] = None,
    rule: RuleOption = None,
    exclude: Exclude = None,
    relax: Relax = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    feature: Feature = FEATURE,
    prices: PricesOption = None,
    joint_prefix: JointPrefix = None,
    comparable_prefix: ComparablePrefix = None,
    pair: Annotated[
        list[int] | None,
        typer.Option("--pair", metavar="RUN", help="Follow this pair; by default up to six."),
    ] = None,
    treatment: Treatments = None,
    model: Models = None,
    plan: PlanDigests = None,
    pool: Pool = False,
    ledger: LedgerFile = LEDGER,
    as_json: Annotated[
        bool, typer.Option("--json", help="What was written, as JSON on standard output.")
    ] = False,
) -> None:
    """Write one self-contained file: frame, quality, costs, single pairs, plans.

    It needs no network and no script, and is written whole or not at all.
    """
    import logging
    import os

    from revereval.cli import output
    from revereval.cli.files import check_folder, check_output, write_whole
    from revereval.errors import InputError
    from revereval.ledger.file import files_of

    os.environ["MPLBACKEND"] = "agg"  # one inherited from a notebook need not be installed here
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of its font cache
    target = save or Path(f"report.{file_format}")
    check_output(target, [path for path in (file, *files_of(ledger), _rule_file(rule)) if path])
    if figures is not None:
        check_folder(figures)
    if file is not None and pair:
        raise InputError("--pair", str(pair[0]), "needs a ledger: a table has no requests")
    chosen = selected(treatment, model, plan, pool)
    record = record_of(
        file, ledger, chosen, rule, exclude, relax, contract, endpoint, feature, prices,
        joint_prefix, comparable_prefix,
    )  # fmt: skip
    plans, singles = _of_table(file) if file else _of_ledger(ledger, record, pair)
    if chosen:
        has = record.chosen.has
        plans = [one for one in plans if has(one.treatment, one.model, one.digest)]

    from revereval.report.document import document

    made = document(record, plans, singles)
    links = {} if figures is None else _write_figures(figures, made.figures)
    if file_format is Format.HTML:
        from revereval.report.rendering import page

        text = page(made)
    else:
        from revereval.report.rendering import markdown

        text = markdown(made, _relative(links, target.parent))
    written = write_whole(target, text.encode())
    output.note(f"wrote {target}, {written.size:,} bytes")
    if as_json:
        output.print_json({
            "path": str(target), "bytes": written.size, "sha256": written.sha256,
            "figures": [
                {"name": drawn.name, "title": drawn.title,
                 "files": [str(path) for path in links.get(drawn.name, ())]}
                for drawn in made.figures
            ],
        })  # fmt: skip


def _rule_file(rule: str | None) -> Path | None:
    return Path(rule) if rule is not None and rule.endswith(".json") else None


def _of_table(file: Path) -> "tuple[list[PlanUsed], Singles | None]":
    """A table has no requests."""
    from revereval.ledger.boundary_files import read_boundaries

    return _plans_named(read_boundaries(file, PLAN_COLUMNS)), None


PLAN_COLUMNS = ("plan_digest", "task_id", "provider", "model", "treatment")


def _plans_named(columns: "Mapping[str, Cells]") -> "list[PlanUsed]":
    """The plans, providers and models that boundary rows name, if they name any."""
    from collections import Counter

    from revereval.ledger.boundary_files import TextColumn
    from revereval.report.document import PlanUsed

    if not columns.keys() - {"task_id", "treatment"}:
        return []
    task = columns["task_id"]
    assert isinstance(task, TextColumn)
    cells = [_texts(columns.get(name), len(task.codes)) for name in PLAN_COLUMNS]
    return [
        PlanUsed(digest, task_id, provider, model, runs, treatment)
        for (digest, task_id, provider, model, treatment), runs in sorted(
            Counter(zip(*cells, strict=True)).items()
        )
    ]


def _texts(column: "Cells | None", size: int) -> list[str]:
    """Of every row; empty where unknown."""
    from revereval.ledger.boundary_files import TextColumn

    if not isinstance(column, TextColumn):
        return [""] * size
    values = (*column.values, "")  # code -1 is the last
    return [values[code] for code in column.codes]


def _of_ledger(
    ledger: Path, record: "Record", asked: list[int] | None
) -> "tuple[list[PlanUsed], Singles]":
    from revereval.ledger.database import Database
    from revereval.ledger.importing import imported_boundaries
    from revereval.ledger.trajectories import plans_used, trajectories
    from revereval.report.document import PlanUsed, Singles
    from revereval.report.trajectory import chosen_runs

    with Database(ledger, write=False) as database:
        plans = [PlanUsed(*row) for row in plans_used(database)]
        plans += _plans_named(imported_boundaries(database, PLAN_COLUMNS))
        runs = list(dict.fromkeys(asked or ()))
        if not runs:
            runs = [
                run
                for _, study in record.parts
                if study.table.paired.any()
                for run in chosen_runs(study, _runs_of(database, study))
            ]
        return plans, Singles(list(trajectories(database, runs)), bool(asked))


def _runs_of(database: "Database", study: "Study") -> "list[int | None]":
    """The run of each row of the study; None for one that was imported.

    The ledger's own rows come first. A run recorded since the study was read has no row in it, and
    what stands in its place is of another task.
    """
    from revereval.ledger.boundary_files import ledger_boundaries

    columns = ledger_boundaries(database, {"run_id", "task_id"})
    tasks = _texts(columns["task_id"], 0)
    own = dict(enumerate(zip(list(columns["run_id"]), tasks, strict=True)))
    found: list[int | None] = []
    for row, place in enumerate(study.table.place.tolist()):
        run, task = own.get(place, (0, None))
        found.append(int(run) if study.table.task.text(row) == task else None)
    return found


def _write_figures(folder: Path, figures: "list[Drawn]") -> dict[str, list[Path]]:
    from revereval.cli.files import write_whole
    from revereval.report.drawing import png, svg_file

    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for drawn in figures:
        paths = [folder / f"{drawn.name}.{kind}" for kind in ("svg", "png")]
        for path, data in zip(paths, (svg_file(drawn).encode(), png(drawn)), strict=True):
            write_whole(path, data)
        written[drawn.name] = paths
    return written


def _relative(links: dict[str, list[Path]], folder: Path) -> dict[str, str]:
    """Links from the report's folder to the SVG files."""
    import os
    from urllib.parse import quote

    return {
        name: quote(os.path.relpath(paths[0], folder).replace(os.sep, "/"))
        for name, paths in links.items()
    }
