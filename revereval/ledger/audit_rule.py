"""The projection rule and the archive of DESIGN §3, written a second time for the audit.

The repetition is on purpose: what the controller decided is checked against another reading of the
same words, and not against the code that decided it. Nothing here may import `projection`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from revereval.terms import ArchiveOutcome, DecisionReason

TEXT_VERSION: Final = 1
RULE_VERSION: Final = 1
ARCHIVE_VERSION: Final = 2
"""Of the implementations that are repeated here."""
ARCHIVE_TOOLS: Final = frozenset({"search_evidence", "recover_evidence"})

_SETTINGS: Final = {
    "min_observation_bytes": 10240, "full_exposures": 2, "keep_recent": 1, "excerpt_bytes": 1024,
    "archive_calls": 3, "search_matches": 5, "search_match_chars": 200, "search_chars": 1000,
    "recover_chars": 6000, "recover_default_chars": 2000,
}  # fmt: skip
_BEFORE: Final = {"search_chars": 2000, "recover_chars": 8192}
"""Limits of the first archive, which no plan had as settings."""
_QUERY_CHARS: Final = 256
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def version_of(document: Mapping[str, Any], part: str) -> int:
    """The version of one part of a plan's implementation; 1 from before they were recorded."""
    return int(document.get("implementation", {}).get(part, {}).get("version", 1))


def settings_of(document: Mapping[str, Any]) -> dict[str, int]:
    """The projection settings of a plan; those that it does not have are as they were then."""
    older = {} if version_of(document, "archive") == ARCHIVE_VERSION else _BEFORE
    return _SETTINGS | older | dict(document["projection"])


def utf8_bytes(text: str) -> int:
    return len(_utf8(text))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Seen:
    """One observation as it was received."""

    text: str
    tool: str
    is_error: bool
    from_archive: bool


def reason_for(
    seen: Sequence[Seen], position: int, exposures: int, settings: Mapping[str, int]
) -> DecisionReason:
    """Why an observation that is in full so far is, or is not, projected in the next request.

    exposures: completed requests that carried it in full.
    """
    one = seen[position]
    size = utf8_bytes(one.text)
    newer = len(seen) - 1 - position
    if one.is_error:
        return DecisionReason.ERROR
    if one.from_archive:
        return DecisionReason.ARCHIVE_RESULT
    if size < settings["min_observation_bytes"]:
        return DecisionReason.SMALL
    if newer < settings["keep_recent"]:
        return DecisionReason.RECENT
    if exposures < settings["full_exposures"]:
        return DecisionReason.EXPOSURES
    if utf8_bytes(projected_form(one, settings["excerpt_bytes"])) >= size:
        return DecisionReason.NO_SAVING
    return DecisionReason.ELIGIBLE


