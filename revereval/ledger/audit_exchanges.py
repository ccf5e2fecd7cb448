"""The audit of what was sent and received: plan, requests, attempts, replies, observations."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Row

from revereval.canonical import canonical_bytes, digest, escaped, sha256_hex, text_digest, utf8
from revereval.ledger.audit_material import Content, Material
from revereval.ledger.treatment import treatment_digest
from revereval.provider.body import join
from revereval.provider.no_answer import output_limit
from revereval.provider.usage import read_usage
from revereval.provider.wire import WIRES, Reply, ReplyError, Wire
from revereval.terms import AttemptState, Stage, UsageConvention

_METER_BYTES = 4
_USAGE = (
    "input_tokens", "uncached_tokens", "cached_tokens", "cache_write_tokens", "output_tokens",
    "reasoning_tokens",
)  # fmt: skip


def check_exchanges(material: Material) -> None:
    """Check every recorded exchange and fill `document` and `contents` for the later checks."""
    _check_plan(material)
    for request in material.requests:
        _check_bytes(material, request)
        _check_attempts(material, request)
    for stage in Stage:
        _check_positions(material, stage)
    if material.document is None:
        return
    for request in material.requests:
        if request.reply_blob_id is not None:
            _check_reply(material, request)
    _check_opening(material, material.document)
    for observation in material.observations:
        _check_observation(material, observation, wire_of(material.document))


def wire_of(document: Mapping[str, Any]) -> Wire:
    return WIRES[document["provider"]["wire"]]


def read_reply(
    material: Material, request: Row[Any], used_ids: Collection[str] = ()
) -> Reply | None:
    """A completed request's reply, read again; None where its bytes have changed or are no turn.

    used_ids: of the calls before it, where it matters which ids its own calls get.
    """
    raw = material.bytes.get(request.reply_blob_id)
    if raw is None or material.document is None:
        return None
    try:
        provider = material.document["provider"]
        echo, limit = bool(provider["echo_unknown"]), output_limit(provider.get("sampling", {}))
        wire = wire_of(material.document)
        return wire.read_reply(raw, request.position, used_ids, echo, limit)
    except ReplyError:
        return None


def _check_plan(material: Material) -> None:
    findings, plan = material.findings, material.plan
    recomputed = sha256_hex(plan.document.encode())
    if not findings.equal("plan", plan.id, "digest", plan.digest, recomputed):
        findings.skip("all that needs the plan", "its document has changed")
        return
    document = json.loads(plan.document)
    material.document = document
    expected = {
        "task_id": document["task"]["id"],
        "source_group": document["task"]["source_group"],
        "task_digest": document["task"]["digest"],
        "provider": document["provider"]["kind"],
        "model": document["provider"]["model"],
        "treatment": treatment_digest(document),
        "implementation": digest(document["implementation"])
        if "implementation" in document
        else "",
    }
    for name in (
        "snapshot_digest", "gold_digest", "seed", "first_arm", "companion", "endpoint_definition",
        "contract", "fitting",
    ):  # fmt: skip
        expected[name] = document[name]
    expected["control"] = document.get("control")
    for name, value in expected.items():
        held = escaped(value) if isinstance(value, str) else value
        findings.equal("plan", plan.id, name, getattr(plan, name), held)


def _check_bytes(material: Material, request: Row[Any]) -> None:
    """Rebuild the bytes that were sent from head, base and edits."""
    findings = material.findings
    base = material.contents.get(request.base_id)
    if request.base_id is not None and base is None:
        findings.skip(f"bytes of request {request.id}", "those of its base cannot be rebuilt")
        return
    try:
        edits: dict[int, int] = dict(json.loads(request.edits))
        ids = dict(enumerate(base.item_ids if base else ())) | edits
        item_ids = tuple(ids[index] for index in range(request.item_count))
    except (ValueError, TypeError, KeyError):
        findings.differ("request", request.id, "edits", request.edits, "do not give its items")
        return
    head = material.bytes.get(request.head_blob_id)
    items = [material.bytes.get(item_id) for item_id in item_ids]
    whole = [item for item in items if item is not None]
    if head is None or len(whole) < len(items):
        findings.skip(f"bytes of request {request.id}", "a stored part has changed")
        return
    data = join(head, whole)
    content = Content(head, item_ids, tuple(whole), sha256_hex(data))
    material.contents[request.id] = content
    findings.equal("request", request.id, "digest", request.digest, content.digest)
    findings.equal("request", request.id, "size_bytes", request.size_bytes, len(data))
    metered = -(-len(data) // _METER_BYTES)
    findings.equal("request", request.id, "metered_tokens", request.metered_tokens, metered)


def _check_attempts(material: Material, request: Row[Any]) -> None:
    """Intent before fact: one completed attempt, the last, iff the request has its reply."""
    findings, attempts = material.findings, material.attempts[request.id]
    has_reply = request.reply_blob_id is not None
    if has_reply != (request.completed_at is not None):
        wanted = "set" if has_reply else None
        findings.differ("request", request.id, "completed_at", request.completed_at, wanted)
    boundary = request.id == material.run.boundary_request_id
    if boundary == bool(attempts):
        wanted = "none: the boundary is not dispatched" if boundary else "at least one"
        findings.differ("request", request.id, "attempts", len(attempts), wanted)
    for number, attempt in enumerate(attempts, start=1):
        findings.equal("attempt", attempt.id, "number", attempt.number, number)
        material.bytes.get(attempt.reply_blob_id)
        last = number == len(attempts)
        _check_state(material, attempt, completes=has_reply and last, last=last)
    if has_reply and attempts:
        last_reply = attempts[-1].reply_blob_id
        findings.equal(
            "attempt", attempts[-1].id, "reply_blob_id", last_reply, request.reply_blob_id
        )


def _check_state(material: Material, attempt: Row[Any], *, completes: bool, last: bool) -> None:
    findings, state = material.findings, attempt.state
    is_open = state == AttemptState.INTENT
    if completes != (state == AttemptState.COMPLETED):
        other = "completed" if completes else "failed, ambiguous or in_doubt"
        findings.differ("attempt", attempt.id, "state", state, other)
    elif is_open:
        stage = next(r.stage for r in material.requests if r.id == attempt.request_id)
        if last and material.interrupted(stage):
            findings.open_intents += 1
        else:
            findings.differ("attempt", attempt.id, "state", state, "closed: its stage went on")
    if is_open != (attempt.ended_at is None):
        wanted = None if is_open else "set"
        findings.differ("attempt", attempt.id, "ended_at", attempt.ended_at, wanted)


def _check_positions(material: Material, stage: Stage) -> None:
    """No gap in a stage's count, and nothing after a request that was not completed."""
    requests = material.stage(stage)
    start = 0 if stage is Stage.CAPTURE else len(material.completed(Stage.CAPTURE))
    for position, request in enumerate(requests, start):
        material.findings.equal("request", request.id, "position", request.position, position)
    for request in requests[:-1]:
        if request.reply_blob_id is None:
            wanted = "a reply: a later request was sent"
            material.findings.differ("request", request.id, "reply_blob_id", None, wanted)


