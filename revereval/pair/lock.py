"""One process works on a run at a time: a kernel lock that ends with its process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from revereval.errors import InputError
from revereval.ledger.file import lock_file


@contextmanager
def run_lock(ledger: Path, run_id: int) -> Iterator[None]:
    """Hold run `run_id` of a ledger: one byte of the empty file `<ledger>.lock`.

    Raises InputError while another process holds it. POSIX record locks are neither inherited by
    children nor left behind by a crash (fcntl(2)).
    """
    path = lock_file(ledger)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be opened") from None
    try:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, run_id)
        except OSError:
            problem = "another process is working on it"
            raise InputError(ledger, f"run {run_id}", problem) from None
        yield
    finally:
        os.close(descriptor)
