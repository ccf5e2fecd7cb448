"""Snapshots: where they come from, what is checked, what is never repaired unasked."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from revereval.errors import InputError
from revereval.tasks.snapshot import SnapshotChangedError, fetch_snapshot, open_snapshot
from tests.tasks.build import FILES, build_wheel, install, sha256, source

TEXTS = {path: content.decode() for path, content in FILES.items()}
OTHER = {**FILES, "tinypkg/sums.py": b"def add(a, b):\n    return 4\n"}


def test_a_snapshot_comes_from_the_installed_release(site: Path, tmp_path: Path) -> None:
    install(site)
    snapshot = open_snapshot(source())
    assert snapshot.files == TEXTS
    assert "\r\n" in snapshot.files["tinypkg/sums.py"]
    assert snapshot.digest == source().snapshot_digest
    assert snapshot.root == tmp_path / "cache/revereval/snapshots" / snapshot.digest
    found = {p.relative_to(snapshot.root).as_posix(): p for p in snapshot.root.rglob("*.*")}
    assert {path: file.read_bytes() for path, file in found.items()} == FILES


def test_a_snapshot_on_disk_is_read_only(site: Path) -> None:
    install(site)
    root = open_snapshot(source()).root
    for path in (root, *root.rglob("*")):
        expected = 0o555 if path.is_dir() else 0o444
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


def test_without_an_installed_release_the_wheel_is_downloaded(wheels: Path) -> None:
    build_wheel(wheels)
    assert open_snapshot(source()).files == TEXTS


@pytest.mark.parametrize("spoil", ["content", "missing", "link", "fifo", "big"])
def test_an_installed_release_that_is_not_as_pinned_is_passed_over(
    site: Path, wheels: Path, spoil: str
) -> None:
    build_wheel(wheels)
    install(site, OTHER if spoil == "content" else FILES)
    file = site / "tinypkg/sums.py"
    if spoil in ("missing", "link", "fifo"):
        file.rename(site / "away.py")
    if spoil == "link":
        file.symlink_to(site / "away.py")
    if spoil == "fifo":
        os.mkfifo(file)
    if spoil == "big":
        os.truncate(file, 2**24 + 1)
    assert open_snapshot(source()).files == TEXTS


def test_the_cache_is_used_without_any_origin(wheels: Path) -> None:
    wheel = build_wheel(wheels)
    first = open_snapshot(source())
    wheel.unlink()
    assert open_snapshot(source()) == first


def test_without_any_origin_one_line_says_what_was_tried(wheels: Path) -> None:
    assert not list(wheels.iterdir())
    with pytest.raises(InputError) as caught:
        open_snapshot(source())
    line = "tiny/source.toml: version: tinypkg 1.0 is not installed; pip download: tinypkg==1.0: "
    assert str(caught.value).startswith(line)


def test_another_version_with_the_same_files_is_not_the_release(site: Path) -> None:
    metadata = install(site) / "tinypkg-1.0.dist-info/METADATA"
    metadata.write_text(metadata.read_text().replace("1.0", "1.1"))
    with pytest.raises(InputError, match=r"version: tinypkg 1\.0 is not installed; pip download"):
        open_snapshot(source())


def test_a_wrong_installation_and_no_download_names_file_and_digests(site: Path) -> None:
    install(site, OTHER)
    with pytest.raises(InputError) as caught:
        open_snapshot(source())
    assert str(caught.value).startswith(
        f"tiny/source.toml: files.tinypkg/sums.py: expected {sha256(FILES['tinypkg/sums.py'])}, "
        f"found {sha256(OTHER['tinypkg/sums.py'])} in the installed tinypkg 1.0; pip download: "
    )


def test_an_installation_without_any_pinned_file_is_not_called_absent(site: Path) -> None:
    install(site, {})
    with pytest.raises(InputError, match="no such plain file in the installed tinypkg 1"):
        open_snapshot(source())


def test_a_wrong_installation_and_a_wrong_wheel_names_file_and_digests(
    site: Path, wheels: Path, tmp_path: Path
) -> None:
    install(site, OTHER)
    build_wheel(wheels, OTHER)
    with pytest.raises(InputError) as caught:
        open_snapshot(source())
    assert str(caught.value) == (
        f"tiny/source.toml: files.tinypkg/sums.py: expected {sha256(FILES['tinypkg/sums.py'])}, "
        f"found {sha256(OTHER['tinypkg/sums.py'])} in the downloaded tinypkg 1.0"
    )
    assert not (tmp_path / "cache").exists()


def test_a_wheel_without_a_pinned_file_names_it(wheels: Path) -> None:
    build_wheel(wheels, {"tinypkg/__init__.py": FILES["tinypkg/__init__.py"]})
    with pytest.raises(InputError, match=r"files\.tinypkg/sums\.py: expected .* no such plain"):
        open_snapshot(source())


def test_a_file_that_is_not_utf8_is_refused(wheels: Path, tmp_path: Path) -> None:
    files = {"tinypkg/latin.py": "# é".encode("latin-1")}
    build_wheel(wheels, files)
    with pytest.raises(InputError) as caught:
        open_snapshot(source(files))
    assert str(caught.value) == "tiny/source.toml: files.tinypkg/latin.py: not UTF-8"
    assert not (tmp_path / "cache").exists()


def _writable(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755)


def _change(root: Path) -> None:
    (root / "tinypkg/sums.py").write_bytes(OTHER["tinypkg/sums.py"])


def _remove(root: Path) -> None:
    (root / "tinypkg/sums.py").unlink()


def _link_file(root: Path) -> None:
    (root / "tinypkg/sums.py").rename(root.parent / "away.py")
    (root / "tinypkg/sums.py").symlink_to(root.parent / "away.py")


def _link_folder(root: Path) -> None:
    (root / "tinypkg").rename(root.parent / "away")
    (root / "tinypkg").symlink_to(root.parent / "away")


def _link_loop(root: Path) -> None:
    _remove(root)
    (root / "tinypkg/sums.py").symlink_to("sums.py")


def _fifo(root: Path) -> None:
    _remove(root)
    os.mkfifo(root / "tinypkg/sums.py")


def _folder(root: Path) -> None:
    _remove(root)
    (root / "tinypkg/sums.py").mkdir()


def _huge(root: Path) -> None:
    os.truncate(root / "tinypkg/sums.py", 2**30)


def _add(root: Path) -> None:
    (root / "json.py").write_text("import os")


def _add_bytecode(root: Path) -> None:
    (root / "tinypkg/__pycache__").mkdir()


def _no_folder(root: Path) -> None:
    shutil.rmtree(root)
    root.write_text("")


def _fifo_for_root(root: Path) -> None:
    shutil.rmtree(root)
    os.mkfifo(root)


CHANGES: list[tuple[Callable[[Path], None], str, str]] = [
    (_change, "tinypkg/sums.py", "expected "),
    (_remove, "tinypkg/sums.py", "No such file"),
    (_link_file, "tinypkg/sums.py", "reached through a link"),
    (_link_folder, "tinypkg/__init__.py", "reached through a link"),
    (_link_loop, "tinypkg/sums.py", "link"),
    (_fifo, "tinypkg/sums.py", "not a plain file"),
    (_folder, "tinypkg/sums.py", "not a plain file"),
    (_huge, "tinypkg/sums.py", "larger than 16777216 bytes"),
    (_add, "json.py", "no part of the snapshot"),
    (_add_bytecode, "tinypkg/__pycache__", "no part of the snapshot"),
    (_no_folder, "tinypkg/__init__.py", "Not a directory"),
    (_fifo_for_root, "tinypkg/__init__.py", "Not a directory"),
]


@pytest.mark.parametrize(("change", "file", "problem"), CHANGES)
def test_a_changed_snapshot_is_named_not_repaired_and_rebuilt_on_request(
    site: Path, change: Callable[[Path], None], file: str, problem: str
) -> None:
    install(site)
    snapshot = open_snapshot(source())
    _writable(snapshot.root)
    change(snapshot.root)
    for reopen in (open_snapshot, lambda pinned: fetch_snapshot(pinned, rebuild=False)):
        with pytest.raises(SnapshotChangedError) as caught:
            reopen(source())
        line = str(caught.value)
        assert line.startswith(f"{snapshot.root / file}: ")
        assert problem in line
        assert line.endswith("; `revereval tasks fetch TASK` rebuilds the snapshot")
    assert snapshot.files == TEXTS  # what is open stays as it was
    assert fetch_snapshot(source(), rebuild=True) == snapshot
    assert open_snapshot(source()) == snapshot
    assert not list(snapshot.root.parent.glob(".fresh-*"))


def test_a_failed_rebuild_leaves_the_changed_snapshot_alone(wheels: Path) -> None:
    wheel = build_wheel(wheels)
    root = open_snapshot(source()).root
    wheel.unlink()
    _writable(root)
    _change(root)
    with pytest.raises(InputError, match="not installed; pip download"):
        fetch_snapshot(source(), rebuild=True)
    assert (root / "tinypkg/sums.py").read_bytes() == OTHER["tinypkg/sums.py"]


def test_opening_at_the_same_time_gives_everyone_the_same(site: Path) -> None:
    install(site)
    for version in range(10):  # ten races, each on a digest of its own
        (site / "tinypkg-1.0.dist-info/METADATA").write_text(
            f"Metadata-Version: 2.1\nName: tinypkg\nVersion: 1.{version}\n"
        )
        pinned = source(version=f"1.{version}")
        with ThreadPoolExecutor(8) as pool:
            snapshots = list(pool.map(open_snapshot, [pinned] * 8))
        assert {snapshot.files["tinypkg/sums.py"] for snapshot in snapshots} == {
            TEXTS["tinypkg/sums.py"]
        }
        assert not list(snapshots[0].root.parent.glob(".fresh-*"))


def test_a_relative_cache_home_is_ignored(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for unusable in ("relative", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert open_snapshot(source()).root.is_relative_to(tmp_path / "home/.cache/revereval")


def test_a_cache_that_cannot_be_written_is_one_line(site: Path, tmp_path: Path) -> None:
    install(site)
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(InputError, match="cannot be written: "):
        open_snapshot(source())


def test_texts_in_memory_cannot_be_replaced(site: Path) -> None:
    install(site)
    snapshot = open_snapshot(source())
    with pytest.raises(TypeError):
        snapshot.files["tinypkg/sums.py"] = ""  # type: ignore[index]  # that it fails is the point


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs another user")
def test_a_user_who_is_not_root_can_make_and_rebuild_a_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to other users
        Path(folder).chmod(0o777)
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        monkeypatch.syspath_prepend(install(Path(folder, "site")))
        child = os.fork()
        if child == 0:
            same = False
            try:
                os.setuid(65534)
                first = open_snapshot(source())
                same = fetch_snapshot(source(), rebuild=True) == first
            finally:
                os._exit(0 if same else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
