"""What capture and continuations share: the command at work, and how a stage is set up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

from revereval.agent.loop import Conversation, Tools, answer
from revereval.agent.tools import NoTools, ReadOnlyTools
from revereval.errors import PausedError
from revereval.ledger.database import Database
from revereval.ledger.pauses import pause
from revereval.ledger.recording import StageRecorder
from revereval.ledger.runs import IN_DOUBT, in_doubt
from revereval.pair.dispatch import Dispatcher, Sleep
from revereval.pair.ending import Paused
from revereval.pair.gate import Gate, Watch
from revereval.pair.plan import Plan
from revereval.pair.signals import Signals
from revereval.pair.tape import Recorded, Tape
from revereval.projection.archive import Archive
from revereval.provider.http import Client
from revereval.tasks.snapshot import Snapshot, SnapshotChangedError
from revereval.terms import Stage, StopReason, UnexecutedReason

IN_DOUBT_DETAIL = "a request was in flight when the process ended; --resend-in-doubt sends it again"


@dataclass(frozen=True)
class Work:
    """One command's plan and the real things it works with."""

    database: Database
    plan: Plan
    snapshot: Snapshot | SnapshotChangedError
    """Read once and held in memory: it cannot change between the stages of one command."""
    client: Client
    signals: Signals
    sleep: Sleep
    watch: Watch
    now: Callable[[], str]
    resend_in_doubt: bool = False
    tapes: dict[int, Tape] = field(default_factory=dict)
    """Verified once, by the run that captured it: all arms of a command replay the very same."""


class Owed(Enum):
    NOTHING = auto()
    WORK = auto()
    JUDGEMENT = auto()
    """It was interrupted with a request in flight: it is to be recorded as in doubt."""


def owed(work: Work, run_id: int, stage: Stage, reason: str | None) -> Owed:
    """What a stage with this recorded reason still needs; closes intents nobody can complete."""
    doubtful = reason == StopReason.INTERRUPTED and in_doubt(
        work.database, run_id, stage, work.now()
    )
    if doubtful or reason in IN_DOUBT:
        if work.resend_in_doubt:
            return Owed.WORK
        return Owed.JUDGEMENT if doubtful else Owed.NOTHING
    resumable = (StopReason.INTERRUPTED, UnexecutedReason.NOT_STARTED)
    return Owed.WORK if reason in resumable else Owed.NOTHING


@dataclass
class Conversing:
    """One stage's gate and agent, ready to run the loop."""

    work: Work
    run_id: int
    stage: Stage
    snapshot: Snapshot
    recorded: Recorded
    tape: Tape | None = None
    gate: Gate = field(init=False)
    dispatcher: Dispatcher = field(init=False)

    def __post_init__(self) -> None:
        work, config = self.work, self.work.plan.config
        self.recorder = StageRecorder(work.database, self.run_id, self.stage, work.now)
        self.dispatcher = Dispatcher(
            work.client, config.provider, self.recorder, work.signals, work.sleep
        )
        self.gate = Gate(
            config,
            work.plan.wire,
            work.plan.beginning,
            self.dispatcher,
            self.tape,
            self.recorded,
            work.watch,
        )

    def paused(self, ending: Paused) -> PausedError:
        """Record that the stage waits; returns what its user is told."""
        now, reason = self.work.now(), ending.reason
        pause(self.work.database, self.run_id, self.stage, reason, ending.detail, now)
        return PausedError(self.run_id, reason, ending.detail)

    def answer(self) -> str:
        """Run the loop from the opening. Raises StageEnded, SignalledError."""
        plan = self.work.plan
        archive = Archive(plan.config.projection)
        tools: Tools = ReadOnlyTools(self.snapshot.files, archive)
        if plan.config.control:
            tools = NoTools()
        conversation = Conversation(plan.head, plan.opening)
        if self.tape:
            conversation.running = self.tape.boundary.running
        return answer(conversation, plan.wire, self.gate, tools)
