"""A continuation: one arm's requests after the tape, and the endpoint they come to."""

from typing import Any

from revereval.canonical import utf8
from revereval.ledger.blobs import BlobChangedError
from revereval.ledger.pauses import end_pause
from revereval.ledger.runs import load_run, update_arm
from revereval.pair.ending import Capped, Paused, Stopped
from revereval.pair.signals import SignalledError
from revereval.pair.stage import IN_DOUBT_DETAIL, Conversing, Owed, Work, owed
from revereval.pair.tape import SealBrokenError, Tape, load_recorded, load_tape
from revereval.tasks.scoring import score
from revereval.tasks.snapshot import SnapshotChangedError
from revereval.terms import (
    INTEGRITY_FAULTS,
    ArmName,
    Companion,
    Endpoint,
    Stage,
    StopReason,
    UnexecutedReason,
)


def continue_arm(work: Work, run_id: int, name: ArmName) -> None:
    """Run or resume one arm and record its endpoint; nothing if it has ended.

    Raises PausedError and SignalledError with the arm left to be resumed.
    """
    arms = {arm.name: arm for arm in load_run(work.database, run_id).arms}
    arm, other = arms[name], arms[name.companion]
    if arm.reason == UnexecutedReason.GIVEN_UP:
        return
    withheld = _withheld(work, arm, other)
    if withheld is not None:
        if arm.endpoint == Endpoint.UNEXECUTED:
            update_arm(work.database, run_id, name, reason=withheld)
        return
    stage = Stage(name)
    was_withheld = arm.reason == UnexecutedReason.COMPANION_RULE
    reason = UnexecutedReason.NOT_STARTED if was_withheld else arm.reason
    state = owed(work, run_id, stage, reason)
    if state is not Owed.NOTHING:
        end_pause(work.database, run_id, stage, work.now())
    if state is Owed.JUDGEMENT:
        values = {"reason": StopReason.IN_DOUBT, "detail": IN_DOUBT_DETAIL}
        update_arm(work.database, run_id, name, ended_at=work.now(), **values)
    if state is Owed.WORK:
        _execute(work, run_id, arm)


def _withheld(work: Work, arm: Any, other: Any) -> UnexecutedReason | None:
    """Why a companion is not to be run, given how the first arm ended; None if it is."""
    if arm.turn == 1:
        return None
    if other.endpoint == Endpoint.STOPPED and other.reason in INTEGRITY_FAULTS:
        return UnexecutedReason(other.reason)
    answered = other.endpoint in (Endpoint.CORRECT, Endpoint.WRONG)
    if work.plan.config.companion is Companion.AFTER_ANSWER and not answered:
        return UnexecutedReason.COMPANION_RULE
    return None


def _execute(work: Work, run_id: int, arm: Any) -> None:
    name = ArmName(arm.name)
    update_arm(
        work.database,
        run_id,
        name,
        endpoint=Endpoint.STOPPED,
        reason=StopReason.INTERRUPTED,
        detail="",
        started_at=arm.started_at or work.now(),
        ended_at=None,
    )
    snapshot = work.snapshot
    if isinstance(snapshot, SnapshotChangedError):
        _end(work, run_id, name, Endpoint.STOPPED, StopReason.SNAPSHOT_CHANGED, str(snapshot))
        return
    try:
        tape = _tape_of(work, run_id)
        recorded = load_recorded(work.database, run_id, Stage(name))
    except (SealBrokenError, BlobChangedError) as error:
        _end(work, run_id, name, Endpoint.STOPPED, StopReason.SEAL_BROKEN, str(error))
        return
    _converse(Conversing(work, run_id, Stage(name), snapshot, recorded, tape), name)


def _tape_of(work: Work, run_id: int) -> Tape:
    """The verified tape of a run or of a repeat. Raises SealBrokenError."""
    run = load_run(work.database, run_id).run
    tape_run = run.tape_run_id or run_id
    if tape_run not in work.tapes:
        work.tapes[tape_run] = load_tape(work.database, tape_run)
    tape = work.tapes[tape_run]
    if (run.seal, run.boundary_request_id) != (tape.seal, tape.boundary_id):
        raise SealBrokenError(f"the seal of run {run_id} is not that of its tape")
    return tape


def _converse(conversing: Conversing, name: ArmName) -> None:
    """Run the loop and turn its end into the arm's endpoint."""
    work, run_id = conversing.work, conversing.run_id

    def end(endpoint: Endpoint, reason: StopReason | None, detail: str, **answer: Any) -> None:
        gate = conversing.gate
        meters = {} if gate.replaying else vars(gate.meters)
        _end(work, run_id, name, endpoint, reason, detail, **meters, **answer)

    try:
        text = conversing.answer()
    except Capped:
        end(Endpoint.CAPPED, None, "")
    except Stopped as stopped:
        end(Endpoint.STOPPED, stopped.reason, stopped.detail)
    except Paused as paused:
        raise conversing.paused(paused) from None
    except SignalledError as error:
        if conversing.dispatcher.in_flight:
            end(Endpoint.STOPPED, StopReason.AMBIGUOUS_DISPATCH, str(error))
        raise
    else:
        scores = score(text, work.plan.task.gold, work.plan.task.keys)
        contract = work.plan.config.contract
        end(
            Endpoint.CORRECT if scores.accepted(contract) else Endpoint.WRONG,
            None,
            "",
            answer=utf8(text),
            extracted=scores.extracted,
            strict=scores.strict,
            extracted_reason=scores.extracted_reason or "",
            strict_reason=scores.strict_reason or "",
            key_scores=scores.key_scores(contract),
        )


def _end(
    work: Work,
    run_id: int,
    name: ArmName,
    endpoint: Endpoint,
    reason: StopReason | None,
    detail: str,
    **values: Any,
) -> None:
    ended = {"endpoint": endpoint, "reason": reason, "detail": detail, "ended_at": work.now()}
    update_arm(work.database, run_id, name, **ended, **values)
