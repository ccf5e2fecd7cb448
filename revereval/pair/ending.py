"""How a stage ends without an answer: what the gate raises, `pair` alone turns into endpoints.

StageEnded
├── BoundaryReached   capture: something could be projected in the prepared request
├── Capped            the need for one request more than the cap
├── Stopped           another reason, final
└── Paused            nothing billed and nothing decided: the run can be resumed
"""

from revereval.ledger.recording import NewRequest
from revereval.pair.view import View
from revereval.terms import PauseReason, StopReason


class StageEnded(Exception):  # noqa: N818 - an ending is no error
    pass


class BoundaryReached(StageEnded):
    def __init__(self, view: View, request: NewRequest) -> None:
        super().__init__("the boundary")
        self.view, self.request = view, request


class Capped(StageEnded):
    pass


class Stopped(StageEnded):
    def __init__(self, reason: StopReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class Paused(StageEnded):
    def __init__(self, reason: PauseReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail
