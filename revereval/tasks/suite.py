"""Many tasks at once: verified and linted in parallel, each source fetched once."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from revereval.errors import InputError
from revereval.tasks import lint
from revereval.tasks.coverage import coverage_faults
from revereval.tasks.lint import Reach
from revereval.tasks.oracle import Fault, OracleError, TaskCheck, run_oracle, verify_task
from revereval.tasks.snapshot import open_snapshot
from revereval.tasks.spec import Source, Task, load_task


def verify_tasks(
    tasks_dir: Path, chosen: Sequence[str], *, perturb: bool = False
) -> list[TaskCheck]:
    """A check of each task, in the given order; a task at fault does not keep others from theirs.

    The threads wait for the oracles' processes.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        _fetch(pool, tasks_dir, chosen)
        return list(pool.map(partial(verify_task, tasks_dir, perturb=perturb), chosen))


def lint_tasks(tasks_dir: Path, reach: Reach) -> list[Fault]:
    """Every fault of the files, then of each group with its snapshot and oracles."""
    tasks, faults = lint.load_every(tasks_dir)
    faults += lint.file_faults(tasks_dir, tasks)
    groups = lint.by_group(tasks_dir, tasks)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        _fetch(pool, tasks_dir, [task.id for task in tasks])
        examined = list(pool.map(partial(_examined, tasks_dir, reach), tasks))
    of = {check.task_id: check for check in examined}
    for folder, members in groups.items():
        faults += _group_faults(folder, members, [of[task.id] for task in members])
    return faults


def _examined(tasks_dir: Path, reach: Reach, task: Task) -> TaskCheck:
    """The check of a task; where it holds, also what a traced run and the readers show."""
    check = verify_task(tasks_dir, task.id)
    if check.faults:
        return check
    snapshot = open_snapshot(task.source)
    boundary = lint.boundary_fault(task, reach(tasks_dir, task.id, snapshot.files))
    faults = [boundary] if boundary else []
    try:
        faults += coverage_faults(task, run_oracle(task.oracle, snapshot, trace=True).called)
    except OracleError as error:
        faults.append(Fault(str(task.oracle), "", f"under a tracer: {error}"))
    return replace(check, faults=tuple(faults))


def _group_faults(folder: Path, tasks: list[Task], checks: list[TaskCheck]) -> list[Fault]:
    try:
        snapshot = open_snapshot(tasks[0].source)
    except InputError as error:
        return [Fault(error.source, error.field, error.problem)]
    oracles = [fault for check in checks for fault in check.faults]
    return oracles + list(lint.source_faults(tasks[0].source, folder, snapshot, tasks, checks))


def _fetch(pool: ThreadPoolExecutor, tasks_dir: Path, chosen: Sequence[str]) -> None:
    """Make each missing snapshot once, where siblings would each download it."""
    sources: dict[str, Source] = {}
    for task_id in chosen:
        try:
            source = load_task(tasks_dir, task_id).source
        except InputError:
            continue  # its own check says so
        sources[source.snapshot_digest] = source
    list(pool.map(_fetched, sources.values()))


def _fetched(source: Source) -> bool:
    try:
        open_snapshot(source)
    except InputError:
        return False  # the checks of its tasks say why
    return True
