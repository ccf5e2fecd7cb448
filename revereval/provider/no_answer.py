"""Replies that are neither an answer nor calls to execute: one rule for both protocols.

In this order: what the provider says ended the reply (content filter, output limit) ends the stage,
whatever else the reply holds; a non-empty list of calls is executed, unless the reply is possibly
cut and a call in it does not parse; a function asked for in the old form, a refusal, and reasoning
without text are no answers. Text beside a refusal is what came before the model declined: it is in
the record, and it is not scored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from revereval.provider.usage import read_usage
from revereval.terms import StopReason, UsageConvention

WORDS: Final[Mapping[StopReason, str]] = {
    StopReason.OUTPUT_LIMIT: "the reply was cut by the output limit",
    StopReason.CONTENT_FILTER: "the provider's content filter ended the reply",
    StopReason.REFUSAL: "the model refused to answer",
    StopReason.REASONING_ONLY: "the reply holds reasoning, and neither an answer nor a call",
    StopReason.FUNCTION_CALL: "the reply asks for a function in the form before tool calls",
}

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


@dataclass(frozen=True)
class Held:
    """What a reply holds, whatever its protocol."""

    ended: StopReason | None
    """What the provider says ended it before its own end."""
    calls: int
    unread_calls: int
    """Of the calls those whose arguments do not parse."""
    text: str
    refusal: str
    """The words with which the model declined; empty where it did not."""
    reasoning: bool
    function_call: bool
    """A function is asked for in the form before tool calls."""
    possibly_cut: bool

    @property
    def nothing(self) -> bool:
        return not (self.calls or self.text or self.refusal or self.reasoning or self.function_call)


def no_answer(held: Held) -> StopReason | None:
    """Why the reply ends its stage without an answer; None where it is one or asks for calls."""
    if held.ended is not None:
        return held.ended
    if held.calls:
        return StopReason.OUTPUT_LIMIT if held.possibly_cut and held.unread_calls else None
    if held.function_call:
        return StopReason.FUNCTION_CALL
    if held.refusal:
        return StopReason.REFUSAL
    if held.reasoning and not held.text.strip():
        return StopReason.REASONING_ONLY
    return None


def output_limit(sampling: Mapping[str, Any]) -> int | None:
    """The smallest output limit that the sampling settings ask for, in tokens; None without one."""
    asked = [sampling[name] for name in _LIMITS if type(sampling.get(name)) is int]
    return min(asked, default=None)


def possibly_cut(raw_usage: object, limit: int | None) -> bool:
    """Whether the reported output is as long as was allowed, whatever the reply says ended it."""
    if limit is None:
        return False
    output = read_usage(raw_usage, UsageConvention.CACHED_IN_INPUT).output_tokens
    return output is not None and output >= limit
