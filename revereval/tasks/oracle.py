"""Oracles: a task's program, run against the snapshot in its own process, compared with gold."""

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from revereval.canonical import StrictJSONError, strict_json
from revereval.errors import InputError
from revereval.tasks.process import OUTPUT_LIMIT, Finished, run_limited
from revereval.tasks.scoring import typed_equal
from revereval.tasks.snapshot import Snapshot, open_snapshot
from revereval.tasks.spec import KeyType, Span, Task, json_text, load_task

_MAIN: Final = Path(__file__).with_name("oracle_main.py")
_ENVIRONMENT: Final[Mapping[str, str]] = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "COLUMNS": "80",
}


class OracleError(Exception):
    """The oracle gave no usable answer; the message says why. `check_task` makes it data."""


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


def run_oracle(task: Task, snapshot: Snapshot, *, limit_s: float = 60) -> dict[str, Any]:
    """What the oracle prints, parsed by `strict_json`.

    It runs in an empty folder and an environment made from scratch; the snapshot comes first on
    its path, so third-party dependencies may come from site-packages but the source may not.
    Raises OracleError: time limit, crash, output that is not one JSON object, a module of the
    source that came from elsewhere, or none loaded at all.
    """
    with tempfile.TemporaryDirectory(prefix="revereval-") as scratch:
        report, cwd = Path(scratch, "modules.json"), Path(scratch, "empty")
        cwd.mkdir()
        root, oracle = str(snapshot.root.resolve()), str(task.oracle.resolve())
        # -P and -s: neither our own folder nor the user's packages are on the path.
        command = [sys.executable, "-P", "-s", str(_MAIN), root, oracle, str(report)]
        command.append(str(OUTPUT_LIMIT))
        finished = run_limited(command, cwd=cwd, env=_ENVIRONMENT, limit_s=limit_s)
        printed = _printed_object(finished, limit_s)
        if not report.exists():  # os._exit, say
            raise OracleError("ended without a report of the modules it imported")
        _check_origin(snapshot, json.loads(report.read_text("utf-8")))
    return printed


def check_task(task: Task, snapshot: Snapshot) -> TaskCheck:
    """Compare the oracle with the gold key by key, and each evidence span with its file."""
    faults = _evidence_faults(task, snapshot)
    keys: tuple[KeyCheck, ...] = ()
    try:
        printed = run_oracle(task, snapshot)
    except OracleError as error:
        faults.append(Fault(str(task.oracle), "", str(error)))
    else:
        keys = tuple(
            _key_check(task, printed, key) for key in sorted(task.gold.keys() | printed.keys())
        )
    gold_file = str(task.oracle).removesuffix(".oracle.py") + ".gold.json"
    for check in keys:
        if not check.ok:
            expected, got = check.expected or "no such key", check.got or "no such key"
            problem = f"gold says {expected}, oracle printed {got}"
            faults.append(Fault(gold_file, check.key, problem))
    return TaskCheck(task.id, keys, tuple(faults))


def verify_task(tasks_dir: Path, task_id: str) -> TaskCheck:
    """Load, open the snapshot and check; a fault in the files is a fault of the result."""
    try:
        task = load_task(tasks_dir, task_id)
        return check_task(task, open_snapshot(task.source))
    except InputError as error:
        return TaskCheck(task_id, (), (Fault(error.source, error.field, error.problem),))


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
    task_file = str(task.oracle).removesuffix(".oracle.py") + ".toml"
    return [
        Fault(task_file, f"evidence.{key}", f"the span does not begin at {span.file}:{span.line}")
        for key, spans in task.evidence.items()
        for span in spans
        if not _begins_at(snapshot.files[span.file], span)
    ]


def _begins_at(text: str, span: Span) -> bool:
    lines = text.split("\n")
    if span.line > len(lines):
        return False
    begin = sum(len(line) + 1 for line in lines[: span.line - 1])
    # Bounded at the right, so that a match found begins within the line.
    return text.find(span.span, begin, begin + len(lines[span.line - 1]) + len(span.span)) >= 0
