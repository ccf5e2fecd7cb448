"""Which of the two arms run: what the schedule decides, and what stops a run under either."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.pair.runs import Bench, Watched, bench, config

TASK = "h11-framing"
PREFIX = 4
"""F goes first."""


@pytest.fixture(params=["always", "after_answer"])
def captured(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """A run at its boundary, under one of the two schedules."""
    one = bench(tmp_path, TASK, config(companion=request.param))
    assert one.run(Watched(one.plan), arms=False) is None
    assert one.result().run.capture_outcome == "boundary"
    assert one.result().endpoints == {
        "F": ("unexecuted", "not_started"),
        "P": ("unexecuted", "not_started"),
    }
    return one


def test_a_prompt_that_has_changed_stops_the_run_under_either_schedule_and_names_the_place(
    captured: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("revereval.pair.plan.SYSTEM", "Another system message.")
    transport = Watched(captured.plan)
    assert captured.run(transport) is None
    assert transport.bodies == []
    pair = captured.result()
    assert pair.endpoints == {
        "F": ("stopped", "prefix_mismatch"),
        "P": ("unexecuted", "prefix_mismatch"),
    }
    assert "recorded request 0 at $.messages[0].content" in pair.arms["F"].detail


def answering(text: str) -> Callable[[int, httpx.Request], httpx.Response | None]:
    """The first suffix request of F gets this answer."""
    message = {"role": "assistant", "content": text}

    def instead(number: int, _: httpx.Request) -> httpx.Response | None:
        body = {"choices": [{"message": message}], "usage": {"prompt_tokens": 1}}
        return httpx.Response(200, json=body) if number == PREFIX else None

    return instead


def failing(number: int, _: httpx.Request) -> httpx.Response | None:
    return httpx.Response(500, json={}) if number == PREFIX else None


SCHEDULES = [
    ("always", "wrong", answering("{}"), {}, ("correct", None)),
    ("always", "stopped", failing, {}, ("correct", None)),
    ("always", "capped", lambda *_: None, {"suffix_requests": 3}, ("capped", None)),
    ("after_answer", "wrong", answering("{}"), {}, ("correct", None)),
    ("after_answer", "correct", lambda *_: None, {}, ("correct", None)),
    ("after_answer", "stopped", failing, {}, ("unexecuted", "companion_rule")),
    ("after_answer", "capped", lambda *_: None, {"suffix_requests": 3},
     ("unexecuted", "companion_rule")),
]  # fmt: skip


@pytest.mark.parametrize(("companion", "first", "instead", "limits", "second"), SCHEDULES)
def test_the_schedule_decides_whether_the_companion_runs(
    tmp_path: Path,
    companion: str,
    first: str,
    instead: Callable[[int, httpx.Request], httpx.Response | None],
    limits: dict[str, int],
    second: tuple[str, str | None],
) -> None:
    one = bench(tmp_path, TASK, config(companion=companion, limits=limits))
    assert one.run(Watched(one.plan, instead)) is None
    pair = one.result()
    assert pair.endpoints["F"][0] == first
    assert pair.endpoints["P"] == second
    assert bool(pair.requests["P"]) == (second[0] != "unexecuted")
    assert pair.arms["P"].turn == 2
