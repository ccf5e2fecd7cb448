"""The viewer of a stage against the naive policy: what counts as an exposure, what is kept."""

import json
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.agent.loop import Conversation
from revereval.agent.tools import ToolResult
from revereval.pair.view import Viewer
from revereval.projection.policy import Observation
from revereval.provider.wire import WIRES, Call
from revereval.terms import ArchiveOutcome
from tests.pair.runs import blanked, result_key
from tests.projection import naive
from tests.projection.naive import TEXTS, policy

POLICY = policy(min_observation_bytes=300, full_exposures=2, keep_recent=1, excerpt_bytes=64)
LONG = "line of source text\n" * 60


@dataclass(frozen=True)
class Step:
    """Results that arrive before a request, and how often it fails before it completes."""

    results: tuple[Observation, ...]
    failures: int


RESULTS = st.builds(
    Observation,
    tool=st.just("read"),
    text=TEXTS | st.just(LONG),
    is_error=st.sampled_from([False, False, False, True]),
    from_archive=st.sampled_from([False, False, False, True]),
)
STEPS = st.lists(
    st.builds(Step, st.lists(RESULTS, max_size=2).map(tuple), st.integers(0, 3)),
    min_size=1,
    max_size=6,
)


def conversation_of(protocol: str) -> Conversation:
    wire = WIRES[protocol]
    opening = [wire.message("system", "s"), wire.message("user", "u")]
    return Conversation(b'{"model":"m","' + wire.items_field.encode() + b'":[', opening)


def add(conversation: Conversation, protocol: str, seen: Observation) -> None:
    """One result, as the tools would hand it over."""
    call = Call(f"c{len(conversation.results)}", seen.tool, {}, "{}")
    outcome = ArchiveOutcome.OK if seen.from_archive else None
    error = "denied_access" if seen.is_error else None
    conversation.add_result(WIRES[protocol], ToolResult(call, seen.text, error, outcome))


@settings(deadline=None, max_examples=80)
@given(STEPS, st.sampled_from(["chat", "responses"]), st.booleans())
def test_only_completed_requests_count_and_p_alone_projects(
    steps: list[Step], protocol: str, project: bool
) -> None:
    wire = WIRES[protocol]
    conversation = conversation_of(protocol)
    viewer = Viewer(wire, POLICY, project=project)
    seen: list[Observation] = []
    exposures: list[int] = []
    fixed: dict[int, str] = {}
    for step in steps:
        for result in step.results:
            add(conversation, protocol, result)
            seen.append(result)
            exposures.append(0)
        for _ in range(step.failures + 1):
            expected = naive.decide(seen, exposures, fixed, POLICY)
            before = [item.data for item in conversation.items]
            view = viewer.prepare(conversation)
            assert [(str(d.reason), d.text) for d in view.decisions] == expected
            assert [item.data for item in conversation.items] == before
            newly = {at: text for at, (_, text) in enumerate(expected) if text} if project else {}
            assert view.newly_projected == len(newly.keys() - fixed.keys())
            fixed |= newly
            texts = [
                item.value[key] for item in view.body.items if (key := result_key(dict(item.value)))
            ]
            assert texts == [fixed.get(at, one.text) for at, one in enumerate(seen)]
            shown, full = json.loads(view.body.data), json.loads(conversation.body.data)
            field = wire.items_field
            assert blanked(shown.pop(field)) == blanked(full.pop(field))
            assert shown == full
        viewer.completed()
        exposures = [count + (at not in fixed) for at, count in enumerate(exposures)]


@pytest.mark.parametrize("failures", [0, 1, 20])
def test_a_request_that_fails_any_number_of_times_is_one_exposure(failures: int) -> None:
    conversation = conversation_of("chat")
    viewer = Viewer(WIRES["chat"], POLICY, project=False)
    add(conversation, "chat", Observation("read", LONG))
    add(conversation, "chat", Observation("read", "recent"))
    for completed in range(2):
        for _ in range(failures + 1):
            view = viewer.prepare(conversation)
            assert view.decisions[0].reason == "exposures", completed
            assert view.eligible == []
        viewer.completed()
    assert viewer.prepare(conversation).eligible == [0]


def test_a_view_knows_its_size_in_four_byte_tokens_rounded_up() -> None:
    conversation = conversation_of("chat")
    viewer = Viewer(WIRES["chat"], POLICY, project=True)
    for _ in range(5):
        view = viewer.prepare(conversation)
        assert view.metered_tokens == (len(view.body.data) + 3) // 4
        add(conversation, "chat", Observation("read", "x"))
