"""The audit of what a run came to: tape and seal, features, arms, counters, endpoints."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from revereval.canonical import sha256_hex
from revereval.ledger.audit_answers import ARM_ANSWER, CAPTURE_ANSWER, Scorer, check_answer
from revereval.ledger.audit_exchanges import wire_of
from revereval.ledger.audit_material import Content, Material
from revereval.ledger.repeats import SHARED, first_of_repeat
from revereval.ledger.seal import chain, seal
from revereval.provider.body import Item, join
from revereval.terms import (
    ArchiveOutcome,
    ArmName,
    CaptureOutcome,
    Companion,
    DecisionReason,
    Endpoint,
    Stage,
    StopReason,
    UnexecutedReason,
)

_BOUNDARY = (
    "boundary_request_id", "prefix_requests", "prefix_archive_calls", "tape_head", "seal",
    "eligible_bytes", "eligible_count", "history_bytes", "last_cached_fraction",
    "f_first_request_digest", "p_first_request_digest", "first_requests_match",
)  # fmt: skip
_ARM_REASONS = {
    Endpoint.STOPPED: frozenset(StopReason) - {StopReason.PREFIX_CAP},
    Endpoint.UNEXECUTED: frozenset(UnexecutedReason),
}


def check_capture(material: Material, scorer: Scorer) -> None:
    """Outcome, tape, seal and features; needs the contents of the requests."""
    findings, run = material.findings, material.run
    _check_repeats(material)
    stopped = run.capture_outcome == CaptureOutcome.STOPPED
    if stopped != (run.capture_reason is not None):
        wanted = "a reason" if stopped else None
        findings.differ("run", run.id, "capture_reason", run.capture_reason, wanted)
    reached = run.capture_outcome == CaptureOutcome.BOUNDARY
    arms = " ".join(sorted(material.arms))
    findings.equal("run", run.id, "arms", arms, "F P" if reached else "")
    if reached:
        _check_tape(material)
        _check_features(material)
        _check_first_requests(material)
    else:
        for name in _BOUNDARY:
            findings.equal("run", run.id, name, getattr(run, name), None)
        for request in material.requests:
            findings.equal("request", request.id, "entry_digest", request.entry_digest, None)
    check_answer(material, scorer, CAPTURE_ANSWER, Stage.CAPTURE, run)


def check_arms(material: Material, scorer: Scorer) -> None:
    """Counters, endpoints and answers of both arms."""
    for name, arm in material.arms.items():
        _check_allowances(material, arm)
        _check_counters(material, arm)
        _check_endpoint(material, arm)
        check_answer(material, scorer, ARM_ANSWER, Stage(name), arm)


# capture


def _check_repeats(material: Material) -> None:
    """A repeat shares its tape with a run of its plan, which has just the repeats it planned."""
    findings, run, tape, document = (
        material.findings, material.run, material.tape, material.document,
    )  # fmt: skip
    planned = 1 if document is None else document.get("repeats", 1)
    if (run.tape_run_id is None) != (run.repeat == 1):
        wanted = "a run" if run.repeat > 1 else None
        findings.differ("run", run.id, "tape_run_id", run.tape_run_id, wanted)
    if not 1 <= run.repeat <= planned:
        findings.differ("run", run.id, "repeat", run.repeat, f"1 to {planned}")
    if run.tape_run_id is None:
        reached = run.capture_outcome == CaptureOutcome.BOUNDARY
        if document is not None:
            numbers = " ".join(map(str, material.repeats))
            wanted = " ".join(map(str, range(2, planned + 1))) if reached else ""
            findings.equal("run", run.id, "repeats", numbers, wanted)
        return
    if tape.id == run.id or tape.tape_run_id is not None:
        findings.differ("run", run.id, "tape_run_id", run.tape_run_id, "a run with its own tape")
    for name in SHARED:
        findings.equal("run", run.id, name, getattr(run, name), getattr(tape, name))


def _check_tape(material: Material) -> None:
    findings, run, plan = material.findings, material.run, material.plan
    taped = material.completed(Stage.CAPTURE)
    findings.equal("run", run.id, "prefix_requests", run.prefix_requests, len(taped))
    by_id = {request.id: request for request in material.requests}
    boundary = by_id.get(run.boundary_request_id)
    place = None if boundary is None else f"{boundary.stage} {boundary.position}"
    wanted = f"{Stage.CAPTURE} {len(taped)}"
    findings.equal("run", run.id, "boundary_request_id", place, wanted)
    contents = [material.contents.get(request.id) for request in taped]
    replies = [material.bytes.get(request.reply_blob_id) for request in taped]
    sealed = material.contents.get(run.boundary_request_id)
    if sealed is None or None in contents or None in replies or material.document is None:
        findings.skip("tape and seal", "bytes that they cover have changed")
        return
    exchanges = [
        (content.digest, sha256_hex(reply))
        for content, reply in zip(contents, replies, strict=True)
        if content is not None and reply is not None
    ]
    entries = chain(plan.digest, exchanges)
    for request, entry in zip(taped, entries, strict=True):
        findings.equal("request", request.id, "entry_digest", request.entry_digest, entry)
    head = entries[-1] if entries else plan.digest
    findings.equal("run", run.id, "tape_head", run.tape_head, head)
    recomputed = seal(entries, sealed.digest, plan.digest)
    findings.equal("run", run.id, "seal", run.seal, recomputed)
    on_tape = {request.id for request in taped}
    for request in material.requests:
        if request.id not in on_tape:
            findings.equal("request", request.id, "entry_digest", request.entry_digest, None)


def _check_features(material: Material) -> None:
    """The predecision features, from the boundary's decisions, its bytes and the last reply."""
    findings, run = material.findings, material.run
    sizes = {o.position: o.size_bytes for o in material.observations if o.stage == Stage.CAPTURE}
    eligible = [
        sizes.get(decision.observation, 0)
        for decision in material.decisions
        if decision.stage == Stage.CAPTURE and decision.reason == DecisionReason.ELIGIBLE
    ]
    findings.equal("run", run.id, "eligible_count", run.eligible_count, len(eligible))
    findings.equal("run", run.id, "eligible_bytes", run.eligible_bytes, sum(eligible))
    calls = _archive_calls(material, Stage.CAPTURE)
    findings.equal("run", run.id, "prefix_archive_calls", run.prefix_archive_calls, calls)
    boundary = material.contents.get(run.boundary_request_id)
    if boundary is not None:
        history = len(b"[" + b",".join(boundary.items) + b"]")
        findings.equal("run", run.id, "history_bytes", run.history_bytes, history)
    taped = material.completed(Stage.CAPTURE)
    if taped:
        total, cached = taped[-1].input_tokens, taped[-1].cached_tokens
        fraction = cached / total if total and cached is not None else None
        stored = run.last_cached_fraction
        findings.equal("run", run.id, "last_cached_fraction", stored, fraction)


