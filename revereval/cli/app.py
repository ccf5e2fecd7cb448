"""The `revereval` command: its sub-commands, and how every error becomes one line and a code."""

import errno
import os
import sys
from typing import NoReturn

import typer
import typer.main
from typer.exceptions import TyperException

from revereval.cli import analyze, ledger, report, run, serve, tasks
from revereval.cli.output import note, use_safe_streams
from revereval.errors import InputError, NothingMaySpendError, RevEvalError
from revereval.pair.signals import SignalledError

READER_GONE = 141
_OF_A_PATH = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EROFS}
)
"""What a file system says of a path or a folder that the user named, or the environment."""

app = typer.Typer(
    name="revereval",
    help="Paired-continuation evaluation of agent context policies.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("capture")(run.capture)
app.command("run-pair")(run.run_pair)
app.add_typer(tasks.app, name="tasks")
app.add_typer(ledger.app, name="ledger")
app.add_typer(analyze.app, name="analyze")
app.command("report")(report.report)
app.command("serve-scripted")(serve.serve_scripted)


def main() -> NoReturn:
    """Run one command. Exit codes: 0, 2, 3, 4, 130, 141, 143 as DESIGN §7 gives them."""
    use_safe_streams()
    sys.exit(_run(sys.argv[1:] or ["--help"]))


def _run(arguments: list[str]) -> int:
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return READER_GONE
    except OSError as error:
        if error.errno in _OF_A_PATH:
            note(f"revereval: {error.filename or 'a folder that is needed'}: {error.strerror}")
            return InputError.exit_code
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        _discard_output()
        note(f"revereval: the output cannot be written: {error.strerror}")
        return NothingMaySpendError.exit_code
    return code


def _invoke(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        # the context by hand: Typer's own main turns a reader that went away into code 1
        with command.make_context("revereval", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except TyperException as error:
        note(f"revereval: {error.format_message()}")
        return error.exit_code
    except (RevEvalError, SignalledError) as error:
        note(f"revereval: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def _discard_output() -> None:
    """What is still buffered has nowhere to go; the interpreter would fail on it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
