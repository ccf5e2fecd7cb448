"""Token usage as a provider reports it: each count is known, zero or unknown, never mixed up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from revereval.terms import EXCESS_TOTAL, UsageConvention


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply; None is unknown. `flags` names each contradiction in the raw fields."""

    input_tokens: int | None = None
    """Total input, cached tokens included under either convention."""
    cached_tokens: int | None = None
    """C."""
    uncached_tokens: int | None = None
    """U = total input - C; None when either is unknown or they contradict each other."""
    cache_write_tokens: int | None = None
    """Part of U, where a provider reports writes apart."""
    output_tokens: int | None = None
    """O, reasoning included."""
    reasoning_tokens: int | None = None
    estimated: bool = False
    """The reply calls them an estimate, as the scripted reader's does."""
    flags: tuple[str, ...] = ()


def read_usage(raw: object, convention: UsageConvention) -> Usage:
    """Normalise the `usage` object of a Chat Completions or Responses reply.

    Sources: the `usage` objects of both API references, the vendor pair
    `prompt_cache_hit_tokens`/`prompt_cache_miss_tokens`, and the `cache_read_input_tokens`/
    `cache_creation_input_tokens` fields. Under `cached_apart` the input field leaves out cache
    reads and writes, which are added; a provider that has no write field writes no cache.
    """
    if not isinstance(raw, dict):
        return Usage()
    flags: list[str] = []
    inputs = _agreed(raw, flags, "input", [("prompt_tokens",), ("input_tokens",)])
    output = _agreed(raw, flags, "output", [("completion_tokens",), ("output_tokens",)])
    cached = _agreed(raw, flags, "cached", _CACHED)
    write = _agreed(raw, flags, "cache_write", [("cache_creation_input_tokens",)])
    reasoning = _agreed(raw, flags, "reasoning", _REASONING)
    if convention is UsageConvention.CACHED_APART:
        inputs = _sum(inputs, cached, write if "cache_creation_input_tokens" in raw else 0)
    uncached = None if inputs is None or cached is None else inputs - cached
    if uncached is not None and uncached < 0:
        flags.append("cached_exceeds_input")
        uncached = None
    miss = _count(raw, ("prompt_cache_miss_tokens",), flags)
    if miss is not None and uncached is not None and miss != uncached:
        flags.append("cache_miss_conflict")
        uncached = None
    if output is not None and reasoning is not None and reasoning > output:
        flags.append("reasoning_exceeds_output")
    total = _count(raw, ("total_tokens",), flags)
    parts = _sum(inputs, output)
    if total is not None and parts is not None and total > parts:
        flags.append(EXCESS_TOTAL)
    estimated = raw.get("estimated") is True
    unique = tuple(dict.fromkeys(flags))
    return Usage(inputs, cached, uncached, write, output, reasoning, estimated, unique)


_CACHED: list[tuple[str, ...]] = [
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),
    ("cache_read_input_tokens",),
]
_REASONING: list[tuple[str, ...]] = [
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
]


def _agreed(
    raw: Mapping[str, Any], flags: list[str], name: str, paths: list[tuple[str, ...]]
) -> int | None:
    """The one value that all reported fields of a meaning share; a conflict is flagged unknown."""
    counts = {count for path in paths if (count := _count(raw, path, flags)) is not None}
    if len(counts) > 1:
        flags.append(f"{name}_conflict")
    return counts.pop() if len(counts) == 1 else None


def _count(raw: Mapping[str, Any], path: tuple[str, ...], flags: list[str]) -> int | None:
    value: Any = raw
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < 2**53:
        flags.append(f"not_a_count:{path[-1]}")
        return None
    return value


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
