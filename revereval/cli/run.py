"""`revereval capture` and `revereval run-pair`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from revereval.errors import InputError, PausedError

Ledger = Annotated[Path, typer.Option(help="The ledger file.")]
Tasks = Annotated[Path, typer.Option(help="The folder of the task specs.")]
ConfigFile = Annotated[
    Path | None, typer.Option(help="A config file; without one, the scripted reader answers.")
]
New = Annotated[bool, typer.Option("--new", help="Start a new run whatever older ones are owed.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Repeats = Annotated[
    int | None,
    typer.Option("--repeats", min=1, max=1000, help="Pairs of continuations from one tape."),
]
Resend = Annotated[
    bool,
    typer.Option(
        "--resend-in-doubt",
        help="Send a request again although it may have been billed before.",
    ),
]
GiveUp = Annotated[
    bool,
    typer.Option("--give-up", help="End a paused run for good; takes its number, sends nothing."),
]

DEFAULT_LEDGER = Path("runs/ledger.sqlite")
DEFAULT_TASKS = Path("tasks")


def capture(
    task: Annotated[str, typer.Argument(help="A task id.")],
    config: ConfigFile = None,
    ledger: Ledger = DEFAULT_LEDGER,
    tasks: Tasks = DEFAULT_TASKS,
    repeats: Repeats = None,
    new: New = False,
    resend_in_doubt: Resend = False,
    as_json: Json = False,
) -> None:
    """Run a task up to its boundary.

    Prints the boundary, or why there is none.
    """
    from revereval.cli import outcome
    from revereval.cli.execution import How, started, watched
    from revereval.pair import run as pair_run

    how = How(new=new, resend=resend_in_doubt, arms=False, repeats=repeats)
    with started(task, config, ledger, tasks, how) as (work, run_id):
        try:
            with watched(work, run_id) as work_seen:
                pair_run.run_capture(work_seen, run_id)
        except PausedError:
            if as_json:
                outcome.print_capture(work.database, run_id, as_json=True)
            raise
        raise typer.Exit(outcome.print_capture(work.database, run_id, as_json=as_json))


def run_pair(
    target: Annotated[str, typer.Argument(metavar="TASK|RUN", help="A task id or a run number.")],
    config: ConfigFile = None,
    ledger: Ledger = DEFAULT_LEDGER,
    tasks: Tasks = DEFAULT_TASKS,
    repeats: Repeats = None,
    new: New = False,
    resend_in_doubt: Resend = False,
    give_up: GiveUp = False,
    as_json: Json = False,
) -> None:
    """Run both continuations of a boundary.

    The capture comes first if there is none yet. A task's newest run that was interrupted or
    paused is taken up again; what was recorded is not sent again.
    """
    from revereval.cli import outcome
    from revereval.cli.execution import How, given_up, started, watched
    from revereval.pair import run as pair_run

    if give_up:
        if config is not None or repeats is not None or new or resend_in_doubt:
            problem = "nothing is sent: no --config, --new, --repeats, --resend-in-doubt"
            raise InputError("run-pair", "--give-up", problem)
        with given_up(target, ledger) as (database, run_id):
            outcome.print_pair(database, run_id, as_json=as_json)
        return
    how = How(new=new, resend=resend_in_doubt, arms=True, repeats=repeats)
    with started(target, config, ledger, tasks, how) as (work, run_id):
        try:
            with watched(work, run_id) as work_seen:
                pair_run.run_pair(work_seen, run_id)
        except PausedError:
            if as_json:
                outcome.print_pair(work.database, run_id, as_json=True)
            raise
        raise typer.Exit(outcome.print_pair(work.database, run_id, as_json=as_json))
