"""One dispatch over HTTP, and what its end means: a turn, a failure, or nobody knows.

DispatchError
├── FailedError        no turn, and the work was not done: `means` says what it is to the stage
└── AmbiguousError     the work may have been done and billed: never sent again by itself
"""

import json
import os
import re
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from revereval.provider.environment import proxy_for, tls_context
from revereval.provider.error_body import WireError, error_of, words
from revereval.provider.meaning import RETRIED, Meaning, meaning
from revereval.provider.settings import ProviderSettings
from revereval.terms import PauseReason, StopReason

SHORTEST_SECRET = 8
"""Shorter keys are placeholders for servers without keys: nothing to keep from the ledger."""

KEEPALIVE_S = 2.0
"""Shorter than any server's we know of, so that an idle connection is not reused as it closes."""

_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
"""No byte of the request left: a connection, its name or a tunnel could not be had."""


@dataclass(frozen=True)
class RawReply:
    """A whole reply with status 200, secrets redacted."""

    status: int
    data: bytes
    retry_after: str | None
    encoding: str
    """What the server encoded it with, unasked; empty where it did not."""


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
        means: Meaning = StopReason.PROVIDER_ERROR,
        retry_after: str | None = None,
    ) -> None:
        super().__init__(problem, status, reply)
        self.means, self.retry_after = means, retry_after

    @property
    def retryable(self) -> bool:
        return self.means in RETRIED


class AmbiguousError(DispatchError):
    pass


