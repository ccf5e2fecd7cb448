"""The audit finds what was changed, says so once, and changes nothing itself."""

import hashlib
import json
from pathlib import Path

import pytest

from revereval.errors import InputError
from revereval.ledger.audit import audit
from revereval.terms import ArmName, Endpoint, StopReason
from tests.ledger.audited import LOST, disagreements, fields, findings, tamper
from tests.ledger.build import ANSWERS, ERRS, PREFIX, ArmScript, Build, both
from tests.ledger.script import LITTLE, READ, Turn


def test_a_clean_pair_has_no_disagreement_and_nothing_unchecked(paired: Build) -> None:
    assert disagreements(paired) == set()
    assert [run.unchecked for run in findings(paired)] == [[], []]


def test_every_ending_is_clean(build: Build) -> None:
    build.finished([Turn([READ]), ANSWERS])
    build.finished([ERRS])
    build.stopped([Turn([READ]), Turn(failed=[LOST], unanswered=True)], StopReason.IN_DOUBT)
    build.stopped([Turn([LITTLE])] * 12, StopReason.PREFIX_CAP)
    capped = ArmScript([Turn([READ])] * 12, Endpoint.CAPPED)
    stopped = ArmScript([Turn([READ]), Turn(failed=[LOST], unanswered=True)], Endpoint.STOPPED,
                        "ambiguous_dispatch")  # fmt: skip
    build.pair(PREFIX, both(capped, stopped))
    build.pair(PREFIX, {ArmName.F: capped})
    build.pair(PREFIX, {})
    build.capture([Turn([READ])])
    assert disagreements(build) == set()


def test_a_dispatch_in_flight_is_told_and_is_no_disagreement(build: Build) -> None:
    build.capture([Turn([READ]), Turn(intent_only=True)])
    assert disagreements(build) == set()
    assert findings(build)[1].open_intents == 1


def test_an_intent_open_in_a_stage_that_ended_is_reported(build: Build) -> None:
    build.stopped([Turn([READ]), Turn(intent_only=True)], StopReason.PROVIDER_ERROR)
    assert fields(build) == {("attempt", "state")}


def test_without_the_gold_scores_are_not_checked_and_the_reason_is_told(
    paired: Build, tmp_path: Path
) -> None:
    _, run = audit(paired.database, [1], tmp_path / "none")
    assert run.disagreements == []
    assert [what for what, _ in run.unchecked] == ["score of an answer"] * 2
    assert "no gold" in run.unchecked[0][1]
    (paired.tasks_dir / "made-up-group" / "what-is-x.gold.json").write_text('{"x": 2}')
    _, run = audit(paired.database, [1], paired.tasks_dir)
    assert run.disagreements == []
    assert "not the planned one any more" in run.unchecked[0][1]


def test_only_the_named_runs_are_audited(build: Build) -> None:
    for _ in range(3):
        build.finished([ANSWERS])
    assert [run.run_id for run in findings(build, 2, 3)] == [None, 2, 3]
    with pytest.raises(InputError, match="no run 9 in this ledger"):
        findings(build, 2, 9)


def test_an_audit_changes_no_byte(paired: Build) -> None:
    tamper(paired, "UPDATE arm SET metered_tokens = 1 WHERE id = 1")
    with paired.database.reading() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
    before = hashlib.sha256(paired.database.path.read_bytes()).hexdigest()
    assert disagreements(paired) != set()
    assert hashlib.sha256(paired.database.path.read_bytes()).hexdigest() == before
    assert Path(f"{paired.database.path}-wal").stat().st_size == 0


def test_findings_are_json(paired: Build) -> None:
    tamper(paired, "UPDATE decision SET reason = 'small'")
    found = [vars(d) for run in findings(paired) for d in run.disagreements]
    assert json.loads(json.dumps(found)) == found != []
