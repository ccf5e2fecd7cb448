import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from revereval.ledger.database import Database
from tests.ledger.audited import write_pair
from tests.ledger.build import Build, open_build


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    yield from open_build(tmp_path)


@pytest.fixture(scope="session")
def _pair_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    for written in open_build(folder):
        write_pair(written)
    return folder


@pytest.fixture
def paired(_pair_folder: Path, tmp_path: Path) -> Iterator[Build]:
    """A ledger of its own with the run of `audited.write_pair`."""
    folder = shutil.copytree(_pair_folder, tmp_path / "pair")
    database = Database(folder / "ledger.sqlite", write=True)
    yield Build(database, folder / "tasks")
    database.close()