def _check_first_requests(material: Material) -> None:
    """Digests of the first suffix requests, every tool-result text blanked."""
    findings, run, document = material.findings, material.run, material.document
    if document is None:
        return
    stored = {Stage.F: run.f_first_request_digest, Stage.P: run.p_first_request_digest}
    for stage, value in stored.items():
        sent = material.stage(stage)
        # what stopped an arm before its first dispatch may still have compared the request
        first = sent[0].id if sent else run.boundary_request_id
        content = material.contents.get(first)
        if content is None:
            findings.skip(f"first request of {stage}", "its bytes cannot be rebuilt")
        elif value is not None or (sent and not material.interrupted(stage)):
            name = f"{stage.lower()}_first_request_digest"
            findings.equal("run", run.id, name, value, _blanked_digest(content, document))
    both = None not in stored.values()
    match = stored[Stage.F] == stored[Stage.P] if both else None
    findings.equal("run", run.id, "first_requests_match", run.first_requests_match, match)


def _blanked_digest(content: Content, document: Mapping[str, Any]) -> str:
    wire = wire_of(document)
    blanked = []
    for data in content.items:
        item = Item(json.loads(data))
        result = wire.result_text(item.value) is not None
        blanked.append(wire.with_text(item, "").data if result else data)
    return sha256_hex(join(content.head, blanked))


