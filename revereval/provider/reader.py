"""The scripted reader: a deterministic stand-in for a model that knows only what a request shows.

Its next turn is a pure function of the request, its settings and the annotations of the task. A
key is resolved while the source spans that support it are literally visible in the request, so
whether it answers right, wrong or never follows from what the request still shows.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain, islice
from typing import Any, Final, Literal, NamedTuple

from pydantic import Field

from revereval.canonical import canonical_bytes
from revereval.terms import Reader
from revereval.validated_toml import Strict

READ, SEARCH, RECOVER = "read", "search_evidence", "recover_evidence"
SEARCH_MATCH_CHARS = 200
"""What a search shows around a match: a longer span is never whole in one."""
RECOVER_CHARS = 6000
"""What it takes for the most that a recovery shows, where the tool's definition does not say."""
CONTINUATION_CHARS = 64
"""At the end of a page, where it says how to go on."""
OVERLAP_CHARS = 1024
"""Shared by neighbouring recovered intervals, so that a span up to this long is whole in one;
half an interval where those are shorter than twice as much."""
TYPICAL_LINE_CHARS = 38
"""Where a line lies in an observation whose number of lines is no longer visible."""

_CONTINUED = re.compile(r"continue with offset=(\d+)\]\Z")
_SHORTENED = re.compile(
    r"\[This observation is shortened\..*\nhandle: ([0-9a-f]{64})\n.*\n"
    r"original: \d+ bytes, (\d+) code points\n"
)
_OMITTED = re.compile(r"^\[\.\.\. omitted: code points (\d+) to (\d+), \d+ in all \.\.\.\]$", re.M)
_LEFT = re.compile(r"archive calls left: (\d+)")
_ERROR = re.compile(r"error: [a-z_]+: ")


class ReaderSettings(Strict):
    """How the scripted reader goes about a task."""

    seed: int = 0
    """Order in which it reads."""
    notes: bool = False
    """It writes the spans it sees into the text beside its tool calls; never a value."""
    parallel: int = Field(default=1, ge=1)
    """Tool calls of one turn, at most."""
    patience: int = Field(default=8, ge=0)
    """Re-reads of something already read before it guesses what it cannot see."""
    recovery: Literal["search", "recover", "reread"] = "search"
    """What it does first when something it has read is no longer visible."""
    detours: int = Field(default=2, ge=0)
    """At most so many files without evidence are read on the way."""
    slips: int = Field(default=0, ge=0)
    """It answers one key in so many, drawn by the seed, wrong although it sees it; 0 is none."""
    memorised: int = Field(default=0, ge=0)
    """Where it can read nothing, it knows so many keys of each task, the first ones, by heart."""


READERS: Final[Mapping[Reader, ReaderSettings]] = {
    Reader.DEFAULT: ReaderSettings(),
    Reader.DIRECT: ReaderSettings(detours=0),
    Reader.BATCHING: ReaderSettings(parallel=4, detours=0),
}


class ReaderSpan(NamedTuple):
    """Literal source text that supports a key; `line` counts from 1."""

    file: str
    line: int
    text: str
    after: tuple[str, ...] = ()
    """It is not known to matter before the spans of these files have been read."""

    @property
    def last_line(self) -> int:
        return self.line + self.text.count("\n")


@dataclass(frozen=True)
class ReaderKey:
    """What it answers for one key: `value` while all spans are visible, else `guess`."""

    value: Any
    guess: Any
    """A wrong value, see `wrong_guess`."""
    spans: tuple[ReaderSpan, ...]


@dataclass(frozen=True)
class ReaderTask:
    """A task as the reader knows it; `opening` is the user message that it is recognised by."""

    opening: str
    files: tuple[str, ...]
    keys: Mapping[str, ReaderKey]
    closed_opening: str | None = None
    """The same where nothing can be read."""

    @cached_property
    def spans(self) -> tuple[ReaderSpan, ...]:
        return tuple(dict.fromkeys(span for key in self.keys.values() for span in key.spans))


@dataclass(frozen=True)
class ToolCall:
    name: str
    arguments: Mapping[str, Any]

    @property
    def identity(self) -> bytes:
        return canonical_bytes([self.name, self.arguments])


@dataclass(frozen=True)
class View:
    """What one request shows."""

    notes: tuple[str, ...]
    """The texts of the reader's own earlier messages."""
    exchanges: tuple[tuple[ToolCall, str], ...]
    """Its earlier tool calls, each with the result that the request shows for it."""
    tools: frozenset[str]
    recover_chars: int = RECOVER_CHARS
    """The most that a recovery shows."""

    @property
    def texts(self) -> Iterator[str]:
        return chain((result for _, result in self.exchanges), self.notes)


