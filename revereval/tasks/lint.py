"""Lint: what is wrong with task files beyond a wrong answer; each fault has its file and field."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from revereval.errors import InputError
from revereval.tasks.oracle import Fault, TaskCheck
from revereval.tasks.snapshot import Snapshot
from revereval.tasks.spec import Source, Task, json_text, load_task, siblings, task_ids
from revereval.terms import Reader

LONG_OBSERVATION_BYTES: Final = 10 * 1024
"""The default `min_observation_bytes`: without such a file nothing could ever be projected."""
TELLING_CHARS: Final = 8
"""A shorter value (a number, a flag, a word) can stand in a prompt by chance."""
TODO: Final = "TODO"

Reach = Callable[[Path, str, Mapping[str, str]], Sequence[Reader]]
"""(tasks, task id, files of its snapshot) -> the scripted readers that reach a boundary in it."""


def load_every(tasks_dir: Path) -> tuple[list[Task], list[Fault]]:
    """Every task that loads, and the first fault of each that does not."""
    tasks, faults = [], []
    for _, task_id in task_ids(tasks_dir):
        try:
            tasks.append(load_task(tasks_dir, task_id))
        except InputError as error:
            faults.append(Fault(error.source, error.field, error.problem))
    return tasks, list(dict.fromkeys(faults))  # siblings share a faulty source.toml


def file_faults(tasks_dir: Path, tasks: Iterable[Task]) -> Iterator[Fault]:
    """What the files alone show: prompts, premises, evidence, and groups."""
    by_prompt: dict[str, Task] = {}
    for task in tasks:
        yield from _prompt_faults(task)
        first = by_prompt.setdefault(task.prompt, task)
        if first is not task:
            yield Fault(str(task.file), "prompt", f"the same as that of {first.id}")
        if "python" not in task.premises:
            yield Fault(str(task.file), "premises.python", "missing: the versions it holds for")
        yield from _evidence_faults(task)
    members = Counter(group for group, _ in task_ids(tasks_dir))
    for group, count in members.items():
        if count == 1:
            yield Fault(str(tasks_dir / group), "", "a group with one task: it has no sibling")


def source_faults(
    source: Source, folder: Path, snapshot: Snapshot, tasks: list[Task], checks: list[TaskCheck]
) -> Iterator[Fault]:
    """What the snapshot and the oracles of one group show.

    Only where every task of the group loads and holds is it known which files it needs.
    """
    for task in tasks:
        files = {span.file for span in task.spans}
        sizes = [len(snapshot.files[file].encode()) for file in files]
        if max(sizes) < LONG_OBSERVATION_BYTES:
            problem = f"no file of {LONG_OBSERVATION_BYTES} bytes: nothing could be projected"
            yield Fault(str(task.file), "evidence", problem)
    if len(tasks) < len(siblings(folder.parent, folder.name)) or any(c.faults for c in checks):
        return
    needed = needed_files(tasks, checks)
    for path in source.files:
        if path not in needed:
            problem = "never needed: no oracle opens it and no evidence names it"
            yield Fault(str(folder / "source.toml"), f"files.{path}", problem)


def boundary_fault(task: Task, reached: Sequence[Reader]) -> Fault | None:
    """Where a task says something else than under which readers it reaches a boundary."""
    if task.boundary == tuple(reached):
        return None
    said = "missing" if task.boundary is None else f"{reader_names(task.boundary)} in the file"
    problem = f"{said}, {reader_names(reached)} by the snapshot; `tasks settle` writes it"
    return Fault(str(task.file), "boundary", problem)


def reader_names(readers: Sequence[Reader]) -> str:
    """The readers for a person, `none` and `all` at the ends."""
    return "all" if len(readers) == len(Reader) else ", ".join(readers) or "none"


def needed_files(tasks: Iterable[Task], checks: Iterable[TaskCheck]) -> set[str]:
    """The files that an oracle opened or that evidence names."""
    needed = {path for check in checks for path in check.used}
    return needed.union(span.file for task in tasks for span in task.spans)


def by_group(tasks_dir: Path, tasks: Iterable[Task]) -> dict[Path, list[Task]]:
    """The folder of each source group -> its tasks."""
    groups = defaultdict(list)
    for task in tasks:
        groups[tasks_dir / task.source.group].append(task)
    return dict(groups)


def _prompt_faults(task: Task) -> Iterator[Fault]:
    if TODO in task.prompt:
        yield Fault(str(task.file), "prompt", f"still has its {TODO}")
    told = [key for key, value in task.gold.items() if _tells(task.prompt, value)]
    if _tells(task.prompt, task.gold):
        yield Fault(str(task.file), "prompt", "contains the gold")
    for key in told:
        yield Fault(str(task.file), "prompt", f"contains the gold of {key!r}")


def _tells(prompt: str, value: Any) -> bool:
    """Whether the prompt holds a value as text, as JSON or as Python would print it."""
    plain = json.loads(json_text(value))
    if isinstance(plain, str) and len(plain) < TELLING_CHARS:
        return False
    spellings = {
        plain if isinstance(plain, str) else "",
        json.dumps(plain, ensure_ascii=False),
        json.dumps(plain, ensure_ascii=False, separators=(",", ":")),
        repr(plain),
    }
    return any(len(text) >= TELLING_CHARS and text in prompt for text in spellings)


def _evidence_faults(task: Task) -> Iterator[Fault]:
    if len({(span.file, span.line) for span in task.spans}) < 2:
        yield Fault(str(task.file), "evidence", "one place only: an answer needs at least two")
    files = len({span.file for span in task.spans})
    if task.reads < files:
        problem = f"{task.reads}, but the evidence is in {files} files"
        yield Fault(str(task.file), "reads", problem)