class Client:
    """Sends request bodies to one endpoint. Transport retries are off: one dispatch a call.

    transport: None for the network, with what the environment says of proxies and certificates.
    Construction raises InputError for all that would fail without a byte being sent.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        path: str,
        key: str | None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._settings = settings
        self._path = path
        self._url = httpx.URL(f"{settings.base_url}/{path}")
        self._key = _spellings(key) if key and len(key) >= SHORTEST_SECRET else None
        # identity, so that the bytes that are stored are the bytes that came
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        timeout = httpx.Timeout(settings.read_timeout_s, connect=settings.connect_timeout_s)
        self._timeout = timeout.as_dict()
        proxy = proxy_for(self._url, os.environ) if transport is None else None
        self._through = f" through the proxy of {proxy.variable}" if proxy else ""
        schemes = {self._url.scheme} | ({proxy.url.scheme} if proxy else set())
        # a plain connection needs no certificates; loading them takes 40 ms
        tls = tls_context(os.environ) if transport is None and "https" in schemes else None
        to_proxy = tls if proxy and proxy.url.scheme == "https" else None
        self._client = httpx.Client(
            headers=headers,
            timeout=timeout,
            limits=httpx.Limits(max_connections=1, keepalive_expiry=KEEPALIVE_S),
            verify=tls or False,
            proxy=httpx.Proxy(proxy.url, ssl_context=to_proxy) if proxy else None,
            trust_env=False,
            transport=transport,
        )

    def close(self) -> None:
        self._client.close()

    def dispatch(self, body: bytes) -> RawReply:
        """Send one request. Raises FailedError or AmbiguousError; both say what happened."""
        deadline, encoding = time.monotonic() + self._settings.read_timeout_s, ""
        try:
            response = self._client.send(self._request(body), stream=True)
            encoding = _encoding(response)
            with closing(response):
                data = self._read(response, deadline)
        except _NOT_SENT as error:
            said = self._redact(str(error or type(error).__name__).encode()).decode()
            problem = f"cannot connect to {self._url}{self._through}: {said}"
            raise FailedError(problem, means=PauseReason.NO_CONNECTION) from None
        except httpx.HTTPError as error:
            said = self._redact(str(error).encode()).decode()
            problem = f"no whole reply: {type(error).__name__}: {said}{encoded(encoding)}"
            raise AmbiguousError(problem) from None
        retry_after = response.headers.get("retry-after")
        if retry_after is not None:
            retry_after = self._redact(retry_after.encode()).decode()
        location = response.headers.get("location")
        if response.is_redirect and location is not None:
            raise self._redirected(response.status_code, location, data)
        if response.status_code != 200:
            raise _refused(response.status_code, data, retry_after, encoding, self._settings)
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/event-stream"):
            problem = "the reply is an event stream, asked for was a plain one"
            raise AmbiguousError(problem, 200, data)
        return RawReply(200, data, retry_after, encoding)

    def _redirected(self, status: int, location: str, data: bytes) -> FailedError:
        """Without the user and the query of the target: either may hold a secret."""
        try:
            target = self._url.join(location).copy_with(userinfo=b"", query=None, fragment=None)
            said = str(target).removesuffix("/" + self._path)
        except (httpx.InvalidURL, ValueError):
            said = "what is no URL"
        said = self._redact(said[:500].encode()).decode()
        problem = (
            f"HTTP {status} from {self._settings.base_url}: redirected to {said}; a redirect is "
            "not followed: provider.base_url must name where the API is"
        )
        return FailedError(problem, status, data, means=PauseReason.REDIRECTED)

    def _request(self, body: bytes) -> httpx.Request:
        """As `self._client.build_request` makes it, without merging what is always the same."""
        request = httpx.Request(
            "POST",
            self._url,
            headers=self._client.headers,
            content=body,
            extensions={"timeout": self._timeout},
        )
        if self._client.cookies:
            self._client.cookies.set_cookie_header(request)
        return request

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        chunks, size = [], 0
        # most replies need no decoder; one that was made in this process is read already
        as_sent = not (response.is_stream_consumed or "content-encoding" in response.headers)
        for chunk in response.iter_raw() if as_sent else response.iter_bytes():
            size += len(chunk)
            if size > self._settings.max_reply_bytes:
                limit = self._settings.max_reply_bytes
                problem = f"the reply is longer than {limit} bytes"
                raise AmbiguousError(problem, response.status_code)
            if time.monotonic() > deadline:
                raise AmbiguousError("the reply did not end within read_timeout_s")
            chunks.append(chunk)
        return self._redact(b"".join(chunks))

    def _redact(self, data: bytes) -> bytes:
        """A server may echo the key, however spelled; it is stored nowhere."""
        return self._key.sub(b"[redacted]", data) if self._key else data


def _spellings(key: str) -> re.Pattern[bytes]:
    """The key, each of its characters as itself or as a JSON string may escape it."""
    spelled = ""
    for character in key:
        escaped_slash = r"|\\/" if character == "/" else ""
        code = f"{ord(character):04x}"
        spelled += rf"(?:{re.escape(character)}|(?i:\\u{code}){escaped_slash})"
    return re.compile(spelled.encode())


def _encoding(response: httpx.Response) -> str:
    said = str(response.headers.get("content-encoding", ""))[:80]
    return "" if said.lower() == "identity" else said


def encoded(encoding: str) -> str:
    """What to add to the problem of a body that cannot be read."""
    return f"; it came encoded as {encoding!r}, which was not asked for" if encoding else ""


def _refused(
    status: int,
    data: bytes,
    retry_after: str | None,
    encoding: str,
    settings: ProviderSettings,
) -> DispatchError:
    hint = ""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body, hint = None, encoded(encoding)
    if status in (401, 403):
        hint += f"; the key comes from {settings.api_key_env or 'no variable: set api_key_env'}"
    if status == 404:
        hint += "; check provider.base_url and provider.model"
    problem = f"HTTP {status} from {settings.base_url}"
    return failed(problem, status, data, error_of(body), retry_after=retry_after, hint=hint)


def failed(
    problem: str,
    status: int,
    reply: bytes,
    error: WireError,
    *,
    retry_after: str | None = None,
    hint: str = "",
) -> DispatchError:
    """What an answer that is no turn means, by its status and by what its body says."""
    plain = words(reply) if status != 200 and error == WireError() else ""
    said = ": ".join(part for part in (*error.codes[:1], error.message or plain) if part)
    said = f"{problem} ({said}){hint}" if said else f"{problem}{hint}"
    means = meaning(status, error, error.message or plain)
    if means is StopReason.AMBIGUOUS_DISPATCH:
        return AmbiguousError(f"{said}; it may have been billed", status, reply)
    return FailedError(said, status, reply, means=means, retry_after=retry_after)


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
