"""What projection may change in a request and what it never does, in every recorded body."""

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from revereval.projection.policy import Observation
from tests.pair.cases import CASES, Case
from tests.pair.runs import (
    ARCHIVE_TOOLS,
    MARK,
    Items,
    Pair,
    Sent,
    blanked,
    calls_of,
    result_ids,
    result_key,
    sha256,
)
from tests.projection import naive


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    chosen: Case = request.param
    return chosen


@pytest.fixture(scope="module")
def pair(case: Case, pair_of: Callable[[Case], Pair]) -> Pair:
    return pair_of(case)


def test_the_ledger_gives_back_exactly_the_bytes_that_were_sent(
    case: Case, pair: Pair, case_folder: Callable[[Case], Path]
) -> None:
    for sent in pair.every:
        assert sha256(sent.data) == sent.row.digest
        assert len(sent.data) == sent.row.size_bytes
        assert len(sent.items) == sent.row.item_count
    first, second = ("F", "P") if pair.plan.first_arm == "F" else ("P", "F")
    dispatched = [*pair.requests["capture"], *pair.requests[first], *pair.requests[second]]
    seen = json.loads((case_folder(case) / "sent.json").read_text())
    assert [sha256(sent.data) for sent in dispatched] == seen


def test_the_first_suffix_requests_are_equal_but_for_tool_result_text(pair: Pair) -> None:
    if pair.boundary is None:
        assert not pair.requests["F"] + pair.requests["P"]
        return
    f, p = pair.requests["F"][0], pair.requests["P"][0]
    assert f.data == pair.boundary.data
    assert p.data != f.data
    assert p.settings == f.settings
    assert blanked(p.items) == blanked(f.items)
    assert pair.run.first_requests_match
    assert pair.run.f_first_request_digest == pair.run.p_first_request_digest


def test_settings_tools_and_model_are_the_same_bytes_in_every_request(pair: Pair) -> None:
    heads = {sent.data.partition(b'"messages":[' if b'"messages":[' in sent.data
                                 else b'"input":[')[0] for sent in pair.every}  # fmt: skip
    assert len(heads) == 1


def same_but_text(earlier: Items, later: Items) -> None:
    """The later conversation extends the earlier one in everything but tool-result text."""
    assert len(later) > len(earlier)
    assert blanked(later)[: len(earlier)] == blanked(earlier)


def test_only_the_text_of_old_results_ever_changes_and_only_once_and_only_in_p(
    pair: Pair,
) -> None:
    tape = pair.requests["capture"]
    boundary = [pair.boundary] if pair.boundary else []
    for stage in ("F", "P"):
        story = [*tape, *(pair.requests[stage] or boundary)]
        for before, after in pairwise(story):
            same_but_text(before.items, after.items)
            for old, new in zip(before.results, after.results, strict=False):
                if old != new:
                    assert stage == "P"
                    assert new.startswith(MARK)
                    assert not old.startswith(MARK), "a projected text was made again"
                    assert naive.size(new) < naive.size(old)


def test_full_observations_are_never_shortened_in_the_capture_or_in_f(pair: Pair) -> None:
    full = [sent for sent in pair.every if sent not in pair.requests["P"]]
    assert full
    assert not [sent for sent in full if MARK.encode() in sent.data]
    assert all(MARK.encode() in sent.data for sent in pair.requests["P"])


def test_every_request_of_p_begins_as_f_does_up_to_the_first_projected_result(
    pair: Pair,
) -> None:
    for sent in pair.requests["P"]:
        assert pair.boundary is not None
        at = sent.data.index(MARK.encode())
        item = next(
            index for index, item in enumerate(sent.items)
            if (key := result_key(item)) and item[key].startswith(MARK)
        )  # fmt: skip
        assert item < len(pair.boundary.items), "the first one is always in the common prefix"
        assert sent.data[:at] == pair.boundary.data[:at]
        assert sent.data[:at] == pair.requests["F"][0].data[:at]


def test_every_call_has_one_result_in_call_order_under_the_same_id(pair: Pair) -> None:
    for sent in pair.every:
        assert result_ids(sent.items) == [call_id for call_id, _ in calls_of(sent.items)]


def observations(story: Sequence[Sent]) -> list[tuple[int, Observation]]:
    """(the first request that carries it, the observation) from the bodies alone."""
    found: list[tuple[int, Observation]] = []
    for number, sent in enumerate(story):
        names = [name for _, name in calls_of(sent.items)]
        for name, text in list(zip(names, sent.results, strict=True))[len(found) :]:
            error = text.startswith("error: ")
            found.append((number, Observation(name, text, error, name in ARCHIVE_TOOLS)))
    return found


def test_what_is_projected_where_follows_from_the_bodies_by_the_design_alone(pair: Pair) -> None:
    """The whole of P's projection once more, by the naive policy over what was sent before."""
    story = [*pair.requests["capture"], *pair.requests["P"]]
    if pair.boundary is None:
        assert story == pair.requests["capture"]
    seen = observations(story)
    fixed: dict[int, str] = {}
    exposures = [0] * len(seen)
    config = naive.policy()
    for number, sent in enumerate([*story[: len(pair.requests["capture"])], *pair.requests["P"]]):
        shown = [seen_ for first, seen_ in seen if first <= number]
        decisions = naive.decide(shown, exposures, fixed, config)
        newly = {at: text for at, (reason, text) in enumerate(decisions)
                 if reason == "eligible" and text is not None}  # fmt: skip
        captured = number < len(pair.requests["capture"])
        assert not (captured and newly), "the capture ends where something is eligible"
        if number == len(pair.requests["capture"]):
            assert pair.run.eligible_count == len(newly) > 0
            assert pair.run.eligible_bytes == sum(naive.size(seen[at][1].text) for at in newly)
        fixed |= newly
        expected = [fixed.get(at, seen_.text) for at, seen_ in enumerate(shown)]
        assert sent.results == expected
        assert sent.row.newly_projected == len(newly)
        for at in range(len(shown)):
            exposures[at] += at not in fixed


def test_the_features_are_what_the_boundary_request_holds(pair: Pair) -> None:
    if pair.boundary is None:
        assert pair.run.history_bytes is pair.run.eligible_count is None
        return
    items = json.dumps(pair.boundary.items, ensure_ascii=False, separators=(",", ":"))
    assert pair.run.history_bytes == len(items.encode())
    assert pair.run.prefix_requests == len(pair.requests["capture"])
