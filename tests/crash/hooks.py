"""What a forked command is told to suffer: a kill at a chosen moment, a full disk, another value.

Hooks are dictionaries that JSON can hold, made here by the tests and installed in the child only.
"""

import importlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import Engine, event

from revereval.pair.implementation import implementation

Hook = dict[str, Any]

CHILD_S = 120

INTEND = "revereval.ledger.recording:StageRecorder.intend"
INTEND_AGAIN = "revereval.ledger.recording:StageRecorder.intend_again"
COMPLETE = "revereval.ledger.recording:StageRecorder.complete"
FAIL = "revereval.ledger.recording:StageRecorder.fail"
DISPATCH = "revereval.provider.http:Client.dispatch"


def kill(function: str, when: str, nth: int = 1) -> Hook:
    """SIGKILL at the nth call of a function: `before` it, `after` it, or `uncommitted`.

    Uncommitted: inside its transaction, all statements done, before the COMMIT.
    """
    return {"kind": "kill", "function": function, "when": when, "nth": nth}


def kill_between_requests(when: str, nth: int) -> Hook:
    """SIGKILL at the nth transaction that belongs to no request: `before` or `after` its COMMIT."""
    return {"kind": "kill_between_requests", "when": when, "nth": nth}


def interrupt(function: str, when: str, nth: int, number: int) -> Hook:
    """A signal to the process itself, `before` or `after` the nth call of a function."""
    return {
        "kind": "interrupt",
        "function": function,
        "when": when,
        "nth": nth,
        "number": int(number),
    }


def leave_a_child(function: str, nth: int, how: str) -> Hook:
    """Before the nth call of a function: a child that outlives the process, `forked` or `spawned`.

    It is in the process's group, for the test to end it.
    """
    return {"kind": "leave_a_child", "function": function, "nth": nth, "how": how}


def pause_at_statement(nth: int, reached: Path, go: Path) -> Hook:
    """Before the nth SQL statement: make the file `reached`, then wait for the file `go`.

    At the latest before the first writing transaction, so that the pause holds no lock of one.
    """
    return {"kind": "pause_at_statement", "nth": nth, "reached": str(reached), "go": str(go)}


def setting(name: str, value: Any) -> Hook:
    """Another value of a module's constant; of a function, the text that it returns."""
    return {"kind": "setting", "name": name, "value": value}


def unnoticed(name: str, value: Any) -> Hook:
    """As `setting`, made after the plan's implementation was looked at: no digest sees it."""
    return {"kind": "unnoticed", "name": name, "value": value}


def disk_full_from(function: str, nth: int) -> Hook:
    """No new page from the nth call of a function on."""
    return {"kind": "disk_full_from", "function": function, "nth": nth}


def disk_of(pages: int) -> Hook:
    """A disk that holds a ledger of so many pages."""
    return {"kind": "disk_of", "pages": pages}


def install(hooks: Iterable[Hook]) -> None:
    for hook in hooks:
        arguments = {name: value for name, value in hook.items() if name != "kind"}
        _INSTALLERS[hook["kind"]](**arguments)


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("SIGKILL has come")


def _owner(path: str) -> tuple[Any, str]:
    module, _, names = path.partition(":")
    *owners, name = names.split(".")
    owner: Any = importlib.import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    assert hasattr(owner, name), path
    return owner, name


def _wrap(
    function: str, before: Callable[[], object], after: Callable[[], object] = lambda: None
) -> None:
    owner, name = _owner(function)
    original = getattr(owner, name)

    def wrapped(*arguments: Any, **named: Any) -> Any:
        before()
        result = original(*arguments, **named)
        after()
        return result

    setattr(owner, name, wrapped)


def _each_connection(use: Callable[[Any], object]) -> None:
    event.listen(Engine, "connect", lambda connection, _: use(connection))


def _each_statement(begins: Callable[[str], object]) -> None:
    """Call `begins` with the text of every SQL statement just before SQLite executes it."""
    _each_connection(lambda connection: connection.set_trace_callback(begins))


def _kill(function: str, when: str, nth: int) -> None:
    calls = count(1)
    number = 0

    def before() -> None:
        nonlocal number
        number = next(calls)
        if number == nth and when == "before":
            _die()

    def after() -> None:
        nonlocal number
        if number == nth and when == "after":
            _die()
        number = 0

    def begins(statement: str) -> None:
        if number == nth and statement == "COMMIT":
            _die()

    if when == "uncommitted":
        _each_statement(begins)
    _wrap(function, before, after)


def _interrupt(function: str, when: str, nth: int, number: int) -> None:
    calls = count(1)

    def send() -> None:
        if next(calls) == nth:
            os.kill(os.getpid(), number)

    def nothing() -> None:
        pass

    _wrap(function, *((send, nothing) if when == "before" else (nothing, send)))


def _pause_at_statement(nth: int, reached: str, go: str) -> None:
    statements = count(1)

    def begins(statement: str) -> None:
        due = next(statements) >= nth or statement == "BEGIN IMMEDIATE"
        if due and not Path(reached).exists():
            Path(reached).touch()
            while not Path(go).exists():
                time.sleep(0.002)

    _each_statement(begins)


def _leave_a_child(function: str, nth: int, how: str) -> None:
    calls = count(1)

    def before() -> None:
        if next(calls) != nth:
            return
        if how == "spawned":
            subprocess.Popen(["sleep", str(CHILD_S)], close_fds=False)
        elif os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            time.sleep(CHILD_S)
            os._exit(0)

    _wrap(function, before)


def _kill_between_requests(when: str, nth: int) -> None:
    commits = count(1)
    in_request = writing = doomed = False

    def enter(inside: bool) -> None:
        nonlocal in_request
        in_request = inside

    def begins(statement: str) -> None:
        nonlocal doomed, writing
        if doomed:
            _die()
        if statement.startswith("BEGIN"):
            writing = statement != "BEGIN"  # a plain one is for reading
        if statement == "COMMIT" and writing and not in_request and next(commits) == nth:
            if when == "before":
                _die()
            doomed = True

    for function in (INTEND, INTEND_AGAIN, COMPLETE, FAIL):
        _wrap(function, lambda: enter(True), lambda: enter(False))
    _each_statement(begins)


def _setting(name: str, value: Any) -> None:
    owner, attribute = _owner(name)
    setattr(owner, attribute, (lambda *_: value) if isinstance(value, str) else value)


def _unnoticed(name: str, value: Any) -> None:
    implementation()
    _setting(name, value)


def _disk_full_from(function: str, nth: int) -> None:
    calls = count(1)
    connections: list[Any] = []

    def before() -> None:
        if next(calls) == nth:
            for connection in connections:
                # SQLite takes the file's present size where the limit is smaller
                connection.execute("PRAGMA max_page_count = 1")

    _each_connection(connections.append)
    _wrap(function, before)


def _disk_of(pages: int) -> None:
    _each_connection(lambda db: db.execute(f"PRAGMA max_page_count = {pages}"))


_INSTALLERS: dict[str, Callable[..., None]] = {
    "kill": _kill,
    "interrupt": _interrupt,
    "pause_at_statement": _pause_at_statement,
    "leave_a_child": _leave_a_child,
    "kill_between_requests": _kill_between_requests,
    "setting": _setting,
    "unnoticed": _unnoticed,
    "disk_full_from": _disk_full_from,
    "disk_of": _disk_of,
}
