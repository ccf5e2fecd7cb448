"""What a continuation rests on has changed: the snapshot, or what the tools make of it."""

import shutil
from pathlib import Path

import pytest

from .facts import Arm, Rows, arms, capture, facts, query
from .hooks import COMPLETE, kill, setting, unnoticed
from .scene import TASK, TASKS, Scene, require_clean
from .test_kill import ENDPOINTS, STAGES

PREFIX = STAGES.index("F")


@pytest.fixture
def own_cache(scene: Scene, cache: Path) -> Scene:
    """A scene whose snapshots the test may change."""
    assert scene.run("tasks", "fetch", TASK, "--tasks", str(TASKS)).code == 0
    scene.cache = scene.folder / "cache"
    shutil.copytree(cache, scene.cache)
    return scene


def snapshot_file(scene: Scene) -> Path:
    (found,) = scene.cache.glob("revereval/snapshots/*/pygments/lexer.py")
    return found


def change_snapshot(scene: Scene) -> bytes:
    """Change one byte of a file that the agent may read; returns the file as it was."""
    path = snapshot_file(scene)
    before = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(before[:-1] + b"#")
    return before


def capture_only(scene: Scene) -> None:
    _, *arguments = scene.pair_arguments()
    assert scene.run("capture", *arguments).code == 0


@pytest.mark.parametrize("target", [TASK, "1"], ids=["by task", "by number"])
def test_a_snapshot_changed_after_the_capture_stops_the_run_and_sends_nothing(
    own_cache: Scene, target: str
) -> None:
    capture_only(own_cache)
    change_snapshot(own_cache)
    assert own_cache.pair(target).code == 3
    assert arms(own_cache.ledger) == {
        "F": Arm("stopped", "snapshot_changed", 0),
        "P": Arm("unexecuted", "snapshot_changed", 0),
    }
    ((detail,),) = query(own_cache.ledger, "SELECT detail FROM arm WHERE name = 'F'")
    assert "pygments/lexer.py" in detail
    assert own_cache.pair("1", "--resend-in-doubt").code == 3
    assert len(own_cache.app.hits) == PREFIX
    require_clean(own_cache)


def test_a_snapshot_changed_before_a_run_is_bad_input_until_it_is_mended(
    own_cache: Scene, undisturbed: dict[str, Rows]
) -> None:
    before = change_snapshot(own_cache)
    done = own_cache.pair()
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "pygments/lexer.py" in done.err
    assert own_cache.app.hits == []
    snapshot_file(own_cache).write_bytes(before)
    assert own_cache.pair().code == 0
    assert facts(own_cache.ledger) == undisturbed
    require_clean(own_cache)


def test_a_snapshot_changed_between_the_arms_keeps_the_first_endpoint(own_cache: Scene) -> None:
    assert own_cache.pair(hooks=[kill(COMPLETE, "after", PREFIX + 3)]).code == -9
    assert own_cache.pair(hooks=[kill(COMPLETE, "before")]).code == -9
    received = len(own_cache.app.hits)
    change_snapshot(own_cache)
    assert own_cache.pair("1", "--resend-in-doubt").code == 3
    assert arms(own_cache.ledger) == {
        "F": ENDPOINTS["F"],
        "P": Arm("stopped", "snapshot_changed", 0),
    }
    assert len(own_cache.app.hits) == received
    require_clean(own_cache)


def test_a_snapshot_changed_during_the_capture_stops_it(own_cache: Scene) -> None:
    assert own_cache.pair(hooks=[kill(COMPLETE, "after", 2)]).code == -9
    change_snapshot(own_cache)
    assert own_cache.pair("1").code == 3
    assert capture(own_cache.ledger) == ("stopped", "snapshot_changed")
    assert arms(own_cache.ledger) == {}
    assert len(own_cache.app.hits) == 2
    require_clean(own_cache)


def reads_at_most(size: int) -> list[dict[str, object]]:
    """A read tool that shows less of a file at once, and has the digest of ours."""
    return [unnoticed("revereval.agent.tools:MAX_READ_BYTES", size)]


DIFFERENCES = {
    # the second observation, of 35,154 bytes, is the sixth message; request 2 carries it first
    30_000: "differs from recorded request 2 at $.messages[5].content",
    # the third, of 40,348 bytes, is the eighth; no taped request carries it yet
    38_000: "differs from the boundary request at $.messages[7].content",
}


@pytest.mark.parametrize("size", DIFFERENCES)
def test_a_tool_that_shows_something_else_ends_the_run_before_a_live_request(
    scene: Scene, size: int
) -> None:
    capture_only(scene)
    assert scene.pair(hooks=reads_at_most(size)).code == 3
    assert arms(scene.ledger) == {
        "F": Arm("stopped", "prefix_mismatch", 0),
        "P": Arm("unexecuted", "prefix_mismatch", 0),
    }
    assert query(scene.ledger, "SELECT detail FROM arm WHERE name = 'F'") == [(DIFFERENCES[size],)]
    assert scene.pair("1").code == 3
    assert len(scene.app.hits) == PREFIX
    require_clean(scene)


def test_a_run_is_not_continued_by_another_release_of_a_tool(scene: Scene) -> None:
    capture_only(scene)
    before = arms(scene.ledger)
    other = [setting("revereval.agent.tools:MAX_READ_BYTES", 30_000)]
    done = scene.pair("1", hooks=other)
    assert done.code == 2
    assert "changed since the plan: tools (version" in done.err
    assert done.err.count("\n") == 1
    assert arms(scene.ledger) == before
    assert len(scene.app.hits) == PREFIX


def test_an_interrupted_capture_is_not_continued_with_another_tool(scene: Scene) -> None:
    assert scene.pair(hooks=[kill(COMPLETE, "after", 3)]).code == -9
    assert scene.pair(hooks=reads_at_most(30_000)).code == 3
    assert capture(scene.ledger) == ("stopped", "prefix_mismatch")
    found = query(scene.ledger, "SELECT capture_detail FROM run")
    assert found == [(DIFFERENCES[30_000],)]
    assert len(scene.app.hits) == 3
    require_clean(scene)


def test_an_interrupted_arm_is_not_continued_with_another_excerpt(scene: Scene) -> None:
    """P's own recorded requests are replayed too, and must be equal as the tape's are."""
    assert scene.pair(hooks=[kill(COMPLETE, "after", PREFIX + 3 + 2)]).code == -9
    other = [unnoticed("revereval.projection.policy:projected_text", "as another release says it")]
    assert scene.pair(hooks=other).code == 3
    assert arms(scene.ledger) == {
        "F": ENDPOINTS["F"],
        "P": Arm("stopped", "prefix_mismatch", 2),
    }
    ((detail,),) = query(scene.ledger, "SELECT detail FROM arm WHERE name = 'P'")
    assert detail == "differs from recorded request 3 at $.messages[5].content"
    assert len(scene.app.hits) == PREFIX + 3 + 2
    require_clean(scene)
