"""The capture: full observations until the first eligible request is prepared."""

from typing import Any

from revereval.canonical import utf8
from revereval.ledger.blobs import BlobChangedError
from revereval.ledger.pauses import end_pause
from revereval.ledger.runs import load_run, update_run, write_boundary
from revereval.pair.ending import BoundaryReached, Paused, Stopped
from revereval.pair.signals import SignalledError
from revereval.pair.stage import IN_DOUBT_DETAIL, Conversing, Owed, Work, owed
from revereval.pair.tape import PLAN_CHANGED, load_recorded, plan_changed
from revereval.tasks.scoring import score
from revereval.tasks.snapshot import SnapshotChangedError
from revereval.terms import ArchiveOutcome, CaptureOutcome, Stage, StopReason


def capture(work: Work, run_id: int) -> None:
    """Run or resume a run's capture and record what it came to; nothing if it has ended.

    Raises PausedError and SignalledError with the run left to be resumed.
    """
    rows = load_run(work.database, run_id)
    run = rows.run
    state = owed(work, run_id, Stage.CAPTURE, run.capture_reason)
    if state is Owed.NOTHING:
        return
    end_pause(work.database, run_id, Stage.CAPTURE, work.now())
    if state is Owed.JUDGEMENT:
        _stopped(work, run_id, StopReason.IN_DOUBT, IN_DOUBT_DETAIL)
        return
    if run.capture_reason != StopReason.INTERRUPTED:
        update_run(work.database, run_id, capture_reason=StopReason.INTERRUPTED)
    if isinstance(work.snapshot, SnapshotChangedError):
        _stopped(work, run_id, StopReason.SNAPSHOT_CHANGED, str(work.snapshot))
        return
    if plan_changed(rows):
        _stopped(work, run_id, StopReason.SEAL_BROKEN, PLAN_CHANGED)
        return
    try:
        recorded = load_recorded(work.database, run_id, Stage.CAPTURE)
    except BlobChangedError as error:
        _stopped(work, run_id, StopReason.SEAL_BROKEN, str(error))
        return
    _converse(Conversing(work, run_id, Stage.CAPTURE, work.snapshot, recorded))


def _converse(conversing: Conversing) -> None:
    work, run_id = conversing.work, conversing.run_id
    try:
        text = conversing.answer()
    except BoundaryReached as boundary:
        _enter_frame(conversing, boundary)
    except Stopped as stopped:
        _stopped(work, run_id, stopped.reason, stopped.detail)
    except Paused as paused:
        raise conversing.paused(paused) from None
    except SignalledError as error:
        if conversing.dispatcher.in_flight:
            _stopped(work, run_id, StopReason.AMBIGUOUS_DISPATCH, str(error))
        raise
    else:
        scores = score(text, work.plan.task.gold, work.plan.task.keys)
        _close(
            work,
            run_id,
            capture_outcome=CaptureOutcome.FINISHED,
            capture_reason=None,
            capture_detail="",
            answer=utf8(text),
            answer_extracted=scores.extracted,
            answer_strict=scores.strict,
            answer_key_scores=scores.key_scores(work.plan.config.contract),
        )


def _enter_frame(conversing: Conversing, boundary: BoundaryReached) -> None:
    """Seal the tape and store the predecision features and both arms' allowances."""
    view, usage, config = boundary.view, conversing.gate.usage, conversing.work.plan.config
    used = sum(result.archive is ArchiveOutcome.OK for _, result in view.results)
    total = usage.input_tokens if usage.uncached_tokens is not None else None
    features = {
        "eligible_bytes": sum(view.observations[at].size_bytes for at in view.eligible),
        "eligible_count": len(view.eligible),
        "history_bytes": view.body.history_bytes,
        "last_cached_fraction": (usage.cached_tokens or 0) / total if total else None,
        "prefix_archive_calls": used,
    }
    allowances = {
        "allowed_requests": config.limits.suffix_requests,
        "allowed_archive_calls": config.projection.archive_calls - used,
        "allowed_metered_tokens": config.limits.metered_tokens,
    }
    plan = load_run(conversing.work.database, conversing.run_id).plan
    repeats = config.repeats
    write_boundary(conversing.recorder, boundary.request, plan, features, allowances, repeats)


def _stopped(work: Work, run_id: int, reason: StopReason, detail: str) -> None:
    outcome = CaptureOutcome.STOPPED
    _close(work, run_id, capture_outcome=outcome, capture_reason=reason, capture_detail=detail)


def _close(work: Work, run_id: int, **values: Any) -> None:
    update_run(work.database, run_id, capture_ended_at=work.now(), **values)
