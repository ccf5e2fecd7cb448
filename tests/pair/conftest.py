"""Pairs that many tests look at are run once, also where several processes share the tests."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from revereval.ledger.database import Database
from revereval.ledger.runs import RunRows, load_run
from tests.pair.cases import READERS, Case
from tests.pair.runs import Pair, Watched, bench, read_pair, reading, sha256


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test session, the same for all of its processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-pairs"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _own_cache(shared: Path) -> Iterator[None]:
    """Snapshots are made there, from the installed packages, and not in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
        patch.setenv("PIP_NO_INDEX", "1")
        yield


@pytest.fixture(scope="session")
def case_folder(shared: Path) -> Callable[[Case], Path]:
    """The folder of a case's ledger, after it has been run."""

    def folder_of(case: Case) -> Path:
        folder = shared / case.name
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = folder / "sent.json"
            if not done.exists():
                one = bench(folder, case.task_id, reading(case.wire, **READERS[case.reader]))
                transport = Watched(one.plan)
                assert one.run(transport) is None
                done.write_text(json.dumps([sha256(data) for data in transport.bodies]))
        return folder

    return folder_of


@pytest.fixture(scope="session")
def pair_of(case_folder: Callable[[Case], Path]) -> Callable[[Case], Pair]:
    return lambda case: read_pair(case_folder(case) / "ledger.sqlite", 1)


@pytest.fixture(scope="session")
def rows_of(case_folder: Callable[[Case], Path]) -> Callable[[Case], RunRows]:
    """A case's plan, run and arms, without its requests."""

    def rows(case: Case) -> RunRows:
        database = Database(case_folder(case) / "ledger.sqlite", write=False)
        try:
            return load_run(database, 1)
        finally:
            database.close()

    return rows