# arms


def _check_allowances(material: Material, arm: Row[Any]) -> None:
    findings, document, used = (
        material.findings,
        material.document,
        material.run.prefix_archive_calls,
    )
    if document is None:
        return
    first = first_of_repeat(ArmName(document["first_arm"]), material.run.repeat)
    findings.equal("arm", arm.id, "turn", arm.turn, 1 if arm.name == first else 2)
    limits = document["limits"]
    expected = {
        "allowed_requests": limits["suffix_requests"],
        "allowed_archive_calls": document["projection"]["archive_calls"] - (used or 0),
        "allowed_metered_tokens": limits["metered_tokens"],
    }
    for name, value in expected.items():
        findings.equal("arm", arm.id, name, getattr(arm, name), value)


def _check_counters(material: Material, arm: Row[Any]) -> None:
    """Each counter from the completed requests of the arm."""
    completed = material.completed(arm.name)
    meters = [request.metered_tokens for request in completed]
    projecting = [at for at, request in enumerate(completed) if request.newly_projected]
    expected = {
        "suffix_requests": len(completed),
        "metered_tokens": sum(meters),
        "largest_metered_prompt": max(meters, default=0),
        "metered_since_projection": sum(meters[projecting[-1] if projecting else 0 :]),
    }
    for name, value in expected.items():
        material.findings.equal("arm", arm.id, name, getattr(arm, name), value)
    calls = _archive_calls(material, arm.name)
    material.findings.equal("arm", arm.id, "archive_calls", arm.archive_calls, calls)


def _archive_calls(material: Material, stage: str) -> int:
    """Successful archive calls of a stage."""
    return sum(
        call.stage == stage and call.outcome == ArchiveOutcome.OK for call in material.archive_calls
    )


def _check_endpoint(material: Material, arm: Row[Any]) -> None:
    """What the endpoint implies, whoever wrote it."""
    findings, endpoint = material.findings, arm.endpoint
    allowed = _ARM_REASONS.get(endpoint)
    if (arm.reason is not None) if allowed is None else (arm.reason not in allowed):
        wanted = None if allowed is None else "one of " + ", ".join(sorted(allowed))
        findings.differ("arm", arm.id, "reason", arm.reason, wanted)
    sent = material.stage(arm.name)
    if endpoint == Endpoint.UNEXECUTED and (sent or arm.started_at is not None):
        findings.differ("arm", arm.id, "endpoint", endpoint, "executed: it has requests or a start")
    completed = len(material.completed(arm.name))
    if endpoint == Endpoint.CAPPED:
        findings.equal("arm", arm.id, "suffix_requests", completed, arm.allowed_requests)
    elif completed > arm.allowed_requests:
        wanted = f"at most {arm.allowed_requests}"
        findings.differ("arm", arm.id, "suffix_requests", completed, wanted)
    rule = arm.reason == UnexecutedReason.COMPANION_RULE
    if rule and material.plan.companion != Companion.AFTER_ANSWER:
        wanted = f"another: companion is {material.plan.companion}"
        findings.differ("arm", arm.id, "reason", arm.reason, wanted)
    first = next((other for other in material.arms.values() if other.turn == 1), arm)
    if rule and first.endpoint in (Endpoint.CORRECT, Endpoint.WRONG):
        findings.differ("arm", arm.id, "reason", arm.reason, "another: the first arm answered")
