"""Everything a runner needs before its first request: plan, run, client, signals, progress."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from revereval.errors import InputError
from revereval.ledger.database import Database
from revereval.ledger.file import ledger_file
from revereval.ledger.repeats import repeats_of
from revereval.ledger.runs import create_run, find_or_create_run, load_run
from revereval.pair.annotations import reader_task
from revereval.pair.config import load_config
from revereval.pair.gate import Progress
from revereval.pair.plan import Plan, make_plan, recorded_plan
from revereval.pair.run import give_up, plan_row, require_its_plan
from revereval.pair.signals import Signals
from revereval.pair.stage import Work
from revereval.provider.http import Client
from revereval.provider.scripted import ScriptedApp, ScriptedTransport
from revereval.provider.settings import api_key
from revereval.report.plain import shown
from revereval.tasks.snapshot import Snapshot, SnapshotChangedError, open_snapshot


def _unwatched(_: Progress) -> None:
    return


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class How:
    """What a command asks beyond its target."""

    new: bool
    resend: bool
    arms: bool
    """Whether continuations are wanted, or only the capture."""
    repeats: int | None = None
    """R, where it is not the config's."""


@contextmanager
def started(
    target: str, config_path: Path | None, ledger: Path, tasks_dir: Path, how: How
) -> Iterator[tuple[Work, int]]:
    """The work and the run that `target` (a task id, or a run's number) names.

    A repeat's number stands for the run that captured its tape. Raises InputError before anything
    is written for all that is wrong with the input.
    """
    with ExitStack() as stack:
        if target.isdecimal():
            if config_path is not None or how.new or how.repeats is not None:
                problem = "a run has its plan: no --config, no --new, no --repeats"
                raise InputError("run-pair", target, problem)
            database = stack.enter_context(_opened(ledger, existing=True))
            run_id = repeats_of(database, load_run(database, int(target)).run)[0]
            require_its_plan(database, run_id, now())
            plan = recorded_plan(load_run(database, run_id).plan.document, tasks_dir)
            key = api_key(plan.config.provider, f"run {run_id}")
            client = stack.enter_context(_client(plan, key))
            snapshot = _snapshot(plan)
        else:
            config = load_config(config_path)
            if how.repeats is not None:
                config = config.model_copy(update={"repeats": how.repeats})
            plan = make_plan(tasks_dir, target, config)
            key = api_key(plan.config.provider, str(config_path or "the built-in config"))
            client = stack.enter_context(_client(plan, key))
            snapshot = _snapshot(plan)
            if how.new and isinstance(snapshot, SnapshotChangedError):
                raise snapshot
            database = stack.enter_context(_opened(ledger, existing=False))
            run_id = _run_of(database, plan, snapshot, how)
        signals = Signals()
        signals.install()

        real = (time.sleep, _unwatched, now)
        yield Work(database, plan, snapshot, client, signals, *real, how.resend), run_id


@contextmanager
def given_up(target: str, ledger: Path) -> Iterator[tuple[Database, int]]:
    """The ledger and the run that `target`, a number, names, given up. Raises InputError."""
    if not target.isdecimal():
        raise InputError("run-pair", target, "--give-up takes the number of a run")
    with _opened(ledger, existing=True) as database:
        yield database, give_up(database, int(target), now())


def _snapshot(plan: Plan) -> Snapshot | SnapshotChangedError:
    """A changed snapshot is an outcome of a run that has begun, and bad input for a new one."""
    try:
        return open_snapshot(plan.task.source)
    except SnapshotChangedError as error:
        return error


def _run_of(
    database: Database, plan: Plan, snapshot: Snapshot | SnapshotChangedError, how: How
) -> int:
    """The plan's run that is owed something, or a new one."""
    row = plan_row(plan, now())
    if how.new:
        return create_run(database, row)
    create = not isinstance(snapshot, SnapshotChangedError)
    run_id = find_or_create_run(database, row, arms=how.arms, resend=how.resend, create=create)
    if run_id is None:
        assert isinstance(snapshot, SnapshotChangedError), "else a run was created"
        raise snapshot
    return run_id


@contextmanager
def _opened(path: Path, *, existing: bool) -> Iterator[Database]:
    if existing:
        ledger_file(path, write=False)
    database = Database(path, write=True)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def _client(plan: Plan, key: str | None) -> Iterator[Client]:
    settings = plan.config.provider
    transport = None
    if settings.kind == "scripted":
        app = ScriptedApp([reader_task(plan.task)], settings.reader)
        transport = ScriptedTransport(app)
    client = Client(settings, plan.wire.path, key, transport)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def watched(work: Work, run_id: int) -> Iterator[Work]:
    """The same work with a status line while a person watches, gone before results are printed."""
    if not sys.stderr.isatty():
        yield work
        return
    from rich.console import Console
    from rich.text import Text

    label = f"run {run_id}, {shown(work.plan.task.id)} ({work.plan.config.provider.kind})"
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    with console.status(Text(label)) as status:

        def watch(progress: Progress) -> None:
            projected = progress.newly_projected
            said = f", {projected} newly projected" if projected else ""
            status.update(
                Text(
                    f"{label}: {progress.stage} request {progress.number} of {progress.cap}, "
                    f"{progress.metered_tokens:,} metered tokens{said}"
                )
            )

        yield replace(work, watch=watch)
