"""Provider settings as a config file gives them; all of them are part of the plan."""

import os
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from revereval.canonical import canonical_bytes
from revereval.errors import InputError
from revereval.provider.address import checked_url
from revereval.provider.reader import ReaderSettings
from revereval.provider.wire import WIRES
from revereval.terms import UsageConvention
from revereval.validated_toml import Strict

_OURS = frozenset({"model", "messages", "input", "tools", "stream", "store", "include"})
LONGEST_S = 1e6
"""Seconds; sockets take no wait of more than 2**31 milliseconds."""


class RetrySettings(Strict):
    """Retries of what cannot have been billed: connection refused, 429, 503."""

    attempts: int = Field(default=4, ge=1, le=20)
    first_wait_s: float = Field(default=0.5, ge=0, le=LONGEST_S)
    """Doubled for each further attempt, up to `max_wait_s`, unless the server names its wait."""
    max_wait_s: float = Field(default=60.0, ge=0, le=LONGEST_S)
    """A server that demands more pauses the run, as does the last attempt's failure."""


class ProviderSettings(Strict):
    """One endpoint and how it is spoken to."""

    kind: Literal["openai-chat", "openai-responses", "scripted"] = "scripted"
    model: str = Field(default="scripted", min_length=1)
    base_url: str = "http://scripted.invalid/v1"
    """Up to and including the version; the embedded reader needs none."""
    api_key_env: str | None = None
    """The environment variable that holds the key; the key itself is nowhere else."""
    wire: Literal["chat", "responses"] = "chat"
    """Protocol of the embedded reader; the other kinds name theirs."""
    sampling: dict[str, Any] = Field(default_factory=dict)
    """Further body fields, sent as they are: temperature, max_completion_tokens and the like."""
    echo_unknown: bool = True
    """Send assistant fields we do not know, reasoning included, back as received."""
    usage_convention: Annotated[UsageConvention, Field(strict=False)] = (
        UsageConvention.CACHED_IN_INPUT
    )
    connect_timeout_s: float = Field(default=10.0, gt=0, le=LONGEST_S)
    read_timeout_s: float = Field(default=600.0, gt=0, le=LONGEST_S)
    max_reply_bytes: int = Field(default=32 * 2**20, ge=1024)
    retry: RetrySettings = RetrySettings()
    reader: ReaderSettings = ReaderSettings()
    """Of the scripted reader."""

    @field_validator("sampling")
    @classmethod
    def _not_ours(cls, sampling: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(_OURS & sampling.keys()):
            raise ValueError(f"{', '.join(taken)} cannot be set here")
        try:
            canonical_bytes(sampling)
        except (ValueError, TypeError):
            raise ValueError("only what JSON can say: no dates, no NaN, no infinity") from None
        return sampling

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str) -> str:
        url = url.rstrip("/")
        try:
            parts = urlsplit(url)
            usable = parts.port != 0 and url.isprintable() and " " not in url
        except ValueError:
            usable = False
        if not usable or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an http or https URL")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("no user, key or query in the URL: name a variable in api_key_env")
        checked_url(url)
        for wire in WIRES.values():
            if parts.path.endswith(f"/{wire.path}"):
                raise ValueError(f"ends in /{wire.path}, which is added to it: leave that out")
        return url

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "ProviderSettings":
        missing = {"base_url", "model"} - self.model_fields_set
        if self.kind != "scripted" and missing:
            raise ValueError(f"kind = {self.kind!r} needs {' and '.join(sorted(missing))}")
        if self.kind != "scripted" and "wire" in self.model_fields_set:
            raise ValueError(f"wire is fixed by kind = {self.kind!r}")
        return self

    @property
    def protocol(self) -> str:
        """Key of `wire.WIRES`."""
        return self.wire if self.kind == "scripted" else self.kind.removeprefix("openai-")


def api_key(settings: ProviderSettings, source: str) -> str | None:
    """The secret from the environment. Raises InputError when it is missing or cannot be sent."""
    if settings.api_key_env is None:
        return None
    key = os.environ.get(settings.api_key_env, "")
    field = "provider.api_key_env"
    if not key:
        raise InputError(source, field, f"the variable {settings.api_key_env} is not set")
    if not (key.isascii() and key.isprintable() and " " not in key):
        problem = f"the value of {settings.api_key_env} has characters no key can have"
        raise InputError(source, field, problem)
    return key
