"""The reference table, and a ledger with two real pairs."""

import os
import shutil
from pathlib import Path

import pytest

from revereval.analysis.study import Question, Study
from revereval.cli.tables import boundary_table
from tests.cli.process import ROOT
from tests.loopback import run_here

REFERENCE = ROOT / "tests" / "data" / "reverpi_boundaries.csv"


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """A copy of the published record in a folder of the test's own."""
    return Path(shutil.copy(REFERENCE, tmp_path / "reference.csv"))


@pytest.fixture(scope="session")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    ledger = folder / "ledger.sqlite"
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    try:
        for task in ("h11-framing", "packaging-specifiers"):
            tasks = str(ROOT / "tasks")
            done = run_here("run-pair", task, "--new", "--ledger", str(ledger), "--tasks", tasks)
            assert done.code == 0, done.err
    finally:
        del os.environ["XDG_CACHE_HOME"]
        if before is not None:
            os.environ["XDG_CACHE_HOME"] = before
    return ledger


@pytest.fixture
def ledger(_made: Path, tmp_path: Path) -> Path:
    """A copy: run 1 answered twice, run 2 harmed by projection and capped."""
    return Path(shutil.copy(_made, tmp_path / "ledger.sqlite"))


@pytest.fixture
def study(reference: Path) -> Study:
    return study_of(reference)


def study_of(file: Path, question: Question | None = None) -> Study:
    table, _ = boundary_table(file, Path("unused"))
    return Study(table, question or Question())
