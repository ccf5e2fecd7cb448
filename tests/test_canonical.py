"""Canonical JSON, strict JSON and digests: the RFC's own examples and the stdlib decide."""

import json
import math
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from revereval.canonical import (
    StrictJSONError,
    canonical_bytes,
    digest,
    sha256_hex,
    strict_json,
    text_digest,
    utf8,
)

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# no JSON text decodes to a high surrogate that a low one follows: together they are one character
TEXTS = st.text(st.characters()).filter(lambda text: not _PAIR.search(text))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS.filter(lambda value: not (isinstance(value, float) and math.isinf(value))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(VALUES)
@example("\ud800")
@example({"\udfff": ["a\ud83d end", "\x00", "\u2028"]})
def test_canonical_json_round_trips_with_types_and_lone_surrogates(value: Any) -> None:
    data = canonical_bytes(value)
    back = json.loads(data.decode("utf-8"))
    # repr tells true from 1, 1 from 1.0, and -0.0 from 0.0, at every depth
    assert repr(_sorted(back)) == repr(_sorted(value))
    assert canonical_bytes(back) == data


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(part) for part in value] if isinstance(value, list) else value


@settings(deadline=None)
@given(VALUES)
def test_canonical_json_has_sorted_keys_at_every_depth_and_no_white_space(value: Any) -> None:
    orders: list[list[str]] = []

    def keep(pairs: list[tuple[str, Any]]) -> None:
        orders.append([key for key, _ in pairs])

    text = canonical_bytes(value).decode()
    json.loads(text, object_pairs_hook=keep)
    assert all(keys == sorted(keys) for keys in orders)
    outside_strings = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert not re.search(r"\s", outside_strings)


def test_keys_are_sorted_by_code_point_also_where_utf16_units_would_differ() -> None:
    # U+FB33 < U+1F600, but as UTF-16 the second begins with D83D
    assert canonical_bytes({"\U0001f600": 1, "\ufb33": 2}) == '{"\ufb33":2,"\U0001f600":1}'.encode()


def test_insertion_order_never_reaches_a_digest() -> None:
    assert digest({"a": 1, "b": {"d": 2, "c": 3}}) == digest({"b": {"c": 3, "d": 2}, "a": 1})


def test_the_worked_example_of_rfc_8785_comes_out_to_the_byte() -> None:
    # RFC 8785, 3.2.2 (input) and 3.2.3 (output)
    given_text = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    expected = (
        '{"literals":[null,true,false],'
        '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_bytes(json.loads(given_text)) == expected.encode()


def test_a_lone_surrogate_is_the_only_thing_escaped_beyond_need() -> None:
    assert canonical_bytes("\u00e9\U0001f600\x7f") == '"\u00e9\U0001f600\x7f"'.encode()
    assert canonical_bytes("é\ud800z") == '"é\\ud800z"'.encode()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: [n], lambda n: {"a": {"b": [1, n]}}])
def test_no_number_that_json_lacks_is_ever_written(number: float, wrap: Any) -> None:
    with pytest.raises(ValueError):
        canonical_bytes(wrap(number))


def test_digests_are_sha256_as_fips_180_publishes_it() -> None:
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert (sha256_hex(b"abc"), sha256_hex(b"")) == (abc, nothing)
    assert (text_digest("abc"), text_digest("")) == (abc, nothing)
    assert digest("abc") == sha256_hex(b'"abc"') != abc


def test_a_lone_surrogate_takes_its_three_generalised_utf8_bytes() -> None:
    assert utf8("\ud800") == b"\xed\xa0\x80"
    assert utf8("é") == b"\xc3\xa9"


REFUSED = {
    "duplicate key": '{"a":1,"a":2}',
    "duplicate key, nested in a list": '[{"b":[{"a":1,"a":1}]}]',
    "duplicate key, spelled with an escape": r'{"a":1,"\u0061":2}',
    "NaN": '{"n":NaN}',
    "Infinity": "[Infinity]",
    "-Infinity": '{"n":-Infinity}',
    "overflow": '{"n":1e999}',
    "negative overflow": "-1e999",
    "an exponent beyond Decimal": "1e99999999999999999999",
    "a tiny exponent beyond Decimal": "1e-99999999999999999999",
    "nothing": "",
    "white space": "  ",
    "text after the value": "{} {}",
    "a trailing comma": "[1,]",
    "single quotes": "{'a':1}",
    "a leading zero": "01",
    "a bare point": "1.",
    "a plus sign": "+1",
    "a comment": "1 // one",
    "a raw control character": '"a\nb"',
    "a half escape": r'"\u12"',
    "a byte order mark": "\ufeff{}",
    "Python's None": "None",
    "depth": "[" * 200_000,
    "closed depth": "[" * 200_000 + "]" * 200_000,
    "a number too long to convert": "1" * 5000,
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_not_strict_json_is_refused_with_one_error(text: str) -> None:
    with pytest.raises(StrictJSONError) as refused:
        strict_json(text)
    assert str(refused.value)


def test_fractions_and_exponents_stay_exact_and_integers_stay_integers() -> None:
    value = strict_json("[0.1, 1e16, 10000000000000001, 3.0, 3, -0.0, true]")
    assert value == [
        Decimal("0.1"), Decimal("1e16"), 10000000000000001, Decimal(3), 3, Decimal(0), True,
    ]  # fmt: skip
    kinds = [type(part) for part in value]
    assert kinds == [Decimal, Decimal, int, Decimal, int, Decimal, bool]
    assert value[1] != value[2], "as doubles they would be equal"


PIECES = [
    '"', ",", ":", "{", "}", "[", "]", "1", "e9", ".", "-", "\\", " ", "\x00", "",
    '{"a":1,"a":1}', "NaN", "1e400",
]  # fmt: skip


@st.composite
def _nearly_json(draw: st.DrawFn) -> str:
    """A JSON text, as often as not with a few characters put in, taken out or doubled."""
    text = json.dumps(draw(VALUES), ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        piece = draw(st.sampled_from(PIECES))
        text = text[:at] + piece + text[at + draw(st.integers(0, 2)) :]
    return text


@settings(deadline=None, max_examples=200)
@given(_nearly_json())
@example('{"a":1,"a":1}')
@example("[1e400]")
@example("NaN")
def test_strict_json_takes_exactly_what_the_stdlib_takes_less_four_kinds(text: str) -> None:
    outlawed: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in found}) < len(found):
            outlawed.append("duplicate key")
        return dict(found)

    def number(found: str) -> float:
        if math.isinf(float(found)):
            outlawed.append("out of range")
        return float(found)

    def constant(found: str) -> float:
        outlawed.append(found)
        return 0.0

    try:
        expected = json.loads(
            text, object_pairs_hook=pairs, parse_float=number, parse_constant=constant
        )
        acceptable = not outlawed
    except ValueError:
        acceptable = False
    if not acceptable:
        with pytest.raises(StrictJSONError):
            strict_json(text)
        return
    assert repr(_with_floats(strict_json(text))) == repr(expected)


def _with_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_floats(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_floats(part) for part in value]
    return float(value) if isinstance(value, Decimal) else value
