"""Helper processes: limits, groups, output."""

import os
import sys
import threading
import time
from pathlib import Path

from revereval.tasks.process import OUTPUT_LIMIT, run_limited


def python(code: str, cwd: Path, *args: str) -> list[str]:
    script = cwd / "script.py"
    script.write_text(code)
    return [sys.executable, str(script), *args]


def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    code = "import sys; print(sys.stdin.read() + 'out'); sys.exit('first\\nlast words\\n\\n')"
    finished = run_limited(python(code, tmp_path), cwd=tmp_path, env={}, limit_s=30)
    assert (finished.returncode, finished.stdout) == (1, b"out\n")
    assert finished.last_words == "last words"


def test_a_flood_of_output_is_cut_and_blocks_nothing(tmp_path: Path) -> None:
    code = "import sys\nfor s in (sys.stdout, sys.stderr): s.write('x' * 5_000_000 + 'end')"
    finished = run_limited(python(code, tmp_path), cwd=tmp_path, env={}, limit_s=30)
    assert finished.stdout == b"x" * OUTPUT_LIMIT
    assert len(finished.stderr) == OUTPUT_LIMIT
    assert finished.stderr.endswith(b"end")


CHILD_HOLDS_THE_PIPE = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import sys, time; f = open(sys.argv[1], 'w'); \\
f.write('up'); f.flush(); time.sleep(600)", sys.argv[1]])
exec(sys.argv[2])
"""


def _until_the_grandchild_is_gone(tmp_path: Path, then: str) -> tuple[int | None, str]:
    """Run a process whose child holds a FIFO open; returns once nobody holds it any more."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()), daemon=True)
    reader.start()
    command = python(CHILD_HOLDS_THE_PIPE, tmp_path, str(fifo), then)
    finished = run_limited(command, cwd=tmp_path, env={}, limit_s=2)
    reader.join(timeout=30)  # the end of the file comes when the last writer dies
    assert not reader.is_alive()
    return finished.returncode, read[0]


def test_the_time_limit_kills_the_whole_group(tmp_path: Path) -> None:
    started = time.monotonic()
    result = _until_the_grandchild_is_gone(tmp_path, "import time; time.sleep(600)")
    assert result == (None, "up")
    assert time.monotonic() - started < 30


def test_what_a_finished_process_left_behind_ends_with_it(tmp_path: Path) -> None:
    wait_for_child = "import time; time.sleep(1)"
    assert _until_the_grandchild_is_gone(tmp_path, wait_for_child) == (0, "up")
