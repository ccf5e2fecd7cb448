"""One request to the provider: intent, dispatch, fact, and the few retries that cost nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from revereval.canonical import canonical_bytes
from revereval.ledger.recording import Completion, Meters, NewRequest, Outcome, StageRecorder
from revereval.pair.ending import Paused, StageEnded, Stopped
from revereval.pair.signals import SignalledError, Signals
from revereval.pair.tape import Pending
from revereval.provider.http import (
    AmbiguousError,
    Client,
    DispatchError,
    FailedError,
    RawReply,
    encoded,
    failed,
    retry_after_s,
)
from revereval.provider.settings import ProviderSettings
from revereval.provider.usage import read_usage
from revereval.provider.wire import Reply, ReplyError
from revereval.terms import AttemptState, PauseReason, StopReason


class Sleep(Protocol):
    def __call__(self, seconds: float, /) -> None: ...


@dataclass
class Dispatcher:
    """Dispatches and records; what the end of a dispatch means for the stage is decided here."""

    client: Client
    settings: ProviderSettings
    recorder: StageRecorder
    signals: Signals
    sleep: Sleep
    in_flight: bool = False
    """A signal ended the wait for a reply: the request may have been billed."""

    def __post_init__(self) -> None:
        self._retrying = Retrying(
            sleep=self._wait,
            stop=stop_after_attempt(self.settings.retry.attempts),
            wait=self._wait_s,
            retry=retry_if_exception(cannot_have_been_billed),
            reraise=True,
        )

    def send(
        self,
        request: NewRequest,
        body: bytes,
        pending: Pending | None,
        read: Callable[[bytes], Reply],
        meters: Meters | None,
    ) -> tuple[Reply, int]:
        """The reply as `read` parses it, and the request's id. Raises StageEnded, SignalledError.

        pending: this very request when it was recorded before and never completed.
        meters: the arm's counters once this request is completed.
        """
        if pending and pending.ends_with not in (None, StopReason.AMBIGUOUS_DISPATCH):
            raise Stopped(pending.ends_with, pending.problem)
        self.signals.check()
        attempt_id: int | None
        if pending is None:
            number = 1
            request_id, attempt_id = self.recorder.intend(request)
        else:
            number = pending.attempts + 1
            request_id = pending.request_id
            attempt_id = self.recorder.intend_again(request_id, number)

        def once() -> Reply:
            nonlocal attempt_id, number
            if attempt_id is None:
                number += 1
                attempt_id = self.recorder.intend_again(request_id, number)
            this, attempt_id = attempt_id, None
            return self._attempt(request_id, this, body, read, meters)

        try:
            return self._retrying(once), request_id
        except DispatchError as error:
            raise _ending(error) from None

    def _attempt(
        self,
        request_id: int,
        attempt_id: int,
        body: bytes,
        read: Callable[[bytes], Reply],
        meters: Meters | None,
    ) -> Reply:
        try:
            with self.signals.interruptible():
                raw = self.client.dispatch(body)
        except SignalledError as error:
            self.in_flight = error.waiting
            state = AttemptState.AMBIGUOUS if error.waiting else AttemptState.FAILED
            said = str(error) if error.waiting else f"not sent: {error}"
            self.recorder.fail(attempt_id, Outcome(state, problem=said))
            raise
        except DispatchError as error:
            raise self._failed(attempt_id, error) from None
        try:
            reply = read(raw.data)
        except ReplyError as error:
            raise self._failed(attempt_id, _no_turn(raw, error)) from None
        outcome = Outcome(AttemptState.COMPLETED, raw.status, reply=raw.data)
        completion = _completion(reply, self.settings)
        self.recorder.complete(request_id, attempt_id, outcome, completion, meters)
        return reply

    def _failed(self, attempt_id: int, error: DispatchError) -> DispatchError | StageEnded:
        """Record the attempt; an overlong demanded wait pauses the run instead of a retry."""
        ambiguous = isinstance(error, AmbiguousError)
        ending = _ending(error)
        asked = error.retry_after if isinstance(error, FailedError) else None
        outcome = Outcome(
            AttemptState.AMBIGUOUS if ambiguous else AttemptState.FAILED,
            error.status,
            str(error),
            asked,
            error.reply,
            ending.reason if isinstance(ending, Stopped) else None,
        )
        self.recorder.fail(attempt_id, outcome)
        wait = retry_after_s(asked, datetime.now(UTC)) or 0.0
        if cannot_have_been_billed(error) and wait > self.settings.retry.max_wait_s:
            limit = self.settings.retry.max_wait_s
            problem = f"{error}; the server asks to wait {wait:.0f} s (at most {limit:.0f} allowed)"
            return Paused(PauseReason.LONG_WAIT, problem)
        return error

    def _wait(self, seconds: float) -> None:
        with self.signals.interruptible():
            self.sleep(seconds)

    def _wait_s(self, state: RetryCallState) -> float:
        """The server's wait where it names one, else twice as long each time."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, FailedError) else None
        retry = self.settings.retry
        own = retry.first_wait_s * 2.0 ** (state.attempt_number - 1)
        named = retry_after_s(asked, datetime.now(UTC))
        return min(own if named is None else named, retry.max_wait_s)


def cannot_have_been_billed(error: BaseException) -> bool:
    """Connection refused, 429 and 503: the only failures that are sent again."""
    return isinstance(error, FailedError) and error.retryable


def _ending(error: DispatchError) -> StageEnded:
    if not isinstance(error, FailedError):
        return Stopped(StopReason.AMBIGUOUS_DISPATCH, str(error))
    if isinstance(error.means, PauseReason):
        return Paused(error.means, str(error))
    return Stopped(error.means, str(error))


def _no_turn(raw: RawReply, error: ReplyError) -> DispatchError:
    """What a 200 means that is no turn: one that cannot be read may be one all the same."""
    if error.unreadable:
        problem = f"{error}{encoded(raw.encoding)}; it may have been billed"
        return AmbiguousError(problem, raw.status, raw.data)
    return failed(str(error), raw.status, raw.data, error.error, retry_after=raw.retry_after)


def _completion(reply: Reply, settings: ProviderSettings) -> Completion:
    usage = dict(vars(read_usage(reply.raw_usage, settings.usage_convention)))
    flags = " ".join(usage.pop("flags"))
    estimated = usage.pop("estimated")
    raw = None if reply.raw_usage is None else canonical_bytes(reply.raw_usage).decode()
    model = None if reply.model is None else reply.model[:200]
    return Completion(
        reply_model=model,
        usage_estimated=estimated,
        usage_flags=flags,
        usage_raw=raw,
        possibly_cut=reply.possibly_cut,
        **usage,
    )
