"""The file that a path names is the file that is used, whatever is in the path."""

import os
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from revereval.errors import InputError
from revereval.ledger.database import Database
from revereval.ledger.file import files_of
from revereval.pair.lock import run_lock
from tests.cli.process import at

ODD = " #?%&;:'\"-\n\\=+.41Ax~$*[]äß語🎈\udcff"
NAMES = (
    st.one_of(
        st.text(st.sampled_from(ODD), min_size=1, max_size=20),
        st.builds(
            lambda end: "q" + end, st.sampled_from(["?mode=ro", "?mode=memory", "#x", "%00"])
        ),
        st.builds(lambda short: short * (240 // len(os.fsencode(short))), st.sampled_from(ODD)),
    )
    .filter(lambda name: name not in (".", ".."))
    .filter(lambda name: len(os.fsencode(name)) <= 247)
)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def marked(path: Path, mark: str) -> None:
    with Database(path, write=True) as database, database.transaction():
        insert = "INSERT INTO imported_boundary (source_digest, row, record) VALUES (?, 1, '{}')"
        database.driver.execute(insert, (mark,))


def marks(path: Path) -> list[str]:
    with Database(path, write=False) as database:
        return [row.source_digest for row in database.rows("SELECT * FROM imported_boundary")]


@settings(max_examples=12, deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=2, unique=True), st.lists(NAMES, max_size=1))
@example(["proj #2", "proj #3"], [])
@example(["x%41.sqlite", "xA.sqlite"], ["#"])
@example(["q?mode=ro.sqlite", "q"], ["p?mode=memory"])
@example(["file:x", ":memory:"], ["-"])
def test_each_odd_name_is_a_file_of_its_own(names: list[str], folders: list[str]) -> None:
    with TemporaryDirectory() as made:
        folder = Path(made, *folders)
        paths = [folder / name for name in names]
        for number, path in enumerate(paths):
            marked(path, str(number))
        assert names_in(folder) == sorted(names)
        for number, path in enumerate(paths):
            assert marks(path) == [str(number)]
            assert path.read_bytes().startswith(b"SQLite format 3\0")
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        beside = {*files_of(paths[0]), *files_of(paths[1])}
        assert {Path(os.path.realpath(folder), name) for name in names_in(folder)} <= beside


def test_a_name_that_is_relative_or_under_two_slashes_is_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    marked(Path("-l #1"), "one")
    marked(Path(f"/{tmp_path}/-l #1"), "two")
    assert names_in(tmp_path) == ["-l #1"]
    assert marks(tmp_path / "-l #1") == ["one", "two"]


def test_a_link_leads_to_the_one_file_and_to_the_one_lock(tmp_path: Path) -> None:
    (tmp_path / "real folder").mkdir()
    real, link = tmp_path / "real folder" / "ledger", tmp_path / "link"
    link.symlink_to(real)
    marked(link, "one")
    with run_lock(link, 1), run_lock(real, 2):
        assert names_in(tmp_path / "real folder") == ["ledger", "ledger.lock"]
    assert marks(real) == ["one"]
    assert marks(link) == ["one"]
    assert names_in(tmp_path) == ["link", "real folder"]


def refusal(path: Path, *, write: bool) -> str:
    with pytest.raises(InputError) as error:
        Database(path, write=write)
    assert "\n" not in str(error.value).removeprefix(str(path))
    return error.value.problem


@pytest.mark.parametrize("write", [True, False])
def test_what_cannot_be_a_ledger_is_refused_and_left_as_it_is(tmp_path: Path, write: bool) -> None:
    ledger, second, fifo = tmp_path / "ledger", tmp_path / "second", tmp_path / "fifo"
    marked(ledger, "one")
    os.link(ledger, second)
    os.mkfifo(fifo)
    assert "2 names (hard links)" in refusal(ledger, write=write)
    assert "2 names (hard links)" in refusal(second, write=write)
    assert "not a plain file" in refusal(fifo, write=write)
    assert "not a plain file" in refusal(Path("/dev/null"), write=write)
    assert "directory" in refusal(tmp_path, write=write)
    assert "directory" in refusal(Path(), write=write)
    (tmp_path / "turn").symlink_to(tmp_path / "turn")
    assert "symbolic links" in refusal(tmp_path / "turn", write=write)
    assert names_in(tmp_path) == ["fifo", "ledger", "second", "turn"]
    second.unlink()
    assert marks(ledger) == ["one"]


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("name", ["n" * 248, "n" * 255, "n" * 256, "ä" * 124, "n" * 5000])
def test_a_name_with_no_room_for_what_stands_beside_it_is_refused_and_not_made(
    tmp_path: Path, name: str, write: bool
) -> None:
    assert "too long: at most 247 bytes" in refusal(tmp_path / name, write=write)
    assert names_in(tmp_path) == []


def test_a_path_that_sqlite_does_not_take_is_refused_and_not_made(tmp_path: Path) -> None:
    room = 504 - len(os.fsencode(tmp_path)) - len("/" + "f" * 200 + "/")
    longest = tmp_path / ("f" * 200) / ("n" * min(room, 247))
    deep = longest.parent / ("f" * 200) / ("n" * 247)
    assert "SQLite takes 504 bytes" in refusal(deep, write=True)
    assert names_in(tmp_path) == []
    assert "a folder's name is too long" in refusal(tmp_path / "a" / ("f" * 256) / "l", write=True)
    assert names_in(tmp_path) == []
    if room <= 247:
        marked(longest, "one")
        assert marks(longest) == ["one"]


def test_the_longest_name_works(tmp_path: Path) -> None:
    marked(tmp_path / ("n" * 247), "one")
    assert marks(tmp_path / ("n" * 247)) == ["one"]


TABLE = "task_id,source_group,first_arm,f_endpoint,p_endpoint\n{},g,F,correct,wrong\n"


def test_commands_in_folders_with_odd_names_use_their_own_default_ledgers(tmp_path: Path) -> None:
    for number in ("2", "3"):
        scene = at(tmp_path / f"proj #{number}?%41", tmp_path / "cache")
        (scene.folder / "t.csv").write_text(TABLE.format(f"task {number}"))
        done = scene.run("ledger", "import", "t.csv")
        assert (done.returncode, done.stderr) == (0, b"")
        assert names_in(scene.folder / "runs") == ["ledger.sqlite"]
    assert names_in(tmp_path) == ["proj #2?%41", "proj #3?%41"]
    with Database(tmp_path / "proj #2?%41/runs/ledger.sqlite", write=False) as database:
        (row,) = database.rows("SELECT record FROM imported_boundary")
    assert "task 2" in row.record


@pytest.mark.parametrize("name", ["q?mode=ro.sqlite", "-x y", "a\nb", "", "/dev/null", "l" * 255])
def test_a_command_takes_the_name_as_it_is_or_says_one_line(tmp_path: Path, name: str) -> None:
    scene = at(tmp_path / "scene", tmp_path / "cache")
    (scene.folder / "t.csv").write_text(TABLE.format("a"))
    done = scene.run("ledger", "import", "t.csv", "--ledger", name)
    there = {"tasks", "t.csv"}
    if name in ("", "/dev/null", "l" * 255):
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"revereval: ")
        assert done.stderr.count(b"\n") == 1
    else:
        assert (done.returncode, done.stderr) == (0, b"")
        there |= {name}
    assert set(names_in(scene.folder)) == there
