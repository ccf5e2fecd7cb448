"""Runs that broke the rule and recorded it faithfully: seals and digests hold, the audit does not.

Each is written whole by a controller that errs in one thing, so nothing but the rule can tell.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from revereval.ledger.audit_material import Findings
from revereval.tasks import scoring
from revereval.terms import ArchiveOutcome, Endpoint, StopReason
from tests.ledger.audited import disagreements, fields, findings, tamper
from tests.ledger.build import ANSWERS, PREFIX, ArmScript, Build, both
from tests.ledger.script import LITTLE, POLICY, READ, SEARCH, SHORT, Asked, StageWriter, Turn
from tests.projection import naive

ANSWERED = ArmScript([ANSWERS], Endpoint.CORRECT)
LONGER = ArmScript([Turn([READ]), Turn([LITTLE]), ANSWERS], Endpoint.CORRECT)
BOUNDARY = ("run", "boundary_request_id")


def of_run(build: Build) -> Findings:
    _, run = findings(build)
    return run


def test_the_runs_that_follow_are_clean_where_the_rule_is_kept(build: Build) -> None:
    build.pair(PREFIX, both(LONGER, LONGER))
    build.pair([Turn([READ]), Turn([READ, SEARCH])], both(LONGER, LONGER))
    assert disagreements(build) == set()
    assert [run.unchecked for run in findings(build)] == [[], [], []]


def test_a_boundary_one_request_early_is_found(build: Build) -> None:
    build.pair([Turn([READ])], both(ANSWERED, ANSWERED))
    found = disagreements(build)
    assert (*BOUNDARY, "position 1", "later: nothing is eligible there") in found


def test_a_boundary_one_request_late_is_found(build: Build) -> None:
    build.pair([*PREFIX, Turn([LITTLE])], both(ANSWERED, ANSWERED))
    told = "position 2: observation 0 is eligible there"
    assert disagreements(build) == {(*BOUNDARY, "later", told)}


def test_a_capture_that_went_on_past_its_boundary_is_found(build: Build) -> None:
    build.finished([Turn([READ]), Turn([LITTLE]), ANSWERS])
    told = "position 2: observation 0 is eligible there"
    assert disagreements(build) == {(*BOUNDARY, "none", told)}


@pytest.mark.parametrize("exposures", [2, 3])
def test_an_exposure_miscounted_is_found(
    build: Build, monkeypatch: pytest.MonkeyPatch, exposures: int
) -> None:
    """The plan asks for more completed requests than the controller waited for."""
    planned = POLICY.model_copy(update={"full_exposures": exposures})
    monkeypatch.setattr("tests.ledger.build.POLICY", planned)
    build.pair(PREFIX, both(ANSWERED, ANSWERED))
    assert BOUNDARY in fields(build)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("in the archive.", "in the archive!"),
        ("2100 bytes", "2101 bytes"),
        ("tool: read", "tool: Read"),
        ("x = 1", "x = 2"),
        ("code points.]", "code points]"),
    ],
)
def test_one_byte_changed_in_every_marker_is_found(
    build: Build, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    assert right in SHORT
    real = naive.projected
    monkeypatch.setattr(naive, "projected", lambda *of: real(*of).replace(right, wrong, 1))
    build.pair(PREFIX, both(ANSWERED, ANSWERED))
    projected = [found for found in of_run(build).disagreements if found.field == "observation 0"]
    assert [(found.table, found.row_id) for found in projected] == [("request", 5)]
    assert {found.field for found in of_run(build).disagreements} <= {"observation 0", "decisions"}


def test_a_projected_text_in_f_is_found(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """F projects as P does; P and the boundary are as they should be."""
    branch = StageWriter.branch

    def projecting(self: StageWriter, recorder: Any, boundary: Any) -> StageWriter:
        made = branch(self, recorder, boundary)
        index = made.observations[0][0]
        made.projected[index] = made.items[index].__class__(
            {**made.items[index].value, "content": SHORT}
        )
        return made

    monkeypatch.setattr(StageWriter, "branch", projecting)
    build.pair(PREFIX, both(ANSWERED, ANSWERED))
    (found,) = of_run(build).disagreements
    assert (found.table, found.row_id, found.field) == ("request", 4, "observation 0")
    assert str(found.stored).startswith("projected")
    assert found.recomputed == "in full"


def test_an_eligible_observation_left_in_full_in_p_is_found(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = StageWriter._decided

    def lazy(self: StageWriter, eligible: Sequence[int]) -> Any:
        made = decided(self, eligible)
        late = self.recorder.stage == "P" and self.position > 2
        return [("exposures", None) if late and reason == "eligible" else (reason, text)
                for reason, text in made]  # fmt: skip

    monkeypatch.setattr(StageWriter, "_decided", lazy)
    reads = ArmScript([Turn([READ]), Turn([LITTLE]), Turn([LITTLE]), ANSWERS], Endpoint.CORRECT)
    build.pair(PREFIX, both(ANSWERED, reads))
    found = [one for one in of_run(build).disagreements if one.field == "observation 2"]
    assert {str(one.stored) for one in found} == {"in full"}
    assert all(str(one.recomputed).startswith("projected") for one in found)
    assert {("request", "newly_projected"), ("request", "decisions")} <= fields(build)


def test_an_archive_call_beyond_the_allowance_is_found(build: Build) -> None:
    """The fourth success of an arm, its prefix included."""
    many = ArmScript([Turn([SEARCH]), Turn([SEARCH]), Turn([SEARCH]), ANSWERS], Endpoint.CORRECT)
    build.pair(PREFIX, both(many, ANSWERED))
    found = disagreements(build)
    assert ("archive_call", "outcome", "ok", "allowance_exhausted") in found
    assert ("archive_call", "remaining", -1, 0) in found
    assert ("observation", "error", None, "allowance_exhausted") in found


def test_a_refusal_within_the_allowance_is_found(build: Build) -> None:
    refused = Asked(
        SEARCH.tool, SEARCH.arguments,
        "error: allowance_exhausted: the allowance is used up; archive calls left: LEFT",
        "allowance_exhausted", ArchiveOutcome.ALLOWANCE_EXHAUSTED,
    )  # fmt: skip
    f = ArmScript([Turn([refused]), ANSWERS], Endpoint.CORRECT)
    build.pair(PREFIX, both(f, ANSWERED))
    assert ("archive_call", "outcome", "allowance_exhausted", "ok") in disagreements(build)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("match: 0", "match: 1"), ("x = 1", "x = 7"), ("0 to 9", "0 to 8"), ("LEFT", "3")],
)
def test_a_search_that_shows_something_else_is_found(build: Build, right: str, wrong: str) -> None:
    other = Asked(SEARCH.tool, SEARCH.arguments, SEARCH.result.replace(right, wrong, 1), None,
                  ArchiveOutcome.OK)  # fmt: skip
    f = ArmScript([Turn([other]), ANSWERS], Endpoint.CORRECT)
    build.pair(PREFIX, both(f, ANSWERED))
    (found,) = of_run(build).disagreements
    assert (found.table, found.field) == ("observation", "text")


def test_a_recovered_text_that_is_not_the_original_is_found(build: Build) -> None:
    handle = SEARCH.result.split("\n")[1].removeprefix("handle: ")
    arguments = f'{{"chars":5,"handle":"{handle}"}}'
    place = f"handle: {handle}\ninterval: 0 to 5 of 2100 code points; archive calls left: LEFT"
    for shown, clean in (("x = 1", True), ("x = 0", False)):
        asked = Asked("recover_evidence", arguments, f"{place}\n---\n{shown}\n---", None,
                      ArchiveOutcome.OK)  # fmt: skip
        build.pair(PREFIX, both(ArmScript([Turn([asked]), ANSWERS], Endpoint.CORRECT), ANSWERED))
        assert (disagreements(build) == set()) is clean


def test_an_item_that_no_reply_gave_is_found(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """One changed word in an assistant message that F sends back."""
    branch = StageWriter.branch

    def rewriting(self: StageWriter, recorder: Any, boundary: Any) -> StageWriter:
        made = branch(self, recorder, boundary)
        made.items[2] = made.items[2].__class__({**made.items[2].value, "content": "Well,"})
        return made

    monkeypatch.setattr(StageWriter, "branch", rewriting)
    build.pair(PREFIX, both(ANSWERED, ANSWERED))
    assert ("request", "item 2") in fields(build)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE observation SET tool = 'grep' WHERE id = 1", ("observation", "tool")),
        ("UPDATE observation SET call_id = 'x' WHERE id = 1", ("observation", "call_id")),
        ("UPDATE observation SET arguments = '{' WHERE id = 2", ("observation", "arguments")),
        ("UPDATE observation SET error = 'x' WHERE id = 1", ("observation", "error")),
        ("UPDATE observation SET error = NULL WHERE error IS NOT NULL", ("observation", "error")),
        ("DELETE FROM observation WHERE stage = 'P'", ("observation", "P 3")),
        ("DELETE FROM decision WHERE stage = 'F'", ("request", "decisions")),
        ("UPDATE decision SET saved_bytes = 1 WHERE stage = 'P'", ("request", "decisions")),
        ("UPDATE decision SET reason = 'recent' WHERE stage = 'capture'", ("request", "decisions")),
        ("UPDATE archive_call SET remaining = 3", ("archive_call", "remaining")),
        ("DELETE FROM archive_call WHERE stage = 'F'", ("observation", "archive_call")),
        ("UPDATE plan SET treatment = 'x'", ("plan", "treatment")),
        ("UPDATE plan SET implementation = ''", ("plan", "implementation")),
    ],
)
def test_rows_that_are_not_what_the_bytes_say_are_found(
    paired: Build, statement: str, found: tuple[str, str]
) -> None:
    tamper(paired, statement)
    assert found in fields(paired)


def test_a_plan_without_implementation_is_said_to_be_and_its_rule_is_still_checked(
    build: Build,
) -> None:
    build.pair([Turn([READ]), Turn([LITTLE])], both(ANSWERED, ANSWERED), implementation=None)
    assert disagreements(build) == set()
    assert of_run(build).unchecked == [
        ("versions of the rules", "the plan was recorded without versions of its rules"),
        *[("score of an answer", f"scorer of version 1; here is version {scoring.VERSION}")] * 2,
    ]
    build.pair([Turn([READ])], both(ANSWERED, ANSWERED), implementation=None)
    assert BOUNDARY in fields(build)


def test_a_search_by_the_rule_of_before_is_not_derived_again_and_no_disagreement(
    build: Build,
) -> None:
    told = "1 matches; archive calls left: LEFT\nhandle: whatever it was"
    old = Asked(SEARCH.tool, '{"chars":2000,"query":"x"}', told, None, ArchiveOutcome.OK)
    build.pair([Turn([READ]), Turn([old])], both(ANSWERED, ANSWERED), implementation=None)
    assert disagreements(build) == set()
    assert {what for what, _ in of_run(build).unchecked} == {
        "versions of the rules", "text of a search", "score of an answer",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("part", "unchecked"),
    [
        ("projection_text", "projection"), ("boundary_rule", "projection"),
        ("archive", "archive calls"), ("scorer", "score of an answer"),
    ],
)  # fmt: skip
def test_rules_of_a_version_that_is_not_known_here_are_not_checked_and_it_is_said(
    build: Build, part: str, unchecked: str
) -> None:
    newer = {part: {"version": 99, "digest": "0" * 64}}
    build.pair(PREFIX, both(ANSWERED, ANSWERED), implementation=newer)
    assert disagreements(build) == set()
    assert {what for what, _ in of_run(build).unchecked} == {unchecked}


def test_a_capture_stopped_with_nothing_eligible_is_clean(build: Build) -> None:
    build.stopped([Turn([READ]), Turn([LITTLE])], StopReason.PREFIX_CAP)
    assert disagreements(build) == set()
