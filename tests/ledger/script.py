"""One stage of a made-up run: turns with chosen numbers, written through the real recorder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from revereval.canonical import canonical_bytes, text_digest, utf8
from revereval.ledger.recording import (
    Completion,
    Meters,
    NewDecision,
    NewObservation,
    NewRequest,
    Outcome,
    StageRecorder,
)
from revereval.projection.policy import Observation
from revereval.provider.body import Body, Item, head
from revereval.provider.usage import read_usage
from revereval.provider.wire import WIRES
from revereval.terms import (
    ArchiveOutcome,
    AttemptState,
    DecisionReason,
    Stage,
    UsageConvention,
)
from tests.projection import naive

WIRE = WIRES["chat"]
NOW = "2026-01-02T03:04:05.678+00:00"
HEAD = head({"model": "m", "tools": []}, "messages")
OPENING = [WIRE.message("system", "You read."), WIRE.message("user", "What is x?")]
LONG = "x = 1  # a long file\n" * 100
"""2,100 bytes: what is projected here."""
POLICY = naive.policy(min_observation_bytes=2000, full_exposures=1, excerpt_bytes=64)
SHORT = naive.projected(LONG, "read", POLICY.excerpt_bytes)


@dataclass(frozen=True)
class Asked:
    """One tool call of a reply, and its result."""

    tool: str = "read"
    arguments: str = '{"path":"a.py"}'
    result: str = LONG
    error: str | None = None
    archive: ArchiveOutcome | None = None
    """Its outcome, for an archive call; LEFT in `result` stands for the calls left after it."""
    left: int = 0


READ = Asked()
LITTLE = Asked(result="x = 1")
"""Too small to be projected."""
FOUND = f"""1 observation matches, each with its first match; archive calls left: LEFT
handle: {text_digest(LONG)}
match: 0 to 1, excerpt: 0 to 9, of 2100 code points
---
x = 1  # \n---"""
SEARCH = Asked("search_evidence", '{"query":"x","chars":9}', FOUND, None, ArchiveOutcome.OK)
REFUSED = Asked(
    "recover_evidence", '{"handle":"?"}',
    "error: unknown_handle: no observation has this handle; archive calls left: LEFT",
    "unknown_handle", ArchiveOutcome.UNKNOWN_HANDLE,
)  # fmt: skip


def used(prompt: int | None, cached: int | None, output: int | None) -> dict[str, Any]:
    """A usage object of Chat Completions."""
    details = {"cached_tokens": cached}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "prompt_tokens_details": details,
    }


@dataclass(frozen=True)
class Turn:
    """One request's life: failed attempts, then a reply that asks or answers, or none."""

    asks: Sequence[Asked] = ()
    answer: str = ""
    usage: Mapping[str, Any] | None = field(default_factory=lambda: used(100, 60, 10))
    failed: Sequence[Outcome] = ()
    unanswered: bool = False
    """No reply comes back: the failed attempts are all there is."""
    intent_only: bool = False
    """The process died in flight."""

    def reply(self) -> bytes:
        calls = [
            {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": a.tool, "arguments": a.arguments},
            }
            for n, a in enumerate(self.asks)
        ]
        message = {"role": "assistant", "content": self.answer or None, "tool_calls": calls}
        body = {"model": "m-1", "choices": [{"message": message}], "usage": self.usage}
        return json.dumps(body).encode()


