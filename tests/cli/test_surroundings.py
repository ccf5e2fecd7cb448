"""What a process inherits and where it stands: used, or told in one line, and never a traceback."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import REVEREVAL, Scene
from tests.ledger.test_file import TABLE

LONG = "n" * 300


@pytest.mark.parametrize(
    "environ",
    [
        {"MPLBACKEND": "module://not_installed.backend", "COLUMNS": "junk", "TERM": "no-such"},
        {"MPLBACKEND": "junk", "MPLCONFIGDIR": "/proc/none", "HOME": "/proc/none", "LC_ALL": "xx"},
        {"MATPLOTLIBRC": "/none", "TMPDIR": "/none", "LANG": "junk", "SSL_CERT_FILE": "/none"},
    ],
    ids=["a notebook's", "no home", "no folders"],
)
def test_a_report_is_written_whatever_is_inherited(scene: Scene, environ: dict[str, str]) -> None:
    (scene.folder / "t.csv").write_text(TABLE.format("a"))
    done = scene.run("report", "t.csv", env=environ)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(b"\n") == 1
    assert b"wrote report.html" in done.stderr


def test_a_cache_that_cannot_be_made_is_one_line_and_leaves_no_ledger(scene: Scene) -> None:
    (scene.folder / "file").write_text("")
    for cache in ("/proc/none", str(scene.folder / "file")):
        done = scene.run("run-pair", "h11-framing", env={"XDG_CACHE_HOME": cache})
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
        assert done.stderr.startswith(f"revereval: {cache}/".encode())
    assert not (scene.folder / "runs").exists()


TOO_LONG = [
    ["analyze", f"{LONG}.csv"],
    ["report", "t.csv", "-o", LONG],
    ["run-pair", "h11-framing", "--config", LONG],
    ["tasks", "list", "--tasks", LONG],
    ["ledger", "show", "--ledger", LONG],
]


@pytest.mark.parametrize("arguments", TOO_LONG, ids=lambda arguments: " ".join(arguments[:2]))
def test_a_path_that_no_file_system_takes_is_one_line_that_names_it(
    scene: Scene, arguments: list[str]
) -> None:
    (scene.folder / "t.csv").write_text(TABLE.format("a"))
    done = scene.run(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert done.stderr.startswith(b"revereval: ")
    assert LONG.encode() in done.stderr
    assert b"too long" in done.stderr


def test_in_a_folder_that_is_gone_a_command_says_one_line(scene: Scene, tmp_path: Path) -> None:
    script = f'mkdir gone && cd gone && rmdir ../gone && exec "{REVEREVAL}" "$@"'
    for arguments in (["ledger", "show"], ["report"], ["ledger", "import", "t.csv"]):
        done = subprocess.run(
            ["bash", "-c", script, "bash", *arguments],
            cwd=tmp_path,
            env=scene.env(PATH=os.environ["PATH"]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
        assert done.stderr.startswith(b"revereval: ")
