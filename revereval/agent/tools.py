"""The agent's read-only tool surface: the same three tools in the capture and in both arms."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

from revereval.provider.wire import Call, ToolSpec
from revereval.terms import ArchiveOutcome

VERSION: Final = 2
"""Of the definitions and of what `read` shows: raised with each change of either."""
MAX_READ_BYTES = 50 * 1024
MAX_READ_LINES = 2000

READ = "read"
ARCHIVE_TOOLS = ("search_evidence", "recover_evidence")


class ArchiveLimits(Protocol):
    """What both archive calls show at most, in code points, and how many matches."""

    @property
    def search_matches(self) -> int: ...

    @property
    def search_match_chars(self) -> int: ...

    @property
    def search_chars(self) -> int: ...

    @property
    def recover_chars(self) -> int: ...

    @property
    def recover_default_chars(self) -> int: ...


def _integer(description: str, low: int, high: int | None = None) -> dict[str, Any]:
    bounds = {"minimum": low} if high is None else {"minimum": low, "maximum": high}
    return {"type": "integer", "description": description, **bounds}


def _parameters(required: list[str], **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def tool_specs(limits: ArchiveLimits) -> tuple[ToolSpec, ...]:
    """The definitions as they are sent, alike in the capture and in both arms."""
    matches, each, found = limits.search_matches, limits.search_match_chars, limits.search_chars
    recovered, by_default = limits.recover_chars, limits.recover_default_chars
    return (
        ToolSpec(
            READ,
            "Read a listed source file, at most 2,000 lines or 50 KiB a call.",
            _parameters(
                ["path"],
                path={"type": "string", "description": "One of the listed files."},
                offset=_integer("First line, counted from 1 (default 1).", 1),
                limit=_integer(
                    f"Lines to read (default and maximum {MAX_READ_LINES}).", 1, MAX_READ_LINES
                ),
            ),
        ),
        ToolSpec(
            "search_evidence",
            "Find literal text (ASCII case ignored) in what you have read so far, shortened or "
            f"not: the first match in each observation, at most {matches}, each with its place "
            f"and at most {each} code points around it. "
            "Successful search_evidence and recover_evidence calls share one small allowance.",
            _parameters(
                ["query"],
                query={"type": "string", "description": "1 to 256 characters."},
                chars=_integer(
                    "Code points of original text to show in all, shared by the matches "
                    f"(default and maximum {found}).",
                    1,
                    found,
                ),
            ),
        ),
        ToolSpec(
            "recover_evidence",
            "Show an exact part of an observation by the handle that its shortened form names.",
            _parameters(
                ["handle"],
                handle={"type": "string", "description": "The observation's handle."},
                start=_integer("First code point, counted from 0 (default 0).", 0),
                chars=_integer(
                    f"Code points to show, 1 to {recovered} (default {by_default}).", 1, recovered
                ),
            ),
        ),
    )


class ArchiveResult(Protocol):
    @property
    def outcome(self) -> ArchiveOutcome: ...

    @property
    def text(self) -> str: ...

    @property
    def remaining(self) -> int: ...


class Archive(Protocol):
    """Where the originals are kept and found again."""

    def add(self, text: str) -> str: ...

    def call(self, call_id: str, name: str, arguments: Mapping[str, Any]) -> ArchiveResult: ...

    def bad_arguments(self, problem: str) -> ArchiveResult: ...


@dataclass(frozen=True)
class ToolResult:
    """One observation: its text and what the text alone cannot say."""

    call: Call
    text: str
    error: str | None = None
    """Why it is an error observation: an archive outcome, `denied_access`, `bad_arguments` or
    `unknown_tool`; None for a result."""
    archive: ArchiveOutcome | None = None
    """The outcome of an archive call, None for every other tool."""
    archive_calls_left: int | None = None


class ReadOnlyTools:
    """Executes calls against texts held in memory; never raises, never writes."""

    def __init__(self, files: Mapping[str, str], archive: Archive) -> None:
        self._files = files
        self._archive = archive

    def observe(self, call: Call) -> ToolResult:
        if call.name in ARCHIVE_TOOLS:
            return self._archived(call)
        if call.problem:
            return _error(call, "bad_arguments", call.problem)
        if call.name != READ:
            known = ", ".join((READ, *ARCHIVE_TOOLS))
            return _error(call, "unknown_tool", f"the tools are {known}")
        result = read(self._files, call)
        if result.error is None:
            self._archive.add(result.text)
        return result

    def _archived(self, call: Call) -> ToolResult:
        if call.problem:
            result = self._archive.bad_arguments(call.problem)
        else:
            result = self._archive.call(call.id, call.name, call.arguments)
        error = None if result.outcome is ArchiveOutcome.OK else result.outcome.value
        return ToolResult(call, result.text, error, result.outcome, result.remaining)


class NoTools:
    """Of a request that offers none: a call all the same is an error observation."""

    def observe(self, call: Call) -> ToolResult:
        return _error(call, "unknown_tool", "there are no tools")


def read(files: Mapping[str, str], call: Call) -> ToolResult:
    """`read(path, offset?, limit?)` over an allowlist of whole files; offset and limit in lines."""
    path, offset, limit = (call.arguments.get(key) for key in ("path", "offset", "limit"))
    offset, limit = 1 if offset is None else offset, MAX_READ_LINES if limit is None else limit
    if set(call.arguments) - {"path", "offset", "limit"}:
        return _error(call, "bad_arguments", "allowed are path, offset and limit")
    if not isinstance(path, str):
        return _error(call, "bad_arguments", "path must be a string")
    if type(limit) is not int or not 1 <= limit <= MAX_READ_LINES:
        return _error(call, "bad_arguments", f"limit must be from 1 to {MAX_READ_LINES}")
    text = files.get(path)
    if text is None:
        return _error(call, "denied_access", "not one of the listed files")
    lines = len(_lines(text))
    if type(offset) is not int or not 1 <= offset <= lines:
        return _error(call, "bad_arguments", f"offset must be from 1 to {lines}")
    return ToolResult(call, _page(text, offset, limit))


@lru_cache(maxsize=64)
def _lines(text: str) -> list[str]:
    """The lines of a file, kept for its next page; not to be changed."""
    return text.removesuffix("\n").split("\n")


@lru_cache(maxsize=64)
def _page(text: str, offset: int, limit: int) -> str:
    """Whole lines up to both limits, then how to continue; an overlong line is cut, and says so.

    Kept for the arms, which read again what the capture has read.
    """
    lines = _lines(text)
    end = min(len(lines), offset - 1 + limit)
    shown = "\n".join(lines[offset - 1 : end])
    notes = []
    if len(data := shown.encode()) > MAX_READ_BYTES:
        last_break = data.rfind(b"\n", 0, MAX_READ_BYTES + 1)
        if last_break < 0:
            notes.append(f"line {offset} is cut at {MAX_READ_BYTES} bytes")
        data = data[: MAX_READ_BYTES if last_break < 0 else last_break]
        end = offset + data.count(b"\n")
        shown = data.decode("utf-8", "ignore")  # a cut line may end within a character
    if end < len(lines):
        notes.append(f"lines {offset} to {end} of {len(lines)}; continue with offset={end + 1}")
    return shown + "".join(f"\n[{note}]" for note in notes)


def _error(call: Call, kind: str, problem: str) -> ToolResult:
    return ToolResult(call, f"error: {kind}: {problem}", kind)
