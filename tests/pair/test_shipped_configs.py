"""What the shipped configs promise of themselves."""

from collections import defaultdict
from pathlib import Path

import pytest

from revereval.ledger.database import Database
from revereval.pair.config import load_config
from revereval.terms import ArmName, CaptureOutcome, Endpoint
from tests.pair.runs import ROOT, Watched, bench

CONFIGS = ROOT / "configs"
SOME_TASKS = (
    "h11-framing", "h11-states", "idna-rules", "packaging-specifiers", "pluggy-callorder",
    "pyparsing-one-of", "sortedcontainers-dict", "sqlalchemy-urls",
)  # fmt: skip


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_every_shipped_config_is_one(path: Path) -> None:
    chosen = load_config(path)
    assert (chosen.control is not None) == (path.name == "closed-book.toml")


def test_every_ending_comes_up_over_a_few_tasks(tmp_path: Path) -> None:
    config = load_config(CONFIGS / "scripted-every-ending.toml")
    captures: set[str] = set()
    endpoints: defaultdict[str, set[str]] = defaultdict(set)
    archive: set[str] = set()
    for task_id in SOME_TASKS:
        folder = tmp_path / task_id
        folder.mkdir()
        one = bench(folder, task_id, config)
        assert one.run(Watched(one.plan)) is None
        found = one.result()
        captures.add(str(found.run.capture_outcome))
        for name, (endpoint, _) in found.endpoints.items():
            endpoints[name].add(endpoint)
        with Database(one.ledger, write=False) as database:
            archive |= {row.outcome for row in database.rows("SELECT outcome FROM archive_call")}
    assert captures == set(CaptureOutcome)
    assert endpoints[ArmName.F] == set(Endpoint)
    assert endpoints[ArmName.P] >= set(Endpoint) - {Endpoint.STOPPED}
    assert archive == {"ok", "allowance_exhausted"}


def test_the_closed_book_config_shows_a_memorised_task_and_one_that_is_not(tmp_path: Path) -> None:
    config = load_config(CONFIGS / "closed-book.toml")
    accepted = {}
    for task_id in ("h11-states", "h11-framing"):
        folder = tmp_path / task_id
        folder.mkdir()
        one = bench(folder, task_id, config)
        assert one.run(Watched(one.plan)) is None
        found = one.result()
        assert (found.run.capture_outcome, found.arms) == ("finished", {})
        accepted[task_id] = bool(found.run.answer_extracted)
    assert accepted == {"h11-states": True, "h11-framing": False}
