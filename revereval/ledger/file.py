"""The file of a ledger: which one a path names, whether it can serve, and the way to open it."""

import os
import re
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from revereval.errors import InputError

_BESIDE: Final = ("-journal", "-wal", "-shm", ".lock")
"""What SQLite and the lock of a run add to the file's name."""
_SQLITE_PATH_LIMIT: Final = 512 - len("-journal")
"""Bytes of a whole path that SQLite takes (MAX_PATHNAME of its os_unix.c)."""
_NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p"}
)
NOT_HERE: Final = "no ledger here; --ledger names another file"


def real_file(path: Path) -> Path:
    """The absolute path without links: one name for all that stands beside a ledger."""
    try:
        return Path(os.path.realpath(path))
    except OSError as error:  # the current folder may be gone
        raise InputError(path, "", error.strerror or "cannot be found") from None


def files_of(path: Path) -> list[Path]:
    """The real file of a ledger and what may stand beside it."""
    real = real_file(path)
    return [real, *(real.with_name(real.name + end) for end in _BESIDE)]


def lock_file(path: Path) -> Path:
    """`<ledger>.lock` beside the real file, whatever link led to it."""
    return files_of(path)[-1]


def ledger_file(path: Path, *, write: bool) -> Path:
    """The real file at `path`; to write it is made, with mode 0600, where there is none.

    Raises InputError, before anything is made, for what cannot be a ledger: no plain file, a file
    with a second name (each name would have a WAL of its own), a name too long for SQLite, and to
    write one on a network file system; where it is only read, also for no file.
    """
    real = real_file(path)
    if problem := _too_long(real):
        raise InputError(path, "", problem)
    try:
        _check_kind(path, real, write=write)
        if write:
            kind = _file_system(real)
            if kind in _NETWORK_FILE_SYSTEMS:
                raise InputError(path, "", f"on a network file system ({kind}); use a local disk")
            real.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                # to close a file that SQLite has open would drop its locks (fcntl(2))
                os.close(os.open(real, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            if not (real.stat().st_mode & stat.S_IWUSR and os.access(real, os.W_OK)):
                raise InputError(path, "", "read-only; a ledger must be writable for this")
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be opened") from None
    return real


def _check_kind(path: Path, real: Path, *, write: bool) -> None:
    try:
        found = real.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not write:
            raise InputError(path, "", NOT_HERE) from None
        return
    if stat.S_ISDIR(found.st_mode):
        raise InputError(path, "", "is a directory; --ledger must name a file")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(path, "", "is not a plain file")
    if found.st_nlink > 1:
        problem = f"has {found.st_nlink} names (hard links); a ledger must have one"
        raise InputError(path, "", problem)


def _too_long(real: Path) -> str | None:
    there = next(folder for folder in real.parents if os.path.isdir(folder))  # noqa: PTH112 - raises nothing
    limit = os.pathconf(there, "PC_NAME_MAX")
    longest = max(map(len, _BESIDE))
    if len(os.fsencode(real.name)) > limit - longest:
        return f"its name is too long: at most {limit - longest} bytes here"
    if any(len(os.fsencode(part)) > limit for part in real.parts):
        return f"a folder's name is too long: at most {limit} bytes here"
    if len(os.fsencode(real)) > _SQLITE_PATH_LIMIT:
        return f"the path is too long: SQLite takes {_SQLITE_PATH_LIMIT} bytes"
    return None


def connected(real: Path, *, write: bool, timeout_s: float) -> sqlite3.Connection:
    """A connection in autocommit mode to a file that is there; none is made.

    Every byte that means something in a URI is escaped (sqlite.org/uri.html), and the authority
    is empty, so the path is taken as it is.
    """
    uri = f"file://{quote(os.fsencode(real))}?mode={'rw' if write else 'ro'}"
    return sqlite3.connect(uri, timeout=timeout_s, isolation_level=None, uri=True)


def _file_system(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The type of the file system that holds `path`; "" where the system does not tell."""
    try:
        lines = mounts.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    resolved = path.resolve()
    fields = [line.split(" ") for line in lines]
    mounted = [(_unescaped(point), kind) for _, point, kind, *_ in fields]
    holding = [(point, kind) for point, kind in mounted if resolved.is_relative_to(point)]
    # of mounts on one point the last hides the others
    return max(reversed(holding), key=lambda entry: len(entry[0]), default=("", ""))[1]


def _unescaped(point: str) -> str:
    """proc(5): space, tab, newline and backslash are written in octal."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)
