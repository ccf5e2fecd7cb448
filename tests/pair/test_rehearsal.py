"""A rehearsed capture comes to what the real one comes to."""

from pathlib import Path

import pytest

from revereval.pair.config import Config
from revereval.pair.plan import make_plan
from revereval.pair.rehearsal import boundary_readers, rehearse
from revereval.provider.reader import READERS, ReaderSettings
from revereval.tasks.snapshot import open_snapshot
from revereval.tasks.spec import load_task
from tests.pair.cases import TASK_IDS
from tests.pair.runs import TASKS, Watched, bench, config


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_the_named_readers_reach_what_their_real_captures_reach(
    tmp_path: Path, task_id: str
) -> None:
    reached = []
    for name, reader in READERS.items():
        chosen = config(provider={"reader": reader.model_dump()})
        one = bench(tmp_path, task_id, chosen)
        assert one.run(Watched(one.plan), arms=False) is None
        outcome = one.result().run.capture_outcome
        assert outcome in ("boundary", "finished")
        reached += [name] if outcome == "boundary" else []
    files = open_snapshot(load_task(TASKS, task_id).source).files
    assert boundary_readers(TASKS, task_id, files) == tuple(reached)


def test_it_ends_at_the_prefix_cap_where_the_capture_does() -> None:
    files = open_snapshot(load_task(TASKS, "h11-framing").source).files
    never = {"min_observation_bytes": 10**9}
    for cap, outcome in ((3, "stopped"), (60, "finished")):
        limited = Config.model_validate({"projection": never, "limits": {"prefix_requests": cap}})
        plan = make_plan(TASKS, "h11-framing", limited)
        assert rehearse(plan, files, ReaderSettings()) == outcome
