"""Scoring against hand-written verdicts, the standard library's decoder and a second equality."""

import json
import re
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.canonical import strict_json
from revereval.tasks.scoring import score, typed_equal
from revereval.tasks.spec import MAX_DEPTH, KeyType
from revereval.terms import Contract

GOLD = strict_json('{"ok": true, "n": 3}')
KEYS = {"ok": KeyType.BOOLEAN, "n": KeyType.INTEGER}
RIGHT = '{"ok": true, "n": 3}'
HEDGE = '{"ok": true, "n": 4, "n": 3}'

VERDICTS: list[tuple[str, str | None, str | None]] = [
    # answer, why not `extracted`, why not `strict`
    (RIGHT, None, None),
    (f"\n\t {RIGHT}\r\n", None, None),
    ('{"n":3,"ok":true}', None, None),
    (f"```json\n{RIGHT}\n```", None, None),
    (f"```\r\n{RIGHT}\r\n```\n", None, None),
    (f"```python\n{RIGHT}\n```", None, "not_json"),
    (f"```JSON\n{RIGHT}\n```", None, "not_json"),
    (f"````\n{RIGHT}\n````", None, "not_json"),
    (f"```json {RIGHT} ```", None, "not_json"),
    (f"```json\n{RIGHT}", None, "not_json"),
    (f"```json\n```json\n{RIGHT}\n```\n```", None, "not_json"),
    (f"The answer: {RIGHT}", None, "not_json"),
    (f"{RIGHT} I am sure.", None, "not_json"),
    (f"{RIGHT}\n{RIGHT}", None, "not_json"),
    (f"{{like so}} {RIGHT}", None, "not_json"),
    (f"{{{{{{ {RIGHT}", None, "not_json"),
    (f"[{RIGHT}]", None, "not_json"),
    (f"\ufeff{RIGHT}", None, "not_json"),
    (f'{{"a": "no raw\nnewline"}} {RIGHT}', None, "not_json"),
    # The first object that decodes decides, right or wrong.
    (f"{{}} {RIGHT}", "wrong_keys", "not_json"),
    (
        f'```json\n{{"ok": true, "n": 4}}\n```\n```json\n{RIGHT}\n```',
        "wrong_value:n",
        "not_json",
    ),
    (f'{{"answer": {RIGHT}}}', "wrong_keys", "wrong_keys"),
    # Of repeated keys the last value stands where a decoder reads; no search inside or after.
    (HEDGE, None, "duplicate_key"),
    (f"{HEDGE} {RIGHT}", None, "not_json"),
    ('{"ok": true, "n": 3, "n": 4}', "wrong_value:n", "duplicate_key"),
    ('{"ok": true, "n": {"a": 1, "a": 1}}', "wrong_value:n", "duplicate_key"),
    ('{"ok": true, "n": {"a": 1, "a": 1}, "n": 3}', None, "duplicate_key"),
    (f'{{"x": 1, "x": {RIGHT}}}', "wrong_keys", "duplicate_key"),
    ('{"n": NaN, "ok": true, "n": 3}', None, "not_json"),
    # What json reads and JSON is not: a value that is not the gold's.
    ('{"ok": true, "n": NaN}', "wrong_value:n", "not_json"),
    ('{"ok": true, "n": -Infinity}', "wrong_value:n", "not_json"),
    ('{"ok": true, "n": 1e999}', "wrong_value:n", "not_json"),
    ('{"ok": true, "n": 1e-99999999999999999999}', "wrong_value:n", "not_json"),
    (f'{{"n": NaN}} {RIGHT}', "wrong_keys", "not_json"),
    ('{"ok": true, "n": ' + "3" * 5000 + "}", "wrong_value:n", "not_json"),
    # A leading think block is no part of what is extracted; strict sees everything.
    (f"<think>3?</think>{RIGHT}", None, "not_json"),
    (f"\n <think>\n{{}} or 4\n</think>\n\n{RIGHT}\n", None, "not_json"),
    ("<think>" + RIGHT + '</think>{"ok": true, "n": 4}', "wrong_value:n", "not_json"),
    (f"<think></think>```json\n{RIGHT}\n```", None, "not_json"),
    (f"<think>{RIGHT}</think>", "no_object", "not_json"),
    (f"<think>{RIGHT}", "no_object", "not_json"),
    (f"<think>so </think>{{</think>{RIGHT}", None, "not_json"),
    (f"<think>a</think><think>{{}}</think>{RIGHT}", "wrong_keys", "not_json"),
    (f"Well: <think>{{}}</think>{RIGHT}", "wrong_keys", "not_json"),
    (f"{RIGHT}<think>{{}}</think>", None, "not_json"),
    (f"<THINK>{{}}</THINK>{RIGHT}", "wrong_keys", "not_json"),
    (f"{{}}</think>{RIGHT}", "wrong_keys", "not_json"),
    # Typed values.
    ('{"ok": 1, "n": 3}', "wrong_value:ok", "wrong_value:ok"),
    ('{"ok": true, "n": 3.0}', "wrong_value:n", "wrong_value:n"),
    ('{"ok": true, "n": 3e0}', "wrong_value:n", "wrong_value:n"),
    ('{"ok": true, "n": "3"}', "wrong_value:n", "wrong_value:n"),
    ('{"ok": "true", "n": "3"}', "wrong_value:ok", "wrong_value:ok"),
    ('{"ok": true, "n": true}', "wrong_value:n", "wrong_value:n"),
    ('{"ok": true, "n": null}', "wrong_value:n", "wrong_value:n"),
    ('{"ok": true, "n": [3]}', "wrong_value:n", "wrong_value:n"),
    # Keys match exactly.
    ('{"ok": true}', "wrong_keys", "wrong_keys"),
    ('{"ok": true, "n": 3, "note": ""}', "wrong_keys", "wrong_keys"),
    ('{"ok": true, "N": 3}', "wrong_keys", "wrong_keys"),
    ("{}", "wrong_keys", "wrong_keys"),
    # No object at all.
    ("", "no_object", "not_json"),
    ("3", "no_object", "not_json"),
    ("[1, 2]", "no_object", "not_json"),
    ('{"ok": true, "n": 3', "no_object", "not_json"),
    ('{"ok": true, "n": 3,}', "no_object", "not_json"),
    ('{"ok": true, "n": 03}', "no_object", "not_json"),
    ('{"ok": True, "n": 3}', "no_object", "not_json"),
    ("{'ok': true, 'n': 3}", "no_object", "not_json"),
    ('{"ok": true, "n": 3\0}', "no_object", "not_json"),
    ('{"ok": true, "n": ٣}', "no_object", "not_json"),
]


