"""The archive of one arm's original observations, its two calls and their allowance (DESIGN §3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeGuard

from revereval.canonical import text_digest, utf8
from revereval.projection.policy import ProjectionConfig
from revereval.terms import ArchiveOutcome

VERSION: Final = 2
"""Of what both calls answer: raised with each change of a byte of it."""
MAX_QUERY_CHARS = 256


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

    def __init__(self, config: ProjectionConfig) -> None:
        self._config = config
        self._allowance = config.archive_calls
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
        query, chars, most = arguments.get("query"), arguments.get("chars"), self._config
        chars = most.search_chars if chars is None else chars
        if set(arguments) - {"query", "chars"}:
            return self.bad_arguments("allowed are query and chars")
        if not isinstance(query, str) or not 1 <= len(query) <= MAX_QUERY_CHARS:
            problem = f"query must be a string of 1 to {MAX_QUERY_CHARS} characters"
            return self.bad_arguments(problem)
        if not _within(chars, 1, most.search_chars):
            problem = f"chars must be an integer from 1 to {most.search_chars}"
            return self.bad_arguments(problem)
        if self._allowance == 0:
            return self._exhausted()
        self._allowance -= 1
        matches = list(islice(self._first_matches(query), most.search_matches))
        each = min(most.search_match_chars, chars // max(1, len(matches)))
        found = [self._excerpt(*match, len(query), each) for match in matches]
        heading = "1 observation matches" if len(found) == 1 else f"{len(found)} observations match"
        limit = f" (at most {len(found)} are shown)" if len(found) == most.search_matches else ""
        heading = f"{heading}{limit}, each with its first match" if found else "no match"
        return self._ok("\n".join([f"{heading}; {self._left()}", *found]))

    def _first_matches(self, query: str) -> Iterator[tuple[str, int]]:
        """(handle, offset) of the first match in each original; literal, ASCII case ignored."""
        needle = utf8(query).lower()
        for handle, text in self._originals.items():
            folded = utf8(text).lower()  # bytes.lower touches ASCII letters only
            at = folded.find(needle)
            if at >= 0:
                yield handle, len(folded[:at].decode("utf-8", "surrogatepass"))

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
        most = self._config.recover_chars
        start = 0 if start is None else start
        chars = self._config.recover_default_chars if chars is None else chars
        if set(arguments) - {"handle", "start", "chars"}:
            return self.bad_arguments("allowed are handle, start and chars")
        if not isinstance(handle, str):
            return self.bad_arguments("handle must be a string")
        if not _within(chars, 1, most):
            return self.bad_arguments(f"chars must be an integer from 1 to {most}")
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
