"""How far the scripted readers get in a task: captures in memory, without a ledger or a client."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from revereval.agent.loop import Conversation, answer
from revereval.agent.tools import ReadOnlyTools
from revereval.pair.annotations import reader_task
from revereval.pair.config import Config
from revereval.pair.plan import Plan, make_plan
from revereval.pair.view import Viewer
from revereval.projection.archive import Archive
from revereval.provider.reader import READERS, ReaderSettings
from revereval.provider.scripted import ROOT, ScriptedApp
from revereval.provider.wire import Reply, Wire
from revereval.terms import CaptureOutcome, Reader


def boundary_readers(tasks_dir: Path, task_id: str, files: Mapping[str, str]) -> tuple[Reader, ...]:
    """The readers that reach a boundary in a task under the default config.

    files: those of its snapshot. Raises InputError for a task that does not load.
    """
    plan = make_plan(tasks_dir, task_id, Config())
    return tuple(
        name
        for name, settings in READERS.items()
        if rehearse(plan, files, settings) is CaptureOutcome.BOUNDARY
    )


def rehearse(plan: Plan, files: Mapping[str, str], reader: ReaderSettings) -> CaptureOutcome:
    """What a plan's capture comes to when this reader answers it."""
    config = plan.config
    gate = _Rehearsal(
        plan.wire,
        ScriptedApp([reader_task(plan.task)], reader),
        Viewer(plan.wire, config.projection, project=False),
        config.limits.prefix_requests,
    )
    tools = ReadOnlyTools(files, Archive(config.projection))
    try:
        answer(Conversation(plan.head, plan.opening), plan.wire, gate, tools)
    except _EndedError as ended:
        return ended.outcome
    return CaptureOutcome.FINISHED


class _EndedError(Exception):
    def __init__(self, outcome: CaptureOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass
class _Rehearsal:
    """The gate of a capture that nobody records."""

    wire: Wire
    app: ScriptedApp
    viewer: Viewer
    left: int
    """Requests until the prefix cap."""

    def send(self, conversation: Conversation) -> Reply:
        view = self.viewer.prepare(conversation)
        if view.eligible:
            raise _EndedError(CaptureOutcome.BOUNDARY)
        if not self.left:
            raise _EndedError(CaptureOutcome.STOPPED)
        self.left -= 1
        _, raw = self.app.respond(ROOT + self.wire.path, view.body.data)
        self.viewer.completed()
        return self.wire.read_reply(
            raw, conversation.turns, conversation.call_ids, echo_unknown=True
        )
