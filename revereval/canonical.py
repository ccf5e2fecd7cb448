"""Canonical JSON, strict JSON and digests: one spelling for all that is hashed or compared."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, NoReturn

_SURROGATE = re.compile("[\ud800-\udfff]")
_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


class StrictJSONError(ValueError):
    """The text is not strict JSON; the message says what is wrong."""


def canonical_bytes(value: object) -> bytes:
    """UTF-8 canonical JSON: sorted keys, no spaces, no escapes but the necessary ones.

    As RFC 8785 except that keys sort by code point, numbers keep Python's shortest spelling, and
    lone surrogates, which UTF-8 cannot hold, are written as `\\udXXX` escapes, so that every text
    a model can send survives.
    Raises ValueError for NaN and Infinity.
    """
    text = _encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def flat_bytes(texts: Mapping[str, str]) -> bytes:
    """`canonical_bytes` of an object whose values are texts; a long text is made JSON once.

    A tool result is one, and the same file is read by the capture, by F, by P and by P again.
    """
    fields = [_text_bytes(key) + b":" + _text_bytes(texts[key]) for key in sorted(texts)]
    return b"{" + b",".join(fields) + b"}"


@lru_cache(maxsize=128)
def _text_bytes(text: str) -> bytes:
    return canonical_bytes(text)


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def utf8(text: str) -> bytes:
    """UTF-8, with the three bytes a lone surrogate would take in place of an error."""
    return text.encode("utf-8", "surrogatepass")


def escaped(text: str) -> str:
    """Text that UTF-8 and SQLite's functions can hold: lone surrogates and NUL as escapes."""
    if text.isascii():
        return text.replace("\0", "\\x00")
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


@lru_cache(maxsize=256)
def text_digest(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes; an observation's is asked for more than once."""
    return sha256_hex(utf8(text))


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON."""
    return sha256_hex(canonical_bytes(value))


def strict_json(text: str) -> Any:
    """Parse RFC 8259 JSON; numbers with a fraction or exponent become exact `Decimal`s.

    Raises StrictJSONError for duplicate keys at any depth, NaN, Infinity, a number beyond the
    range of a double (1e999), nesting too deep to parse, and everything that is not JSON.
    """
    try:
        return _STRICT.decode(text)
    except RecursionError:
        raise StrictJSONError("nested too deeply") from None
    except StrictJSONError:
        raise
    except ValueError as error:
        raise StrictJSONError(str(error)) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise StrictJSONError(f"duplicate key {twice!r}")
    return result


def _constant(name: str) -> NoReturn:
    raise StrictJSONError(f"{name} is not JSON")


def _finite(number: str) -> Decimal:
    if math.isinf(float(number)):
        raise StrictJSONError(f"number out of range: {number[:40]}")
    try:
        return Decimal(number)
    except InvalidOperation:  # an exponent of some twenty digits: 1e-99999999999999999999
        raise StrictJSONError(f"number out of range: {number[:40]}") from None


_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)
