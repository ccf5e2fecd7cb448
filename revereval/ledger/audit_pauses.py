"""The audit of pauses: what waits is interrupted, and what stopped it was a failed dispatch."""

from typing import Any

from sqlalchemy import Row, select

from revereval.ledger.audit_material import Material
from revereval.ledger.tables import Pause, table
from revereval.terms import AttemptState, Stage

_PAUSE = table(Pause)


def check_pauses(material: Material) -> None:
    """At most one open pause a stage, none of a stage that has ended, each after a failure."""
    wanted = select(_PAUSE).where(_PAUSE.c.run_id == material.run.id).order_by(_PAUSE.c.id)
    open_stages = set()
    for pause in material.bytes.connection.execute(wanted):
        _check_failure(material, pause)
        if pause.ended_at is not None:
            continue
        if pause.stage in open_stages:
            material.findings.differ("pause", pause.id, "ended_at", None, "set: it waits again")
        open_stages.add(pause.stage)
        if not material.interrupted(pause.stage):
            material.findings.differ("pause", pause.id, "ended_at", None, "set: its stage ended")


def _check_failure(material: Material, pause: Row[Any]) -> None:
    """What paused the stage: a failed dispatch, its last one as long as it waits."""
    if pause.stage == Stage.CAPTURE and material.run.tape_run_id is not None:
        wanted = "an arm: a repeat has no capture"
        material.findings.differ("pause", pause.id, "stage", pause.stage, wanted)
        return
    requests = material.stage(pause.stage)
    states = [attempt.state for request in requests for attempt in material.attempts[request.id]]
    looked_at = states[-1:] if pause.ended_at is None else states
    if AttemptState.FAILED not in looked_at:
        wanted = "none: no dispatch of its stage failed"
        material.findings.differ("pause", pause.id, "reason", pause.reason, wanted)
