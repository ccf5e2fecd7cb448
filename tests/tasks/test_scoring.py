"""Scoring against hand-written verdicts, the standard library's decoder and a second equality."""

import json
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.canonical import strict_json
from revereval.tasks.scoring import score, typed_equal
from revereval.tasks.spec import MAX_DEPTH, KeyType

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
    # Repeated keys, at any depth; no search inside or after.
    (HEDGE, "duplicate_key", "duplicate_key"),
    (f"{HEDGE} {RIGHT}", "duplicate_key", "not_json"),
    ('{"ok": true, "n": {"a": 1, "a": 1}}', "duplicate_key", "duplicate_key"),
    (f'{{"x": 1, "x": {RIGHT}}}', "duplicate_key", "duplicate_key"),
    # What json reads and JSON is not.
    ('{"ok": true, "n": NaN}', "not_json", "not_json"),
    ('{"ok": true, "n": -Infinity}', "not_json", "not_json"),
    ('{"ok": true, "n": 1e999}', "not_json", "not_json"),
    ('{"ok": true, "n": 1e-99999999999999999999}', "not_json", "not_json"),
    (f'{{"n": NaN}} {RIGHT}', "not_json", "not_json"),
    ('{"ok": true, "n": ' + "3" * 5000 + "}", "not_json", "not_json"),
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


@pytest.mark.parametrize("piece", ["{", '{"', '{"":x', '{"a":[', '{"\\"', '{ \t{"a" :1,', '"{":'])
def test_scoring_time_does_not_grow_with_the_square_of_the_answer(piece: str) -> None:
    started = time.process_time()
    score(piece * (400_000 // len(piece)), GOLD, KEYS)
    assert time.process_time() - started < 10  # a quadratic search needs minutes of this


def test_finding_the_repeated_key_among_many_is_quick() -> None:
    members = [f'"{index}": 1' for index in range(50_000)]
    started = time.process_time()
    scores = score("{" + ",".join([*members, members[-1]]) + "}", GOLD, KEYS)
    assert scores.extracted_reason == "duplicate_key"
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
        *('{"a":1}', '{"a":', '"a":2,', "-", ".", "e5", "1e9", "1e999", "\\"),
    ]
)
any_text = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=())),
    st.lists(fragments, max_size=14).map("".join),
    st.builds("{{{}}}{}".format, st.lists(fragments, max_size=8).map("".join), fragments),
)


def reference_reason(answer: str, gold: dict[str, Any]) -> str | None:
    """The `extracted` contract as the design words it, slowly, with the standard decoder."""
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    for start, character in enumerate(answer):
        if character == "{":
            try:
                _, end = decoder.raw_decode(answer, start)
            except ValueError:
                continue
            piece = answer[start:end]
            seen: list[bool] = []

            def pairs(found: list[tuple[str, Any]], seen: list[bool] = seen) -> dict[str, Any]:
                seen.append(len({key for key, _ in found}) < len(found))
                return dict(found)

            value = json.loads(piece, object_pairs_hook=pairs)
            bad = "NaN" in repr(value).replace("nan", "NaN") or "inf" in repr(value)
            if bad or any(seen):
                return "refused"
            if value.keys() != gold.keys():
                return "wrong_keys"
            same = json.dumps(value, sort_keys=True) == json.dumps(gold, sort_keys=True)
            return None if same else "wrong_value:a"
    return "no_object"


@settings(max_examples=1000)
@given(any_text)
def test_extraction_agrees_with_the_standard_decoder(answer: str) -> None:
    reason = score(answer, {"a": 1}, {"a": KeyType.INTEGER}).extracted_reason
    if reason in ("duplicate_key", "not_json"):
        reason = "refused"
    assert reason == reference_reason(answer, {"a": 1})


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
    before = data.draw(st.text(st.characters(exclude_characters="{")))
    text = json.dumps(gold, default=float, indent=data.draw(st.sampled_from([None, 1])))
    keys = dict.fromkeys(gold, KeyType.OBJECT)
    assert score(before + text + after, gold, keys).extracted
    assert score(text, gold, keys).strict
    assert score(before + text, gold, keys).strict == (before.strip() == "")
