"""What an oracle runs of its source beside what the evidence shows of it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from revereval.tasks.oracle import Fault, Function
from revereval.tasks.spec import Task

NAMED: Final = 12
"""Functions of one file that one fault names; the others are counted."""


def coverage_faults(task: Task, called: Sequence[Function]) -> Iterator[Fault]:
    """Functions that ran, that no evidence touches and nobody accepted, file by file.

    called: of a traced run of the task's oracle. What ran only while modules were imported is not
    in it: there data was made, and its evidence is the author's to choose. An acceptance of
    nothing that ran is a fault too.
    """
    bare: dict[str, list[str]] = defaultdict(list)
    for function in called:
        if not (_has_evidence(task, function) or _is_accepted(task, function)):
            bare[function.file].append(function.name)
    for file, names in bare.items():
        yield Fault(str(task.file), "evidence", f"{file}: {_run(list(dict.fromkeys(names)))}")
    for pattern in task.accepted:
        if not any(fnmatchcase(_place(function), pattern) for function in called):
            yield Fault(str(task.file), f"accepted.{pattern}", "the oracle runs no such function")


def _has_evidence(task: Task, function: Function) -> bool:
    return any(
        span.file == function.file
        and span.line <= function.last
        and span.line + span.span.count("\n") >= function.first
        for span in task.spans
    )


def _is_accepted(task: Task, function: Function) -> bool:
    return any(fnmatchcase(_place(function), pattern) for pattern in task.accepted)


def _place(function: Function) -> str:
    return f"{function.file}:{function.name}"


def _run(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} runs and no evidence covers it"
    shown = names if len(names) <= NAMED else [*names[:NAMED], f"{len(names) - NAMED} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]} run and no evidence covers them"
