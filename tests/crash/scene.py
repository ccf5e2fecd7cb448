"""One test's scene: a config, a ledger, a logged server, and commands in processes of their own."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .facts import intended, run_count
from .hooks import Hook
from .server import LoggedApp

REPOSITORY = Path(__file__).parents[2]
TASKS = REPOSITORY / "tasks"
TASK = "pygments-regexlexer"
WAIT_S = 60.0

CONFIG = """
[provider]
kind = "openai-chat"
model = "scripted"
base_url = "{url}"

[provider.retry]
first_wait_s = {first_wait_s}

[projection]
full_exposures = 1
"""


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code, a signal as its negative number."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


class Running(Protocol):
    @property
    def pid(self) -> int: ...

    def wait(self) -> Done: ...


class Zygote:
    """The forking helper, and the files that its children print to."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._started = folder, 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.zygote"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def files(self) -> tuple[Path, Path]:
        self._started += 1
        return (
            self._folder / f"{self._started}.out",
            self._folder / f"{self._started}.err",
        )

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(WAIT_S)
        self._process.stdout.close()


@dataclass
class Forked:
    """A command in a forked process."""

    zygote: Zygote
    pid: int
    streams: tuple[Path, Path]

    def wait(self) -> Done:
        code = self.zygote.ask({"wait": {"pid": self.pid, "seconds": WAIT_S}})["status"]
        out, err = (path.read_text() for path in self.streams)
        assert code is not None, f"still running after {WAIT_S} s\n{out}{err}"
        return Done(code, out, err)


@dataclass
class Spawned:
    """A command as a user starts it."""

    process: subprocess.Popen[str]

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait(self) -> Done:
        out, err = self.process.communicate(timeout=WAIT_S)
        return Done(self.process.returncode, out, err)


@dataclass
class Scene:
    """Commands run in `folder`, against `app`, on one ledger."""

    folder: Path
    zygote: Zygote
    app: LoggedApp
    cache: Path
    """XDG_CACHE_HOME, where snapshots are."""
    settings: str = ""
    """What a test puts before the tables of its config."""
    first_wait_s: float = 0.01
    ledger: Path = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = self.folder / "ledger.sqlite"

    @property
    def config(self) -> Path:
        path = self.folder / "config.toml"
        text = CONFIG.format(url=self.app.url, first_wait_s=self.first_wait_s)
        path.write_text(self.settings + text)
        return path

    @property
    def _environment(self) -> dict[str, str]:
        # nothing here speaks TLS: certificates looked up in an empty folder are none to load
        return {"XDG_CACHE_HOME": str(self.cache), "SSL_CERT_DIR": str(self.folder)}

    def start(self, *arguments: str, hooks: Sequence[Hook] = ()) -> Forked:
        """A command in a forked process that has nothing open yet."""
        streams = self.zygote.files()
        order = {
            "arguments": arguments,
            "cwd": str(self.folder),
            "env": self._environment,
            "streams": [str(path) for path in streams],
            "hooks": list(hooks),
        }
        return Forked(self.zygote, self.zygote.ask(order)["pid"], streams)

    def run(self, *arguments: str, hooks: Sequence[Hook] = ()) -> Done:
        return self.start(*arguments, hooks=hooks).wait()

    def spawn(self, *arguments: str) -> Spawned:
        """The installed command, started as a user starts it."""
        command = [str(Path(sys.executable).with_name("revereval")), *arguments]
        environment = {**os.environ, **self._environment}
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return Spawned(process)

    def pair_arguments(self, target: str = TASK, *options: str) -> list[str]:
        """`run-pair` of the task, or of a run by its number."""
        config = [] if target.isdecimal() else ["--config", str(self.config)]
        paths = ["--ledger", str(self.ledger), "--tasks", str(TASKS)]
        return ["run-pair", target, *config, *paths, "--json", *options]

    def pair(self, target: str = TASK, *options: str, hooks: Sequence[Hook] = ()) -> Done:
        return self.run(*self.pair_arguments(target, *options), hooks=hooks)

    def start_pair(self, target: str = TASK, *options: str, hooks: Sequence[Hook] = ()) -> Forked:
        return self.start(*self.pair_arguments(target, *options), hooks=hooks)

    def spawn_pair(self, target: str = TASK, *options: str) -> Spawned:
        return self.spawn(*self.pair_arguments(target, *options))

    def audit(self) -> list[Any]:
        """What `ledger audit` finds."""
        done = self.run(
            "ledger", "audit", "--ledger", str(self.ledger), "--tasks", str(TASKS), "--json"
        )
        assert done.code in (0, 3), done
        found: list[Any] = done.result["disagreements"]
        return found


def require_clean(scene: Scene) -> None:
    """One run, no finding of the audit, and no dispatch that no intent was committed for."""
    assert run_count(scene.ledger) == 1
    assert scene.audit() == []
    assert Counter(scene.app.hits) <= intended(scene.ledger)


def kill_in_flight(command: Running, app: LoggedApp, number: int) -> Done:
    """SIGKILL from outside while the server holds the reply to this request."""
    return signal_in_flight(command, app, number, signal.SIGKILL)


def signal_in_flight(command: Running, app: LoggedApp, number: int, sent: signal.Signals) -> Done:
    """Send a signal while the server holds the reply to this request; `hold` it before."""
    app.wait_for(number)
    os.kill(command.pid, sent)
    done = command.wait()
    app.release()
    return done
