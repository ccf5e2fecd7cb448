"""A fresh scene for each test, and one finished ledger that the reading commands share."""

import fcntl
import os
from pathlib import Path

import pytest

from tests.cli.process import Scene, at


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test session, the same for all of its processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-cli"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def scene(tmp_path: Path, shared: Path) -> Scene:
    return at(tmp_path / "scene", shared / "cache")


@pytest.fixture(scope="session")
def recorded(shared: Path) -> Scene:
    """A scene whose ledger has run 1, a whole pair of h11-framing, and run 2, a finished capture.

    Tests only read it.
    """
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "recorded"
        if not (shared / "done").exists():
            made = at(folder, shared / "cache")
            whole = made.run("run-pair", "h11-framing")
            assert whole.returncode == 0, whole.stderr
            parallel = made.config("[provider.reader]\nparallel = 8\ndetours = 0\n")
            finished = made.run("run-pair", "markdown-it-lists", "--config", parallel)
            assert b"finished before anything was eligible" in b" ".join(finished.stdout.split())
            (shared / "done").touch()
    return Scene(folder, shared / "cache")
