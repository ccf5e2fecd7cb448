"""Helper processes: a time limit, a process group that dies as a whole, bounded output."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

OUTPUT_LIMIT: Final = 2**20
"""Bytes kept of each output stream."""


@dataclass(frozen=True)
class Finished:
    returncode: int | None
    """None: killed at the time limit."""
    stdout: bytes
    stderr: bytes

    @property
    def last_words(self) -> str:
        """The last line on stderr, where tracebacks and pip put the reason; cut at 300."""
        lines = self.stderr.decode("utf-8", "replace").split("\n")
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def run_limited(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit_s: float
) -> Finished:
    """Run a process without input; what it started in its group ends with it.

    Output goes to files, so a full pipe, or a grandchild that holds one, blocks nothing.
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(  # noqa: S603  callers pass fixed programs, never a shell line
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            process_group=0,
        )
        returncode: int | None = None
        try:
            returncode = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        stdout.seek(0)
        stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - OUTPUT_LIMIT))
        return Finished(returncode, stdout.read(OUTPUT_LIMIT), stderr.read())