@dataclass(frozen=True)
class Turn:
    """What it says; without a call the text is its final answer."""

    text: str
    calls: tuple[ToolCall, ...] = ()


def wrong_guess(kind: str, value: object) -> Any:
    """A value of the JSON type `kind` that is not `value`; for null, where none is, a string."""
    candidates: Mapping[str, tuple[Any, Any]] = {
        "integer": (0, 1),
        "number": (0, 1),
        "boolean": (False, True),
        "array": ([], [None]),
        "object": ({}, {"": None}),
    }
    first, second = candidates.get(kind, ("", "?"))
    return second if value == first else first


def next_turn(view: View, task: ReaderTask, settings: ReaderSettings) -> Turn:
    """The reader's reply to a request. It answers when it sees all, or when nothing is left to try.

    It reads what it has not read, then seeks what it has read and no longer sees. A span that is
    found only after others is not sought before pages with all of those have been read.
    """
    visible = {span for span in task.spans if any(span.text in text for text in view.texts)}
    missing = [span for span in task.spans if span not in visible]
    calls = tuple(islice(_calls(missing, view, task, settings), settings.parallel))
    if not calls:
        return Turn(_answer(task, visible, view, settings))
    seen = [span for span in task.spans if span in visible] if settings.notes else []
    fresh = [span for span in seen if not any(span.text in note for note in view.notes)]
    return Turn("\n\n".join(f"{s.file}, line {s.line}:\n{s.text}" for s in fresh), calls)


def _answer(
    task: ReaderTask, visible: set[ReaderSpan], view: View, settings: ReaderSettings
) -> str:
    known = set() if READ in view.tools else set(islice(task.keys, settings.memorised))
    known |= {name for name, key in task.keys.items() if visible.issuperset(key.spans)}
    values = {
        name: key.value if name in known and not _slips(name, task, settings) else key.guess
        for name, key in task.keys.items()
    }
    return canonical_bytes(values).decode()


def _slips(name: str, task: ReaderTask, settings: ReaderSettings) -> bool:
    drawn = sha256(canonical_bytes([settings.seed, task.opening, name])).digest()
    return settings.slips > 0 and int.from_bytes(drawn) % settings.slips == 0


def _calls(
    missing: list[ReaderSpan], view: View, task: ReaderTask, settings: ReaderSettings
) -> Iterator[ToolCall]:
    """What to do next; empty when all is visible or everything sensible has been tried."""
    if not missing or READ not in view.tools:
        return
    history = _History(view.exchanges)
    known = [span for span in task.spans if _is_known(span, task, history)]
    missing = [span for span in missing if span in known]
    forward = list(_onward(missing, history))
    forward += _unread({span.file for span in known}, task, history, settings)
    if forward:
        yield from _unique(forward)
        return
    hidden = [(span, page) for span in missing if (page := history.page_of(span))]
    ways = {
        SEARCH: _within(history.archive_left, history.new(_searches(hidden))),
        RECOVER: _within(
            history.archive_left, history.new(_recoveries(hidden, history, view.recover_chars))
        ),
        READ: _within(settings.patience - history.rereads, _again(hidden)),
    }
    for name in _WAYS[settings.recovery]:
        if name in view.tools and (first := next(ways[name], None)):
            yield first
            yield from ways[name]
            return


_WAYS = {
    "search": (SEARCH, RECOVER, READ),
    "recover": (RECOVER, SEARCH, READ),
    "reread": (READ, SEARCH, RECOVER),
}


class _Page:
    """One stretch of a file, read once or more often, and what is known of it."""

    def __init__(self, path: str, offset: int) -> None:
        self.path, self.offset = path, offset
        self.last_line: int | None = None
        """None when no visible text says that the file goes on."""
        self.handle = ""
        self.code_points = 0
        self.omitted = (0, 0)

    def learn(self, text: str) -> None:
        if continued := _CONTINUED.search(text[-CONTINUATION_CHARS:]):
            self.last_line = int(continued[1]) - 1
        shortened = _SHORTENED.match(text)
        if shortened and (omitted := _OMITTED.search(text)):
            self.handle, self.code_points = shortened[1], int(shortened[2])
            self.omitted = int(omitted[1]), int(omitted[2])

    def covers(self, span: ReaderSpan) -> bool:
        starts = self.path == span.file and self.offset <= span.line
        return starts and (self.last_line is None or span.last_line <= self.last_line)

    def place_of(self, line: int) -> float:
        """About where in the text a line begins, in code points."""
        if self.last_line is None:
            return (line - self.offset) * TYPICAL_LINE_CHARS
        return (line - self.offset) * self.code_points / (self.last_line - self.offset + 1)


