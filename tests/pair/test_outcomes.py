"""What the scripted reader comes to follows from what projection hid, and from nothing else."""

from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from revereval.ledger.runs import RunRows
from revereval.tasks.spec import load_task
from tests.pair.cases import CASES, READERS, TASK_IDS, Case
from tests.pair.gold import strings
from tests.pair.runs import TASKS, Pair, Sent, Watched, bench, config, reading

EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@EVERY_CASE
def test_full_observations_always_lead_to_the_right_answer(
    case: Case, rows_of: Callable[[Case], RunRows]
) -> None:
    rows = rows_of(case)
    if not rows.arms:
        assert (rows.run.capture_outcome, rows.run.capture_reason) == ("finished", None)
        assert (rows.run.answer_extracted, rows.run.answer_strict) == (True, True)
        return
    assert (rows.run.capture_outcome, rows.run.capture_reason) == ("boundary", None)
    f, p = sorted(rows.arms, key=lambda arm: str(arm.name))
    assert (f.name, f.endpoint, f.reason) == ("F", "correct", None)
    assert (p.name, p.reason) == ("P", None)
    assert p.endpoint in ("correct", "wrong", "capped")


def p_endpoint(rows: RunRows) -> str:
    """Of P, or the capture's outcome where there is no pair."""
    endpoints = [arm.endpoint for arm in rows.arms if arm.name == "P"]
    return str(endpoints[0] if endpoints else rows.run.capture_outcome)


def test_all_outcomes_occur_over_the_readers_and_tasks(
    rows_of: Callable[[Case], RunRows],
) -> None:
    rows = {case: rows_of(case) for case in CASES}
    outcomes = Counter(p_endpoint(found) for found in rows.values())
    assert outcomes.total() == 72
    assert outcomes.keys() == {"finished", "correct", "wrong", "capped"}
    assert min(outcomes.values()) >= 3, "none of them by a single accident"
    reached = [case for case in CASES if rows[case].arms]
    assert {case.task_id for case in reached} == set(TASK_IDS)
    assert {case.reader for case in reached} == READERS.keys()


def in_sight(spans: Collection[str], sent: Sent) -> set[str]:
    """The evidence that a request shows after its opening, in results or in notes."""
    texts = list(strings(sent.items[2:]))
    return {span for span in spans if any(span in text for text in texts)}


@EVERY_CASE
def test_an_arm_fails_only_where_evidence_it_had_seen_was_hidden_from_it(
    case: Case, pair_of: Callable[[Case], Pair]
) -> None:
    pair = pair_of(case)
    if not pair.arms:
        return
    evidence = load_task(TASKS, case.task_id).evidence
    spans = {span.span for found in evidence.values() for span in found}
    assert in_sight(spans, pair.requests["F"][-1]) == spans
    lacking = spans - in_sight(spans, pair.requests["P"][-1])
    assert bool(lacking) == (pair.endpoints["P"][0] != "correct")
    earlier = [*pair.requests["capture"], *pair.requests["P"]]
    assert lacking <= set.union(*(in_sight(spans, sent) for sent in earlier))
    if pair.endpoints["P"][0] == "capped":
        assert len(pair.requests["P"]) == pair.arms["P"].suffix_requests == 12


@pytest.mark.parametrize("task_id", ["h11-states", "packaging-specifiers"])
@pytest.mark.parametrize("reader", ["plain", "impatient"])
def test_the_same_reader_finishes_right_where_the_policy_hides_nothing(
    task_id: str, reader: str, tmp_path: Path
) -> None:
    never = config(
        provider={"reader": READERS[reader]}, projection={"min_observation_bytes": 10**9}
    )
    one = bench(tmp_path, task_id, never)
    assert one.run(Watched(one.plan)) is None
    pair = one.result()
    assert (pair.run.capture_outcome, pair.run.answer_extracted) == ("finished", True)


@pytest.mark.parametrize(
    ("task_id", "reader", "wire"),
    [("markdown-it-lists", "reread", "chat"), ("h11-framing", "recover", "responses")],
)
def test_five_repeats_send_the_same_bytes(
    task_id: str, reader: str, wire: str, tmp_path: Path
) -> None:
    sequences = set()
    for repeat in range(5):
        folder = tmp_path / str(repeat)
        one = bench(folder, task_id, reading(wire, **READERS[reader]))
        transport = Watched(one.plan)
        assert one.run(transport) is None
        assert len(transport.bodies) > 6
        sequences.add(tuple(transport.bodies))
    assert len(sequences) == 1
