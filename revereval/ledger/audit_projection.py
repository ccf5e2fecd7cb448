"""The audit of the rule: each request derived from the replies before it, and what it projects.

From the bytes of the requests follows which observations each carried in full; from that their
exposures, what was eligible and where the boundary had to be; and from that every decision and
every projected text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Row

from revereval.canonical import escaped
from revereval.ledger.audit_exchanges import read_reply, wire_of
from revereval.ledger.audit_material import Content, Material
from revereval.ledger.audit_rule import (
    RULE_VERSION,
    TEXT_VERSION,
    Seen,
    handle_of,
    projected_form,
    reason_for,
    settings_of,
    utf8_bytes,
    version_of,
)
from revereval.provider.body import Item
from revereval.provider.wire import Reply
from revereval.terms import DecisionReason, Stage

_REPEATED: Final = {"projection_text": TEXT_VERSION, "boundary_rule": RULE_VERSION}


def check_projection(material: Material) -> None:
    """The rule over the capture and both arms; needs the contents of the requests."""
    findings, document = material.findings, material.document
    if document is None:
        return
    if "implementation" not in document:
        findings.skip(
            "versions of the rules", "the plan was recorded without versions of its rules"
        )
    for part, repeated in _REPEATED.items():
        version = version_of(document, part)
        if version != repeated:
            why = f"{part} of version {version}; the audit repeats version {repeated}"
            findings.skip("projection", why)
            return
    for stage in Stage:
        if stage is Stage.CAPTURE or stage in material.arms:
            _Walk(material, stage, document).check()


@dataclass
class _Observed:
    """One observation: its row, what the rule looks at, and the item that was received."""

    row: Row[Any]
    seen: Seen
    full: bytes
    exposures: int = 0
    projected: bytes | None = None
    """The item that stands for it from the request on that projects it."""
    reason: DecisionReason | None = None
    """In the previous request."""


@dataclass
class _Walk:
    """One stage's conversation from its opening on; of an arm only its own requests are judged."""

    material: Material
    stage: Stage
    document: Mapping[str, Any]
    observed: list[_Observed] = field(default_factory=list)
    items: list[bytes] = field(default_factory=list)
    """The conversation in full, as the opening, the replies and the results give it."""
    used_ids: set[str] = field(default_factory=set)
    passed: bool = False
    """A boundary that was passed is told once."""

    def check(self) -> None:
        material, capture = self.material, _requests(self.material, Stage.CAPTURE)
        requests = capture
        if self.stage is not Stage.CAPTURE:
            requests = material.completed(Stage.CAPTURE) + material.stage(self.stage)
        reply: Reply | None = None
        for request in requests:
            content = material.contents.get(request.id)
            if content is None or (request.position and reply is None):
                self._skip("bytes that it needs have changed")
                return
            if not request.position:
                self.items = list(content.items)
            elif reply is not None and not self._extend(reply, request.position):
                return
            self._request(request, content)
            reply = read_reply(material, request, self.used_ids)
        if reply is not None and reply.calls and requests:
            self._noted(reply, requests[-1].position + 1)

    def _skip(self, why: str) -> None:
        self.material.findings.skip(f"projection in {self.stage}", why)

    def _extend(self, reply: Reply, position: int) -> bool:
        """What a reply and the results of its calls add; False where that cannot be told."""
        findings, wire = self.material.findings, wire_of(self.document)
        self.items += [item.data for item in reply.items]
        self.used_ids.update(call.id for call in reply.calls)
        stages = (Stage.CAPTURE, self.stage)
        rows = [
            row
            for row in sorted(self.material.observations, key=lambda row: row.position)
            if row.stage in stages and row.request_position == position
        ]
        if len(rows) != len(reply.calls):
            wanted = f"{len(reply.calls)}, as many as calls"
            findings.differ("observation", None, f"{self.stage} {position}", len(rows), wanted)
            return False
        for row, call in zip(rows, reply.calls, strict=True):
            data = self.material.bytes.get(row.item_blob_id)
            text = None if data is None else wire.result_text(json.loads(data))
            if text is None:
                self._skip("bytes that it needs have changed")
                return False
            if row.stage == self.stage:
                self._result(row, text, (len(self.items), call.name, call.id, call.sent))
            full = wire.result(call.id, text).data
            archived = any(
                (row.stage, row.position) == (of.stage, of.observation)
                for of in self.material.archive_calls
            )
            seen = Seen(text, call.name, row.error is not None, archived)
            self.observed.append(_Observed(row, seen, full))
            self.items.append(full)
        return True

    def _result(self, row: Row[Any], text: str, call: Sequence[str | int]) -> None:
        """A row of `observation` against the call that it is the result of."""
        findings = self.material.findings
        names = ("item_index", "tool", "call_id", "arguments")
        for name, value in zip(names, call, strict=True):
            held: str | int = escaped(value) if isinstance(value, str) else value
            findings.equal("observation", row.id, name, getattr(row, name), held)
        findings.equal("observation", row.id, "position", row.position, len(self.observed))
        if row.error is not None and not text.startswith(f"error: {row.error}: "):
            findings.differ("observation", row.id, "error", row.error, "none: its text is no error")

    def _request(self, request: Row[Any], content: Content) -> None:
        """Decide, judge, then count what it carried in full."""
        judged = request.stage == self.stage
        eligible, changes = self._decide(project=judged and self.stage is Stage.P)
        if judged:
            self._boundary(request.position, eligible, request.id)
            projecting = len(eligible) if self.stage is Stage.P else 0
            stored = request.newly_projected
            findings = self.material.findings
            findings.equal("request", request.id, "newly_projected", stored, projecting)
            listed = self._listed(request.position)
            findings.equal("request", request.id, "decisions", listed, _told(changes))
            self._compare(request, content)
        if request.reply_blob_id is not None:
            for one in self.observed:
                index = one.row.item_index
                if index < len(content.items) and content.items[index] == one.full:
                    one.exposures += 1

    def _decide(self, *, project: bool) -> tuple[list[int], dict[int, tuple[str, int | None]]]:
        """Positions eligible in the next request, and the decisions that are new or changed."""
        settings, wire = settings_of(self.document), wire_of(self.document)
        seen = [one.seen for one in self.observed]
        eligible: list[int] = []
        changes: dict[int, tuple[str, int | None]] = {}
        for position, one in enumerate(self.observed):
            reason, saved = DecisionReason.ALREADY_PROJECTED, None
            if one.projected is None:
                reason = reason_for(seen, position, one.exposures, settings)
            if reason in (DecisionReason.ELIGIBLE, DecisionReason.ALREADY_PROJECTED):
                form = projected_form(one.seen, settings["excerpt_bytes"])
                saved = utf8_bytes(one.seen.text) - utf8_bytes(form)
                if reason is DecisionReason.ELIGIBLE:
                    eligible.append(position)
                    if project:
                        one.projected = wire.with_text(Item(json.loads(one.full)), form).data
            if reason is not one.reason:
                changes[position] = reason, saved
            one.reason = reason
        return eligible, changes

    def _listed(self, position: int) -> str:
        """The decisions that the ledger has of one request."""
        rows = {
            row.observation: (str(row.reason), row.saved_bytes)
            for row in self.material.decisions
            if (row.stage, row.request_position) == (self.stage, position)
        }
        return _told(rows)

    def _boundary(self, position: int, eligible: list[int], request_id: int | None) -> None:
        """It is the first request in which something is eligible, and no other."""
        if self.stage is not Stage.CAPTURE:
            return
        findings, run = self.material.findings, self.material.run
        at_boundary = request_id is not None and request_id == run.boundary_request_id
        if at_boundary and not eligible and not self.passed:
            stored, wanted = f"position {position}", "later: nothing is eligible there"
            findings.differ("run", run.id, "boundary_request_id", stored, wanted)
        if not at_boundary and eligible and not self.passed:
            self.passed = True
            stored = "none" if run.boundary_request_id is None else "later"
            numbers = ", ".join(map(str, eligible))
            wanted = f"position {position}: observation {numbers} is eligible there"
            findings.differ("run", run.id, "boundary_request_id", stored, wanted)

    def _compare(self, request: Row[Any], content: Content) -> None:
        """The items that were sent with those that should have been."""
        findings = self.material.findings
        findings.equal("request", request.id, "item_count", len(content.items), len(self.items))
        results = {one.row.item_index: one for one in self.observed}
        for index, (carried, full) in enumerate(zip(content.items, self.items, strict=False)):
            one = results.get(index)
            wanted = full if one is None or one.projected is None else one.projected
            if carried == wanted:
                continue
            if one is None:
                what = f"as opening and replies give it, {_digest(full)}"
                findings.differ("request", request.id, f"item {index}", _digest(carried), what)
            else:
                name = f"observation {one.row.position}"
                told = self._form(carried, one), self._form(wanted, one)
                findings.differ("request", request.id, name, *told)

    def _form(self, carried: bytes, one: _Observed) -> str:
        if carried == one.full:
            return "in full"
        return f"projected, {_digest(carried)}"

    def _noted(self, reply: Reply, position: int) -> None:
        """A request that was prepared and not sent: cap or budget came before it."""
        noted = [
            row.id
            for row in (*self.material.observations, *self.material.decisions)
            if (row.stage, row.request_position) == (self.stage, position)
        ]
        if noted and self._extend(reply, position):
            eligible, changes = self._decide(project=False)
            self._boundary(position, eligible, None)
            listed, what = self._listed(position), f"{self.stage} {position}"
            self.material.findings.equal("decision", None, what, listed, _told(changes))


def _requests(material: Material, stage: str) -> list[Row[Any]]:
    """A stage's requests in order, the capture's with its boundary."""
    found = [request for request in material.requests if request.stage == stage]
    return sorted(found, key=lambda request: request.position)


def _told(decisions: Mapping[int, tuple[str, int | None]]) -> str:
    return ", ".join(
        f"{position} {reason}" + ("" if saved is None else f" saving {saved}")
        for position, (reason, saved) in sorted(decisions.items())
    )


def _digest(item: bytes) -> str:
    """An item of which a person needs to know only whether it is the same."""
    return f"{handle_of(item.decode('utf-8', 'surrogatepass'))[:12]}…"
