"""What one request shows: full or projected observations, and the decision behind each."""

from collections.abc import Sequence
from dataclasses import dataclass

from revereval.agent.loop import Conversation
from revereval.agent.tools import ToolResult
from revereval.projection.policy import Decision, Observation, ProjectionConfig, decide
from revereval.provider.body import Body, Item
from revereval.provider.wire import Wire
from revereval.terms import DecisionReason

METER_BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class View:
    """A prepared request: the body that would be sent and the decisions that made it."""

    body: Body
    results: Sequence[tuple[int, ToolResult]]
    observations: Sequence[Observation]
    decisions: Sequence[Decision]
    newly_projected: int

    @property
    def eligible(self) -> list[int]:
        """Positions of the observations that could be shortened here for the first time."""
        return [
            position
            for position, decision in enumerate(self.decisions)
            if decision.reason is DecisionReason.ELIGIBLE
        ]

    @property
    def metered_tokens(self) -> int:
        return -(-len(self.body.data) // METER_BYTES_PER_TOKEN)


class Viewer:
    """Prepares the requests of one stage in order. It changes tool-result text and nothing else."""

    def __init__(self, wire: Wire, config: ProjectionConfig, *, project: bool) -> None:
        self._wire, self._config, self._project = wire, config, project
        self._observations: list[Observation] = []
        self._exposures: list[int] = []
        self._texts: dict[int, str] = {}
        """Projected texts by observation; once made they are never made again."""
        self._items: dict[int, Item] = {}
        """The items that carry them, by index in the conversation."""

    def prepare(self, conversation: Conversation) -> View:
        for _, result in conversation.results[len(self._observations) :]:
            self._observations.append(_observation(result))
            self._exposures.append(0)
        decisions = decide(self._observations, self._exposures, self._texts, self._config)
        newly_projected = 0
        if self._project:
            for position, decision in enumerate(decisions):
                if decision.reason is DecisionReason.ELIGIBLE and decision.text is not None:
                    index, _ = conversation.results[position]
                    self._texts[position] = decision.text
                    self._items[index] = self._wire.with_text(
                        conversation.items[index], decision.text
                    )
                    newly_projected += 1
        return View(
            conversation.body.with_items(self._items),
            tuple(conversation.results),
            tuple(self._observations),
            tuple(decisions),
            newly_projected,
        )

    def completed(self) -> None:
        """Count one exposure for every observation that the last request carried in full."""
        for position in range(len(self._exposures)):
            if position not in self._texts:
                self._exposures[position] += 1


def _observation(result: ToolResult) -> Observation:
    return Observation(
        tool=result.call.name,
        text=result.text,
        is_error=result.error is not None,
        from_archive=result.archive is not None,
    )


def blanked(body: Body, wire: Wire) -> Body:
    """The body with every tool-result text empty: what F's and P's first requests must share."""
    items = (
        item if wire.result_text(item.value) is None else wire.with_text(item, "")
        for item in body.items
    )
    return Body(body.head, tuple(items))