def _check_reply(material: Material, request: Row[Any]) -> None:
    """Model and usage as the raw reply reports them."""
    findings, document = material.findings, material.document
    if document is None or material.bytes.get(request.reply_blob_id) is None:
        findings.skip(f"reply of request {request.id}", "its stored bytes have changed")
        return
    reply = read_reply(material, request)
    if reply is None:
        blob_id = request.reply_blob_id
        findings.differ("request", request.id, "reply_blob_id", blob_id, "no turn: not completed")
        return
    cut = request.possibly_cut
    findings.equal("request", request.id, "possibly_cut", cut, reply.possibly_cut)
    model = None if reply.model is None else escaped(reply.model[:200])
    findings.equal("request", request.id, "reply_model", request.reply_model, model)
    convention = UsageConvention(document["provider"]["usage_convention"])
    usage = read_usage(reply.raw_usage, convention)
    for name in _USAGE:
        findings.equal("request", request.id, name, getattr(request, name), getattr(usage, name))
    findings.equal(
        "request", request.id, "usage_estimated", request.usage_estimated, usage.estimated
    )
    findings.equal("request", request.id, "usage_flags", request.usage_flags, " ".join(usage.flags))
    raw = None if reply.raw_usage is None else canonical_bytes(reply.raw_usage).decode()
    findings.equal("request", request.id, "usage_raw", request.usage_raw, raw)


def _check_opening(material: Material, document: Mapping[str, Any]) -> None:
    """Every request begins as the plan says: the same head, and the opening as its first items."""
    for request in material.requests:
        content = material.contents.get(request.id)
        if content is None:
            continue
        head = sha256_hex(content.head)
        material.findings.equal("request", request.id, "head", head, document["head_digest"])
        if request.stage == Stage.CAPTURE and request.position == 0:
            opening = digest([json.loads(item) for item in content.items])
            wanted = document["opening_digest"]
            material.findings.equal("request", request.id, "opening", opening, wanted)


def _check_observation(material: Material, observation: Row[Any], wire: Wire) -> None:
    findings, row_id = material.findings, observation.id
    data = material.bytes.get(observation.item_blob_id)
    text = None if data is None else wire.result_text(json.loads(data))
    if data is None:
        findings.skip(f"observation {row_id}", "its stored bytes have changed")
        return
    if text is None:
        findings.differ(
            "observation", row_id, "item_blob_id", observation.item_blob_id, "no result"
        )
        return
    findings.equal("observation", row_id, "handle", observation.handle, text_digest(text))
    findings.equal("observation", row_id, "size_bytes", observation.size_bytes, len(utf8(text)))
    findings.equal("observation", row_id, "code_points", observation.code_points, len(text))
    for request in material.requests:
        first = (request.stage, request.position)
        if first == (observation.stage, observation.request_position):
            content = material.contents.get(request.id)
            if content is not None:
                index = observation.item_index
                carried = content.item_ids[index] if index < len(content.item_ids) else None
                stored = observation.item_blob_id
                findings.equal("observation", row_id, "item_blob_id", stored, carried)
