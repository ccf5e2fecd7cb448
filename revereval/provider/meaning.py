"""What an error answer means: an ending of its stage, a wait, or that nobody knows what was done.

The one rule is where the work could have been done. Nothing was done where the request was turned
away: no credit, no access, too many requests, an overloaded server, any other 4xx. The API that
would have done the work is believed when its own error object says that it failed. Somebody on the
way who did not hear from it (408, 499, 502, 504, 520 and up) cannot know, nor does a 5xx or a 2xx
without that object say anything: the work may have been done, and billed.
"""

import re

from revereval.provider.error_body import WireError
from revereval.terms import PauseReason, StopReason

Meaning = StopReason | PauseReason

RETRIED = frozenset({PauseReason.NO_CONNECTION, PauseReason.RATE_LIMITED, PauseReason.UNAVAILABLE})
"""Sent again a few times before the run waits: nothing can have been billed, and it may pass."""

_NO_CREDIT = frozenset(
    {
        "insufficient_quota", "insufficient_user_quota", "insufficient_balance",
        "insufficient_credits", "exceeded_current_quota_error", "billing_hard_limit_reached",
        "billing_not_active", "billing_error", "arrearage",
    }
)  # fmt: skip
_OVERFLOW = frozenset(
    {
        "context_length_exceeded", "string_above_max_length", "request_too_large",
        "exceed_context_size_error", "model_context_window_exceeded",
    }
)  # fmt: skip
_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_RATE_LIMITED = frozenset({"429", "rate_limit_exceeded"})
_OVERLOADED = frozenset({"503", "overloaded_error"})
_BY_STATUS: dict[int, Meaning] = {
    401: PauseReason.ACCESS_DENIED,
    403: PauseReason.ACCESS_DENIED,
    407: PauseReason.ACCESS_DENIED,
    402: PauseReason.NO_CREDIT,
    429: PauseReason.RATE_LIMITED,
    503: PauseReason.UNAVAILABLE,
}
_ON_THE_WAY = frozenset({408, 499, 502, 504, *range(520, 529), 530, 598, 599})

_OVERFLOW_STATUS = frozenset({200, 400, 413, 422, 500})
_OVERFLOW_WORDS = re.compile(
    r"maximum (context|model) length|prompt is too long"
    r"|(longer than|exceed\w*)\b.{0,60}\bcontext (length|size|window)"
    r"|context (length|size|window)\b.{0,40}\bexceed",
    re.IGNORECASE | re.DOTALL,
)
"""vLLM, SGLang, llama.cpp and Anthropic say it in words beside a code that says only 400."""
_NO_CREDIT_STATUS = frozenset({200, 400, 403, 429})
_NO_CREDIT_WORDS = re.compile(
    r"credit balance is too low|insufficient (account )?balance|insufficient credits", re.IGNORECASE
)


def meaning(status: int, error: WireError, said: str) -> Meaning:
    """status: of the answer. error: its body's own error object. said: its words, of any form.

    Inside a 200 a code that is a status stands for it. Returns a PauseReason where nothing was
    billed and nothing is decided, AMBIGUOUS_DISPATCH where it may have been billed.
    """
    codes = {code.lower() for code in error.codes}
    inner = next((int(code) for code in codes if re.fullmatch("[45][0-9][0-9]", code)), status)
    told = inner if status == 200 else status
    if codes & _NO_CREDIT or (told in _NO_CREDIT_STATUS and _NO_CREDIT_WORDS.search(said)):
        return PauseReason.NO_CREDIT
    if codes & _OVERFLOW or (told in _OVERFLOW_STATUS and _OVERFLOW_WORDS.search(said)):
        return StopReason.CONTEXT_OVERFLOW
    if codes & _FILTERED:
        return StopReason.CONTENT_FILTER
    if codes & _RATE_LIMITED:
        return PauseReason.RATE_LIMITED
    if codes & _OVERLOADED:
        return PauseReason.UNAVAILABLE
    if told in _BY_STATUS:
        return _BY_STATUS[told]
    says_nothing = error == WireError() and (status >= 500 or 200 < status < 300)
    if status in _ON_THE_WAY or says_nothing:
        return StopReason.AMBIGUOUS_DISPATCH
    return StopReason.PROVIDER_ERROR
