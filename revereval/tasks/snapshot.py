"""Snapshots: a source's allowlisted files, each known by its SHA-256, kept in a local cache."""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from shutil import rmtree
from types import MappingProxyType

from revereval.canonical import sha256_hex
from revereval.errors import InputError
from revereval.tasks.download import MEMBER_LIMIT, download_files
from revereval.tasks.spec import Source


class SnapshotChangedError(InputError):
    """A cached snapshot is not what its digest says. Somebody changed it: no silent repair."""

    def __init__(self, file: Path, problem: str) -> None:
        advice = "`revereval tasks fetch TASK` rebuilds the snapshot"
        super().__init__(file, "", f"{problem}; {advice}")


@dataclass(frozen=True)
class Snapshot:
    """The files of a source as they were when opened; later changes on disk do not reach it."""

    digest: str
    root: Path
    """The read-only copy in the cache, for processes that need files."""
    files: Mapping[str, str]
    """Path -> text, newlines as in the file."""


def open_snapshot(source: Source) -> Snapshot:
    """Check and read the cached snapshot; without one, make it first (see `fetch_snapshot`).

    Raises SnapshotChangedError for a cached snapshot with a changed, missing, linked or added
    file; InputError when there is none and it cannot be made.
    """
    root = _cached(source)
    if not os.path.lexists(root):
        return fetch_snapshot(source, rebuild=False)
    if not _holds_exactly(root, source):
        _name_fault(root, source)
    contents = {}
    for path, expected in source.files.items():
        try:
            contents[path] = _read_file(root / path)
        except OSError as error:
            raise SnapshotChangedError(root / path, _words(error)) from None
        if (found := sha256_hex(contents[path])) != expected:
            raise SnapshotChangedError(root / path, f"expected {expected}, found {found}")
    return Snapshot(source.snapshot_digest, root, _texts(source, contents))


def _holds_exactly(root: Path, source: Source) -> bool:
    """The pinned files and nothing else, no links: one look at each folder."""
    found: set[str] = set()
    parents = {f"{parent}/" for path in source.files for parent in Path(path).parents}
    folders = [""]
    try:
        while folders:
            folder = folders.pop()
            with os.scandir(root / folder) as entries:
                for entry in entries:
                    path = f"{folder}{entry.name}"
                    if not entry.is_dir(follow_symlinks=False):
                        found.add(path if entry.is_file(follow_symlinks=False) else "")
                    elif f"{path}/" in parents:
                        folders.append(f"{path}/")
                    else:
                        return False
    except OSError:
        return False
    return not root.is_symlink() and found == source.files.keys()


def _name_fault(root: Path, source: Source) -> None:
    """Raise SnapshotChangedError for the first file that is not where and what it must be."""
    for path in source.files:
        try:
            _read_plain(root, path)
        except (OSError, RuntimeError) as error:
            raise SnapshotChangedError(root / path, _words(error)) from None
    known = {part for path in source.files for part in (root / path, *(root / path).parents)}
    for found in root.rglob("*"):
        if found not in known:  # it could be imported instead of what was pinned
            raise SnapshotChangedError(found, "no part of the snapshot")


def fetch_snapshot(source: Source, *, rebuild: bool) -> Snapshot:
    """Make the cached snapshot from the installed release, else from `pip download`, and open it.

    An existing one stays as it is unless `rebuild`. Raises InputError when no origin has the
    pinned files, and as `open_snapshot` does.
    """
    root = _cached(source)
    if rebuild or not os.path.lexists(root):
        contents = _pinned_contents(source)
        _texts(source, contents)
        try:
            _install(root, contents, replace=rebuild)
        except OSError as error:
            raise InputError(root, "", f"cannot be written: {_words(error)}") from None
    return open_snapshot(source)


def _cached(source: Source) -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # unset, or relative, which the XDG specification says to ignore
        base = Path.home() / ".cache"
    return base / "revereval" / "snapshots" / source.snapshot_digest


