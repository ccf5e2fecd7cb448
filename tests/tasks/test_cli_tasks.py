"""`revereval tasks` as a process: what it prints where, and its exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from revereval.tasks.spec import load_task
from tests.tasks.build import FILES, GOLD, ORACLE, TASK, build_wheel, sha256, source, write_task

ROOT = Path(__file__).parents[2]
START = """
import sys
from revereval.cli.tasks import app
from revereval.errors import InputError
try:
    app()
except InputError as error:
    sys.exit(str(error))
"""


@pytest.fixture(autouse=True)
def _wheel(wheels: Path) -> None:
    build_wheel(wheels)


def tasks(tasks_dir: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START, *args],
        cwd=tasks_dir.parent,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_list_names_every_task_in_the_default_directory(tasks_dir: Path) -> None:
    settled = TASK.replace("reads = 2", 'reads = 2\nboundary = ["batching", "default"]')
    more = '[[evidence.name]]\nfile = "tinypkg/sums.py"\nline = 3\nspan = "é"\n'
    write_task(tasks_dir, group="a", task_id="first", task=settled + more)
    every = settled.replace('"default"]', '"default", "direct"]')
    write_task(tasks_dir, group="b", task_id="more", task=every)
    nothing = TASK.replace("reads = 2", "reads = 2\nboundary = []")
    write_task(tasks_dir, group="c", task_id="none", task=nothing)
    done = tasks(tasks_dir, "list")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    # "# so 1 + 2 is 3\n    return a + b", "return a + b", "'tiny'": 32 + 12 + 6 bytes
    assert ["first", "development", "2", "52", "default,", "batching"] in rows
    assert ["more", "development", "2", "50", "all"] in rows
    assert ["none", "development", "2", "50", "none"] in rows
    assert ["tiny-add", "development", "2", "50", "not", "settled"] in rows
    done = tasks(tasks_dir, "list", "--json", COLUMNS="40")
    assert [row["task"] for row in json.loads(done.stdout)] == [
        "first", "more", "none", "tiny-add",
    ]  # fmt: skip
    assert [row["boundary"] for row in json.loads(done.stdout)] == [
        ["default", "batching"], ["default", "direct", "batching"], [], None,
    ]  # fmt: skip
    assert json.loads(done.stdout)[3] == {
        "task": "tiny-add",
        "source_group": "tiny",
        "package": "tinypkg",
        "version": "1.0",
        "split": "development",
        "keys": {"sum": "integer", "half": "number", "name": "string"},
        "reads": 2,
        "evidence_bytes": 50,
        "boundary": None,
    }


def test_show_keeps_gold_and_evidence_back_unless_asked(tasks_dir: Path) -> None:
    write_task(tasks_dir, gold=GOLD.replace("tiny", "the-secret-gold"))
    task = load_task(tasks_dir, "tiny-add")
    for options in ((), ("--json",)):
        closed = tasks(tasks_dir, "show", "tiny-add", *options).stdout
        opened = tasks(tasks_dir, "show", "tiny-add", "--gold", *options).stdout
        for text in ("import tinypkg", task.digest, task.gold_digest, "integer", "python"):
            assert text in closed
            assert text in opened
        for secret in ("the-secret-gold", "so 1 + 2 is 3"):
            assert secret not in closed
            assert secret in opened
    value = json.loads(opened)
    assert value["gold"] == {"sum": 3, "half": 1.5, "name": "the-secret-gold"}
    assert value["evidence"]["half"] == [
        {"file": "tinypkg/sums.py", "line": 4, "span": "return a + b"}
    ]
    assert value["prompt"] == task.prompt
    assert "gold" not in json.loads(closed)


def test_foreign_text_is_shown_as_text(tasks_dir: Path) -> None:
    hostile = "src/[slug].ts [/done] :warning: \x1b[2J \x1b]8;;http://x"
    write_task(
        tasks_dir,
        task=TASK.replace('"any"', '"[/done] :warning: \\u001b[2J"'),
        oracle=f"# {hostile}\n{ORACLE}",
        gold=GOLD.replace("tiny", "[red]\\u001b[2J"),
    )
    done = tasks(tasks_dir, "show", "tiny-add", "--gold", FORCE_COLOR="1")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "src/[slug].ts [/done] :warning: \\x1b[2J" in done.stdout
    assert "[/done] :warning: \\x1b[2J" in done.stdout


def test_fetch_makes_the_snapshot_and_rebuilds_only_a_changed_one(
    tasks_dir: Path, wheels: Path
) -> None:
    done = tasks(tasks_dir, "fetch", "--json")
    (row,) = json.loads(done.stdout)
    root = Path(row.pop("directory"))
    digest = source().snapshot_digest
    assert row == {"source_group": "tiny", "snapshot_digest": digest, "files": 2}
    inode = root.stat().st_ino
    assert tasks(tasks_dir, "fetch", "tiny-add").stdout == f"tiny: 2 files in {root}\n"
    assert root.stat().st_ino == inode
    file = root / "tinypkg/sums.py"
    file.chmod(0o644)
    file.write_text("changed")
    done = tasks(tasks_dir, "fetch", "tiny-add")
    assert done.returncode == 0
    assert done.stderr.startswith(f"rebuilding, because {file}: expected ")
    assert file.read_bytes() == FILES["tinypkg/sums.py"]
    assert list(wheels.iterdir())


def test_verify_is_quiet_about_what_holds(tasks_dir: Path) -> None:
    done = tasks(tasks_dir, "verify")
    assert (done.returncode, done.stderr) == (0, "")
    assert ["tiny-add", "3/3", "holds"] in [line.split() for line in done.stdout.splitlines()]


def test_verify_reports_every_fault_on_a_line_and_exits_2(tasks_dir: Path) -> None:
    tasks(tasks_dir, "fetch")
    write_task(tasks_dir, task_id="b", gold=GOLD.replace("3", "4").replace("1.5", "2.5"))
    write_task(tasks_dir, task_id="c", task=TASK.replace("line = 4", "line = 1"))
    write_task(tasks_dir, task_id="d", oracle="1/0")
    write_task(tasks_dir, task_id="e", gold="{}")
    done = tasks(tasks_dir, "verify")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "tasks/tiny/b.gold.json: half: gold says 2.5, oracle printed 1.5",
        "tasks/tiny/b.gold.json: sum: gold says 4, oracle printed 3",
        "tasks/tiny/c.toml: evidence.half: "
        "the span does not begin at tinypkg/sums.py:1; it does at 4",
        "tasks/tiny/d.oracle.py: exit code 1: ZeroDivisionError: division by zero",
        "tasks/tiny/e.gold.json: half: missing",
    ]
    rows = [line.split() for line in done.stdout.splitlines()]
    for row in (["b", "1/3", "faults"], ["c", "3/3", "faults"], ["tiny-add", "3/3", "holds"]):
        assert row in rows
    assert tasks(tasks_dir, "verify", "tiny-add").returncode == 0
    done = tasks(tasks_dir, "verify", "d", "tiny-add", "--json")
    assert done.returncode == 2
    checks = json.loads(done.stdout)
    assert [(check["task_id"], len(check["faults"])) for check in checks] == [
        ("d", 1),
        ("tiny-add", 0),
    ]
    assert {"key": "sum", "expected": "3", "got": "3", "ok": True} in checks[1]["keys"]


def test_verify_finds_a_wrong_pinned_digest(tasks_dir: Path) -> None:
    write_task(tasks_dir, files={**FILES, "tinypkg/sums.py": b"something else"})
    done = tasks(tasks_dir, "verify")
    assert done.returncode == 2
    assert done.stderr == (
        f"tiny/source.toml: files.tinypkg/sums.py: expected {sha256(b'something else')}, found "
        f"{sha256(FILES['tinypkg/sums.py'])} in the downloaded tinypkg 1.0\n"
    )


@pytest.mark.parametrize("command", ["show", "fetch", "verify"])
def test_an_unknown_task_is_one_line(tasks_dir: Path, command: str) -> None:
    done = tasks(tasks_dir, command, "tiny-ad")
    assert done.returncode != 0
    assert done.stderr == "tasks: tiny-ad: no such task; close: tiny-add\n"


@pytest.mark.parametrize("command", ["list", "fetch", "verify"])
def test_a_missing_directory_is_one_line(tasks_dir: Path, command: str) -> None:
    done = tasks(tasks_dir, command, "--tasks", "none")
    assert done.returncode != 0
    assert done.stderr == "none: no such directory of tasks\n"


def test_help_loads_nothing_heavy(tasks_dir: Path) -> None:
    code = (
        "import sys, revereval.cli.tasks\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('pydantic', 'rich')"
        " or m.startswith('revereval.tasks')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
    for command in ("list", "show", "fetch", "verify"):
        assert "--tasks" in tasks(tasks_dir, command, "--help", COLUMNS="100").stdout
