"""A person at a terminal of 80 columns sees progress while it lasts and a table that fits."""

import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path

import pytest

from tests.cli.hostile import replies, scripted_app
from tests.cli.process import REVEREVAL, Scene, at
from tests.loopback import Loopback

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")
PROGRESS = re.compile(r"\b(capture|F|P) request (\d+) of 12, ([\d,]+) metered tokens")


@dataclass(frozen=True)
class Seen:
    code: int
    out: str
    err: str


def terminal(columns: int = 80) -> tuple[int, int]:
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return master, slave


def watched(scene: Scene, *arguments: str, stdout: int | None = None) -> Seen:
    """Run a command with a terminal for each of its outputs, so that they can be told apart."""
    terminals = terminal(), terminal()
    (out, out_end), (err, err_end) = terminals
    process = subprocess.Popen(
        [str(REVEREVAL), *arguments],
        cwd=scene.folder,
        env=scene.env(TERM="xterm-256color", LC_ALL="C.UTF-8"),
        stdin=out_end,
        stdout=out_end if stdout is None else stdout,
        stderr=err_end,
    )
    os.close(out_end)
    os.close(err_end)
    texts = {out: b"", err: b""}
    deadline = time.monotonic() + 100
    open_ends = [out, err]
    while open_ends and time.monotonic() < deadline:
        for end in select.select(open_ends, [], [], 1)[0]:
            try:
                data = os.read(end, 65536)
            except OSError:  # on Linux, the terminal's other end is closed
                data = b""
            texts[end] += data
            if not data:
                open_ends.remove(end)
    code = process.wait(30)
    os.close(out)
    os.close(err)
    return Seen(code, texts[out].decode(), texts[err].decode())


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Seen:
    """A whole pair over HTTP, slow enough to be watched."""
    scene = at(tmp_path_factory.mktemp("terminal"), shared / "cache")
    with Loopback(replies(scripted_app("h11-states"), delay_s=0.15)) as server:
        config = scene.config(
            f"[provider]\nkind = 'openai-chat'\nmodel = 'm'\nbase_url = '{server.url}'\n"
        )
        return watched(scene, "run-pair", "h11-states", "--config", config)


def test_progress_names_the_arm_the_request_of_12_and_the_tokens(seen: Seen) -> None:
    assert seen.code == 0
    shown = " ".join(ESCAPE.sub("", seen.err).split())
    found = PROGRESS.findall(shown)
    assert {stage for stage, _, _ in found} == {"capture", "F", "P"}
    for stage in ("capture", "F", "P"):
        numbers = [int(number) for name, number, _ in found if name == stage]
        tokens = [int(count.replace(",", "")) for name, _, count in found if name == stage]
        assert numbers == sorted(numbers), "it only goes forward"
        assert tokens == sorted(tokens)
        assert len(set(numbers)) >= 3
        assert numbers[0] > 1 or tokens[0] == 0
    p_numbers = {int(number) for name, number, _ in found if name == "P"}
    assert max(p_numbers) == 12
    assert "h11-states (openai-chat)" in shown
    assert "newly projected" in shown


def test_the_result_goes_to_standard_output_and_progress_to_standard_error(seen: Seen) -> None:
    assert "capped" in seen.out
    assert "In this one pair" in seen.out
    assert "metered tokens" not in seen.out
    assert "\x1b" not in seen.out
    assert "capped" not in seen.err
    assert "In this one pair" not in seen.err


def test_no_line_of_the_result_is_wider_than_the_terminal(seen: Seen) -> None:
    lines = (seen.out or ESCAPE.sub("", seen.err)).replace("\r\n", "\n").splitlines()
    result = lines[next(at for at, line in enumerate(lines) if "boundary after" in line) :]
    assert len(result) > 6
    assert not [line for line in result if len(line) > 80]


def test_a_result_sent_to_a_file_is_in_the_file_while_a_person_watches(
    scene: Scene, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    with result.open("wb") as file:
        seen = watched(scene, "run-pair", "h11-framing", "--json", stdout=file.fileno())
    assert seen.code == 0
    assert json.loads(result.read_bytes())["arms"]["P"]["endpoint"] == "correct"


def test_nothing_is_shown_on_the_way_when_nobody_watches(scene: Scene) -> None:
    done = scene.run("capture", "h11-framing")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"request 1 of" not in done.stdout
