"""Oracles run for real: their surroundings, their limits, and the comparison with gold."""

import json
import time
from pathlib import Path

import pytest

from revereval.tasks.oracle import Fault, KeyCheck, OracleError, check_task, run_oracle, verify_task
from revereval.tasks.snapshot import open_snapshot
from revereval.tasks.spec import load_task, task_ids
from tests.tasks.build import GOLD, ORACLE, TASK, install, write_task

USES = "import json, os, sys, tinypkg\n"


@pytest.fixture(autouse=True)
def _installed(site: Path) -> None:
    """For the snapshot only: no oracle has our sys.path."""
    install(site)


def run(tasks_dir: Path, oracle: str, limit_s: float = 60) -> dict[str, object]:
    write_task(tasks_dir, oracle=oracle)
    task = load_task(tasks_dir, "tiny-add")
    return dict(run_oracle(task.oracle, open_snapshot(task.source), limit_s=limit_s).printed)


def test_a_good_task_holds(tasks_dir: Path) -> None:
    check = verify_task(tasks_dir, "tiny-add")
    assert check.faults == ()
    assert check.keys == (
        KeyCheck("half", "1.5", "1.5", ok=True),
        KeyCheck("name", '"tiny"', '"tiny"', ok=True),
        KeyCheck("sum", "3", "3", ok=True),
    )


def test_the_environment_is_made_from_scratch(
    tasks_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "made-up-777")
    monkeypatch.setenv("PYTHONPATH", "/made-up")
    oracle = USES + (
        "print(json.dumps({'env': dict(os.environ), 'cwd': os.listdir(), 'argv': len(sys.argv),"
        "'made up': '/made-up' in sys.path, 'name': __name__, 'hash': sys.flags.hash_randomization,"
        "'utf8': sys.stdout.encoding, 'input': sys.stdin.read(), 'first': sys.path[0]}))"
    )
    printed = run(tasks_dir, oracle)
    assert printed == {
        "env": {
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "80",
        },
        "cwd": [],
        "argv": 1,
        "made up": False,
        "name": "__main__",
        "hash": 0,
        "utf8": "utf-8",
        "input": "",
        "first": str(open_snapshot(load_task(tasks_dir, "tiny-add").source).root),
    }


def test_running_leaves_nothing_in_the_snapshot_or_beside_the_oracle(tasks_dir: Path) -> None:
    before = sorted(tasks_dir.rglob("*"))
    verify_task(tasks_dir, "tiny-add")
    root = open_snapshot(load_task(tasks_dir, "tiny-add").source).root  # checks for extra files
    assert not list(root.rglob("__pycache__"))
    assert sorted(tasks_dir.rglob("*")) == before


CRASHES = [
    (USES + "raise ValueError('no\\nluck')", "exit code 1: luck"),
    (USES + "1/0", "exit code 1: ZeroDivisionError: division by zero"),
    ("def", "exit code 1: SyntaxError: invalid syntax"),
    (USES + "print('{}'); sys.exit(3)", "exit code 3: "),
    (USES + "os.kill(os.getpid(), 9)", "exit code -9: "),
    (USES + "print('{}', flush=True); os._exit(0)", "ended without a report of the modules"),
    (USES, "printed no JSON: Expecting value"),
    (USES + "print('{} {}')", "printed no JSON: Extra data"),
    (USES + 'print(\'{"a": 1, "a": 2}\')', "printed no JSON: duplicate key 'a'"),
    (USES + "print('{\"a\": NaN}')", "printed no JSON: NaN is not JSON"),
    (USES + "sys.stdout.buffer.write(b'\\xff')", "printed no JSON: 'utf-8' codec"),
    (USES + "print([1])", "printed no JSON object"),
    (USES + "print('{\"a\": \"' + 'x' * 2_000_000 + '\"}')", "File too large"),
    ("print('{}')", "imported no module of the source"),
    ("import tinypkg.none", "exit code 1: ModuleNotFoundError: No module named 'tinypkg.none'"),
]


@pytest.mark.parametrize(("oracle", "message"), CRASHES)
def test_an_oracle_that_fails_is_a_fault_and_no_traceback(
    tasks_dir: Path, oracle: str, message: str
) -> None:
    with pytest.raises(OracleError) as caught:
        run(tasks_dir, oracle)
    assert message in str(caught.value)
    check = verify_task(tasks_dir, "tiny-add")
    assert check.keys == ()
    assert check.faults == (Fault(f"{tasks_dir}/tiny/tiny-add.oracle.py", "", str(caught.value)),)


def test_an_endless_oracle_ends_at_its_limit(tasks_dir: Path) -> None:
    started = time.monotonic()
    with pytest.raises(OracleError, match=r"no result within 1\.5 s"):
        run(tasks_dir, "while True: pass", limit_s=1.5)
    assert time.monotonic() - started < 20


def test_an_endless_flood_is_cut_off(tasks_dir: Path) -> None:
    with pytest.raises(OracleError, match="File too large"):
        run(tasks_dir, USES + "while True: print('x' * 10000)")


def test_a_module_from_elsewhere_is_refused(tasks_dir: Path, tmp_path: Path) -> None:
    copy = install(tmp_path / "copy")
    oracle = f"import sys\nsys.path.insert(0, {str(copy)!r})\n{ORACLE}"
    with pytest.raises(OracleError, match="module 'tinypkg' did not come from the snapshot"):
        run(tasks_dir, oracle)


