"""A ledger that cannot serve: one clear line, exit code 2, no dispatch, and the file as it was."""

import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from revereval.errors import InputError
from revereval.ledger import file
from revereval.ledger.database import Database
from revereval.ledger.tables import SCHEMA_VERSION

from .facts import Arm, Rows, arms, but_usage, facts, run_count
from .hooks import setting
from .scene import Done, Scene, require_clean
from .test_kill import ENDPOINTS

IMPATIENT = setting("revereval.ledger.database:BUSY_TIMEOUT_S", 0.2)


def require_refused(scene: Scene, done: Done, problem: str) -> None:
    assert done.code == 2, done.err
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert str(scene.ledger) in done.err
    assert problem in done.err
    assert scene.app.hits == []


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def an_empty_ledger(path: Path) -> None:
    Database(path, write=True).close()


@pytest.fixture
def ledger(scene: Scene) -> Path:
    """A ledger without a run."""
    an_empty_ledger(scene.ledger)
    return scene.ledger


def test_a_read_only_ledger_is_refused_to_a_runner_and_open_to_a_reader(scene: Scene) -> None:
    assert scene.pair().code == 0
    received = len(scene.app.hits)
    scene.ledger.chmod(0o444)
    done = scene.pair()
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "read-only" in done.err
    assert len(scene.app.hits) == received
    assert scene.run("ledger", "show", "1", "--ledger", str(scene.ledger)).code == 0
    assert scene.audit() == []


