"""Errors at the edges: each says in one line what the user can act on.

    RevEvalError
    ├── InputError           bad usage, config, task or ledger file: exit code 2, nothing written
    ├── FaultError           stopped by a fault that is in the ledger now: exit code 3
    ├── NothingMaySpendError disk full: exit code 4, nothing more is dispatched
    └── PausedError          the run waits and nothing is lost: 4 without credit, else 3

What happened to an arm is data in the ledger and not an exception.
"""

from pathlib import Path

from revereval.terms import PauseReason


class RevEvalError(Exception):
    """Base of all; `str(error)` is the one line the user sees."""

    exit_code = 3


class InputError(RevEvalError):
    """Bad input: the file or option, the field in it, and what is allowed."""

    exit_code = 2

    def __init__(self, source: Path | str, field: str, problem: str) -> None:
        self.source, self.field, self.problem = str(source), field, problem
        super().__init__(": ".join(part for part in (self.source, field, problem) if part))


class FaultError(RevEvalError):
    exit_code = 3


class NothingMaySpendError(RevEvalError):
    exit_code = 4


class PausedError(RevEvalError):
    """What paused a run, and how to go on with it."""

    def __init__(self, run_id: int, reason: PauseReason, detail: str) -> None:
        self.exit_code = 4 if reason is PauseReason.NO_CREDIT else 3
        self.reason = reason
        super().__init__(
            f"run {run_id} is paused ({reason}): {detail}; `revereval run-pair {run_id}` goes on, "
            "with --give-up it ends here"
        )