def _texts(source: Source, contents: Mapping[str, bytes]) -> Mapping[str, str]:
    texts = {}
    for path, content in contents.items():
        try:
            texts[path] = content.decode()
        except UnicodeDecodeError:
            raise InputError(_spec(source), f"files.{path}", "not UTF-8") from None
    return MappingProxyType(texts)


def _read_plain(root: Path, path: str) -> bytes:
    """Raises OSError unless root/path is a plain file of bounded size, reached without links."""
    if (root / path).resolve(strict=True) != root.resolve() / path:
        raise OSError(errno.ELOOP, "reached through a link")
    return _read_file(root / path)


def _read_file(path: Path) -> bytes:
    """Raises OSError unless it is a plain file of bounded size."""
    # a FIFO must not block the opening, nor a link put there a moment ago lead away
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "not a plain file")
        with open(file, "rb", closefd=False) as stream:
            content = stream.read(MEMBER_LIMIT + 1)
    finally:
        os.close(file)
    if len(content) > MEMBER_LIMIT:
        raise OSError(errno.EFBIG, f"larger than {MEMBER_LIMIT} bytes")
    return content


def _pinned_contents(source: Source) -> dict[str, bytes]:
    release = f"{source.package} {source.version}"
    # The installed copy's fault is the user's best clue when the download does not help either.
    field, clue = "version", f"{release} is not installed"
    with contextlib.suppress(LookupError):
        installed = installed_files(source.package, source.version, source.files)
        fault = _first_fault(source, installed, f"installed {release}")
        if not fault:
            return installed
        field, clue = fault
    try:
        downloaded = download_files(source.package, source.version, source.files.__contains__)
    except InputError as error:
        raise InputError(_spec(source), field, f"{clue}; {error}") from None
    if fault := _first_fault(source, downloaded, f"downloaded {release}"):
        raise InputError(_spec(source), fault[0], fault[1])
    return downloaded


def installed_files(package: str, version: str, paths: Iterable[str] | None) -> dict[str, bytes]:
    """The plain files of the installed release at these paths, or at all that it recorded.

    Raises LookupError if that version is not installed.
    """
    try:
        distribution = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise LookupError(package) from None
    if distribution.version != version:
        raise LookupError(version)
    root, contents = Path(str(distribution.locate_file(""))), {}
    for path in map(str, distribution.files or ()) if paths is None else paths:
        with contextlib.suppress(OSError, RuntimeError):
            contents[path] = _read_plain(root, path)
    return contents


def _first_fault(
    source: Source, contents: Mapping[str, bytes], origin: str
) -> tuple[str, str] | None:
    """Field of source.toml and what is wrong with the first file that is not as pinned."""
    for path, expected in source.files.items():
        found = sha256_hex(contents[path]) if path in contents else "no such plain file"
        if found != expected:
            return f"files.{path}", f"expected {expected}, found {found} in the {origin}"
    return None


def _install(root: Path, contents: Mapping[str, bytes], *, replace: bool) -> None:
    """Write beside the target, then rename: the snapshot is there whole or not at all."""
    root.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".fresh-", dir=root.parent))
    try:
        for path, content in contents.items():
            (fresh / path).parent.mkdir(parents=True, exist_ok=True)
            (fresh / path).write_bytes(content)
            (fresh / path).chmod(0o444)
        for folder in {folder for path in contents for folder in Path(path).parents}:
            (fresh / folder).chmod(0o555)
        if replace and os.path.lexists(root):
            root.rename(fresh.with_name(fresh.name + ".old"))
        try:
            fresh.rename(root)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise  # else another process was first: as good as ours
    finally:
        _discard(fresh)
        _discard(fresh.with_name(fresh.name + ".old"))


def _discard(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for folder in [path, *path.rglob("*")]:
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o700)  # the owner may not delete from a read-only folder
    rmtree(path)


def _spec(source: Source) -> str:
    return f"{source.group}/source.toml"


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
