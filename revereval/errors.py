"""Errors at the edges: each says in one line what the user can act on.

    RevEvalError
    ├── InputError           bad usage, config, task or ledger file: exit code 2, nothing written
    ├── FaultError           stopped by a fault that is in the ledger now: exit code 3
    └── NothingMaySpendError no credit, disk full: exit code 4, nothing more is dispatched

What happened to an arm is data in the ledger and not an exception.
"""

from pathlib import Path


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
