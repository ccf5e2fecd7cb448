"""The one agent loop: capture, F and P run it; only the gate may end it sooner, by raising."""

from dataclasses import dataclass, field
from typing import Protocol

from revereval.agent.tools import ToolResult
from revereval.provider.body import Body, Item, RunningDigest
from revereval.provider.wire import Call, Reply, Wire


@dataclass
class Conversation:
    """What the next request carries, and beside it what the bodies cannot say, by position."""

    head: bytes
    items: list[Item]
    results: list[tuple[int, ToolResult]] = field(default_factory=list)
    """(index in `items`, result) of every observation, in order."""
    call_ids: set[str] = field(default_factory=set)
    turns: int = 0
    running: RunningDigest = field(default_factory=RunningDigest)

    @property
    def body(self) -> Body:
        return Body(self.head, tuple(self.items), self.running)

    def add_reply(self, reply: Reply) -> None:
        self.items.extend(reply.items)
        self.call_ids.update(call.id for call in reply.calls)
        self.turns += 1

    def add_result(self, wire: Wire, result: ToolResult) -> None:
        self.results.append((len(self.items), result))
        self.items.append(wire.result(result.call.id, result.text))


class Gate(Protocol):
    """Every model request passes `send`; it raises where the stage ends without an answer."""

    def send(self, conversation: Conversation) -> Reply: ...


class Tools(Protocol):
    """Executes calls; what goes wrong with one is its observation."""

    def observe(self, call: Call) -> ToolResult: ...


def answer(conversation: Conversation, wire: Wire, gate: Gate, tools: Tools) -> str:
    """Run the agent until it answers; returns the final answer's text."""
    while True:
        reply = gate.send(conversation)
        conversation.add_reply(reply)
        if not reply.calls:
            return reply.text
        for call in reply.calls:
            conversation.add_result(wire, tools.observe(call))
