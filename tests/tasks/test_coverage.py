"""Which functions of a source count as run by an oracle, and which of them need a word."""

from pathlib import Path

import pytest

from revereval.errors import InputError
from revereval.tasks.coverage import coverage_faults
from revereval.tasks.oracle import Function, run_oracle
from revereval.tasks.snapshot import open_snapshot
from revereval.tasks.spec import load_task
from tests.tasks.build import FILES, TASK, build_wheel, write_task

KINDS = b"""import functools
import threading


def at_import():
    return [1, 2]


TABLE = at_import()


def wraps(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Box:
    SIZE = len(TABLE)

    def __init__(self, value):
        self.value = value

    @property
    def double(self):
        return [part * 2 for part in self.value]

    @wraps
    def each(self):
        def one(part):
            return (lambda: part)()

        for part in self.value:
            yield one(part)

    def unused(self):
        return None


def in_thread():
    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()


def beside():
    from tinypkg import later

    return later.twice(at_import())


def generated():
    scope = {"beside": beside}
    exec("def made():\\n    return beside()\\nmade()", scope)
"""
LATER = b"def twice(value):\n    return value * 2\n\n\ntwice(1)\n"
ORACLE = """import json

import tinypkg
from tinypkg.kinds import TABLE, Box, generated, in_thread

box = Box([1])
print(json.dumps({"sum": box.double[0] + next(box.each()), "half": 1.5, "name": tinypkg.NAME}))
%s()
"""
LISTED = {**FILES, "tinypkg/kinds.py": KINDS, "tinypkg/later.py": LATER}


def called(tasks_dir: Path, wheels: Path, last: str) -> list[Function]:
    """What an oracle calls that uses a Box and then the function `last`."""
    build_wheel(wheels, LISTED)
    write_task(tasks_dir, files=LISTED, oracle=ORACLE % last)
    task = load_task(tasks_dir, "tiny-add")
    snapshot = open_snapshot(task.source)
    plain, traced = (run_oracle(task.oracle, snapshot, trace=trace) for trace in (False, True))
    assert plain.called == ()
    assert traced.printed == plain.printed
    return list(traced.called)


BOX = {
    "Box.__init__": (23, 24),
    "Box.double": (26, 28),
    "Box.each": (30, 36),
    "Box.each.<locals>.one": (32, 33),
    "Box.each.<locals>.one.<locals>.<lambda>": (33, 33),
    "wraps.<locals>.wrapper": (13, 15),
}
"""Every function that a Box runs, with its lines as counted in KINDS."""


@pytest.mark.parametrize(
    ("last", "names"),
    [
        ("in_thread", {"in_thread", "beside", "at_import", "twice"}),
        ("generated", {"generated", "beside", "at_import", "twice"}),
    ],
)
def test_functions_count_that_run_while_no_module_is_imported(
    tasks_dir: Path, wheels: Path, last: str, names: set[str]
) -> None:
    found = called(tasks_dir, wheels, last)
    assert {function.name for function in found} == BOX.keys() | names
    lines = {function.name: (function.first, function.last) for function in found}
    assert {name: lines[name] for name in BOX} == BOX
    assert {f.file for f in found if f.name == "twice"} == {"tinypkg/later.py"}


def test_what_only_an_import_runs_does_not_count(tasks_dir: Path, wheels: Path) -> None:
    found = called(tasks_dir, wheels, "TABLE.copy")
    assert {function.name for function in found} == BOX.keys()


def faults(tasks_dir: Path, functions: list[Function], accepted: str = "") -> list[str]:
    """Of the task `tiny-add`, whose evidence is in lines 3 to 4 of sums.py and 3 of __init__.py."""
    write_task(tasks_dir, task=f"{TASK}\n[accepted]\n{accepted}")
    task = load_task(tasks_dir, "tiny-add")
    return [f"{fault.field}: {fault.problem}" for fault in coverage_faults(task, functions)]


def sums(name: str, first: int, last: int) -> Function:
    return Function("tinypkg/sums.py", name, first, last)


def test_evidence_in_any_line_of_a_function_covers_it(tasks_dir: Path) -> None:
    for first, last in ((2, 4), (1, 3), (4, 9), (3, 3), (1, 9)):
        assert faults(tasks_dir, [sums("f", first, last)]) == []
    for first, last in ((1, 2), (5, 5)):
        assert faults(tasks_dir, [sums("f", first, last)]) == [
            "evidence: tinypkg/sums.py: f runs and no evidence covers it"
        ]
    elsewhere = Function("tinypkg/__init__.py", "f", 4, 9)
    assert faults(tasks_dir, [elsewhere]) == [
        "evidence: tinypkg/__init__.py: f runs and no evidence covers it"
    ]


def test_the_functions_of_a_file_are_one_fault_and_a_long_list_is_counted(tasks_dir: Path) -> None:
    few = [sums(name, 9, 9) for name in ("a", "b", "b", "c")]
    assert faults(tasks_dir, few) == [
        "evidence: tinypkg/sums.py: a, b and c run and no evidence covers them"
    ]
    many = [sums(f"f{number:02}", 9, 9) for number in range(20)]
    (line,) = faults(tasks_dir, many)
    assert ": f00, f01, " in line
    assert line.endswith(", f11 and 8 more run and no evidence covers them")


@pytest.mark.parametrize("pattern", ["tinypkg/sums.py:C.f", "tinypkg/sums.py:*", "*:C.f", "*/sums*"])
def test_a_function_is_accepted_by_its_name_or_a_glob(tasks_dir: Path, pattern: str) -> None:
    both = [sums("C.f", 9, 9), Function("tinypkg/__init__.py", "g", 9, 9)]
    assert faults(tasks_dir, both, f'"{pattern}" = "adds"') == [
        "evidence: tinypkg/__init__.py: g runs and no evidence covers it"
    ]


def test_what_is_accepted_must_run(tasks_dir: Path) -> None:
    covered = [sums("add", 2, 4)]
    assert faults(tasks_dir, covered, '"tinypkg/sums.py:add" = "adds"') == []
    assert faults(tasks_dir, covered, '"tinypkg/sums.py:ad" = "adds"') == [
        "accepted.tinypkg/sums.py:ad: the oracle runs no such function"
    ]
    with pytest.raises(InputError, match="accepted.x: "):
        faults(tasks_dir, covered, '"x" = "\\n"')
