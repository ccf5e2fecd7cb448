"""One dispatch over HTTP, and what its end means: a turn, a failure, or nobody knows.

DispatchError
├── FailedError        an error reply: no turn; `retryable` where nothing can have been billed
│   ├── NoCreditError        nothing may be spent any more
│   └── ContextOverflowError the request is longer than the model's context
└── AmbiguousError     the request left and no whole reply came back: never sent again by itself
"""

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from revereval.provider.settings import ProviderSettings
from revereval.provider.wire import error_code

KEEPALIVE_S = 2.0
"""Shorter than any server's we know of, so that an idle connection is not reused as it closes."""

_NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
_OVERFLOW = frozenset({"context_length_exceeded", "string_above_max_length", "request_too_large"})
_RETRYABLE_STATUS = frozenset({429, 503})


@dataclass(frozen=True)
class RawReply:
    """A whole reply with status 200, secrets redacted."""

    status: int
    data: bytes


class DispatchError(Exception):
    """`reply` is the raw body where one came back; `status` its HTTP status."""

    def __init__(self, problem: str, status: int | None = None, reply: bytes | None = None) -> None:
        super().__init__(problem)
        self.status, self.reply = status, reply


class FailedError(DispatchError):
    def __init__(
        self,
        problem: str,
        status: int | None = None,
        reply: bytes | None = None,
        *,
        retryable: bool = False,
        retry_after: str | None = None,
    ) -> None:
        super().__init__(problem, status, reply)
        self.retryable, self.retry_after = retryable, retry_after


class NoCreditError(FailedError):
    pass


class ContextOverflowError(FailedError):
    pass


class AmbiguousError(DispatchError):
    pass


class Client:
    """Sends request bodies to one endpoint. Transport retries are off: one dispatch a call."""

    def __init__(
        self,
        settings: ProviderSettings,
        path: str,
        key: str | None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._settings = settings
        self._url = httpx.URL(f"{settings.base_url}/{path}")
        self._key = key
        # identity, so that the bytes that are stored are the bytes that came
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(settings.read_timeout_s, connect=settings.connect_timeout_s),
            limits=httpx.Limits(max_connections=1, keepalive_expiry=KEEPALIVE_S),
            transport=transport,
        )

    def close(self) -> None:
        self._client.close()

    def dispatch(self, body: bytes) -> RawReply:
        """Send one request. Raises FailedError or AmbiguousError; both say what happened."""
        deadline = time.monotonic() + self._settings.read_timeout_s
        try:
            with self._client.stream("POST", self._url, content=body) as response:
                data = self._read(response, deadline)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            problem = f"cannot connect to {self._url}: {error or type(error).__name__}"
            raise FailedError(problem, retryable=True) from None
        except httpx.HTTPError as error:
            problem = f"no whole reply: {type(error).__name__}: {self._redacted(str(error))}"
            raise AmbiguousError(problem) from None
        if response.status_code != 200:
            raise _refused(response, data, self._settings)
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/event-stream"):
            raise FailedError("the reply is an event stream, asked for was a plain one", 200, data)
        return RawReply(200, data)

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        chunks, size = [], 0
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > self._settings.max_reply_bytes:
                limit = self._settings.max_reply_bytes
                raise FailedError(f"the reply is longer than {limit} bytes", response.status_code)
            if time.monotonic() > deadline:
                raise AmbiguousError("the reply did not end within read_timeout_s")
            chunks.append(chunk)
        return self._redact(b"".join(chunks))

    def _redact(self, data: bytes) -> bytes:
        """A server may echo the key in an error body; it is stored nowhere."""
        return data.replace(self._key.encode(), b"[redacted]") if self._key else data

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "[redacted]") if self._key else text


def _refused(response: httpx.Response, data: bytes, settings: ProviderSettings) -> FailedError:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    status = response.status_code
    hint = ""
    if status == 401 or status == 403:
        hint = f"; the key comes from {settings.api_key_env or 'no variable: set api_key_env'}"
    if status == 404:
        hint = "; check provider.base_url and provider.model"
    retry_after = response.headers.get("retry-after")
    return failed(f"HTTP {status} from {settings.base_url}", status, data, error_code(body),
                  retry_after=retry_after, hint=hint)  # fmt: skip


def failed(
    problem: str,
    status: int,
    reply: bytes,
    code: str,
    *,
    retry_after: str | None = None,
    hint: str = "",
) -> FailedError:
    """Class an error reply by its status and its body's code."""
    said = f"{problem} ({code}){hint}" if code else f"{problem}{hint}"
    if code in _NO_CREDIT or status == 402:
        return NoCreditError(said, status, reply)
    if code in _OVERFLOW:
        return ContextOverflowError(said, status, reply)
    retryable = status in _RETRYABLE_STATUS or code in {"429", "503", "rate_limit_exceeded"}
    return FailedError(said, status, reply, retryable=retryable, retry_after=retry_after)


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds a `Retry-After` header asks for (RFC 9110, 10.2.3); None where it says nothing.

    Never raises: fractions are taken, what lies in the past is 0, junk is nothing.
    """
    if value is None:
        return None
    try:
        # Python's float takes other scripts' digits and underscores; a header does not
        seconds = float(value) if value.isascii() and "_" not in value else _until(value, now)
    except ValueError:
        seconds = _until(value, now)
    if seconds != seconds or seconds == float("inf"):
        return None
    return max(0.0, seconds)


def _until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, IndexError, TypeError, OverflowError):
        return float("nan")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()
