"""The audit of archive calls: allowances counted, results derived again from the originals."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row

from revereval.ledger.audit_exchanges import wire_of
from revereval.ledger.audit_material import Material
from revereval.ledger.audit_rule import (
    ARCHIVE_TOOLS,
    ARCHIVE_VERSION,
    Served,
    handle_of,
    serve,
    settings_of,
    version_of,
)
from revereval.terms import ArchiveOutcome, Stage


def check_archive(material: Material) -> None:
    """The calls of the capture and, each with those of the tape before it, of both arms."""
    document = material.document
    if document is None:
        return
    version = version_of(document, "archive")
    if version > ARCHIVE_VERSION:
        why = f"archive of version {version}; the audit repeats version {ARCHIVE_VERSION}"
        material.findings.skip("archive calls", why)
        return
    for stage in Stage:
        if stage is Stage.CAPTURE or stage in material.arms:
            _check_stage(material, document, stage, version)


def _check_stage(
    material: Material, document: Mapping[str, Any], stage: Stage, version: int
) -> None:
    findings, settings = material.findings, settings_of(document)
    calls = {(call.stage, call.observation): call for call in material.archive_calls}
    originals: dict[str, None] = {}
    left = settings["archive_calls"]
    for row, text in _conversation(material, document, stage):
        if text is None:
            findings.skip(f"archive calls in {stage}", "bytes that they need have changed")
            return
        call = calls.get((row.stage, row.position))
        archived = row.tool in ARCHIVE_TOOLS and document.get("control") is None
        if archived != (call is not None):
            if row.stage == stage:
                wanted = "a call" if archived else "no call of the archive"
                findings.differ("observation", row.id, "archive_call", row.tool, wanted)
        elif call is None:
            if row.error is None:
                originals.setdefault(text)
        else:
            served = serve(row.tool, row.arguments, originals, left, settings, version)
            left -= served.outcome is ArchiveOutcome.OK
            if row.stage == stage:
                _compare(material, row, call, text, served, left)


def _conversation(
    material: Material, document: Mapping[str, Any], stage: Stage
) -> Iterator[tuple[Row[Any], str | None]]:
    """The observations of the tape and of a stage, in order, with their texts."""
    wire = wire_of(document)
    for row in sorted(material.observations, key=lambda row: row.position):
        if row.stage in (Stage.CAPTURE, stage):
            data = material.bytes.get(row.item_blob_id)
            yield row, None if data is None else wire.result_text(json.loads(data))


def _compare(
    material: Material, row: Row[Any], call: Row[Any], text: str, served: Served, left: int
) -> None:
    findings, outcome = material.findings, served.outcome
    findings.equal("archive_call", call.id, "outcome", call.outcome, str(outcome))
    findings.equal("archive_call", call.id, "remaining", call.remaining, left)
    refused = outcome is not ArchiveOutcome.OK
    findings.equal("observation", row.id, "error", row.error, str(outcome) if refused else None)
    if refused:
        ends = f"; archive calls left: {left}"
        if not (text.startswith(f"error: {outcome}: ") and text.endswith(ends)):
            wanted = f"error: {outcome}: …{ends}"
            findings.differ("observation", row.id, "text", text[:80], wanted)
    elif served.text is None:
        findings.skip("text of a search", "a search by an older rule, not repeated here")
    elif text != served.text:
        wanted = f"what the archive holds, {handle_of(served.text)[:12]}…"
        findings.differ("observation", row.id, "text", f"{handle_of(text)[:12]}…", wanted)
