"""Wrong input: exit code 2 and one line that names it; a bug: a traceback without locals."""

import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.process import NOISY, Scene, unsafe
from tests.loopback import run_here

USAGE = {
    "an unknown command": (["bogus"], "bogus"),
    "an unknown sub-command": (["ledger", "bogus"], "bogus"),
    "an unknown option": (["run-pair", "h11-framing", "--bogus"], "--bogus"),
    "no task": (["run-pair"], "TASK|RUN"),
    "no sub-command": (["tasks"], ""),
    "no ledger command": (["ledger"], ""),
    "an argument too many": (["capture", "h11-framing", "more"], "more"),
    "an unknown task": (["run-pair", "h11-framign"], "h11-framing"),
    "an empty task": (["run-pair", ""], "no such task"),
    "a path as task": (["run-pair", "../../etc/passwd"], "no such task"),
    "a task with markup": (["capture", "[red]\x1b[2J"], "[red]\\x1b[2J"),
    "a run without a ledger": (["run-pair", "7"], "no ledger here"),
    "a folder without tasks": (["tasks", "list", "--tasks", "nowhere"], "nowhere"),
    "a missing config": (["run-pair", "h11-framing", "--config", "none.toml"], "none.toml"),
    "a run that is no number": (["ledger", "show", "x"], "'run'"),
    "an unknown format": (["ledger", "export", "--format", "xml"], "--format"),
    "an unknown table": (["ledger", "export", "--table", "blobs"], "--table"),
    "a missing ledger": (["ledger", "show"], "no ledger here"),
    "a port out of range": (["serve-scripted", "--port", "70000"], "--port"),
}


def checked(code: int, out: str, said: str) -> str:
    assert "Traceback" not in said
    assert (code, out) == (2, "")
    assert said.endswith("\n")
    assert said.count("\n") == 1
    assert said.startswith("revereval: ")
    assert not unsafe(said)
    return said


def one_line(*arguments: str) -> str:
    """The error of a command that must fail with exit code 2, one line and nothing else."""
    done = run_here(*arguments)
    return checked(done.code, done.out, done.err)


@pytest.fixture(autouse=True)
def _here(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scene.folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(scene.cache))


@pytest.mark.parametrize(("arguments", "named"), USAGE.values(), ids=USAGE)
def test_wrong_usage_is_one_line_that_names_it(
    arguments: list[str], named: str, scene: Scene
) -> None:
    said = one_line(*arguments)
    assert named in said
    assert "\\n" not in said, "a screen of help is not one line"
    assert not (scene.folder / "runs").exists(), "nothing is written for wrong input"


@pytest.mark.parametrize("kind", ["an unknown option", "a task with markup", "a missing ledger"])
def test_the_installed_command_says_the_same_line(kind: str, scene: Scene) -> None:
    arguments, _ = USAGE[kind]
    done = scene.run(*arguments)
    said = checked(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert said == one_line(*arguments)


def test_a_file_that_is_no_ledger_is_one_line(scene: Scene) -> None:
    bad = scene.folder / "notes.txt"
    bad.write_text("not a database, but long enough to be taken for one\n" * 40)
    assert "notes.txt" in one_line("ledger", "show", "--ledger", "notes.txt")
    assert "notes.txt" in one_line("run-pair", "h11-framing", "--ledger", "notes.txt")
    assert bad.read_text().startswith("not a database")
    other = scene.folder / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE someone_elses (a)")
    connection.close()
    assert "not a revereval ledger" in one_line("ledger", "show", "--ledger", "other.sqlite")


def test_a_run_that_is_not_in_the_ledger_or_has_its_plan_already(
    recorded: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recorded.folder)
    assert "no run 99" in one_line("ledger", "show", "99")
    assert "no run 99" in one_line("run-pair", "99")
    assert "no run 99" in one_line("ledger", "audit", "99")
    assert "--config" in one_line("run-pair", "1", "--config", "c.toml")


def test_a_task_whose_pinned_file_is_not_the_installed_one_is_one_line(
    scene: Scene,
) -> None:
    tasks = scene.folder / "own" / "python-hyper-h11"
    tasks.mkdir(parents=True)
    for file in (scene.folder / "tasks/python-hyper-h11").iterdir():
        text = file.read_text(encoding="utf-8")
        if file.name == "source.toml":
            digest = text.rsplit('"', 2)[1]
            text = text.replace(digest, digest[::-1])
        (tasks / file.name).write_text(text, encoding="utf-8")
    said = one_line("run-pair", "h11-framing", "--tasks", "own")
    assert "python-hyper-h11/source.toml" in said
    assert digest[::-1] in said


FORCED_BUG = """
import sys
from revereval.provider import http

def dispatch(self, body):
    secret = self._key
    raise RuntimeError("a forced bug")

http.Client.dispatch = dispatch
from revereval.cli.app import main
sys.argv = ["revereval", *sys.argv[1:]]
main()
"""
KEY = "sk-made-up-0123456789abcdef"


def test_a_bug_of_ours_stays_a_traceback_without_a_single_local_variable(scene: Scene) -> None:
    config = scene.config(
        "[provider]\nkind = 'openai-chat'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:1/v1'\n"
        "api_key_env = 'MADE_UP_KEY'\n"
    )
    done = scene.run(
        "run-pair", "h11-framing", "--config", config,
        program=[sys.executable, "-c", FORCED_BUG],
        env={"MADE_UP_KEY": KEY, **NOISY},
    )  # fmt: skip
    assert done.returncode == 1
    assert b"RuntimeError: a forced bug" in done.stderr
    assert KEY.encode() not in done.stdout + done.stderr
    assert b"locals" not in done.stderr
    ledger = scene.folder / "runs/ledger.sqlite"
    for file in ledger.parent.iterdir():
        assert KEY.encode() not in file.read_bytes()
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600


def test_a_help_page_is_no_error(scene: Scene) -> None:
    done = scene.run()
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"Usage: revereval ")


def test_a_folder_that_cannot_be_made_is_one_line() -> None:
    Path("file").write_text("")
    said = one_line("run-pair", "h11-framing", "--ledger", str(Path("file") / "l.sqlite"))
    assert "file" in said