def test_a_locked_ledger_is_refused_after_the_wait(scene: Scene, ledger: Path) -> None:
    with closing(sqlite3.connect(ledger, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        done = scene.pair(hooks=[IMPATIENT])
    require_refused(scene, done, "locked by another process (waited 0.2 s)")
    assert scene.pair().code == 0


def test_a_locked_file_that_is_no_ledger_yet_is_refused_after_the_wait(scene: Scene) -> None:
    with closing(sqlite3.connect(scene.ledger, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        done = scene.pair(hooks=[IMPATIENT])
    require_refused(scene, done, "locked by another process (waited 0.2 s)")
    assert scene.pair().code == 0


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
@pytest.mark.parametrize("make", [an_empty_ledger, Path.touch], ids=["a ledger", "a new file"])
def test_a_lock_shorter_than_the_wait_is_waited_for(
    scene: Scene, undisturbed: dict[str, Rows], make: Callable[[Path], object], begin: str
) -> None:
    make(scene.ledger)
    with closing(sqlite3.connect(scene.ledger, isolation_level=None)) as holder:
        holder.execute(begin)
        command = scene.start_pair()
        with pytest.raises(AssertionError):
            scene.app.wait_for(1, seconds=1.0)
        holder.execute("ROLLBACK")
        done = command.wait()
    assert (done.code, done.err) == (0, "")
    assert facts(scene.ledger) == undisturbed


def test_a_lock_that_outlasts_the_wait_in_mid_run_leaves_the_paid_request_in_doubt(
    scene: Scene, undisturbed: dict[str, Rows]
) -> None:
    scene.app.hold(5)
    command = scene.start_pair(hooks=[IMPATIENT])
    scene.app.wait_for(5)
    with closing(sqlite3.connect(scene.ledger, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        scene.app.release()
        done = command.wait()
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "locked by another process" in done.err
    assert len(scene.app.hits) == 5
    assert scene.pair().code == 3
    assert arms(scene.ledger) == {**ENDPOINTS, "F": Arm("stopped", "in_doubt", 1)}
    assert scene.pair("1", "--resend-in-doubt").code == 0
    assert but_usage(facts(scene.ledger)) == but_usage(undisturbed)
    require_clean(scene)


def of_a_newer_schema(path: Path) -> None:
    an_empty_ledger(path)
    sql(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def of_another_program(path: Path) -> None:
    sql(path, "CREATE TABLE bookmark (url TEXT)", "INSERT INTO bookmark VALUES ('x')")


def of_another_program_by_its_id(path: Path) -> None:
    sql(path, "PRAGMA application_id = 252006674", "CREATE TABLE bookmark (url TEXT)")


def of_another_program_without_tables(path: Path) -> None:
    sql(path, "PRAGMA application_id = 252006674", "PRAGMA user_version = 3")


NOT_A_LEDGER: dict[Callable[[Path], object], str] = {
    of_a_newer_schema: f"schema_version: is {SCHEMA_VERSION + 1}",
    of_another_program: "not a revereval ledger",
    of_another_program_by_its_id: "not a revereval ledger",
    of_another_program_without_tables: "not a revereval ledger",
}


@pytest.mark.parametrize("make", NOT_A_LEDGER, ids=lambda make: make.__name__)
def test_an_sqlite_file_that_is_no_ledger_of_ours_is_refused_and_left_alone(
    scene: Scene, make: Callable[[Path], object]
) -> None:
    make(scene.ledger)
    before = scene.ledger.read_bytes()
    require_refused(scene, scene.pair(), NOT_A_LEDGER[make])
    assert scene.ledger.read_bytes() == before
    for reading in (["show"], ["audit", "--tasks", "tasks"], ["export"]):
        done = scene.run("ledger", *reading, "--ledger", str(scene.ledger))
        require_refused(scene, done, NOT_A_LEDGER[make])
    assert scene.ledger.read_bytes() == before


@pytest.mark.parametrize(
    "text", [b"task,answer\n" * 400, b"\0" * 8192, b"SQLite format 3\0", b"hello\n"]
)
def test_a_file_that_is_not_sqlite_is_refused_and_left_alone(scene: Scene, text: bytes) -> None:
    scene.ledger.write_bytes(text)
    require_refused(scene, scene.pair(), "not an SQLite file")
    assert scene.ledger.read_bytes() == text


def test_a_directory_is_refused(scene: Scene) -> None:
    scene.ledger.mkdir()
    require_refused(scene, scene.pair(), "directory")
    done = scene.run("ledger", "show", "--ledger", str(scene.ledger))
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_a_parent_that_is_a_file_is_refused(scene: Scene) -> None:
    scene.ledger = scene.ledger / "ledger.sqlite"
    scene.ledger.parent.write_text("")
    require_refused(scene, scene.pair(), "")


def test_an_empty_file_and_a_missing_folder_become_a_ledger(scene: Scene) -> None:
    scene.ledger.touch()
    assert scene.pair().code == 0
    scene.ledger = scene.folder / "not" / "there" / "ledger.sqlite"
    assert scene.pair().code == 0
    assert run_count(scene.ledger) == 1


@pytest.mark.parametrize("reading", [["show"], ["audit"], ["export"]])
def test_a_reader_makes_no_ledger(scene: Scene, reading: list[str]) -> None:
    done = scene.run("ledger", *reading, "--ledger", str(scene.ledger))
    require_refused(scene, done, "no ledger here")
    assert not scene.ledger.exists()


def test_the_ledger_is_its_owners_alone(scene: Scene) -> None:
    """Whatever the umask: the commands under test run with none."""
    scene.app.hold(2)
    command = scene.start_pair()
    scene.app.wait_for(2)
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in scene.folder.glob("ledger.sqlite*")
    }
    assert modes == {f"ledger.sqlite{end}": 0o600 for end in ("", "-wal", "-shm", ".lock")}
    scene.app.release()
    assert command.wait().code == 0


@pytest.mark.parametrize("opening", ["first", "second"])
def test_each_connection_has_wal_full_synchronisation_and_foreign_keys(
    tmp_path: Path, opening: str
) -> None:
    path = tmp_path / "ledger.sqlite"
    if opening == "second":
        an_empty_ledger(path)
    ledger = Database(path, write=True)
    pragmas = ("journal_mode", "synchronous", "foreign_keys")
    with ledger.reading() as connection:
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in pragmas]
    assert found == ["wal", 2, 1]
    ledger.close()


def test_a_ledger_that_another_tool_took_out_of_wal_is_in_wal_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    an_empty_ledger(path)
    sql(path, "PRAGMA journal_mode = DELETE")
    ledger = Database(path, write=True)
    with ledger.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
    ledger.close()


def test_a_row_that_refers_to_nothing_is_refused(tmp_path: Path) -> None:
    ledger = Database(tmp_path / "ledger.sqlite", write=True)
    orphan = "INSERT INTO attempt (request_id, number, state, started_at, problem) VALUES "
    with (
        pytest.raises(Exception, match="FOREIGN KEY"),
        ledger.reading() as connection,
        ledger.transaction(),
    ):
        connection.exec_driver_sql(f"{orphan} (99, 1, 'intent', '', '')")
    with ledger.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM attempt").scalar_one() == 0
    ledger.close()


MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/sdb1 /home/fast xfs rw 0 0
systemd-1 /auto autofs rw,fd=29 0 0
server:/auto /auto cifs rw 0 0
server:/share /mnt/our\\040share fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/ada/runs", "nfs4"),
        ("/homestead/runs", "ext4"),
        ("/home/fast/runs", "xfs"),
        ("/srv", "ext4"),
        pytest.param("/auto/runs", "cifs", id="mounted over an automounter's own mount"),
        pytest.param("/mnt/our share/runs", "fuse.sshfs", id="with a space, written as an octal"),
    ],
)
def test_the_file_system_of_a_path_is_that_of_the_mount_that_holds_it(
    tmp_path: Path, folder: str, kind: str
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert file._file_system(Path(folder) / "ledger.sqlite", mounts) == kind


def test_without_a_list_of_mounts_the_file_system_is_unknown(tmp_path: Path) -> None:
    assert file._file_system(tmp_path, tmp_path / "mounts") == ""


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"])
def test_a_ledger_on_a_network_file_system_is_refused_and_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(file, "_file_system", lambda _: kind)
    path = tmp_path / "ledger.sqlite"
    with pytest.raises(InputError, match=rf"network file system \({kind}\); use a local disk"):
        Database(path, write=True)
    assert not path.exists()
