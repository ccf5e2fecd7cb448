"""Oracles: a task's program, run against the snapshot in its own process, compared with gold."""

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from revereval.canonical import StrictJSONError, strict_json
from revereval.errors import InputError
from revereval.tasks.process import OUTPUT_LIMIT, Finished, run_limited
from revereval.tasks.scoring import typed_equal
from revereval.tasks.snapshot import Snapshot, open_snapshot
from revereval.tasks.spec import KeyType, Span, Task, json_text, load_task
from revereval.tasks.surroundings import PERTURBED, STANDARD, Surroundings

_MAIN: Final = Path(__file__).with_name("oracle_main.py")


class OracleError(Exception):
    """The oracle gave no usable answer; the message says why. `check_task` makes it data."""


class Function(NamedTuple):
    """A function of the snapshot, by its qualified name, and its lines, counted from 1."""

    file: str
    name: str
    first: int
    last: int


@dataclass(frozen=True)
class OracleRun:
    printed: Mapping[str, Any]
    """As `strict_json` gives it."""
    used: frozenset[str]
    """The files of the snapshot that were opened, as modules or as data."""
    called: tuple[Function, ...] = ()
    """Of a traced run: what it called of the snapshot while no module was being imported."""


@dataclass(frozen=True)
class KeyCheck:
    key: str
    expected: str | None
    """JSON text of the gold value; None where the gold has no such key."""
    got: str | None
    """JSON text of the oracle's value; None where it printed no such key."""
    ok: bool


@dataclass(frozen=True)
class Fault:
    """Something about a task that does not hold."""

    file: str
    field: str
    problem: str


@dataclass(frozen=True)
class TaskCheck:
    """Holds when there is no fault; each failed key is among the faults."""

    task_id: str
    keys: tuple[KeyCheck, ...]
    faults: tuple[Fault, ...]
    used: frozenset[str] = frozenset()
    """The files of the snapshot that the oracle opened; empty when it did not run."""


def run_oracle(
    oracle: Path,
    snapshot: Snapshot,
    *,
    under: Surroundings = STANDARD,
    trace: bool = False,
    limit_s: float = 60,
) -> OracleRun:
    """Run a task's program; what it prints must be one JSON object.

    It runs in an empty folder and an environment made from scratch; the snapshot comes first on
    its path, so third-party dependencies may come from site-packages but the source may not.
    Raises OracleError: time limit, crash, output that is not one JSON object, a module of the
    source that came from elsewhere, or none loaded at all.
    """
    with tempfile.TemporaryDirectory(prefix="revereval-") as scratch:
        report, cwd = Path(scratch, "report.json"), Path(scratch, under.folder)
        cwd.mkdir()
        if under.folder != STANDARD.folder:
            Path(cwd, "note.txt").write_text("a file\n", "utf-8")
        root = snapshot.root.resolve()
        # -P and -s: neither our own folder nor the user's packages are on the path.
        command = [sys.executable, "-P", "-s", str(_MAIN), str(root), str(oracle.resolve())]
        command += [str(report), str(OUTPUT_LIMIT)]
        command += ["windows"] * under.windows + ["trace"] * trace
        finished = run_limited(command, cwd=cwd, env=under.environment, limit_s=limit_s)
        printed = _printed_object(finished, limit_s)
        if not report.exists():  # os._exit, say
            raise OracleError("ended without a report of the modules it imported")
        found = json.loads(report.read_text("utf-8"))
    _check_origin(snapshot, found["modules"])
    paths = {str(root / path): path for path in snapshot.files}
    used = frozenset(paths[file] for file in found["opened"] if file in paths)
    called = [Function(paths[file], *at) for file, *at in found["called"] if file in paths]
    return OracleRun(printed, used, tuple(called))


def check_task(task: Task, snapshot: Snapshot, *, perturb: bool = False) -> TaskCheck:
    """Compare the oracle with the gold key by key, and each evidence span with its file.

    With `perturb` it runs again in each of the perturbed surroundings, where only a change that
    a premise declares is allowed.
    """
    faults = _evidence_faults(task, snapshot)
    keys: tuple[KeyCheck, ...] = ()
    used: frozenset[str] = frozenset()
    try:
        ran = run_oracle(task.oracle, snapshot)
    except OracleError as error:
        faults.append(Fault(str(task.oracle), "", str(error)))
    else:
        every = sorted(task.gold.keys() | ran.printed.keys())
        keys, used = tuple(_key_check(task, ran.printed, key) for key in every), ran.used
        if perturb:
            faults += _premise_faults(task, snapshot, ran.printed)
    for check in keys:
        if not check.ok:
            expected, got = check.expected or "no such key", check.got or "no such key"
            problem = f"gold says {expected}, oracle printed {got}"
            faults.append(Fault(str(task.gold_file), check.key, problem))
    return TaskCheck(task.id, keys, tuple(faults), used)


