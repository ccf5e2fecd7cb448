"""The closed lists of revereval and the success interval of each endpoint (DESIGN §1, §4)."""

from enum import StrEnum
from typing import Final

SUFFIX_CAP: Final = 12
"""K: suffix requests a continuation may complete."""
IMPORTED: Final = "imported:"
"""What the treatment of an imported row begins with that does not say its own: its file's digest
follows."""

EXCESS_TOTAL: Final = "total_exceeds_parts"
"""The usage flag of a total that is more than input and output together."""


class ArmName(StrEnum):
    F = "F"
    """Full observations."""
    P = "P"
    """Projected observations."""

    @property
    def companion(self) -> "ArmName":
        return ArmName.P if self is ArmName.F else ArmName.F


class Stage(StrEnum):
    """Who sent a request: the capture or one of the two continuations."""

    CAPTURE = "capture"
    F = "F"
    P = "P"


class Endpoint(StrEnum):
    CORRECT = "correct"
    WRONG = "wrong"
    CAPPED = "capped"
    STOPPED = "stopped"
    UNEXECUTED = "unexecuted"


class StopReason(StrEnum):
    """Why a capture or an arm ended before its cap without an answer."""

    BUDGET = "budget"
    AMBIGUOUS_DISPATCH = "ambiguous_dispatch"
    PROVIDER_ERROR = "provider_error"
    PREFIX_MISMATCH = "prefix_mismatch"
    SEAL_BROKEN = "seal_broken"
    SNAPSHOT_CHANGED = "snapshot_changed"
    INTERRUPTED = "interrupted"
    IN_DOUBT = "in_doubt"
    CONTEXT_OVERFLOW = "context_overflow"
    OUTPUT_LIMIT = "output_limit"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    REASONING_ONLY = "reasoning_only"
    """The reply holds reasoning, and neither an answer nor a call."""
    FUNCTION_CALL = "function_call"
    """The reply asks for a function in the form that tool calls replaced."""
    GIVEN_UP = "given_up"
    """It was paused, and the user said that it is not to be taken up again."""
    PREFIX_CAP = "prefix_cap"
    """Captures only: the prefix cap was reached before anything was eligible."""


class PauseReason(StrEnum):
    """Why a run waits: nothing was billed and nothing decided, and the next start goes on."""

    NO_CONNECTION = "no_connection"
    """Refused, unreachable, or a name that cannot be looked up."""
    ACCESS_DENIED = "access_denied"
    """401, 403 or, by a proxy, 407."""
    NO_CREDIT = "no_credit"
    RATE_LIMITED = "rate_limited"
    """429 until the retries were used up."""
    UNAVAILABLE = "unavailable"
    """503, or overloaded by the server's own word, until the retries were used up."""
    REDIRECTED = "redirected"
    """Somebody on the way, a login page perhaps, sends us elsewhere: a redirect is not followed."""
    LONG_WAIT = "long_wait"
    """The server demands a longer wait than `retry.max_wait_s`."""


INTEGRITY_FAULTS: Final = frozenset(
    {StopReason.PREFIX_MISMATCH, StopReason.SEAL_BROKEN, StopReason.SNAPSHOT_CHANGED}
)
"""They stop a run under either schedule: nothing after them can be trusted."""


class UnexecutedReason(StrEnum):
    NOT_STARTED = "not_started"
    COMPANION_RULE = "companion_rule"
    """`companion = "after_answer"` and the first arm returned no final answer."""
    PREFIX_MISMATCH = "prefix_mismatch"
    SEAL_BROKEN = "seal_broken"
    SNAPSHOT_CHANGED = "snapshot_changed"
    GIVEN_UP = "given_up"
    """Its run was given up while another stage of it waited."""


class CaptureOutcome(StrEnum):
    BOUNDARY = "boundary"
    FINISHED = "finished"
    """Answered before anything was eligible."""
    STOPPED = "stopped"


class DecisionReason(StrEnum):
    """Why an observation is or is not projected in one request; exactly one holds."""

    ERROR = "error"
    ARCHIVE_RESULT = "archive_result"
    SMALL = "small"
    RECENT = "recent"
    EXPOSURES = "exposures"
    NO_SAVING = "no_saving"
    ELIGIBLE = "eligible"
    ALREADY_PROJECTED = "already_projected"


class Contract(StrEnum):
    EXTRACTED = "extracted"
    STRICT = "strict"


class KeyScore(StrEnum):
    """What an answer says for one key of the gold; endpoints stay all or nothing."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSING = "missing"


class EndpointDefinition(StrEnum):
    REQUEST = "request"
    JOINT = "joint"
    """Correct within K requests and within the budget: a budget stop is a failure."""


class ControlKind(StrEnum):
    """A plan that is no treatment: what the task yields without what is studied."""

    CLOSED_BOOK = "closed_book"
    """No tools: what the model answers from memory."""


class Companion(StrEnum):
    ALWAYS = "always"
    AFTER_ANSWER = "after_answer"


class AttemptState(StrEnum):
    INTENT = "intent"
    """Committed before a byte leaves; still so at the next start means in doubt."""
    COMPLETED = "completed"
    FAILED = "failed"
    """An error reply, or no connection: no turn of the conversation."""
    AMBIGUOUS = "ambiguous"
    """It left, and no reply came back that is whole, can be read and says that nothing was done:
    it may have been billed."""
    IN_DOUBT = "in_doubt"
    """The process died between intent and reply."""


class ArchiveOutcome(StrEnum):
    OK = "ok"
    ALLOWANCE_EXHAUSTED = "allowance_exhausted"
    UNKNOWN_HANDLE = "unknown_handle"
    BAD_ARGUMENTS = "bad_arguments"


class Split(StrEnum):
    """What the tasks of a source group may be used for; a group is never divided."""

    DEVELOPMENT = "development"
    """Policies and rules are made and fitted on it."""
    CALIBRATION = "calibration"
    """Thresholds are chosen on it."""
    CONFIRMATION = "confirmation"
    """Held out for the final statement."""


class Reader(StrEnum):
    """The scripted readers under which it is known whether a task reaches a boundary."""

    DEFAULT = "default"
    DIRECT = "direct"
    """It reads no file without evidence."""
    BATCHING = "batching"
    """Direct, with up to four calls a turn."""


class UsageConvention(StrEnum):
    CACHED_IN_INPUT = "cached_in_input"
    CACHED_APART = "cached_apart"


def success_interval(
    endpoint: Endpoint, reason: str | None, definition: EndpointDefinition
) -> tuple[int, int]:
    """Bounded success [l, u] of one arm (DESIGN §4): 0 or 1 each, l <= u.

    Unknown outcomes are [0, 1]; a budget stop is a failure only under the joint endpoint.
    """
    if endpoint is Endpoint.CORRECT:
        return (1, 1)
    if endpoint in (Endpoint.WRONG, Endpoint.CAPPED):
        return (0, 0)
    budget_stop = endpoint is Endpoint.STOPPED and reason == StopReason.BUDGET
    if budget_stop and definition is EndpointDefinition.JOINT:
        return (0, 0)
    return (0, 1)
