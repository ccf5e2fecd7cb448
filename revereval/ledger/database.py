"""Opening the one SQLite file safely: its checks, its settings, its errors in words."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool
from sqlmodel import SQLModel
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from revereval.errors import InputError, NothingMaySpendError
from revereval.ledger.file import connected, ledger_file
from revereval.ledger.migrations import migrate
from revereval.ledger.sql import rows
from revereval.ledger.tables import SCHEMA_VERSION

APPLICATION_ID = 0x72657665
"""`reve` in ASCII, as SQLite's application_id: this file is a revereval ledger."""

BUSY_TIMEOUT_S = 10


class Database:
    """One connection of one process to one ledger file.

    Raises InputError when the file cannot serve (missing, read-only, locked, newer, no ledger, on
    a network file system) and NothingMaySpendError when the disk is full.
    """

    def __init__(self, path: Path, *, write: bool) -> None:
        self.path = path
        self._pid = os.getpid()
        real = ledger_file(path, write=write)
        self._engine = create_engine(
            "sqlite://",
            poolclass=StaticPool,
            creator=lambda: connected(real, write=write, timeout_s=BUSY_TIMEOUT_S),
        )
        event.listen(self._engine, "connect", _configure)
        try:
            with self._in_words():
                version = self._check(write)
                driver = self._engine.raw_connection().driver_connection
            if version < SCHEMA_VERSION:
                Database(path, write=True).close()  # migrates it, seen from the next read on
        except BaseException:
            self.close()
            raise
        assert isinstance(driver, sqlite3.Connection), "the dialect is pysqlite"
        self.driver = driver
        """The same connection without SQLAlchemy, which takes 2 ms of CPU for the statements of
        one request where SQLite takes 0.2 (`make bench`)."""

    def _check(self, write: bool) -> int:
        """The schema's version; up to date where the ledger may be written."""
        with self._engine.connect() as connection:
            version = self._version(connection, "BEGIN")
            if write and version <= SCHEMA_VERSION:
                self._use_wal(connection)
            if version < SCHEMA_VERSION and write:
                connection.exec_driver_sql("PRAGMA foreign_keys = OFF")  # for `migrate`
                version = self._version(connection, "BEGIN IMMEDIATE")
                connection.exec_driver_sql("PRAGMA foreign_keys = ON")
            if version == 0:
                raise InputError(self.path, "", "an empty ledger: nothing was recorded in it")
            if version > SCHEMA_VERSION:
                problem = f"is {version}, this revereval knows {SCHEMA_VERSION}: update it"
                raise InputError(self.path, "schema_version", problem)
        return version

    def _use_wal(self, connection: Connection) -> None:
        # SQLite does not wait for another process's lock here, so we do
        waiting = Retrying(
            stop=stop_after_delay(BUSY_TIMEOUT_S),
            wait=wait_fixed(0.02),
            retry=retry_if_exception(_is_busy),
            reraise=True,
        )
        pragma = "PRAGMA journal_mode = WAL"
        mode = waiting(lambda: connection.exec_driver_sql(pragma).scalar_one())
        if mode != "wal":
            raise InputError(self.path, "", f"cannot be put in WAL mode (it is {mode})")

    def _version(self, connection: Connection, begin: str) -> int:
        """Read in one transaction, as another process may make the ledger meanwhile.

        0 for a file without tables, which an immediate transaction makes into a ledger. Raises
        InputError for SQLite files of other programs.
        """
        connection.exec_driver_sql(begin)
        try:
            found = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
            version = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
            tables = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
            if found != APPLICATION_ID and (tables or version):
                raise InputError(self.path, "", "an SQLite file, but not a revereval ledger")
            if version == 0 and begin == "BEGIN IMMEDIATE":
                _create(connection)
                version = SCHEMA_VERSION
            elif begin == "BEGIN IMMEDIATE":
                version = migrate(connection, version)
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            with suppress(DBAPIError):
                connection.exec_driver_sql("ROLLBACK")
            raise
        return version

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A short read; keep no cursor open across slow work (the WAL cannot shrink under it)."""
        self._same_process()
        with self._in_words(), self._engine.connect() as connection:
            yield connection

    def rows(self, query: str, *values: Any) -> list[Any]:
        """All rows of a short query on `driver`, columns as attributes."""
        self._same_process()
        with self._in_words():
            return rows(self.driver, query, *values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One transaction on `driver`, immediate: it waits for its lock before it reads."""
        self._same_process()
        with self._in_words():
            self.driver.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.driver.execute("COMMIT")
            except BaseException:
                # SQLite rolls back by itself on some errors; the first error is the one to show
                with suppress(sqlite3.Error):
                    self.driver.execute("ROLLBACK")
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()

    def _same_process(self) -> None:
        if os.getpid() != self._pid:
            raise RuntimeError("a ledger connection does not outlive a fork: open it again")

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            raise _explained(self.path, error) from error
        except OverflowError:
            raise InputError(self.path, "", "no row has a number that long") from None


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, DBAPIError) and _code(error) == sqlite3.SQLITE_BUSY


def _code(error: DBAPIError | sqlite3.Error) -> int:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return int(getattr(cause, "sqlite_errorcode", 0)) & 0xFF


def _explained(path: Path, error: DBAPIError | sqlite3.Error) -> Exception:
    code = _code(error)
    if code == sqlite3.SQLITE_FULL:
        return NothingMaySpendError(f"{path}: the disk is full; nothing more is dispatched")
    problems = {
        sqlite3.SQLITE_BUSY: f"locked by another process (waited {BUSY_TIMEOUT_S} s)",
        sqlite3.SQLITE_READONLY: "read-only; a ledger must be writable for this",
        sqlite3.SQLITE_NOTADB: "not an SQLite file; --ledger must name a revereval ledger",
        sqlite3.SQLITE_CORRUPT: "damaged: SQLite cannot read it",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened",
        sqlite3.SQLITE_IOERR: "input/output error",
    }
    if code in problems:
        return InputError(path, "", problems[code])
    return error


def _configure(connection: Any, _: object) -> None:
    """Set what SQLite forgets between connections."""
    for pragma in ("foreign_keys = ON", "synchronous = FULL", "journal_size_limit = 67108864"):
        connection.execute(f"PRAGMA {pragma}")


def _create(connection: Connection) -> None:
    SQLModel.metadata.create_all(connection)
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