@dataclass
class StageWriter:
    """A stage's conversation as the controller would record it."""

    recorder: StageRecorder
    items: list[Item]
    position: int = 0
    base: tuple[int, list[bytes]] | None = None
    observations: list[tuple[int, Asked, str]] = field(default_factory=list)
    """(index of the item, call and result, call id)."""
    noted: int = 0
    projected: dict[int, Item] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    """Projected texts, by observation."""
    exposures: list[int] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    """Of the previous request."""
    archive_calls: int = POLICY.archive_calls
    """Left."""
    call_ids: set[str] = field(default_factory=set)
    meters: Meters = field(default_factory=lambda: Meters(0, 0, 0, 0))

    def request(self, eligible: Sequence[int] = ()) -> NewRequest:
        """The next request, by the plain rule; `eligible` are so whatever the rule says."""
        decided = self._decided(eligible)
        now = [
            at for at, (reason, _) in enumerate(decided)
            if reason == "eligible" and self.recorder.stage is Stage.P
        ]  # fmt: skip
        for at in now:
            self.texts[at] = str(decided[at][1])
            index = self.observations[at][0]
            self.projected[index] = WIRE.with_text(self.items[index], self.texts[at])
        body = Body(HEAD, tuple(self.items)).with_items(self.projected)
        base_id, base = self.base or (None, [])
        data = [item.data for item in body.items]
        edits = [(n, d) for n, d in enumerate(data) if n >= len(base) or base[n] != d]
        self._data, self._decisions = data, [reason for reason, _ in decided]
        return NewRequest(
            position=self.position,
            digest=body.digest,
            size_bytes=len(body.data),
            metered_tokens=-(-len(body.data) // 4),
            head=HEAD,
            base_id=base_id,
            item_count=len(data),
            edits=edits,
            newly_projected=len(now),
            observations=[
                self._observation(at) for at in range(self.noted, len(self.observations))
            ],
            decisions=[
                NewDecision(at, DecisionReason(reason), self._saved(at, text))
                for at, (reason, text) in enumerate(decided)
                if self.reasons[at : at + 1] != [reason]
            ],
        )

    def _decided(self, eligible: Sequence[int]) -> list[tuple[str, str | None]]:
        seen = [
            Observation(
                asked.tool, asked.result, asked.error is not None, asked.archive is not None
            )
            for _, asked, _ in self.observations
        ]
        self.exposures += [0] * (len(seen) - len(self.exposures))
        decided = naive.decide(seen, self.exposures, self.texts, POLICY)
        for at in eligible:
            decided[at] = "eligible", naive.projected(LONG, "read", POLICY.excerpt_bytes)
        return decided

    def _saved(self, at: int, text: str | None) -> int | None:
        return None if text is None else naive.size(self.observations[at][1].result) - len(text)

    def _observation(self, at: int) -> NewObservation:
        index, asked, call_id = self.observations[at]
        return NewObservation(
            position=at,
            item_index=index,
            tool=asked.tool,
            call_id=call_id,
            arguments=asked.arguments,
            handle=text_digest(asked.result),
            size_bytes=len(utf8(asked.result)),
            code_points=len(asked.result),
            error=asked.error,
            item=self.items[index].data,
            archive=None if asked.archive is None else (asked.archive, asked.left),
        )

    def send(self, turn: Turn, eligible: Sequence[int] = ()) -> None:
        request = self.request(eligible)
        request_id, attempt_id = self.recorder.intend(request)
        if turn.intent_only:
            return
        for number, outcome in enumerate(turn.failed, start=2):
            self.recorder.fail(attempt_id, outcome)
            if number <= len(turn.failed) or not turn.unanswered:
                attempt_id = self.recorder.intend_again(request_id, number)
        if turn.unanswered:
            return
        raw = turn.reply()
        reply = WIRE.read_reply(raw, self.position, self.call_ids, echo_unknown=True)
        usage = read_usage(reply.raw_usage, UsageConvention.CACHED_IN_INPUT)
        completion = Completion(
            reply.model, usage.input_tokens, usage.uncached_tokens, usage.cached_tokens,
            usage.cache_write_tokens, usage.output_tokens, usage.reasoning_tokens,
            usage.estimated, " ".join(usage.flags),
            None if turn.usage is None else canonical_bytes(turn.usage).decode(),
            reply.possibly_cut,
        )  # fmt: skip
        self.meters = self._metered(request)
        done = Outcome(AttemptState.COMPLETED, 200, reply=raw)
        arm = None if self.recorder.stage is Stage.CAPTURE else self.meters
        self.recorder.complete(request_id, attempt_id, done, completion, arm)
        self.base = (request_id, self._data)
        self.noted = len(self.observations)
        self.position += 1
        self.reasons = self._decisions
        self.exposures = [n + (at not in self.texts) for at, n in enumerate(self.exposures)]
        self.items += reply.items
        self.call_ids.update(call.id for call in reply.calls)
        for call, scripted in zip(reply.calls, turn.asks, strict=True):
            self.archive_calls -= scripted.archive is ArchiveOutcome.OK
            left = self.archive_calls
            result = scripted.result.replace("LEFT", str(left))
            asked = replace(scripted, result=result, left=left)
            self.observations.append((len(self.items), asked, call.id))
            self.items.append(WIRE.result(call.id, asked.result))

    def _metered(self, request: NewRequest) -> Meters:
        now, tokens = self.meters, request.metered_tokens
        return Meters(
            now.suffix_requests + 1,
            now.metered_tokens + tokens,
            max(now.largest_metered_prompt, tokens),
            tokens + (0 if request.newly_projected else now.metered_since_projection),
        )

    def branch(self, recorder: StageRecorder, boundary: tuple[int, list[bytes]]) -> "StageWriter":
        return replace(
            self,
            recorder=recorder,
            items=list(self.items),
            base=boundary,
            observations=list(self.observations),
            noted=len(self.observations),
            projected={},
            texts={},
            exposures=list(self.exposures),
            call_ids=set(self.call_ids),
            meters=Meters(0, 0, 0, 0),
        )
