"""What the tests of the scripted provider share: made-up sources, a small gate and a server."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from revereval.agent.loop import Conversation, answer
from revereval.agent.prompt import SYSTEM
from revereval.agent.tools import ReadOnlyTools, tool_specs
from revereval.projection.archive import Archive
from revereval.projection.policy import Observation, ProjectionConfig, decide
from revereval.provider.body import Item, head
from revereval.provider.reader import ReaderKey, ReaderSpan, ReaderTask
from revereval.provider.scripted import ScriptedApp
from revereval.provider.scripted_server import serve
from revereval.provider.wire import WIRES, Reply

Post = Callable[[str, bytes], bytes]
"""(path, request body) -> the body of a reply with status 200."""


def source(name: str, kib: int) -> str:
    """About `kib` KiB of lines, each of them unique."""
    text, number = "", 0
    while len(text) < kib * 1024:
        number += 1
        text += f"def {name}_{number}(value):  # of {name}.py\n"
    return text


FILES = {
    "pkg/alpha.py": source("alpha", 14),
    "pkg/beta.py": source("beta", 12),
    "pkg/gamma.py": source("gamma", 16),
    "pkg/long.py": source("long", 60),
    "pkg/small.py": source("small", 3),
    "pkg/other.py": source("other", 2),
}
GOLD = {"one": "gold-one-7f3a", "two": 90210, "three": ["gold-three-c41d"], "four": True}
GUESSES = {"one": "", "two": 0, "three": [], "four": False}


def span(file: str, line: int, lines: int = 3, after: tuple[str, ...] = ()) -> ReaderSpan:
    text = "\n".join(FILES[file].split("\n")[line - 1 : line - 1 + lines])
    return ReaderSpan(file, line, text, after)


SPANS = {
    "one": (span("pkg/alpha.py", 200), span("pkg/small.py", 7)),
    "two": (span("pkg/beta.py", 170),),
    "three": (span("pkg/gamma.py", 220),),
}
"""Three keys that rest on the middle of three big files."""


def make_task(
    spans: Mapping[str, tuple[ReaderSpan, ...]] = SPANS, opening: str = "What is it?"
) -> ReaderTask:
    """A task over FILES."""
    keys = {name: ReaderKey(GOLD[name], GUESSES[name], spans[name]) for name in spans}
    return ReaderTask(opening, tuple(FILES), keys)


@dataclass
class SmallGate:
    """Projects as P does when it has a config, keeps what it sent, and stops after `cap`."""

    post: Post
    wire_name: str
    config: ProjectionConfig | None
    cap: int
    bodies: list[bytes] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    _exposures: list[int] = field(default_factory=list)
    _projected: dict[int, str] = field(default_factory=dict)

    def send(self, conversation: Conversation) -> Reply:
        if len(self.bodies) == self.cap:
            raise CappedError
        wire = WIRES[self.wire_name]
        self.bodies.append(conversation.body.with_items(self._shortened(conversation)).data)
        raw = self.post(f"/v1/{wire.path}", self.bodies[-1])
        self._exposures = [
            count + (position not in self._projected)
            for position, count in enumerate(self._exposures)
        ]
        self.replies.append(
            wire.read_reply(raw, conversation.turns, conversation.call_ids, echo_unknown=True)
        )
        return self.replies[-1]

    def _shortened(self, conversation: Conversation) -> dict[int, Item]:
        self._exposures += [0] * (len(conversation.results) - len(self._exposures))
        if self.config is None:
            return {}
        seen = [
            Observation(r.call.name, r.text, r.error is not None, r.archive is not None)
            for _, r in conversation.results
        ]
        for position, decision in enumerate(
            decide(seen, self._exposures, self._projected, self.config)
        ):
            if decision.text is not None:
                self._projected[position] = decision.text
        indices = [index for index, _ in conversation.results]
        return {
            indices[position]: WIRES[self.wire_name].with_text(
                conversation.items[indices[position]], text
            )
            for position, text in self._projected.items()
        }


class CappedError(Exception):
    """The agent needed more requests than the gate's cap."""


@dataclass(frozen=True)
class Run:
    answer: Any
    """The decoded answer, None when the run was capped."""
    bodies: list[bytes]
    calls: list[tuple[str, Mapping[str, Any]]]
    replies: list[Reply]


def run(
    task: ReaderTask,
    post: Post,
    *,
    wire: str = "chat",
    project: bool = False,
    cap: int = 24,
    files: Mapping[str, str] = FILES,
    config: ProjectionConfig | None = None,
) -> Run:
    """The real agent loop over the real tools, with full or with projected observations."""
    policy = config or ProjectionConfig.model_validate({})
    protocol = WIRES[wire]
    opening = [protocol.message("system", SYSTEM), protocol.message("user", task.opening)]
    settings = head(protocol.settings("scripted", tool_specs(policy)), protocol.items_field)
    gate = SmallGate(post, wire, policy if project else None, cap)
    tools = ReadOnlyTools(files, Archive(policy))
    try:
        final = json.loads(answer(Conversation(settings, opening), protocol, gate, tools))
    except CappedError:
        final = None
    calls = [(call.name, call.arguments) for reply in gate.replies for call in reply.calls]
    return Run(final, gate.bodies, calls, gate.replies)


def in_process(app: ScriptedApp) -> Post:
    def post(path: str, body: bytes) -> bytes:
        status, data = app.respond(path, body)
        assert status == 200, data
        return data

    return post


@contextmanager
def running(app: ScriptedApp) -> Iterator[str]:
    """The root URL of the app on a loopback port."""
    with serve(app, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
