"""Usage through a whole run: raw and read side by side, unknown never zero, endpoints untouched."""

import json
from typing import Any

import pytest

from tests.loopback import ABSENT
from tests.wire.lab import BOTH, RIGHT, Lab

TOKENS = ("input_tokens", "uncached_tokens", "cached_tokens", "cache_write_tokens", "output_tokens")


def tokens(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in TOKENS)


@BOTH
def test_known_usage_adds_up(lab: Lab) -> None:
    lab.serve(*lab.prefix, lab.read("other.py"), lab.right, lab.right)
    done = lab.run_pair("--json").json
    assert [tokens(row) for row in lab.exported("requests") if not row["boundary"]] == [
        (1000, 600, 400, None, 20)
    ] * 6
    f = done["arms"]["F"]
    assert (f["uncached_tokens"], f["cached_tokens"], f["output_tokens"]) == (1200, 800, 40)
    (row,) = lab.exported("boundaries")
    assert (row["prefix_tokens"], row["f_suffix_tokens"], row["p_suffix_tokens"]) == (
        3060,
        2040,
        1020,
    )
    assert row["last_cached_fraction"] == 0.4


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (ABSENT, (None, None, None, None, None)),
        (None, (None, None, None, None, None)),
        (
            {"prompt_tokens": None, "completion_tokens": 4, "prompt_tokens_details": None},
            (None, None, None, None, 4),
        ),
        ({"prompt_tokens": 900, "completion_tokens": 4}, (900, None, None, None, 4)),
        (
            {"prompt_tokens": 90, "prompt_tokens_details": {"cached_tokens": 96}},
            (90, None, 96, None, None),
        ),
    ],
    ids=["absent", "null", "null counts", "no cache", "too much cache"],
)
def test_unknown_usage_makes_totals_unknown_and_no_endpoint(
    lab: Lab, usage: Any, read: tuple[Any, ...]
) -> None:
    lab.serve(
        *lab.prefix, lab.reply(calls=[("c", "read", {"path": "tiny/small.py"})], usage=usage),
        lab.right, lab.right,
    )  # fmt: skip
    done = lab.run_pair("--json")
    assert done.code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 2), ("correct", None, 1))
    unknown = lab.rows("request", "stage = 'F'")[0]
    assert tokens(unknown) == read
    assert unknown["usage_raw"] is None if usage in (ABSENT, None) else json.loads(
        unknown["usage_raw"]
    ) == usage  # fmt: skip
    f, p = done.json["arms"]["F"], done.json["arms"]["P"]
    known = [f[f"{kind}_tokens"] for kind in ("uncached", "cached", "output")]
    assert known == [
        None if read[1] is None else 600 + read[1],
        None if read[2] is None else 400 + read[2],
        None if read[4] is None else 20 + read[4],
    ]
    assert (f["unknown_counts"], p["unknown_counts"]) == (1, 0)
    (row,) = lab.exported("boundaries")
    assert (row["f_suffix_unknown_cache"], row["p_suffix_unknown_cache"]) == (1, 0)
    assert row["p_suffix_tokens"] == 1020
    lab.audit()


def test_unknown_totals_are_printed_as_unknown(lab: Lab) -> None:
    lab.serve(*lab.prefix, lab.reply(RIGHT, usage=ABSENT), lab.right)
    lines = {line.split()[0]: line.split()[2:] for line in lab.run_pair().out.splitlines() if line}
    assert lines["F"] == ["correct", "1", "unknown", "unknown", "unknown", "1"]
    assert lines["P"] == ["correct", "1", "600", "400", "20", "0"]


def test_a_contradiction_is_flagged_and_kept_raw(lab: Lab) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 4, "prompt_cache_hit_tokens": 96}
    lab.serve(*lab.prefix, lab.reply(RIGHT, usage=usage), lab.right)
    done = lab.run_pair("--json")
    assert done.code == 0
    (row,) = lab.rows("request", "stage = 'F'")
    assert row["usage_flags"] == "cached_exceeds_input"
    assert json.loads(row["usage_raw"]) == usage
    assert done.json["arms"]["F"]["flagged_usage"] == 1
    (boundary,) = lab.exported("boundaries")
    assert (boundary["f_suffix_flagged_usage"], boundary["f_suffix_tokens"]) == (1, 94)
    lab.audit()


def test_the_convention_is_a_setting_of_the_plan(lab: Lab) -> None:
    usage = {"input_tokens": 11, "cache_read_input_tokens": 5200, "output_tokens": 20}
    lab.configure(provider={"usage_convention": "cached_apart"})
    lab.serve(lab.reply(RIGHT, usage={**usage, "cache_creation_input_tokens": 300}))
    lab.capture()
    lab.configure()
    lab.serve(lab.reply(RIGHT, usage=usage))
    lab.capture()
    apart, inside = lab.rows("request")
    assert tokens(apart) == (5511, 311, 5200, 300, 20)
    assert tokens(inside) == (11, None, 5200, None, 20)
    assert (apart["usage_flags"], inside["usage_flags"]) == ("", "cached_exceeds_input")
    first, second = (json.loads(plan["document"])["provider"] for plan in lab.rows("plan"))
    assert first["usage_convention"] == "cached_apart"
    assert second["usage_convention"] == "cached_in_input"
    lab.audit()


@pytest.mark.parametrize(
    ("usage", "fraction"),
    [
        ({"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 250}}, 0.25),
        ({"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 0}}, 0.0),
        ({"prompt_tokens": 1000}, None),
        ({"prompt_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}}, None),
        (ABSENT, None),
    ],
)
def test_the_last_cached_fraction_is_that_of_the_tapes_last_reply(
    lab: Lab, usage: Any, fraction: float | None
) -> None:
    last = lab.reply(calls=[("c", "read", {"path": "tiny/small.py"})], usage=usage)
    lab.serve(*lab.prefix[:2], last)
    assert lab.capture().code == 0
    assert lab.run_row["last_cached_fraction"] == fraction
