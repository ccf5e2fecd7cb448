"""Scoring contracts: is an answer right, by typed JSON and nothing else (DESIGN §4)."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from revereval.canonical import StrictJSONError, canonical_bytes, strict_json
from revereval.tasks.spec import MAX_DEPTH, KeyType
from revereval.terms import Contract, KeyScore

VERSION: Final = 2
"""Of the rules that `score` states; raised with each change of a verdict or of a reason."""

_SPACE: Final = " \t\n\r"
_STRING: Final = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_VALUE: Final = re.compile(
    rf"[{_SPACE}]*+(?:([\[{{])|{_STRING}|{_NUMBER}|true|false|null|NaN|-?Infinity)"
)
_KEY: Final = re.compile(rf"[{_SPACE}]*+{_STRING}[{_SPACE}]*+:")
_AFTER_VALUE: Final = re.compile(rf"[{_SPACE}]*+([,\]}}])")
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL)
_THINK, _THOUGHT = "<think>", "</think>"


@dataclass(frozen=True)
class Scores:
    """Both contracts' verdicts on one answer; a reason is None exactly where the verdict is True.

    Reasons: `no_object` (nothing decodes where `extracted` looks), `not_json` and `duplicate_key`
    (`strict` alone: the whole answer is not one strict JSON object), `too_deep`, `wrong_keys`,
    `wrong_value:<first wrong key, in the gold's order>`.
    """

    extracted: bool
    strict: bool
    extracted_reason: str | None
    strict_reason: str | None
    extracted_keys: Mapping[str, KeyScore]
    """Of each key of the gold; all `missing` where the contract has no object to judge."""
    strict_keys: Mapping[str, KeyScore]

    def accepted(self, contract: Contract) -> bool:
        return self.strict if contract is Contract.STRICT else self.extracted

    def key_scores(self, contract: Contract) -> str:
        """Of the object that the contract judges, as the canonical JSON that the ledger keeps."""
        found = self.strict_keys if contract is Contract.STRICT else self.extracted_keys
        return canonical_bytes(found).decode()


class _NoCandidateError(Exception):
    """The answer has no object to judge; the message is the reason."""


def score(answer: str, gold: Mapping[str, Any], keys: Mapping[str, KeyType]) -> Scores:
    """Judge one answer under both contracts; total over all strings, linear in their length.

    `extracted`: the first `{` from which a JSON object decodes decides, as a standard decoder
    (Python's `json`) reads it: of a repeated key the last value stands, and NaN, Infinity or a
    number out of range is a value that equals no gold. No search goes on inside or after it. A
    leading `<think>…</think>`, white space before it aside, is not part of the answer; one that is
    never closed leaves no answer to look in; a later one is text as any other.
    `strict`: the whole answer, white space around it aside, is one strict JSON object, or one ```
    or ```json fence that holds it; it sees a think block as it sees everything.

    Both: the keys are those of the gold, exactly, and each value is typed JSON equal to the gold's.
    Each key is scored by itself too, `right`, `wrong` or `missing`; what else the object holds is
    no key of the gold and changes no key's score.
    """
    extracted = _judged(lambda: _decoded(_first_object(_after_thinking(answer))), gold, keys)
    strict = _judged(lambda: _strictly(_whole_object(answer)), gold, keys)
    return Scores(
        extracted=extracted[0] is None,
        strict=strict[0] is None,
        extracted_reason=extracted[0],
        strict_reason=strict[0],
        extracted_keys=extracted[1],
        strict_keys=strict[1],
    )


def _judged(
    read: Callable[[], Mapping[str, Any]], gold: Mapping[str, Any], keys: Mapping[str, KeyType]
) -> tuple[str | None, dict[str, KeyScore]]:
    """Why what `read` gives is not the gold, None if it is, and the score of each key."""
    try:
        value = read()
    except _NoCandidateError as error:
        return str(error), dict.fromkeys(gold, KeyScore.MISSING)
    scores = {
        key: _key_score(value, key, right, number=keys[key] is KeyType.NUMBER)
        for key, right in gold.items()
    }
    if value.keys() != gold.keys():
        return "wrong_keys", scores
    wrong = next((key for key, found in scores.items() if found is KeyScore.WRONG), None)
    return None if wrong is None else f"wrong_value:{wrong}", scores


def _key_score(value: Mapping[str, Any], key: str, right: object, *, number: bool) -> KeyScore:
    if key not in value:
        return KeyScore.MISSING
    return KeyScore.RIGHT if typed_equal(value[key], right, number=number) else KeyScore.WRONG


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


def _after_thinking(answer: str) -> str:
    """What follows a leading think block; the whole answer where there is none."""
    text = answer.lstrip()
    if not text.startswith(_THINK):
        return answer
    return text.partition(_THOUGHT)[2]


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


def _strictly(piece: str) -> Mapping[str, Any]:
    """A syntactically good object as strict JSON."""
    try:
        value: Mapping[str, Any] = strict_json(piece)
    except StrictJSONError as error:
        repeated = str(error).startswith("duplicate key")
        raise _NoCandidateError("duplicate_key" if repeated else "not_json") from None
    return value


def _decoded(piece: str) -> Mapping[str, Any]:
    """The same as a standard decoder reads it."""
    try:
        value: Mapping[str, Any] = _DECODER.decode(piece)
    except RecursionError:
        raise _NoCandidateError("too_deep") from None
    return value


class _NoNumber:
    """NaN, Infinity and what no number can hold: of a type that no gold has."""


def _no_number(_: str) -> _NoNumber:
    return _NoNumber()


def _whole_number(digits: str) -> int | _NoNumber:
    try:
        return int(digits)
    except ValueError:  # more digits than Python converts
        return _NoNumber()


def _fraction(number: str) -> Decimal | _NoNumber:
    try:
        return Decimal(number)
    except InvalidOperation:  # an exponent of some twenty digits
        return _NoNumber()


_DECODER: Final = json.JSONDecoder(
    parse_constant=_no_number, parse_int=_whole_number, parse_float=_fraction
)
