"""`revereval tasks`: list, show, fetch and verify the task files."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="List, show, fetch and verify the tasks of the evaluation.")

Tasks = Annotated[Path, typer.Option("--tasks", help="Directory of the source groups.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="TASK", help="Default: all.")]
TASKS = Path("tasks")


@app.command("list")
def list_tasks(tasks: Tasks = TASKS, as_json: AsJson = False) -> None:
    """List every task with its source."""
    from revereval.cli import output
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
                    "keys": dict(task.keys),
                    "reads": task.reads,
                }
                for task in every
            ]
        )
        return
    output.table(
        None,
        ["task", "source group", "keys", "reads"],
        [[task.id, task.source.group, str(len(task.keys)), str(task.reads)] for task in every],
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
    from dataclasses import asdict

    from revereval.cli import output
    from revereval.tasks.spec import json_text, load_task

    found = load_task(tasks, task)
    facts: dict[str, str | int] = {
        "task": found.id,
        "source_group": found.source.group,
        "package": found.source.package,
        "version": found.source.version,
        "files": len(found.source.files),
        "reads": found.reads,
        "task_digest": found.digest,
        "snapshot_digest": found.source.snapshot_digest,
        "gold_digest": found.gold_digest,
    }
    if as_json:
        hidden = {
            "gold": json.loads(json_text(found.gold)),
            "evidence": {k: [asdict(span) for span in v] for k, v in found.evidence.items()},
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
def verify(task: Ids = None, tasks: Tasks = TASKS, as_json: AsJson = False) -> None:
    """Run the oracles and compare with gold.

    Each runs against its snapshot in a process of its own, compared key by key. Exit code 0
    only if everything holds, else 2 with a line for each fault.
    """
    import os
    from concurrent.futures import ThreadPoolExecutor
    from dataclasses import asdict
    from functools import partial

    from revereval.cli import output
    from revereval.tasks.oracle import verify_task
    from revereval.tasks.spec import task_ids

    chosen = task or [task_id for _, task_id in task_ids(tasks)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = list(pool.map(partial(verify_task, tasks), chosen))
    if as_json:
        output.print_json([asdict(check) for check in checks])
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
    for fault in faults:
        output.note(": ".join(filter(None, (fault.file, fault.field, fault.problem))))
    if faults:
        raise typer.Exit(2)
