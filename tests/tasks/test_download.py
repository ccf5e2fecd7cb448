"""Wheels: unpacked whole and clean, or refused whole; pip with a folder of wheels as its index."""

import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from revereval.errors import InputError
from revereval.tasks.download import ARCHIVE_LIMIT, MEMBER_LIMIT, download_files, unpack
from tests.tasks.build import FILES, build_wheel

WANTED = ["good.py", "missing.py"]


def write_wheel(folder: Path, *members: tuple[zipfile.ZipInfo, bytes]) -> Path:
    """A wheel with `good.py` and the given members, named and typed exactly as they say."""
    wheel = folder / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("good.py", b"good")
        for member, content in members:
            archive.writestr(member, content)
    return wheel


def member(name: str, mode: int = 0, compress: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x")
    info.filename = name  # not through the constructor, which mends names
    info.external_attr = mode << 16
    info.compress_type = compress
    return info


def test_only_the_wanted_members_are_read(tmp_path: Path) -> None:
    wheel = write_wheel(
        tmp_path,
        (member("dir/", stat.S_IFDIR | 0o755), b""),
        (member("dir/a.py", stat.S_IFREG | 0o644), b"a"),
        (member("dir/b.py", 0, zipfile.ZIP_DEFLATED), b"b\r\n" * 1000),
    )
    assert unpack(wheel, ["good.py", "dir/b.py", "none.py"].__contains__) == {
        "good.py": b"good",
        "dir/b.py": b"b\r\n" * 1000,
    }


HOSTILE: list[tuple[str, int, str]] = [
    ("/etc/passwd", 0, "an absolute path"),
    ("//x", 0, "an absolute path"),
    ("C:/x", 0, "an absolute path"),
    ("c:x", 0, "an absolute path"),
    ("../x", 0, "'..' segment"),
    ("a/../../x", 0, "'..' segment"),
    ("a/..", 0, "'..' segment"),
    ("./a", 0, "'.' or"),
    ("a//b", 0, "an empty"),
    ("/", stat.S_IFDIR, "an empty"),
    ("..\\x", 0, "a backslash or a NUL"),
    ("a\\b", 0, "a backslash or a NUL"),
    ("good.py\0.txt", 0, "a backslash or a NUL"),
    ("link", stat.S_IFLNK | 0o777, "a link, a device"),
    ("good-link.py", stat.S_IFLNK | 0o777, "a link, a device"),
    ("fifo", stat.S_IFIFO | 0o644, "a link, a device"),
    ("char", stat.S_IFCHR | 0o644, "a link, a device"),
    ("block", stat.S_IFBLK | 0o644, "a link, a device"),
    ("socket", stat.S_IFSOCK | 0o644, "a link, a device"),
    ("folder-without-slash", stat.S_IFDIR | 0o755, "a link, a device"),
    ("file-with-slash/", stat.S_IFREG | 0o644, "a link, a device"),
    ("good.py/", stat.S_IFDIR, "comes twice"),
]


@pytest.mark.parametrize(("name", "mode", "why"), HOSTILE)
def test_one_bad_member_refuses_the_whole_archive(
    tmp_path: Path, name: str, mode: int, why: str
) -> None:
    wheel = write_wheel(tmp_path, (member(name, mode), b""))
    with pytest.raises(InputError) as caught:
        unpack(wheel, WANTED.__contains__)
    assert repr(name) in str(caught.value)
    assert "refused: " in str(caught.value)
    assert why in str(caught.value)
    assert "\0" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [wheel.name]


def test_a_repeated_member_refuses_the_archive(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        wheel = write_wheel(tmp_path, (member("good.py"), b"other"))
    with pytest.raises(InputError, match=r"'good\.py': refused: comes twice"):
        unpack(wheel, WANTED.__contains__)


def test_other_compressions_and_encryption_are_refused(tmp_path: Path) -> None:
    for compress in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        wheel = write_wheel(tmp_path, (member("a", 0, compress), b"x" * 100))
        with pytest.raises(InputError, match="'a': refused: a compression"):
            unpack(wheel, WANTED.__contains__)

    def encrypt(info: zipfile.ZipInfo) -> None:
        info.flag_bits |= 1

    with pytest.raises(InputError, match=r"'good\.py': refused: encrypted"):
        unpack(lying_wheel(tmp_path, b"good", encrypt), WANTED.__contains__)


def lying_wheel(folder: Path, content: bytes, lie: Callable[[zipfile.ZipInfo], None]) -> Path:
    """A wheel whose central directory says something else about `good.py` than the truth."""
    wheel = folder / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good.py", content)
        lie(archive.filelist[0])
    return wheel


def declare(size: int, content: bytes | None = None) -> Callable[[zipfile.ZipInfo], None]:
    def lie(info: zipfile.ZipInfo) -> None:
        info.file_size = size
        if content is not None:
            info.CRC = zlib.crc32(content)

    return lie


def test_an_oversized_member_is_refused_even_when_nobody_wants_it(tmp_path: Path) -> None:
    at_limit = lying_wheel(tmp_path, b"\0" * MEMBER_LIMIT, declare(MEMBER_LIMIT))
    assert unpack(at_limit, ["good.py"].__contains__) == {"good.py": b"\0" * MEMBER_LIMIT}
    bomb = lying_wheel(tmp_path, b"\0" * (MEMBER_LIMIT + 1), declare(MEMBER_LIMIT + 1))
    with pytest.raises(InputError, match=rf"'good\.py': refused: declares more than {2**24} bytes"):
        unpack(bomb, [].__contains__)


@pytest.mark.parametrize("declared", [0, 10, 2**24])
def test_a_bomb_that_declares_less_is_refused(tmp_path: Path, declared: int) -> None:
    bomb = lying_wheel(tmp_path, b"\0" * 2**25, declare(declared))
    with pytest.raises(InputError, match="not a readable wheel: Bad CRC-32"):
        unpack(bomb, WANTED.__contains__)


def test_a_member_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    wheel = lying_wheel(tmp_path, b"good", declare(5, b"good"))
    with pytest.raises(InputError, match="smaller than it declares"):
        unpack(wheel, WANTED.__contains__)


def test_an_archive_of_many_large_members_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for index in range(17):
            archive.writestr(f"{index}.py", b"")
            archive.filelist[index].file_size = MEMBER_LIMIT
    assert 16 * MEMBER_LIMIT == ARCHIVE_LIMIT
    with pytest.raises(InputError, match=f"unpacks to more than {2**28} bytes"):
        unpack(wheel, WANTED.__contains__)


def test_broken_archives_are_refused(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path)
    whole = wheel.read_bytes()
    start = whole.index(b"tinypkg/sums.py") + len("tinypkg/sums.py")
    damaged = whole[:start] + b"\xff" * 8 + whole[start + 8 :]
    for content in (b"", b"not a zip", whole[:-40], whole[len(whole) // 2 :], damaged):
        wheel.write_bytes(content)
        with pytest.raises(InputError, match="not a readable wheel"):
            unpack(wheel, FILES.__contains__)
    with pytest.raises(InputError, match="not a readable wheel"):
        unpack(tmp_path / "none.whl", FILES.__contains__)


def test_a_local_header_of_another_name_is_refused(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path)
    content = wheel.read_bytes()
    signature = struct.pack("<I", 0x04034B50)
    assert content.startswith(signature)
    wheel.write_bytes(content.replace(b"good.py", b"evil.py", 1))
    with pytest.raises(InputError, match="not a readable wheel"):
        unpack(wheel, WANTED.__contains__)


def test_pip_downloads_the_exact_version(wheels: Path) -> None:
    build_wheel(wheels)
    assert download_files("tinypkg", "1.0", [*FILES, "none.py"].__contains__) == FILES
    with pytest.raises(InputError, match=r"^pip download: tinypkg==1\.1: ERROR: No matching "):
        download_files("tinypkg", "1.1", FILES.__contains__)


def test_a_download_that_hangs_ends_at_its_limit(wheels: Path) -> None:
    build_wheel(wheels)
    with pytest.raises(InputError, match=r"tinypkg==1\.0: no result within 0\.01 s"):
        download_files("tinypkg", "1.0", FILES.__contains__, limit_s=0.01)
