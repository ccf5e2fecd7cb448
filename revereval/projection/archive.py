"""The archive of one arm's original observations, its two calls and their allowance (DESIGN §3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from revereval.canonical import text_digest, utf8
from revereval.terms import ArchiveOutcome

MAX_QUERY_CHARS = 256
MAX_MATCHES = 5
MAX_SEARCH_CHARS = 2000
MAX_RECOVER_CHARS = 8192


@dataclass(frozen=True)
class ArchiveResult:
    """What the agent gets to see; everything but `ok` is an error observation."""

    outcome: ArchiveOutcome
    text: str
    remaining: int
    """Successful calls left after this one."""


class Archive:
    """Originals by handle (SHA-256 of the text), in the order the arm first saw them.

    `search` and `recover` draw on one allowance of successful calls; refusals consume nothing.
    """

    def __init__(self, allowance: int) -> None:
        self._allowance = allowance
        self._originals: dict[str, str] = {}
        self._answered: dict[str, ArchiveResult] = {}

    def add(self, text: str) -> str:
        handle = text_digest(text)
        self._originals.setdefault(handle, text)
        return handle

    def call(self, call_id: str, name: str, arguments: Mapping[str, Any]) -> ArchiveResult:
        """Answer one call; the same call id gets the same result again and consumes nothing."""
        if call_id not in self._answered:
            serve = self._search if name == "search_evidence" else self._recover
            self._answered[call_id] = serve(arguments)
        return self._answered[call_id]

    def bad_arguments(self, problem: str) -> ArchiveResult:
        """A refusal; it consumes nothing."""
        return self._refuse(ArchiveOutcome.BAD_ARGUMENTS, problem)

    def _search(self, arguments: Mapping[str, Any]) -> ArchiveResult:
        query, chars = arguments.get("query"), arguments.get("chars")
        if set(arguments) - {"query", "chars"}:
            return self.bad_arguments("allowed are query and chars")
        if not isinstance(query, str) or not 1 <= len(query) <= MAX_QUERY_CHARS:
            problem = f"query must be a string of 1 to {MAX_QUERY_CHARS} characters"
            return self.bad_arguments(problem)
        if not _within(chars, 1, MAX_SEARCH_CHARS):
            problem = f"chars must be an integer from 1 to {MAX_SEARCH_CHARS}"
            return self.bad_arguments(problem)
        if self._allowance == 0:
            return self._exhausted()
        self._allowance -= 1
        found = [self._excerpt(*match, len(query), chars) for match in self._matches(query)]
        heading = f"{len(found)} matches" if found else "no match"
        limit = f" (at most {MAX_MATCHES} are shown)" if len(found) == MAX_MATCHES else ""
        return self._ok("\n".join([f"{heading}{limit}; {self._left()}", *found]))

    def _matches(self, query: str) -> Iterator[tuple[str, int]]:
        """Up to MAX_MATCHES (handle, offset), literal, ASCII case-insensitive, not overlapping."""
        needle = utf8(query).lower()
        count = 0
        for handle, text in self._originals.items():
            folded = utf8(text).lower()  # bytes.lower touches ASCII letters only
            at = folded.find(needle)
            while at >= 0 and count < MAX_MATCHES:
                yield handle, len(folded[:at].decode("utf-8", "surrogatepass"))
                count += 1
                at = folded.find(needle, at + len(needle))
            if count == MAX_MATCHES:
                return

    def _excerpt(self, handle: str, at: int, length: int, chars: int) -> str:
        """The match with as much text around it as `chars` code points allow, the match centred."""
        text = self._originals[handle]
        start = max(0, min(at - max(0, chars - length) // 2, len(text) - chars))
        end = min(len(text), start + chars)
        return (
            f"handle: {handle}\n"
            f"match: {at} to {at + length}, excerpt: {start} to {end}, of {len(text)} code points\n"
            f"---\n{text[start:end]}\n---"
        )

    def _recover(self, arguments: Mapping[str, Any]) -> ArchiveResult:
        handle, start, chars = (arguments.get(key) for key in ("handle", "start", "chars"))
        if set(arguments) - {"handle", "start", "chars"}:
            return self.bad_arguments("allowed are handle, start and chars")
        if not isinstance(handle, str):
            return self.bad_arguments("handle must be a string")
        if not _within(chars, 1, MAX_RECOVER_CHARS):
            problem = f"chars must be an integer from 1 to {MAX_RECOVER_CHARS}"
            return self.bad_arguments(problem)
        text = self._originals.get(handle)
        if text is None:
            return self._refuse(ArchiveOutcome.UNKNOWN_HANDLE, "no observation has this handle")
        if not _within(start, 0, len(text) - 1):
            problem = f"start must be an integer from 0 to {len(text) - 1}"
            return self.bad_arguments(problem)
        if self._allowance == 0:
            return self._exhausted()
        self._allowance -= 1
        end = min(len(text), start + chars)
        return self._ok(
            f"handle: {handle}\n"
            f"interval: {start} to {end} of {len(text)} code points; {self._left()}\n"
            f"---\n{text[start:end]}\n---"
        )

    def _left(self) -> str:
        return f"archive calls left: {self._allowance}"

    def _ok(self, text: str) -> ArchiveResult:
        return ArchiveResult(ArchiveOutcome.OK, text, self._allowance)

    def _exhausted(self) -> ArchiveResult:
        return self._refuse(ArchiveOutcome.ALLOWANCE_EXHAUSTED, "the allowance is used up")

    def _refuse(self, outcome: ArchiveOutcome, problem: str) -> ArchiveResult:
        text = f"error: {outcome}: {problem}; {self._left()}"
        return ArchiveResult(outcome, text, self._allowance)


def _within(value: object, low: int, high: int) -> TypeGuard[int]:
    return type(value) is int and low <= value <= high
