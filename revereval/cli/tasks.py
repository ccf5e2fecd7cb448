"""`revereval tasks`: list, show, fetch, verify and write the task files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from revereval.tasks.oracle import Fault

app = typer.Typer(help="List, show, fetch, verify and write the tasks of the evaluation.")

Tasks = Annotated[Path, typer.Option("--tasks", help="Directory of the source groups.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="TASK", help="Default: all.")]
TASKS = Path("tasks")


@app.command("list")
def list_tasks(tasks: Tasks = TASKS, as_json: AsJson = False) -> None:
    """List every task.

    Evidence bytes are those of its distinct evidence spans. Boundary names the scripted readers
    that reach one in it: default, direct (reads no file without evidence) and batching (direct,
    with four calls a turn).
    """
    from revereval.cli import output
    from revereval.tasks.lint import reader_names
    from revereval.tasks.spec import load_task, task_ids

    every = [load_task(tasks, task_id) for _, task_id in task_ids(tasks)]
    if as_json:
        output.print_json(
            [
                {
                    "task": task.id,
                    "source_group": task.source.group,
                    "package": task.source.package,
                    "version": task.source.version,
                    "split": task.source.split,
                    "keys": dict(task.keys),
                    "reads": task.reads,
                    "evidence_bytes": task.evidence_bytes,
                    "boundary": None if task.boundary is None else list(task.boundary),
                }
                for task in every
            ]
        )
        return
    output.table(
        None,
        ["task", "split", "reads", "evidence bytes", "boundary"],
        [
            [
                task.id,
                task.source.split,
                str(task.reads),
                f"{task.evidence_bytes:,}",
                "not settled" if task.boundary is None else reader_names(task.boundary),
            ]
            for task in every
        ],
    )


@app.command()
def show(
    task: Annotated[str, typer.Argument(help="Task id.")],
    gold: Annotated[bool, typer.Option("--gold", help="Also the gold and its evidence.")] = False,
    tasks: Tasks = TASKS,
    as_json: AsJson = False,
) -> None:
    """Show a task without its gold."""
    import json

    from revereval.cli import output
    from revereval.tasks.spec import json_text, load_task

    found = load_task(tasks, task)
    facts: dict[str, str | int] = {
        "task": found.id,
        "source_group": found.source.group,
        "package": found.source.package,
        "version": found.source.version,
        "split": found.source.split,
        "files": len(found.source.files),
        "reads": found.reads,
        "task_digest": found.digest,
        "snapshot_digest": found.source.snapshot_digest,
        "gold_digest": found.gold_digest,
    }
    if as_json:
        hidden = {
            "gold": json.loads(json_text(found.gold)),
            "evidence": {k: [span.fields for span in v] for k, v in found.evidence.items()},
        }
        shown = {"prompt": found.prompt, "keys": found.keys, "premises": found.premises}
        output.print_json(facts | shown | (hidden if gold else {}))
        return
    for name, fact in facts.items():
        output.line(f"{name}: {fact}")
    output.table("keys", ["key", "type"], [[key, kind] for key, kind in found.keys.items()])
    output.table("premises", ["premise", "value"], [[*pair] for pair in found.premises.items()])
    for text in ["", "prompt", *found.prompt.split("\n")]:
        output.line(text)
    if gold:
        rows = [[key, json_text(value)] for key, value in found.gold.items()]
        output.table("gold", ["key", "value"], rows)
        spans = [(key, span) for key, spans in found.evidence.items() for span in spans]
        rows = [[key, f"{span.file}:{span.line}", span.span] for key, span in spans]
        output.table("evidence", ["key", "place", "span"], rows)


@app.command()
def fetch(task: Ids = None, tasks: Tasks = TASKS, as_json: AsJson = False) -> None:
    """Make or rebuild cached snapshots."""
    from revereval.cli import output
    from revereval.tasks.snapshot import SnapshotChangedError, fetch_snapshot
    from revereval.tasks.spec import load_task, task_ids

    chosen = task or [task_id for _, task_id in task_ids(tasks)]
    sources = {source.group: source for source in (load_task(tasks, t).source for t in chosen)}
    fetched = []
    for source in sources.values():
        try:
            snapshot = fetch_snapshot(source, rebuild=False)
        except SnapshotChangedError as error:
            output.note(f"rebuilding, because {error.source}: {error.problem}")
            snapshot = fetch_snapshot(source, rebuild=True)
        fetched.append(
            {
                "source_group": source.group,
                "snapshot_digest": snapshot.digest,
                "files": len(snapshot.files),
                "directory": str(snapshot.root),
            }
        )
        if not as_json:
            output.line(f"{source.group}: {len(snapshot.files)} files in {snapshot.root}")
    if as_json:
        output.print_json(fetched)


@app.command()
def verify(
    task: Ids = None,
    perturb: Annotated[
        bool,
        typer.Option(
            "--perturb", help="Also under another locale, time zone, platform and the like."
        ),
    ] = False,
    tasks: Tasks = TASKS,
    as_json: AsJson = False,
) -> None:
    """Run the oracles and compare with gold.

    Each runs against its snapshot in a process of its own, compared key by key. With --perturb
    it runs again in other surroundings: an answer that changes must have a premise that says so.
    Exit code 0 only if everything holds, else 2 with a line for each fault.
    """
    from dataclasses import asdict

    from revereval.cli import output
    from revereval.tasks.spec import task_ids
    from revereval.tasks.suite import verify_tasks

    chosen = task or [task_id for _, task_id in task_ids(tasks)]
    checks = verify_tasks(tasks, chosen, perturb=perturb)
    if as_json:
        output.print_json([{**asdict(check), "used": sorted(check.used)} for check in checks])
    else:
        rows = [
            [
                check.task_id,
                f"{sum(key.ok for key in check.keys)}/{len(check.keys)}",
                "faults" if check.faults else "holds",
            ]
            for check in checks
        ]
        output.table(None, ["task", "keys that match", "verdict"], rows)
    faults = [fault for check in checks for fault in check.faults]
    _end_with(faults)


@app.command()
def lint(tasks: Tasks = TASKS, as_json: AsJson = False) -> None:
    """Look for faults in the task files.

    Fields, types, evidence, prompts that give the gold away, groups with one task, files that no
    oracle of the group opens, functions that an oracle runs and no evidence covers, readers that
    do not reach a boundary where the task says so. Exit code 0 only if there is none, else 2 with
    a line for each.
    """
    from dataclasses import asdict

    from revereval.cli import output
    from revereval.pair.rehearsal import boundary_readers
    from revereval.tasks.spec import task_ids
    from revereval.tasks.suite import lint_tasks

    faults = lint_tasks(tasks, boundary_readers)
    if as_json:
        output.print_json([asdict(fault) for fault in faults])
    elif not faults:
        output.line(f"{len(task_ids(tasks))} tasks, no fault")
    _end_with(faults)


@app.command()
def new(
    package: Annotated[str, typer.Argument(help="Package, as the registry names it.")],
    version: Annotated[str, typer.Argument(help="Exact version.")],
    task: Annotated[str, typer.Argument(help="Id of the new task.")],
    group: Annotated[
        str | None, typer.Option("--group", help="Source group; default: the package.")
    ] = None,
    split: Annotated[
        str, typer.Option("--split", help="development, calibration or confirmation.")
    ] = "development",
    tasks: Tasks = TASKS,
    as_json: AsJson = False,
) -> None:
    """Scaffold a task on a package.

    Writes source.toml with every Python file and its digest, and a task that holds as it is. Then
    edit prompt, oracle, keys and evidence; `tasks settle` writes the gold.
    """
    from revereval.cli import output
    from revereval.errors import InputError
    from revereval.tasks.lint import LONG_OBSERVATION_BYTES
    from revereval.tasks.scaffold import new_task
    from revereval.terms import Split

    if split not in list(Split):
        raise InputError("--split", split, f"one of {', '.join(Split)}")
    folder = group or package.lower().replace("_", "-").replace(".", "-")
    written, sizes = new_task(tasks, task, package, version, folder, Split(split))
    if as_json:
        output.print_json({"written": [str(path) for path in written], "files": dict(sizes)})
        return
    largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    long = [[path, f"{size:,}"] for path, size in largest if size >= LONG_OBSERVATION_BYTES]
    title = f"{len(sizes)} files, {len(long)} of them long enough to be projected"
    output.table(title, ["file", "bytes"], long)
    for path in written:
        output.line(f"wrote {path}")
    output.paragraph(
        f"Next: edit {task}.toml and {task}.oracle.py, then `revereval tasks settle {task}`, "
        f"`revereval tasks lint` and `revereval tasks verify --perturb {task}`."
    )


@app.command()
def settle(
    task: Annotated[str, typer.Argument(help="Task id; its whole group is settled.")],
    tasks: Tasks = TASKS,
    as_json: AsJson = False,
) -> None:
    """Write what the oracles decide.

    The gold of each task of the group becomes what its oracle prints, and source.toml keeps the
    files that an oracle opens or that evidence names. Each task says which scripted readers
    reach a boundary in it.
    """
    from revereval.cli import output
    from revereval.pair.rehearsal import boundary_readers
    from revereval.tasks.scaffold import settle as settle_group

    written = settle_group(tasks, task, boundary_readers)
    if as_json:
        output.print_json({"written": [str(path) for path in written]})
        return
    for path in written:
        output.line(f"wrote {path}")
    if not written:
        output.line("nothing to change")


def _end_with(faults: "list[Fault]") -> None:
    from revereval.cli import output

    for fault in faults:
        output.note(": ".join(filter(None, (fault.file, fault.field, fault.problem))))
    if faults:
        raise typer.Exit(2)
