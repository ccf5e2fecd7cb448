"""Files that a command leaves behind: whole or not at all, and never over something else."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from revereval.errors import InputError


class Written(NamedTuple):
    size: int
    """Bytes."""
    sha256: str


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Raises InputError where `path` cannot be an output: a folder, a device, one of the inputs."""
    if path.is_dir():
        raise InputError("--output", str(path), "is a folder: name a file")
    if path.exists() and not path.is_file():
        raise InputError("--output", str(path), "is not a plain file")
    if not path.parent.is_dir():
        raise InputError("--output", str(path), "its folder does not exist")
    if not os.access(path.parent, os.W_OK):
        raise InputError("--output", str(path), "its folder may not be written to")
    for read in inputs:
        if path.exists() and read.exists() and path.samefile(read):
            raise InputError("--output", str(path), "is what is read: name another file")


def check_folder(path: Path) -> None:
    """Raises InputError where no folder is or can be."""
    if path.exists() and not path.is_dir():
        raise InputError("--figures", str(path), "is not a folder")


def write_whole(path: Path, data: bytes) -> Written:
    """Write beside the file and put it in place at the end; what is there is replaced.

    Raises InputError where it cannot be written, OSError where the disk is full.
    """
    beside = path.with_name(f".{path.name[:200]}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except (PermissionError, IsADirectoryError, NotADirectoryError, FileNotFoundError) as error:
        raise InputError(path, "", error.strerror or "cannot be written") from None
    return Written(len(data), hashlib.sha256(data).hexdigest())
