"""The reader goes away: readers end with 141 in silence, runners finish what is paid for."""

import os
import sqlite3
import subprocess

import pytest

from tests.cli.process import REVEREVAL, Scene

READERS = [
    ["--help"],
    ["tasks", "list"],
    ["tasks", "show", "h11-framing"],
    ["ledger", "show", "1"],
    ["ledger", "show", "1", "--json"],
    ["ledger", "export", "--table", "requests"],
]


def read_end_closed(scene: Scene, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command whose standard output nobody can read any more."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return scene.run(*arguments, stdout=writer)
    finally:
        os.close(writer)


def endpoints(scene: Scene) -> dict[str, str]:
    connection = sqlite3.connect(scene.folder / "runs/ledger.sqlite")
    try:
        return dict(connection.execute("SELECT name, endpoint FROM arm"))
    finally:
        connection.close()


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_a_command_that_reads_ends_with_141_and_says_nothing(
    arguments: list[str], recorded: Scene
) -> None:
    done = read_end_closed(recorded, *arguments)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("arguments", ["ledger show 1", "ledger export --table requests"])
def test_head_takes_its_line_and_nobody_complains(arguments: str, recorded: Scene) -> None:
    done = recorded.shell(f"revereval {arguments} | head -1; exit ${{PIPESTATUS[0]}}")
    assert done.returncode in (0, 141), "all may have been written before head left"
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_pair_is_completed_in_the_ledger_although_nobody_reads_it(
    options: list[str], scene: Scene
) -> None:
    done = read_end_closed(scene, "run-pair", "h11-framing", *options)
    assert (done.returncode, done.stderr) == (141, b"")
    assert endpoints(scene) == {"F": "correct", "P": "correct"}


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_pair_is_completed_without_some_of_its_standard_streams(
    closed: str, scene: Scene
) -> None:
    done = scene.shell(f"exec '{REVEREVAL}' run-pair h11-framing {closed}")
    assert endpoints(scene) == {"F": "correct", "P": "correct"}
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 141)


def test_a_pair_is_completed_when_its_output_goes_to_a_full_disk(scene: Scene) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = scene.run("run-pair", "h11-framing", stdout=full)
    assert endpoints(scene) == {"F": "correct", "P": "correct"}
    assert b"Traceback" not in done.stderr
    assert done.returncode != 0, "the result was not delivered"


def test_progress_that_nobody_reads_stops_no_run(scene: Scene) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = scene.run("run-pair", "h11-framing", stderr=writer)
    os.close(writer)
    assert done.returncode == 0
    assert endpoints(scene) == {"F": "correct", "P": "correct"}
