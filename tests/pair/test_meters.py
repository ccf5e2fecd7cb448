"""Every counter and total equals what the recorded bytes and rows give by plain arithmetic."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from revereval.ledger.database import Database
from revereval.ledger.tables import ArchiveCall, table
from tests.pair.cases import CASES, Case
from tests.pair.runs import Pair, Watched, bench, config, metered

ARCHIVE = table(ArchiveCall)
BUDGET_STOP = re.compile(
    r"limit (\d+) metered tokens; (\d+) used and (\d+) needed; largest single prompt (\d+)"
)


def archive_calls(ledger: Path, stage: str) -> int:
    """Successful ones of a stage, from the rows of its calls."""
    database = Database(ledger, write=False)
    with database.reading() as connection:
        chosen = (ARCHIVE.c.stage == stage) & (ARCHIVE.c.outcome == "ok")
        count = len(connection.execute(select(ARCHIVE.c.id).where(chosen)).all())
    database.close()
    return count


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_arms_meters_are_what_its_requests_add_up_to(
    case: Case, pair_of: Callable[[Case], Pair], case_folder: Callable[[Case], Path]
) -> None:
    pair, ledger = pair_of(case), case_folder(case) / "ledger.sqlite"
    for name, arm in pair.arms.items():
        requests = pair.requests[name]
        tokens = metered(requests)
        assert [sent.row.metered_tokens for sent in requests] == tokens
        assert arm.suffix_requests == len(requests)
        assert arm.metered_tokens == sum(tokens)
        assert arm.largest_metered_prompt == max(tokens)
        assert arm.archive_calls == archive_calls(ledger, name)
        projecting = [at for at, sent in enumerate(requests) if sent.row.newly_projected]
        assert bool(projecting) == (name == "P")
        assert arm.metered_since_projection == sum(tokens[projecting[-1] if projecting else 0 :])
        assert arm.allowed_requests == 12
        assert arm.allowed_metered_tokens is None
        assert arm.allowed_archive_calls == 3 - archive_calls(ledger, "capture")


@pytest.mark.parametrize("case", CASES[:12], ids=lambda case: case.name)
def test_positions_count_the_conversation_and_not_the_stage(
    case: Case, pair_of: Callable[[Case], Pair]
) -> None:
    pair = pair_of(case)
    prefix = len(pair.requests["capture"])
    assert [sent.row.position for sent in pair.requests["capture"]] == list(range(prefix))
    for name in pair.arms:
        count = len(pair.requests[name])
        expected = list(range(prefix, prefix + count))
        assert [sent.row.position for sent in pair.requests[name]] == expected


def budgeted(tokens: int, **limits: Any) -> Any:
    return config(limits={"metered_tokens": tokens, **limits})


def undisturbed(folder: Path) -> Pair:
    one = bench(folder, "h11-states", config())
    assert one.run(Watched(one.plan)) is None
    return one.result()


def numbers(detail: str) -> list[int]:
    found = BUDGET_STOP.fullmatch(detail)
    assert found is not None, detail
    return [int(number) for number in found.groups()]


def test_a_capture_stops_before_the_request_that_would_pass_its_budget(tmp_path: Path) -> None:
    tokens = metered(undisturbed(tmp_path / "free").requests["capture"])
    limit = tokens[0] + tokens[1] + tokens[2] - 1
    one = bench(tmp_path, "h11-states", budgeted(limit))
    transport = Watched(one.plan)
    assert one.run(transport) is None
    run = one.result().run
    assert (run.capture_outcome, run.capture_reason) == ("stopped", "budget")
    assert len(transport.bodies) == 2
    assert numbers(run.capture_detail) == [
        limit, tokens[0] + tokens[1], tokens[2], max(tokens[:2]),
    ]  # fmt: skip
    assert not one.result().arms


def test_the_exact_budget_is_enough_for_the_capture(tmp_path: Path) -> None:
    tokens = metered(undisturbed(tmp_path / "free").requests["capture"])
    one = bench(tmp_path, "h11-states", budgeted(sum(tokens)))
    assert one.run(Watched(one.plan), arms=False) is None
    assert one.result().run.capture_outcome == "boundary"


@pytest.mark.parametrize("definition", ["request", "joint"])
def test_an_arm_stops_at_its_own_budget_which_the_prefix_does_not_touch(
    tmp_path: Path, definition: str
) -> None:
    free = undisturbed(tmp_path / "free")
    tokens = {name: metered(free.requests[name]) for name in ("F", "P")}
    limit = sum(tokens["F"])
    assert limit < sum(tokens["P"]), "F gets through on what P finds too little"
    one = bench(
        tmp_path,
        "h11-states",
        config(limits={"metered_tokens": limit}, endpoint=definition),
    )
    assert one.run(Watched(one.plan)) is None
    pair = one.result()
    assert pair.endpoints["F"] == ("correct", None)
    assert pair.endpoints["P"] == ("stopped", "budget")
    done = len(pair.requests["P"])
    assert metered(pair.requests["P"]) == tokens["P"][:done]
    spent, needed = sum(tokens["P"][:done]), tokens["P"][done]
    assert spent <= limit < spent + needed
    arm = pair.arms["P"]
    assert numbers(arm.detail) == [limit, spent, needed, max(tokens["P"][:done])]
    assert (arm.metered_tokens, arm.largest_metered_prompt) == (spent, max(tokens["P"][:done]))
    assert arm.allowed_metered_tokens == limit


def test_the_meter_is_no_token_count_of_the_provider(pair_of: Callable[[Case], Pair]) -> None:
    """U, C and O come from the reply alone; the scripted reader's happen to use the same bytes."""
    pair = pair_of(Case("h11-framing", "chat", "plain"))
    for sent in pair.every:
        row = sent.row
        if sent is pair.boundary:
            assert row.input_tokens is row.output_tokens is row.completed_at is None
            continue
        assert row.input_tokens == row.uncached_tokens + row.cached_tokens
        assert row.usage_flags == ""