@pytest.mark.parametrize(("answer", "extracted", "strict"), VERDICTS)
def test_each_answer_gets_its_verdict_and_reason(
    answer: str, extracted: str | None, strict: str | None
) -> None:
    scores = score(answer, GOLD, KEYS)
    assert (scores.extracted_reason, scores.strict_reason) == (extracted, strict)
    assert (scores.extracted, scores.strict) == (extracted is None, strict is None)


ALL_MISSING = ("missing", "missing")
KEY_SCORES: list[tuple[str, tuple[str, str], tuple[str, str]]] = [
    # answer, (ok, n) of the object that `extracted` judges, the same of `strict`
    (RIGHT, ("right", "right"), ("right", "right")),
    ('{"ok": false, "n": 3}', ("wrong", "right"), ("wrong", "right")),
    ('{"n": 3.0}', ("missing", "wrong"), ("missing", "wrong")),
    ('{"ok": true, "N": 3}', ("right", "missing"), ("right", "missing")),
    ('{"ok": true, "n": 3, "note": ""}', ("right", "right"), ("right", "right")),
    ('{"ok": null, "n": null}', ("wrong", "wrong"), ("wrong", "wrong")),
    ("{}", ALL_MISSING, ALL_MISSING),
    ("I cannot tell.", ALL_MISSING, ALL_MISSING),
    (f"So: {RIGHT}", ("right", "right"), ALL_MISSING),
    (HEDGE, ("right", "right"), ALL_MISSING),
    ('{"ok": true, "n": NaN}', ("right", "wrong"), ALL_MISSING),
    (f"<think>{RIGHT}", ALL_MISSING, ALL_MISSING),
    ('{"ok": true, "n": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", ALL_MISSING, ALL_MISSING),
]


@pytest.mark.parametrize(("answer", "extracted", "strict"), KEY_SCORES)
def test_each_key_is_scored_in_the_object_that_a_contract_judges(
    answer: str, extracted: tuple[str, str], strict: tuple[str, str]
) -> None:
    scores = score(answer, GOLD, KEYS)
    assert (scores.extracted_keys["ok"], scores.extracted_keys["n"]) == extracted
    assert (scores.strict_keys["ok"], scores.strict_keys["n"]) == strict
    written = {"n": strict[1], "ok": strict[0]}
    assert json.loads(scores.key_scores(Contract.STRICT)) == written
    assert json.loads(scores.key_scores(Contract.EXTRACTED))["ok"] == extracted[0]


@pytest.mark.parametrize(
    ("answer", "right"),
    [("3", True), ("3.0", True), ("30e-1", True), ("3.0000000000000001", False), ("true", False)],
)
def test_a_key_declared_number_compares_by_exact_value(answer: str, right: bool) -> None:
    for gold in ("3", "3.0"):
        scores = score(f'{{"x": {answer}}}', {"x": strict_json(gold)}, {"x": KeyType.NUMBER})
        assert scores.strict is right


def test_number_reaches_no_number_inside_an_array() -> None:
    gold = {"x": [3]}
    assert score('{"x": [3]}', gold, {"x": KeyType.ARRAY}).strict
    assert not score('{"x": [3.0]}', gold, {"x": KeyType.ARRAY}).strict
    assert not typed_equal([3], [Decimal("3.0")], number=True)


def test_three_backticks_inside_a_string_end_no_fence() -> None:
    gold, keys = {"note": "a\n```\nb"}, {"note": KeyType.STRING}
    answer = json.dumps(gold)
    assert score(answer, gold, keys).strict
    assert score(f"```json\n{answer}\n```", gold, keys).strict


def test_seventeen_digits_are_not_their_double() -> None:
    integer, double = strict_json("10000000000000001"), strict_json("1e16")
    assert not typed_equal(integer, double, number=True)
    assert typed_equal(strict_json("10000000000000000"), double, number=True)
    assert not typed_equal(strict_json("10000000000000000"), double, number=False)


@pytest.mark.parametrize(("truth", "integer"), [(True, 1), (False, 0)])
def test_a_boolean_is_no_number_on_either_side_at_any_depth(truth: bool, integer: int) -> None:
    pairs: list[tuple[Any, Any]] = [(truth, integer)]
    pairs += [([a], [b]) for a, b in pairs]
    pairs += [({"a": [1, a]}, {"a": [1, b]}) for a, b in pairs]
    pairs += [(b, a) for a, b in pairs]
    for a, b in pairs:
        assert a == b  # what Python says
        assert not typed_equal(a, b, number=False)
        assert not typed_equal(a, b, number=True)


def test_strings_are_equal_by_code_point_only() -> None:
    assert not typed_equal("\u00e9", "e\u0301", number=False)
    assert typed_equal(strict_json('"\\ud83d\\ude00"'), "\U0001f600", number=False)
    assert not typed_equal(strict_json('"\\ud83d"'), "?", number=False)


def test_an_answer_too_deep_is_wrong_and_ends_the_search() -> None:
    deep = '{"a":' * MAX_DEPTH + "{}" + "}" * MAX_DEPTH
    scores = score(f"{deep} {RIGHT}", GOLD, KEYS)
    assert (scores.extracted_reason, scores.strict_reason) == (
        "too_deep",
        "too_deep",
    )
    shallower = deep[5:-1]
    assert score(shallower, GOLD, KEYS).extracted_reason == "wrong_keys"


def test_a_right_answer_may_be_as_deep_as_the_limit() -> None:
    value: list[Any] = []
    for _ in range(MAX_DEPTH - 2):
        value = [value]
    assert score(json.dumps({"a": value}), {"a": value}, {"a": KeyType.ARRAY}).strict


@pytest.mark.parametrize(
    "piece", ["{", '{"', '{"":x', '{"a":[', '{"\\"', '{ \t{"a" :1,', '"{":', "<think>", "</think>{"]
)
def test_scoring_time_does_not_grow_with_the_square_of_the_answer(piece: str) -> None:
    started = time.process_time()
    score(piece * (400_000 // len(piece)), GOLD, KEYS)
    assert time.process_time() - started < 10  # a quadratic search needs minutes of this


def test_finding_the_repeated_key_among_many_is_quick() -> None:
    members = [f'"{index}": 1' for index in range(50_000)]
    started = time.process_time()
    scores = score("{" + ",".join([*members, members[-1]]) + "}", GOLD, KEYS)
    assert scores.strict_reason == "duplicate_key"
    assert time.process_time() - started < 10


HOSTILE = [
    "{" * 100_000,
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"a":[' + "[" * 5000 + "]" * 5000 + "]}",
    '{"a": ' + "9" * 100_000 + "}",
    '{"a": 0.' + "9" * 100_000 + "}",
    '{"a": 1e' + "9" * 100_000 + "}",
    '{"a": 0e-' + "9" * 30 + "}",
    '{"a": "\\ud800"}',
    '{"\ud800": "\udfff\0"}',
    "\0{\0}",
]


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_no_hostile_answer_raises_or_is_right(answer: str) -> None:
    scores = score(answer, {"a": 1}, {"a": KeyType.NUMBER})
    assert not scores.extracted
    assert not scores.strict


fragments = st.sampled_from(
    [
        *("{", "}", "[", "]", ",", ":", '"a"', '"b\\u00e9"', '"\\', '"', "1", "-0", "0.5", "01"),
        *("true", "nul", "null", "NaN", "-Infinity", " ", "\n", "\x0b", "\xa0", "x", "\ud800"),
        *('{"a":1}', '{"a":', '"a":2,', '"a":1', "-", ".", "e5", "1e9", "1e999", "\\"),
        *("<think>", "</think>", "think>", '{"a":2,"a":1}', '{"a":NaN,"a":1}', '{"b":Infinity}'),
    ]
)
any_text = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=())),
    st.lists(fragments, max_size=14).map("".join),
    st.builds("{{{}}}{}".format, st.lists(fragments, max_size=8).map("".join), fragments),
    st.builds("{}<think>{}".format, st.sampled_from(["", " ", "\n\x0b", "x"]), st.lists(
        fragments, max_size=10).map("".join)),
)  # fmt: skip


def reference(answer: str) -> tuple[str | None, str]:
    """The `extracted` contract for the gold {"a": 1}, slowly: json's own decoder, nothing else.

    The reason and the score of the key.
    """
    if leading := re.match(r"\s*<think>", answer):
        thought = re.compile(r".*?</think>", re.DOTALL).match(answer, leading.end())
        answer = answer[thought.end() :] if thought else ""
    for start in (at for at, character in enumerate(answer) if character == "{"):
        try:
            value, _ = json.JSONDecoder().raw_decode(answer, start)
        except ValueError:
            continue
        right = "a" in value and type(value["a"]) is int and value["a"] == 1
        key = "missing" if "a" not in value else "right" if right else "wrong"
        if list(value) != ["a"]:
            return "wrong_keys", key
        return None if right else "wrong_value:a", key
    return "no_object", "missing"


@settings(max_examples=1500)
@given(any_text)
def test_extraction_agrees_with_the_standard_decoder(answer: str) -> None:
    scores = score(answer, {"a": 1}, {"a": KeyType.INTEGER})
    assert (scores.extracted_reason, scores.extracted_keys["a"]) == reference(answer)


@settings(max_examples=500)
@given(any_text)
def test_what_strict_accepts_extracted_accepts_too(answer: str) -> None:
    scores = score(answer, {"a": 1}, {"a": KeyType.INTEGER})
    assert scores.extracted or not scores.strict
    for accepted, found in (
        (scores.extracted, scores.extracted_keys),
        (scores.strict, scores.strict_keys),
    ):
        assert not accepted or set(found.values()) == {"right"}


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([Decimal("1.0"), Decimal("1.5"), Decimal("0.0"), Decimal("-0.0")])
    | st.sampled_from(["", "1", "true", "e\u0301", "\u00e9"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=6,
)


def tagged(value: Any) -> str:
    """A second notion of typed equality: two values are equal where these texts are."""
    match value:
        case dict():
            return "{" + ",".join(f"{key!r}:{tagged(value[key])}" for key in sorted(value)) + "}"
        case list():
            return "[" + ",".join(map(tagged, value)) + "]"
        case Decimal():
            return f"fraction {value + 0:f}".rstrip("0").rstrip(".")
        case _:
            return f"{type(value).__name__} {value!r}"


@given(values, values)
def test_typed_equality_agrees_with_tagged_text(a: Any, b: Any) -> None:
    assert typed_equal(a, b, number=False) == (tagged(a) == tagged(b))
    assert typed_equal(a, a, number=False)


@given(st.dictionaries(st.text(min_size=1), values, min_size=1, max_size=4), st.text(), st.data())
def test_a_correct_object_is_right_wherever_no_other_comes_first(
    gold: dict[str, Any], after: str, data: st.DataObject
) -> None:
    before = data.draw(st.text(st.characters(exclude_characters="{<")))
    text = json.dumps(gold, default=float, indent=data.draw(st.sampled_from([None, 1])))
    keys = dict.fromkeys(gold, KeyType.OBJECT)
    assert score(before + text + after, gold, keys).extracted
    assert score(text, gold, keys).strict
    assert score(before + text, gold, keys).strict == (before.strip() == "")
