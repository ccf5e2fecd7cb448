"""Forks the commands under test: warm, without threads, and before any ledger is opened.

Run as a module. It reads one JSON object a line from standard input and answers with one: an order
gives the new process's id, a wait gives its exit status.
"""

import gc
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from typing import Any, NoReturn

import httpx
from sqlmodel import create_engine

import revereval.cli.app as cli
import revereval.cli.execution
import revereval.cli.outcome
import revereval.ledger.audit  # noqa: F401 - so that no child has to import it

from . import hooks

_POLL_S = 0.002


def serve(orders: Any, answers: Any) -> None:
    """Answer until the orders end; what is still running then belongs to a failed test."""
    running: set[int] = set()
    for line in orders:
        order = json.loads(line)
        answer: dict[str, int | None]
        if "wait" in order:
            answer = {"status": _wait(**order["wait"])}
            running.discard(order["wait"]["pid"])
        else:
            pid = _fork(order)
            answer = {"pid": pid}
            running.add(pid)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    for pid in running:
        os.kill(pid, signal.SIGKILL)


def _fork(order: Mapping[str, Any]) -> int:
    pid = os.fork()
    if pid == 0:
        _become(order)
    return pid


def _become(order: Mapping[str, Any]) -> NoReturn:
    """Run one command as its own process would, and end with its exit code."""
    code = 1
    try:
        os.closerange(3, 256)
        os.setpgid(0, 0)
        os.umask(0)
        os.chdir(order["cwd"])
        os.environ.update(order["env"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, path in enumerate(order["streams"], start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
        hooks.install(order["hooks"])
        sys.argv = ["revereval", *order["arguments"]]
        cli.main()
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 1
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _wait(pid: int, seconds: float) -> int | None:
    """The exit code, a signal as its negative number; None when it is still alive by then."""
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(_POLL_S)


def _warm() -> None:
    """Load what libraries load late."""
    httpx.Client().close()
    create_engine("sqlite://").dispose()
    gc.freeze()


if __name__ == "__main__":
    _warm()
    # the protocol's descriptors move away from where commands print
    with os.fdopen(os.dup(0)) as lines, os.fdopen(os.dup(1), "w") as replies:
        serve(lines, replies)