def test_dependencies_may_come_from_site_packages(tasks_dir: Path) -> None:
    assert run(tasks_dir, USES + "import rich\nprint(json.dumps({'ok': True}))") == {"ok": True}


@pytest.mark.parametrize(
    ("gold", "faults"),
    [
        (GOLD.replace(": 3", ": 4"), [("sum", "gold says 4, oracle printed 3")]),
        (GOLD.replace("1.5", "2"), [("half", "gold says 2, oracle printed 1.5")]),
        (GOLD.replace("tiny", "3"), [("name", 'gold says "3", oracle printed "tiny"')]),
    ],
)
def test_a_gold_that_differs_is_a_fault_of_its_key(
    tasks_dir: Path, gold: str, faults: list[tuple[str, str]]
) -> None:
    write_task(tasks_dir, gold=gold)
    check = verify_task(tasks_dir, "tiny-add")
    file = f"{tasks_dir}/tiny/tiny-add.gold.json"
    assert check.faults == tuple(Fault(file, *fault) for fault in faults)
    assert [key.key for key in check.keys if not key.ok] == [key for key, _ in faults]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ({"sum": 3.0, "half": 1.5, "name": "tiny"}, {"sum"}),
        ({"sum": True, "half": 1.5, "name": "tiny"}, {"sum"}),
        ({"sum": 3, "half": "1.5", "name": "tiny"}, {"half"}),
        ({"sum": 3, "half": 1.5}, {"name"}),
        ({"sum": 3, "half": 1.5, "name": "tiny", "more": None}, {"more"}),
        ({"sum": 3, "half": 1.5, "name": None}, {"name"}),
    ],
)
def test_keys_are_compared_type_for_type(
    tasks_dir: Path, printed: dict[str, object], expected: set[str]
) -> None:
    write_task(tasks_dir, oracle=f"{USES}print({json.dumps(printed)!r})")
    check = verify_task(tasks_dir, "tiny-add")
    assert {key.key for key in check.keys if not key.ok} == expected
    assert {fault.field for fault in check.faults} == expected


def test_a_missing_key_and_null_are_told_apart(tasks_dir: Path) -> None:
    write_task(tasks_dir, oracle=f"{USES}print(json.dumps({{'sum': 3, 'half': 1.5, 'x': None}}))")
    keys = {key.key: key for key in verify_task(tasks_dir, "tiny-add").keys}
    assert keys["name"] == KeyCheck("name", '"tiny"', None, ok=False)
    assert keys["x"] == KeyCheck("x", None, "null", ok=False)


def test_a_number_key_accepts_the_oracles_other_spelling(tasks_dir: Path) -> None:
    oracle = f"{USES}print(json.dumps({{'sum': 3, 'half': 3.0, 'name': 'tiny'}}))"
    write_task(tasks_dir, oracle=oracle, gold=GOLD.replace("1.5", "3"))
    assert verify_task(tasks_dir, "tiny-add").faults == ()


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("line = 4", "line = 3", "tinypkg/sums.py:3; it does at 4"),
        ("line = 4", "line = 1", "tinypkg/sums.py:1; it does at 4"),
        ("line = 4", "line = 5", "tinypkg/sums.py:5; it does at 4"),
        ("line = 4", "line = 400", "tinypkg/sums.py:400; it does at 4"),
        ('"return a + b"', '"return a+b"', "tinypkg/sums.py:4; the file does not hold it"),
        ('"return a + b"', '"return a + b\\n\\n"', "tinypkg/sums.py:4; the file does not hold it"),
    ],
)
def test_a_span_must_begin_literally_at_its_line(
    tasks_dir: Path, old: str, new: str, place: str
) -> None:
    assert old in TASK
    write_task(tasks_dir, task=TASK.replace(old, new))
    check = verify_task(tasks_dir, "tiny-add")
    file, problem = f"{tasks_dir}/tiny/tiny-add.toml", f"the span does not begin at {place}"
    assert check.faults == (Fault(file, "evidence.half", problem),)
    assert all(key.ok for key in check.keys)


def test_a_task_that_does_not_load_is_a_fault_of_its_file(tasks_dir: Path) -> None:
    (tasks_dir / "tiny/tiny-add.gold.json").write_text("{}")
    (fault,) = verify_task(tasks_dir, "tiny-add").faults
    assert fault == Fault(f"{tasks_dir}/tiny/tiny-add.gold.json", "half", "missing")


def test_the_tasks_on_installed_packages_hold_without_a_network() -> None:
    shipped = Path(__file__).parents[2] / "tasks"
    installed = ("python-hyper-h11", "pypa-packaging", "executablebooks-markdown-it-py")
    chosen = [task_id for group, task_id in task_ids(shipped) if group in installed]
    checks = [verify_task(shipped, task_id) for task_id in chosen]
    assert len(checks) >= 6
    assert [check.faults for check in checks] == [()] * len(checks)


def test_checking_does_not_start_over_a_loaded_task(tasks_dir: Path) -> None:
    task = load_task(tasks_dir, "tiny-add")
    snapshot = open_snapshot(task.source)
    (tasks_dir / "tiny/tiny-add.gold.json").unlink()
    assert check_task(task, snapshot).faults == ()
