"""The one gate: every model request of the capture, of F and of P passes `Gate.send`."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from revereval.agent.loop import Conversation
from revereval.canonical import text_digest, utf8
from revereval.ledger.recording import Meters, NewDecision, NewObservation, NewRequest
from revereval.pair.config import Config
from revereval.pair.difference import first_difference
from revereval.pair.dispatch import Dispatcher
from revereval.pair.ending import BoundaryReached, Capped, Stopped
from revereval.pair.tape import Exchange, Recorded, Tape, load_body
from revereval.pair.view import View, Viewer, blanked
from revereval.projection.policy import Decision, Observation
from revereval.provider.body import Body
from revereval.provider.error_body import MAX_SAID_CHARS
from revereval.provider.no_answer import WORDS, output_limit
from revereval.provider.usage import Usage, read_usage
from revereval.provider.wire import Reply, Wire
from revereval.terms import Stage, StopReason


@dataclass(frozen=True)
class Progress:
    """One live request as it leaves, for the person who watches."""

    stage: Stage
    number: int
    cap: int
    metered_tokens: int
    """Spent before it."""
    newly_projected: int


Watch = Callable[[Progress], None]


class Gate:
    """Sends one stage's requests: projects, replays, counts, dispatches and records them.

    beginning: head and opening of every request, as planned; nothing else is dispatched.
    tape: the sealed prefix of a continuation, None for a capture. recorded: the stage's own
    exchanges from before an interruption. Both are replayed by number, without a dispatch.
    """

    def __init__(
        self,
        config: Config,
        wire: Wire,
        beginning: bytes,
        dispatcher: Dispatcher,
        tape: Tape | None,
        recorded: Recorded,
        watch: Watch,
    ) -> None:
        self._limits, self._provider = config.limits, config.provider
        self._wire, self._dispatcher, self._watch = wire, dispatcher, watch
        self._beginning = beginning
        self._recorder = dispatcher.recorder
        self._stage = self._recorder.stage
        self._tape, self._pending = tape, recorded.pending
        self._prefix = len(tape.exchanges) if tape else 0
        self._replayed = (tape.exchanges if tape else ()) + recorded.exchanges
        self._viewer = Viewer(wire, config.projection, project=self._stage is Stage.P)
        self._index = 0
        self._base: tuple[int, Body] | None = None
        """The recorded request that the next one extends."""
        self._noted = 0
        """Observations that the ledger has."""
        self._decisions: tuple[Decision, ...] = ()
        """Of the previous request."""
        self._blanked_digest: str | None = None
        """Of the first suffix request, until it is completed."""
        self.meters = Meters(0, 0, 0, 0)
        """Of this stage alone: what is replayed from the tape is not in them."""
        self._last_usage: Any = None
        """The last completed request's, as reported."""

    @property
    def replaying(self) -> bool:
        """Recorded exchanges are left: `meters` are not yet those of the stage."""
        return self._index < len(self._replayed)

    @property
    def usage(self) -> Usage:
        """Of the last completed request."""
        return read_usage(self._last_usage, self._provider.usage_convention)

    def send(self, conversation: Conversation) -> Reply:
        """The reply to the conversation's next request, replayed or live. Raises StageEnded."""
        view = self._viewer.prepare(conversation)
        if self._stage is Stage.CAPTURE and view.eligible:
            raise BoundaryReached(view, self.new_request(view))
        if self._tape and self._index == self._prefix:
            self._meet_boundary(self._tape, view)

        def read(raw: bytes) -> Reply:
            return self._wire.read_reply(
                raw,
                conversation.turns,
                conversation.call_ids,
                self._provider.echo_unknown,
                output_limit(self._provider.sampling),
            )

        meters = self._meters_after(view)
        if self.replaying:
            exchange = self._replayed[self._index]
            self._require_equal(exchange, view)
            reply = read(exchange.reply)
        else:
            self._admit(view)
            reply = self._dispatch(view, read, meters)
        self._complete(view, meters, reply)
        return reply

    def _meet_boundary(self, tape: Tape, view: View) -> None:
        """The first suffix request must equal the boundary's but for tool-result text."""
        mine, boundary = blanked(view.body, self._wire), blanked(tape.boundary, self._wire)
        self._blanked_digest = mine.digest
        full_differs = self._stage is Stage.F and view.body.digest != tape.boundary.digest
        if full_differs or mine.digest != boundary.digest:
            self._recorder.first_suffix_request(mine.digest)
            raise _mismatch("the boundary request", tape.boundary, view.body)
        self._base = (tape.boundary_id, tape.boundary)
        self._noted = len(view.observations)

    def _require_equal(self, exchange: Exchange, view: View) -> None:
        if view.body.digest != exchange.request_digest:
            recorded = load_body(self._recorder.database, exchange.request_id)
            raise _mismatch(f"recorded request {self._index}", recorded, view.body)
        self._base = (exchange.request_id, view.body)

    def _admit(self, view: View) -> None:
        """Cap, then budget: each is compared with the counter that the ledger shows.

        What a request that is not sent would have shown for the first time is recorded too.
        """
        capture, meters = self._stage is Stage.CAPTURE, self.meters
        cap = self._limits.prefix_requests if capture else self._limits.suffix_requests
        budget, spent = self._limits.metered_tokens, meters.metered_tokens
        if meters.suffix_requests >= cap:
            self._recorder.note(self.new_request(view))
            raise Stopped(StopReason.PREFIX_CAP, f"{cap} requests") if capture else Capped
        if budget is not None and spent + view.metered_tokens > budget:
            self._recorder.note(self.new_request(view))
            detail = (
                f"limit {budget} metered tokens; {spent} used and {view.metered_tokens} needed; "
                f"largest single prompt {meters.largest_metered_prompt}"
            )
            raise Stopped(StopReason.BUDGET, detail)
        number = meters.suffix_requests + 1
        self._watch(Progress(self._stage, number, cap, spent, view.newly_projected))

    def _dispatch(self, view: View, read: Callable[[bytes], Reply], meters: Meters) -> Reply:
        pending, self._pending = self._pending, None
        if pending and pending.request_digest != view.body.digest:
            recorded = load_body(self._recorder.database, pending.request_id)
            raise _mismatch(f"recorded request {self._index}", recorded, view.body)
        if not view.body.data.startswith(self._beginning):
            raise Stopped(StopReason.PREFIX_MISMATCH, "head or opening are not the plan's")
        request = self.new_request(view)
        arm_meters = None if self._stage is Stage.CAPTURE else meters
        reply, request_id = self._dispatcher.send(
            request, view.body.data, pending, read, arm_meters
        )
        self._base = (request_id, view.body)
        return reply

    def _complete(self, view: View, meters: Meters, reply: Reply) -> None:
        self._viewer.completed()
        self._blanked_digest = None
        self._decisions = tuple(view.decisions)
        self._last_usage = reply.raw_usage
        if self._index >= self._prefix:
            self._noted = len(view.observations)
            self.meters = meters
        self._index += 1
        if reply.stop is not None:
            said = f": {reply.refusal[:MAX_SAID_CHARS]}" if reply.refusal else ""
            raise Stopped(reply.stop, WORDS[reply.stop] + said)

    def _meters_after(self, view: View) -> Meters:
        """The counters once this request is completed."""
        now, tokens = self.meters, view.metered_tokens
        since = 0 if view.newly_projected else now.metered_since_projection
        return Meters(
            suffix_requests=now.suffix_requests + 1,
            metered_tokens=now.metered_tokens + tokens,
            largest_metered_prompt=max(now.largest_metered_prompt, tokens),
            metered_since_projection=since + tokens,
        )

    def new_request(self, view: View) -> NewRequest:
        """The record of a prepared request, with what it shows for the first time."""
        body = view.body
        base_id, base = self._base or (None, Body(b"", ()))
        edits = [
            (index, item.data)
            for index, item in enumerate(body.items)
            if index >= len(base.items)
            or (item is not base.items[index] and item.data != base.items[index].data)
        ]
        return NewRequest(
            position=self._index,
            digest=body.digest,
            size_bytes=len(body.data),
            metered_tokens=view.metered_tokens,
            head=body.head,
            base_id=base_id,
            item_count=len(body.items),
            edits=edits,
            newly_projected=view.newly_projected,
            blanked_digest=self._blanked_digest,
            observations=[
                _new_observation(position, view)
                for position in range(self._noted, len(view.results))
            ],
            decisions=[
                _new_decision(position, decision, view.observations[position])
                for position, decision in enumerate(view.decisions)
                if position >= len(self._decisions)
                or decision.reason is not self._decisions[position].reason
            ],
        )


def _new_observation(position: int, view: View) -> NewObservation:
    index, result = view.results[position]
    observation = view.observations[position]
    archive = None
    if result.archive is not None and result.archive_calls_left is not None:
        archive = (result.archive, result.archive_calls_left)
    return NewObservation(
        position=position,
        item_index=index,
        tool=result.call.name,
        call_id=result.call.id,
        arguments=result.call.sent,
        handle=text_digest(result.text),
        size_bytes=observation.size_bytes,
        code_points=len(result.text),
        error=result.error,
        item=view.body.items[index].data,
        archive=archive,
    )


def _new_decision(position: int, decision: Decision, observation: Observation) -> NewDecision:
    saved = None
    if decision.text is not None:
        saved = observation.size_bytes - len(utf8(decision.text))
    return NewDecision(position, decision.reason, saved)


def _mismatch(what: str, recorded: Body, mine: Body) -> Stopped:
    path = first_difference(json.loads(recorded.data), json.loads(mine.data))
    return Stopped(StopReason.PREFIX_MISMATCH, f"differs from {what} at {path}")