def projected_form(one: Seen, excerpt_bytes: int) -> str:
    """The text that stands for an observation: what it was, how to get it back, head and tail."""
    head = _whole_characters(one.text, excerpt_bytes // 2)
    rest = one.text[len(head) :]
    tail = _whole_characters(rest[::-1], excerpt_bytes // 2)[::-1]
    last = len(one.text) - len(tail)
    return "\n".join(
        [
            "[This observation is shortened. Its original is in the archive.",
            f"handle: {handle_of(one.text)}",
            f"tool: {one.tool}",
            f"original: {utf8_bytes(one.text)} bytes, {len(one.text)} code points",
            "To find text in it: search_evidence(query, chars). To read an exact part: "
            "recover_evidence(handle, start, chars), in code points.]",
            head,
            f"[... omitted: code points {len(head)} to {last}, {last - len(head)} in all ...]",
            tail,
        ]
    )


def handle_of(text: str) -> str:
    return sha256(_utf8(text)).hexdigest()


def _whole_characters(text: str, room: int) -> str:
    """As many of the first characters as have room, in UTF-8 bytes."""
    taken = 0
    for character in text[:room]:
        size = utf8_bytes(character)
        if size > room:
            break
        room -= size
        taken += 1
    return text[:taken]


@dataclass(frozen=True)
class Served:
    """What an archive call came to."""

    outcome: ArchiveOutcome
    text: str | None
    """None where only the beginning and the end of a refusal, or nothing, is repeated here."""


def serve(
    name: str,
    arguments: str,
    originals: Iterable[str],
    left: int,
    settings: Mapping[str, int],
    version: int,
) -> Served:
    """One archive call, by the rule of a version up to ARCHIVE_VERSION.

    arguments: as JSON; originals: in the order they were first read; left: successful calls left.
    """
    given = _arguments(arguments)
    if version == ARCHIVE_VERSION:
        by_default = {"chars": settings["search_chars"]}
        if name == "recover_evidence":
            by_default = {"start": 0, "chars": settings["recover_default_chars"]}
        said = {key: value for key, value in given.items() if value is not None}
        given = {**by_default, **dict.fromkeys(given), **said}
        given |= {key: value for key, value in by_default.items() if given[key] is None}
    answer = _search if name == "search_evidence" else _recover
    served = answer(given, originals, left - 1, settings)
    if served.outcome is not ArchiveOutcome.OK:
        return served
    if left == 0:
        return Served(ArchiveOutcome.ALLOWANCE_EXHAUSTED, None)
    if name == "search_evidence" and version < ARCHIVE_VERSION:
        return Served(ArchiveOutcome.OK, None)
    return served


_BAD: Final = Served(ArchiveOutcome.BAD_ARGUMENTS, None)


def _search(
    given: Mapping[str, Any], originals: Iterable[str], left: int, settings: Mapping[str, int]
) -> Served:
    query, chars = given.get("query"), given.get("chars")
    if not given.keys() <= {"query", "chars"} or not isinstance(query, str):
        return _BAD
    if not 1 <= len(query) <= _QUERY_CHARS or not _in(chars, 1, settings["search_chars"]):
        return _BAD
    needle = query.translate(_LOWER)
    places = [(text, text.translate(_LOWER).find(needle)) for text in dict.fromkeys(originals)]
    found = [(text, at) for text, at in places if at >= 0][: settings["search_matches"]]
    each = min(settings["search_match_chars"], given["chars"] // len(found)) if found else 0
    count = "1 observation matches" if len(found) == 1 else f"{len(found)} observations match"
    if len(found) == settings["search_matches"]:
        count += f" (at most {len(found)} are shown)"
    said = f"{count}, each with its first match" if found else "no match"
    lines = [f"{said}; archive calls left: {left}"]
    for text, at in found:
        start = max(0, min(at - max(0, each - len(query)) // 2, len(text) - each))
        end = min(len(text), start + each)
        lines += [
            f"handle: {handle_of(text)}",
            f"match: {at} to {at + len(query)}, excerpt: {start} to {end}, "
            f"of {len(text)} code points",
            "---",
            text[start:end],
            "---",
        ]
    return Served(ArchiveOutcome.OK, "\n".join(lines))


def _recover(
    given: Mapping[str, Any], originals: Iterable[str], left: int, settings: Mapping[str, int]
) -> Served:
    handle, start, chars = given.get("handle"), given.get("start"), given.get("chars")
    if not given.keys() <= {"handle", "start", "chars"} or not isinstance(handle, str):
        return _BAD
    if not _in(chars, 1, settings["recover_chars"]):
        return _BAD
    text = next((text for text in originals if handle_of(text) == handle), None)
    if text is None:
        return Served(ArchiveOutcome.UNKNOWN_HANDLE, None)
    if not _in(start, 0, len(text) - 1):
        return _BAD
    first, end = given["start"], min(len(text), given["start"] + given["chars"])
    place = f"interval: {first} to {end} of {len(text)} code points; archive calls left: {left}"
    lines = [f"handle: {handle}", place, "---", text[first:end], "---"]
    return Served(ArchiveOutcome.OK, "\n".join(lines))


def _arguments(sent: str) -> dict[str, Any]:
    try:
        given = json.loads(sent)
    except ValueError:  # a row that somebody changed
        return {}
    return dict(given) if isinstance(given, dict) else {}


def _in(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
