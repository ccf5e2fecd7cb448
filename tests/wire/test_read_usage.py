"""Usage fields, one by one: known, zero and unknown stay apart, and a contradiction is flagged."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.provider.usage import Usage, read_usage
from revereval.terms import UsageConvention

IN_INPUT, APART = UsageConvention.CACHED_IN_INPUT, UsageConvention.CACHED_APART


def details(cached: Any) -> dict[str, Any]:
    return {"prompt_tokens_details": {"cached_tokens": cached}}


HIT_AND_MISS = {
    "prompt_tokens": 1200,
    "prompt_cache_hit_tokens": 1000,
    "prompt_cache_miss_tokens": 200,
}

TABLE: list[tuple[str, Any, UsageConvention, Usage]] = [
    (
        "A1: details null is not zero",
        {"prompt_tokens": 900, "prompt_tokens_details": None},
        IN_INPUT,
        Usage(input_tokens=900),
    ),
    (
        "A1: a reported zero is zero",
        {"prompt_tokens": 900, **details(0)},
        IN_INPUT,
        Usage(input_tokens=900, cached_tokens=0, uncached_tokens=900),
    ),
    (
        "A1: cached null inside the details",
        {"prompt_tokens": 900, **details(None)},
        IN_INPUT,
        Usage(input_tokens=900),
    ),
    ("A1: only the output", {"completion_tokens": 40}, IN_INPUT, Usage(output_tokens=40)),
    (
        "A1: a prompt of zero once it is cached",
        {"prompt_tokens": 0, "completion_tokens": 40, **details(900)},
        IN_INPUT,
        Usage(0, 900, None, None, 40, flags=("cached_exceeds_input",)),
    ),
    (
        "A1: all null",
        {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
        IN_INPUT,
        Usage(),
    ),
    ("no usage", None, IN_INPUT, Usage()),
    ("usage of another type", [1, 2], IN_INPUT, Usage()),
    ("A2: the vendor pair", HIT_AND_MISS, IN_INPUT, Usage(1200, 1000, 200)),
    (
        "A2: both shapes, equal, counted once",
        {**HIT_AND_MISS, **details(1000)},
        IN_INPUT,
        Usage(1200, 1000, 200),
    ),
    (
        "A2: both shapes, different",
        {**HIT_AND_MISS, **details(700)},
        IN_INPUT,
        Usage(1200, None, None, flags=("cached_conflict",)),
    ),
    (
        "A2: hit and miss do not add up",
        {**HIT_AND_MISS, "prompt_cache_miss_tokens": 199},
        IN_INPUT,
        Usage(1200, 1000, None, flags=("cache_miss_conflict",)),
    ),
    (
        "A2: the pair without a prompt count",
        {"prompt_cache_hit_tokens": 1000, "completion_tokens": 3},
        IN_INPUT,
        Usage(None, 1000, None, None, 3),
    ),
    (
        "A3: cache reads and writes apart from the input",
        {
            "input_tokens": 11,
            "cache_read_input_tokens": 5200,
            "cache_creation_input_tokens": 300,
            "output_tokens": 20,
        },
        APART,
        Usage(5511, 5200, 311, 300, 20),
    ),
    (
        "A3: the same reply under the wrong convention is a contradiction",
        {"input_tokens": 11, "cache_read_input_tokens": 5200, "output_tokens": 20},
        IN_INPUT,
        Usage(11, 5200, None, None, 20, flags=("cached_exceeds_input",)),
    ),
    (
        "A3: two cache fields that disagree",
        {"prompt_tokens": 5400, "cache_read_input_tokens": 5380, **details(0)},
        IN_INPUT,
        Usage(5400, None, None, flags=("cached_conflict",)),
    ),
    (
        "A3: apart, and nothing says how much was read from the cache",
        {"input_tokens": 11, "output_tokens": 20},
        APART,
        Usage(None, None, None, None, 20),
    ),
    (
        "A3: apart, and the writes are null",
        {
            "input_tokens": 11,
            "cache_read_input_tokens": 5200,
            "cache_creation_input_tokens": None,
        },
        APART,
        Usage(None, 5200, None),
    ),
    (
        "A3: apart, a provider without writes",
        {"input_tokens": 11, "cache_read_input_tokens": 0},
        APART,
        Usage(11, 0, 11),
    ),
    (
        "A3: writes are part of the uncached input",
        {"prompt_tokens": 500, "cache_creation_input_tokens": 300, **details(100)},
        IN_INPUT,
        Usage(500, 100, 400, 300),
    ),
    (
        "A4: more cached than there is input",
        {"prompt_tokens": 90, **details(96)},
        IN_INPUT,
        Usage(90, 96, None, flags=("cached_exceeds_input",)),
    ),
    (
        "Responses names",
        {
            "input_tokens": 36,
            "input_tokens_details": {"cached_tokens": 6},
            "output_tokens": 87,
            "output_tokens_details": {"reasoning_tokens": 64},
        },
        IN_INPUT,
        Usage(36, 6, 30, None, 87, 64),
    ),
    (
        "two names for the input that disagree",
        {"prompt_tokens": 10, "input_tokens": 12},
        IN_INPUT,
        Usage(flags=("input_conflict",)),
    ),
    (
        "a total of more than its parts",
        {"prompt_tokens": 6604, "completion_tokens": 25, "total_tokens": 6679},
        IN_INPUT,
        Usage(6604, None, None, None, 25, flags=("total_exceeds_parts",)),
    ),
    (
        "a total of less, as where the cache is apart",
        {"input_tokens": 11, "cache_read_input_tokens": 20, "output_tokens": 2, "total_tokens": 13},
        APART,
        Usage(31, 20, 11, None, 2),
    ),
    (
        "a total beside an unknown part",
        {"prompt_tokens": 6604, "total_tokens": 6679},
        IN_INPUT,
        Usage(6604),
    ),
    (
        "reasoning is inside the output",
        {"completion_tokens": 10, "completion_tokens_details": {"reasoning_tokens": 11}},
        IN_INPUT,
        Usage(None, None, None, None, 10, 11, flags=("reasoning_exceeds_output",)),
    ),
    (
        "text, fractions, truth values and negative counts are no counts",
        {"prompt_tokens": "12", "completion_tokens": 1.5, **details(True)},
        IN_INPUT,
        Usage(
            flags=(
                "not_a_count:prompt_tokens",
                "not_a_count:completion_tokens",
                "not_a_count:cached_tokens",
            )
        ),
    ),
    (
        "a count that no counter holds",
        {"prompt_tokens": 2**63, "completion_tokens": -1},
        IN_INPUT,
        Usage(flags=("not_a_count:prompt_tokens", "not_a_count:completion_tokens")),
    ),
    (
        "an estimate that says so",
        {"prompt_tokens": 7, "estimated": True},
        IN_INPUT,
        Usage(input_tokens=7, estimated=True),
    ),
    (
        "only true says so",
        {"prompt_tokens": 7, "estimated": "true"},
        IN_INPUT,
        Usage(input_tokens=7),
    ),
    (
        "details of another type",
        {"prompt_tokens": 7, "prompt_tokens_details": [1], "completion_tokens_details": "x"},
        IN_INPUT,
        Usage(input_tokens=7),
    ),
]


@pytest.mark.parametrize(
    ("raw", "convention", "usage"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_usage_is_read_as_reported(raw: Any, convention: UsageConvention, usage: Usage) -> None:
    assert read_usage(raw, convention) == usage


COUNTS = st.none() | st.integers(-1, 40) | st.sampled_from([True, 1.5, "7", 2**62, [], {}])
NESTED = COUNTS | st.fixed_dictionaries(
    {}, optional={"cached_tokens": COUNTS, "reasoning_tokens": COUNTS}
)
FIELDS = {
    **dict.fromkeys(
        [
            "prompt_tokens",
            "completion_tokens",
            "input_tokens",
            "output_tokens",
            "prompt_cache_hit_tokens",
            "prompt_cache_miss_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ],
        COUNTS,
    ),
    **dict.fromkeys(
        [
            "prompt_tokens_details",
            "completion_tokens_details",
            "input_tokens_details",
            "output_tokens_details",
        ],
        NESTED,
    ),
}


@settings(max_examples=200, deadline=None)
@given(st.fixed_dictionaries({}, optional=FIELDS), st.sampled_from(UsageConvention))
def test_no_count_is_invented_negative_or_clamped(
    raw: dict[str, Any], convention: UsageConvention
) -> None:
    usage = read_usage(raw, convention)
    total, cached, uncached = usage.input_tokens, usage.cached_tokens, usage.uncached_tokens
    counts = (total, cached, uncached, usage.cache_write_tokens, usage.output_tokens)
    assert all(count is None or count >= 0 for count in counts)
    if uncached is not None:
        assert total is not None and cached is not None
        assert total == uncached + cached
    elif total is not None and cached is not None:
        assert usage.flags
    reported = [raw.get(name) for name in ("completion_tokens", "output_tokens")]
    known = {count for count in reported if type(count) is int and 0 <= count < 2**53}
    assert usage.output_tokens == (known.pop() if len(known) == 1 else None)
