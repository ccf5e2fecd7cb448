"""A scene for each test; the forking helper and the snapshots are shared by a test process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from revereval.provider.reader import ReaderSettings

from .facts import Rows, facts
from .scene import TASKS, Scene, Zygote
from .server import LoggedApp, running

READER = ReaderSettings(seed=5, detours=0, patience=0)
"""Reads one file a turn, searches for what it no longer sees, then answers with what it has."""


@pytest.fixture(scope="session")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    helper = Zygote(tmp_path_factory.mktemp("streams"))
    yield helper
    helper.close()


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Snapshots that no test changes."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def scene(tmp_path: Path, zygote: Zygote, cache: Path) -> Iterator[Scene]:
    with running(LoggedApp(TASKS, READER)) as app:
        yield Scene(tmp_path, zygote, app, cache)


@pytest.fixture(scope="session")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, zygote: Zygote, cache: Path
) -> dict[str, Rows]:
    """The facts of a run that nothing disturbed."""
    with running(LoggedApp(TASKS, READER)) as app:
        scene = Scene(tmp_path_factory.mktemp("undisturbed"), zygote, app, cache)
        done = scene.pair()
        assert done.code == 0, done
        return facts(scene.ledger)
