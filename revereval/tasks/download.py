"""The last origin of a snapshot: `pip download` of one exact version, unpacked with suspicion."""

import os
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from revereval.errors import InputError
from revereval.tasks.process import run_limited
from revereval.tasks.spec import path_fault

MEMBER_LIMIT: Final = 16 * 2**20
ARCHIVE_LIMIT: Final = 256 * 2**20
"""Bytes, unpacked."""

_CHUNK: Final = 2**16


def download_files(
    package: str, version: str, wanted: Callable[[str], bool], *, limit_s: float = 300
) -> dict[str, bytes]:
    """The wanted members of the release's wheel.

    Uses pip's own configuration (index, proxy, find-links). Raises InputError when pip fails or
    the wheel is refused.
    """
    release = f"{package}=={version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    with tempfile.TemporaryDirectory(prefix="revereval-") as scratch:
        folder = Path(scratch)
        command += ["--dest", scratch, release]
        finished = run_limited(command, cwd=folder, env=os.environ, limit_s=limit_s)
        if finished.returncode is None:
            raise InputError("pip download", release, f"no result within {limit_s:g} s")
        wheels = list(folder.glob("*.whl"))
        if finished.returncode != 0 or len(wheels) != 1:
            raise InputError("pip download", release, finished.last_words or "no wheel")
        return unpack(wheels[0], wanted)


def unpack(wheel: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Read the wanted members into memory; nothing is written.

    Raises InputError, refusing the whole archive, if any member, wanted or not, is absolute,
    leaves the root, has a backslash or drive letter, is no regular file or folder, comes twice,
    or is oversized, or if a wanted one does not hold what the archive declares.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = archive.infolist()
            _check_members(wheel.name, members)
            return {
                member.filename: _content(wheel.name, archive, member)
                for member in members
                if not member.is_dir() and wanted(member.filename)
            }
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise InputError(wheel.name, "", f"not a readable wheel: {error}") from None


def _check_members(wheel: str, members: list[zipfile.ZipInfo]) -> None:
    seen: set[str] = set()
    for member in members:
        # The name as stored: zipfile cuts `filename` at a NUL.
        name = member.orig_filename.removesuffix("/")
        fault = path_fault(name) or _member_fault(member)
        if name in seen:
            fault = "comes twice"
        if fault:
            raise InputError(wheel, repr(member.orig_filename), f"refused: {fault}")
        seen.add(name)
    if sum(member.file_size for member in members) > ARCHIVE_LIMIT:
        raise InputError(wheel, "", f"refused: unpacks to more than {ARCHIVE_LIMIT} bytes")


def _member_fault(member: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(member.external_attr >> 16)  # 0: the archiver stored no mode
    if kind not in (0, stat.S_IFDIR if member.orig_filename.endswith("/") else stat.S_IFREG):
        return "a link, a device or another special file"
    if member.file_size > MEMBER_LIMIT:
        return f"declares more than {MEMBER_LIMIT} bytes"
    if member.flag_bits & 1:
        return "encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "a compression that wheels do not use"
    return None


def _content(wheel: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    # In chunks: a stream never gives more than the member declares, but one unbounded read would
    # first inflate all there is.
    with archive.open(member) as stream:
        content = b"".join(iter(lambda: stream.read(_CHUNK), b""))
    if len(content) != member.file_size:
        raise InputError(wheel, repr(member.filename), "refused: smaller than it declares")
    return content