def verify_task(tasks_dir: Path, task_id: str, *, perturb: bool = False) -> TaskCheck:
    """Load, open the snapshot and check; a fault in the files is a fault of the result."""
    try:
        task = load_task(tasks_dir, task_id)
        return check_task(task, open_snapshot(task.source), perturb=perturb)
    except InputError as error:
        return TaskCheck(task_id, (), (Fault(error.source, error.field, error.problem),))


def _premise_faults(task: Task, snapshot: Snapshot, standard: Mapping[str, Any]) -> list[Fault]:
    faults = {}
    for under in PERTURBED:
        if under.name in task.premises or under.name in faults:
            continue
        try:
            printed = run_oracle(task.oracle, snapshot, under=under).printed
            every = sorted(standard.keys() | printed.keys())
            changed = [key for key in every if not _same(standard, printed, key)]
            change = f"changes the answer ({', '.join(changed)})" if changed else ""
        except OracleError as error:
            change = f"ends the oracle ({error})"
        if change:
            problem = f"not declared, but another {under.name} {change}"
            faults[under.name] = Fault(str(task.file), f"premises.{under.name}", problem)
    return list(faults.values())


def _same(first: Mapping[str, Any], second: Mapping[str, Any], key: str) -> bool:
    if key not in first or key not in second:
        return False
    return typed_equal(first[key], second[key], number=False)


def _printed_object(finished: Finished, limit_s: float) -> dict[str, Any]:
    if finished.returncode is None:
        raise OracleError(f"no result within {limit_s:g} s")
    if finished.returncode != 0:
        raise OracleError(f"exit code {finished.returncode}: {finished.last_words}")
    try:
        value = strict_json(finished.stdout.decode())
    except (StrictJSONError, UnicodeDecodeError) as error:
        raise OracleError(f"printed no JSON: {error}") from None
    if not isinstance(value, dict):
        raise OracleError("printed no JSON object")
    return value


def _check_origin(snapshot: Snapshot, loaded: Mapping[str, str | None]) -> None:
    names = {PurePosixPath(PurePosixPath(path).parts[0]).stem for path in snapshot.files}
    ours = {name: file for name, file in loaded.items() if file and name.split(".")[0] in names}
    if not ours:
        raise OracleError("imported no module of the source")
    for name, file in sorted(ours.items()):
        if not Path(file).resolve().is_relative_to(snapshot.root.resolve()):
            raise OracleError(f"module {name!r} did not come from the snapshot")


def _key_check(task: Task, printed: Mapping[str, Any], key: str) -> KeyCheck:
    expected = json_text(task.gold[key]) if key in task.gold else None
    got = json_text(printed[key]) if key in printed else None
    number = task.keys.get(key) is KeyType.NUMBER
    both = expected is not None and got is not None
    ok = both and typed_equal(printed[key], task.gold[key], number=number)
    return KeyCheck(key, expected, got, ok)


def _evidence_faults(task: Task, snapshot: Snapshot) -> list[Fault]:
    return [
        Fault(str(task.file), f"evidence.{key}", _misplaced(snapshot.files[span.file], span))
        for key, spans in task.evidence.items()
        for span in spans
        if not _begins_at(snapshot.files[span.file], span)
    ]


def _misplaced(text: str, span: Span) -> str:
    """What is wrong with a span's place, and where it would be right."""
    starts = islice(re.finditer(re.escape(span.span), text), 4)
    lines = [str(text.count("\n", 0, start.start()) + 1) for start in starts]
    where = f"; it does at {', '.join(lines)}" if lines else "; the file does not hold it"
    return f"the span does not begin at {span.file}:{span.line}{where}"


def _begins_at(text: str, span: Span) -> bool:
    lines = text.split("\n")
    if span.line > len(lines):
        return False
    begin = sum(len(line) + 1 for line in lines[: span.line - 1])
    # Bounded at the right, so that a match found begins within the line.
    return text.find(span.span, begin, begin + len(lines[span.line - 1]) + len(span.span)) >= 0