class _History:
    """What the reader's own calls and the results still visible tell it."""

    def __init__(self, exchanges: Iterable[tuple[ToolCall, str]]) -> None:
        self.made: set[bytes] = set()
        self.paths: set[str] = set()
        self.pages: dict[tuple[str, int], _Page] = {}
        self.archive_left: int | None = None
        """None until an archive result tells it."""
        reads: Counter[tuple[str, int]] = Counter()
        for call, text in exchanges:
            self.made.add(call.identity)
            path, offset = str(call.arguments.get("path")), call.arguments.get("offset", 1)
            if call.name == READ and isinstance(offset, int):
                self.paths.add(path)
                reads[path, offset] += 1
                if not _ERROR.match(text):
                    self.pages.setdefault((path, offset), _Page(path, offset)).learn(text)
            # only what stands before the excerpts is the archive's own word
            elif call.name in (SEARCH, RECOVER) and (left := _LEFT.search(text.split("\n---")[0])):
                self.archive_left = int(left[1])
        self.rereads = reads.total() - len(reads)

    def page_of(self, span: ReaderSpan) -> _Page | None:
        return next((page for page in self.pages.values() if page.covers(span)), None)

    def new(self, calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
        """Each call once, and none that was made before: its result would be the same."""
        return (call for call in _unique(calls) if call.identity not in self.made)


def _unique(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    return iter({call.identity: call for call in calls}.values())


def _within(limit: int | None, calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    return islice(calls, limit if limit is None else max(0, limit))


def _read(path: str, offset: int) -> ToolCall:
    return ToolCall(READ, {"path": path} if offset == 1 else {"path": path, "offset": offset})


def _onward(missing: Iterable[ReaderSpan], history: _History) -> Iterator[ToolCall]:
    """The next page of a file that goes on; a span cut by a page's end is read from its start."""
    for span in missing:
        pages = [page for page in history.pages.values() if page.path == span.file]
        if pages and not any(page.covers(span) for page in pages):
            ends = [page.last_line for page in pages if page.last_line is not None]
            call = _read(span.file, min(span.line, max(ends, default=0) + 1))
            if call.identity not in history.made:
                yield call


def _is_known(span: ReaderSpan, task: ReaderTask, history: _History) -> bool:
    """Whether all that the span is found after was read once, be it visible or not."""
    before = (other for other in task.spans if other.file in span.after)
    return all(history.page_of(other) for other in before)


def _unread(
    known: set[str], task: ReaderTask, history: _History, settings: ReaderSettings
) -> Iterator[ToolCall]:
    """The first page of each known file, and of the detours, that was not asked for."""

    def place(path: str) -> bytes:
        return sha256(f"{settings.seed}\0{path}".encode()).digest()

    needed = {span.file for span in task.spans}
    others = sorted(set(task.files) - needed, key=place)[: settings.detours]
    for path in sorted(known.union(others), key=place):
        if path not in history.paths:
            yield _read(path, 1)


def _searches(hidden: Iterable[tuple[ReaderSpan, _Page]]) -> Iterator[ToolCall]:
    """For each span that a search can show whole, by all of its text."""
    for span, _ in hidden:
        if len(span.text) <= SEARCH_MATCH_CHARS:
            yield ToolCall(SEARCH, {"query": span.text})


def _recoveries(
    hidden: Iterable[tuple[ReaderSpan, _Page]], history: _History, most: int
) -> Iterator[ToolCall]:
    """For each span the interval nearest to where its line should be, of those not yet tried."""
    overlap = min(OVERLAP_CHARS, most // 2)
    for span, page in hidden:
        start, end = page.omitted
        first, stop = max(0, start - overlap), min(page.code_points, end + overlap)
        middle = page.place_of(span.line) - most / 2
        starts = range(first, stop, most - overlap)
        intervals = [
            ToolCall(
                RECOVER,
                {"handle": page.handle, "start": at, "chars": min(most, stop - at)},
            )
            for at in sorted(starts, key=lambda at: (abs(at - middle), at))
        ]
        yield from islice(history.new(intervals), 1)


def _again(hidden: Iterable[tuple[ReaderSpan, _Page]]) -> Iterator[ToolCall]:
    """The same page once more, which shows all of it again."""
    return _unique(_read(page.path, page.offset) for _, page in hidden)
