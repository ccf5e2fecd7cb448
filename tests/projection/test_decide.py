"""`decide` against DESIGN §3 written a second time, and its promises one by one."""

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from revereval.projection.policy import Observation, ProjectionConfig, decide
from revereval.terms import DecisionReason
from tests.projection import naive
from tests.projection.naive import TEXTS, policy, size

CONFIGS = st.builds(
    policy,
    min_observation_bytes=st.sampled_from([1, 2, 400, 700, 1400]),
    full_exposures=st.integers(1, 3),
    keep_recent=st.integers(0, 3),
    excerpt_bytes=st.sampled_from([0, 1, 7, 64, 301, 1024]),
)
OBSERVATIONS = st.lists(
    st.builds(
        Observation,
        tool=st.sampled_from(["read", "search_evidence"]),
        text=TEXTS,
        is_error=st.sampled_from([False, False, False, True]),
        from_archive=st.sampled_from([False, False, False, True]),
    ),
    max_size=7,
)


def reasons(decisions: Sequence[object]) -> list[str]:
    return [str(getattr(decision, "reason", "")) for decision in decisions]


@settings(deadline=None, max_examples=120)
@given(OBSERVATIONS, CONFIGS, st.data())
def test_every_observation_gets_the_one_reason_that_the_design_gives(
    observations: list[Observation], config: ProjectionConfig, data: st.DataObject
) -> None:
    count = len(observations)
    exposures = data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    fixed = data.draw(st.dictionaries(st.integers(0, count), st.text(max_size=5)))
    decisions = decide(observations, exposures, fixed, config)
    found = [(str(decision.reason), decision.text) for decision in decisions]
    assert found == naive.decide(observations, exposures, fixed, config)


def test_the_reasons_are_the_designs_in_its_order() -> None:
    assert tuple(map(str, DecisionReason)) == naive.REASONS


@settings(deadline=None, max_examples=60)
@given(OBSERVATIONS, CONFIGS, st.lists(st.booleans(), max_size=8))
def test_once_projected_it_stays_projected_with_the_same_text(
    observations: list[Observation], config: ProjectionConfig, completed: list[bool]
) -> None:
    """A conversation that grows by one observation a request, some of them failing."""
    exposures: list[int] = []
    fixed: dict[int, str] = {}
    first_texts: dict[int, str] = {}
    for step, done in enumerate([*completed, *[True] * 6], start=1):
        shown = observations[:step]
        exposures += [0] * (len(shown) - len(exposures))
        decisions = decide(shown, exposures, fixed, config)
        for position, decision in enumerate(decisions):
            if decision.text is not None:
                first_texts.setdefault(position, decision.text)
                fixed.setdefault(position, decision.text)
            if position in first_texts:
                assert decision.text == first_texts[position]
        if done:
            exposures = [n + (at not in fixed) for at, n in enumerate(exposures)]
    protected = [
        at for at, seen in enumerate(observations)
        if seen.is_error or seen.from_archive or size(seen.text) < config.min_observation_bytes
    ]  # fmt: skip
    assert not set(protected) & first_texts.keys()
    assert all(size(text) < size(observations[at].text) for at, text in first_texts.items())


BIG = Observation("read", "x" * 20_000)
ERROR = dataclasses.replace(BIG, is_error=True)
ARCHIVED = dataclasses.replace(BIG, tool="recover_evidence", from_archive=True)
SMALL = Observation("read", "x" * 10_239)
JUST_BIG = Observation("read", "x" * 10_240)
DEFAULTS = policy()


@pytest.mark.parametrize(
    ("seen", "exposures", "expected"),
    [
        ([BIG, SMALL], [2, 2], ["eligible", "small"]),
        ([BIG, BIG], [2, 2], ["eligible", "recent"]),
        ([BIG, BIG], [1, 1], ["exposures", "recent"]),
        ([ERROR, ARCHIVED, BIG], [9, 9, 9], ["error", "archive_result", "recent"]),
        ([JUST_BIG, SMALL], [2, 0], ["eligible", "small"]),
        ([BIG], [9], ["recent"]),
        ([BIG, ERROR], [2, 0], ["eligible", "error"]),
        ([Observation("read", "é" * 5120), SMALL], [2, 0], ["eligible", "small"]),
        ([Observation("read", "é" * 5119), SMALL], [2, 0], ["small", "small"]),
    ],
)  # fmt: skip
def test_the_recorded_campaigns_policy_on_small_conversations(
    seen: list[Observation], exposures: list[int], expected: list[str]
) -> None:
    assert reasons(decide(seen, exposures, {}, DEFAULTS)) == expected


@example(10, 0)
@given(st.integers(0, 12), st.integers(0, 12))
@settings(deadline=None)
def test_the_most_recent_results_are_never_projected(count: int, keep: int) -> None:
    config = policy(keep_recent=keep)
    decisions = decide([BIG] * count, [9] * count, {}, config)
    expected = ["eligible"] * (count - keep) + ["recent"] * min(keep, count)
    assert reasons(decisions) == expected


def test_nothing_is_projected_that_would_not_get_shorter() -> None:
    config = policy(min_observation_bytes=1, excerpt_bytes=0, keep_recent=0)
    overhead = size(naive.projected("x" * 500, "read", 0))
    for length in (overhead - 1, overhead, overhead + 1):
        seen = Observation("read", "x" * length)
        shorter = size(naive.projected(seen.text, "read", 0)) < length
        assert reasons(decide([seen], [2], {}, config)) == ["eligible" if shorter else "no_saving"]
    assert reasons(decide([Observation("read", "x" * overhead)], [2], {}, config)) == ["no_saving"]
    assert reasons(decide([Observation("read", "x" * 999)], [2], {}, config)) == ["eligible"]


def test_an_empty_conversation_has_no_decisions() -> None:
    assert decide([], [], {}, DEFAULTS) == []
