"""Scoring contracts: is an answer right, by typed JSON and nothing else (DESIGN §4)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from revereval.canonical import StrictJSONError, strict_json
from revereval.tasks.spec import MAX_DEPTH, KeyType

_SPACE: Final = " \t\n\r"
_STRING: Final = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_VALUE: Final = re.compile(
    rf"[{_SPACE}]*+(?:([\[{{])|{_STRING}|{_NUMBER}|true|false|null|NaN|-?Infinity)"
)
_KEY: Final = re.compile(rf"[{_SPACE}]*+{_STRING}[{_SPACE}]*+:")
_AFTER_VALUE: Final = re.compile(rf"[{_SPACE}]*+([,\]}}])")
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL)


VERSION: Final = 1
"""Of both contracts: raised with each change of a verdict or of a reason."""


@dataclass(frozen=True)
class Scores:
    """Both contracts' verdicts on one answer; a reason is None exactly where the verdict is True.

    Reasons: `no_object` (nothing in the answer decodes), `not_json` (the whole answer is not one
    JSON object, or the found one holds NaN, Infinity or a number out of range), `duplicate_key`,
    `too_deep`, `wrong_keys`, `wrong_value:<first wrong key, in the gold's order>`.
    """

    extracted: bool
    strict: bool
    extracted_reason: str | None
    strict_reason: str | None


class _NoCandidateError(Exception):
    """The answer has no object to judge; the message is the reason."""


def score(answer: str, gold: Mapping[str, Any], keys: Mapping[str, KeyType]) -> Scores:
    """Judge one answer under both contracts; total over all strings, linear in their length.

    `extracted`: the first `{` from which a JSON object decodes decides; if that object is not
    strict JSON it is wrong, and no search goes on inside or after it. `strict`: the whole answer,
    white space around it aside, is one JSON object, or one ``` or ```json fence that holds it.
    """
    reasons: list[str | None] = []
    for find in (_first_object, _whole_object):
        try:
            reasons.append(_fault(find(answer), gold, keys))
        except _NoCandidateError as error:
            reasons.append(str(error))
    extracted, strict = reasons
    return Scores(extracted is None, strict is None, extracted, strict)


def typed_equal(a: object, b: object, *, number: bool) -> bool:
    """Whether two `strict_json` values are the same JSON, type for type at every depth.

    true is not 1, 3 is not 3.0, strings are equal by code point. With `number`, two numbers are
    compared exactly by value instead; that reaches no number inside an array or object.
    """
    if number and type(a) in (int, Decimal) and type(b) in (int, Decimal):
        return a == b
    pending = [(a, b)]  # not recursion: values may be as deep as the parser allows
    while pending:
        left, right = pending.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pending += [(left[key], right[key]) for key in left]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif left != right:
            return False
    return True


def _first_object(answer: str) -> str:
    start = answer.find("{")
    while start >= 0:
        if end := _object_end(answer, start):
            return answer[start:end]
        start = answer.find("{", start + 1)
    raise _NoCandidateError("no_object")


def _whole_object(answer: str) -> str:
    text = answer.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1].strip(_SPACE)
    if not text.startswith("{") or _object_end(text, 0) != len(text):
        raise _NoCandidateError("not_json")
    return text


def _object_end(text: str, start: int) -> int | None:
    """The index after the JSON object that begins at `start`; None where none does.

    Accepts exactly what `json.JSONDecoder.raw_decode` accepts, up to MAX_DEPTH. The decoder itself
    counts lines at each failure, which makes a search over many braces quadratic, and its depth
    limit is whatever the caller's stack leaves.
    """
    closers: list[str] = []
    at = start
    while value := _VALUE.match(text, at):
        at = value.end()
        if opened := value[1]:
            closers.append("}" if opened == "{" else "]")
            if len(closers) > MAX_DEPTH:
                raise _NoCandidateError("too_deep")
            after = _AFTER_VALUE.match(text, at)
            if not (after and after[1] == closers[-1]):  # not empty: its first member follows
                if opened == "{":
                    if not (key := _KEY.match(text, at)):
                        return None
                    at = key.end()
                continue
        while closers:
            after = _AFTER_VALUE.match(text, at)
            if not after:
                return None
            at = after.end()
            if after[1] == ",":
                break
            if after[1] != closers.pop():
                return None
        if not closers:
            return at
        if closers[-1] == "}":
            if not (key := _KEY.match(text, at)):
                return None
            at = key.end()
    return None


def _fault(piece: str, gold: Mapping[str, Any], keys: Mapping[str, KeyType]) -> str | None:
    """Why one syntactically good object is not the gold."""
    try:
        value = strict_json(piece)
    except StrictJSONError as error:
        return "duplicate_key" if str(error).startswith("duplicate key") else "not_json"
    if value.keys() != gold.keys():
        return "wrong_keys"
    for key, right in gold.items():
        if not typed_equal(value[key], right, number=keys[key] is KeyType.NUMBER):
            return f"wrong_value:{key}"
    return None
