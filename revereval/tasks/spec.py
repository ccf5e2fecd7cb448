"""Task and source specs: the files under `tasks/`, read and checked one task at a time."""

import difflib
import graphlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from revereval import canonical
from revereval.errors import InputError
from revereval.terms import Reader, Split
from revereval.validated_toml import Strict, load_toml, validated

MAX_DEPTH: Final = 200
"""Brackets open at once in a gold or an answer: fixed, so that no verdict depends on the stack."""

_ID: Final = re.compile(r"[a-z][a-z0-9-]*")
_PLACEHOLDER: Final = "{oracle}"


class KeyType(StrEnum):
    """The JSON type a task declares for an answer key; an integer is a number too."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"
    NULL = "null"


_TYPE_OF: Final[Mapping[type, KeyType]] = {
    str: KeyType.STRING,
    int: KeyType.INTEGER,
    Decimal: KeyType.NUMBER,
    bool: KeyType.BOOLEAN,
    list: KeyType.ARRAY,
    dict: KeyType.OBJECT,
    type(None): KeyType.NULL,
}


@dataclass(frozen=True)
class Source:
    """A pinned release of one upstream project."""

    group: str
    package: str
    version: str
    files: Mapping[str, str]
    """The allowlist: path relative to site-packages -> SHA-256 in lower-case hex."""
    split: Split = Split.DEVELOPMENT

    @property
    def snapshot_digest(self) -> str:
        return canonical.digest(
            {"package": self.package, "version": self.version, "files": dict(self.files)}
        )


@dataclass(frozen=True)
class Span:
    """A literal piece of a snapshot file that supports a key of the gold."""

    file: str
    line: int
    """The line, counted from 1, in which the span begins."""
    span: str
    after: tuple[str, ...] = ()
    """Files without whose evidence nobody would look for this; they name it or lead to it."""

    @property
    def fields(self) -> dict[str, Any]:
        """As a task file has them: without an empty `after`."""
        return {name: value for name, value in asdict(self).items() if value != ()}


@dataclass(frozen=True)
class Task:
    """One question about a source. Gold and evidence stay with the controller."""

    id: str
    source: Source
    prompt: str
    """Rendered: the oracle's text stands where the file has its placeholder."""
    keys: Mapping[str, KeyType]
    premises: Mapping[str, str]
    reads: int
    """How many observations a careful reader needs, as the task's author counts them."""
    evidence: Mapping[str, tuple[Span, ...]]
    accepted: Mapping[str, str]
    """Functions that run and need no evidence, `file:qualified name` or a glob of it -> why."""
    boundary: tuple[Reader, ...] | None
    """The scripted readers that reach one in it, in their order; None where nobody settled it."""
    gold: Mapping[str, Any]
    """As `canonical.strict_json` gives it: a number with a fraction or exponent is a Decimal."""
    file: Path

    @property
    def oracle(self) -> Path:
        return self.file.with_suffix(".oracle.py")

    @property
    def spans(self) -> frozenset[Span]:
        """The distinct pieces of evidence."""
        return frozenset(span for spans in self.evidence.values() for span in spans)

    @property
    def evidence_bytes(self) -> int:
        """UTF-8 bytes of the distinct pieces of evidence."""
        places = {(span.file, span.line, span.span) for span in self.spans}
        return sum(len(text.encode()) for _, _, text in places)

    @property
    def gold_file(self) -> Path:
        return self.file.with_suffix(".gold.json")

    @property
    def digest(self) -> str:
        """Of all that is asked and what it rests on: neither gold nor what is known about it."""
        return canonical.digest(
            {
                "id": self.id,
                "source_group": self.source.group,
                "snapshot": self.source.snapshot_digest,
                "prompt": self.prompt,
                "keys": dict(self.keys),
                "premises": dict(self.premises),
                "reads": self.reads,
                "evidence": {k: [s.fields for s in spans] for k, spans in self.evidence.items()},
            }
        )

    @property
    def gold_digest(self) -> str:
        """Of the gold's canonical JSON, fractions spelled as the shortest text of their double.

        Exact, because loading refuses a gold number that a double does not keep.
        """
        return canonical.digest(json.loads(json_text(self.gold)))


def json_text(value: object) -> str:
    """JSON text of a value with Decimals, which become the nearest doubles. For digests, people."""
    return json.dumps(value, ensure_ascii=False, default=float)


def path_fault(path: str) -> str | None:
    """What keeps a path from being relative, of plain segments; None if nothing does."""
    if "\0" in path or "\\" in path:
        return "a path with a backslash or a NUL"
    if path.startswith("/") or re.match("[A-Za-z]:", path):
        return "an absolute path"
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        return "a path with an empty, '.' or '..' segment"
    return None


def _safe_path(path: str) -> str:
    if fault := path_fault(path):
        raise ValueError(fault)
    return path


class _Release(Strict):
    package: Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
    version: Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.!+_-]*$")]


class _SourceFile(_Release):
    split: Annotated[Split, Field(strict=False)]
    files: Annotated[
        dict[
            Annotated[str, AfterValidator(_safe_path)],
            Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")],
        ],
        Field(min_length=1),
    ]

    @field_validator("files")
    @classmethod
    def _no_file_is_a_folder(cls, files: dict[str, str]) -> dict[str, str]:
        folders = {str(parent) for path in files for parent in Path(path).parents}
        if both := folders & files.keys():
            raise ValueError(f"{min(both)!r} is a file and a folder")
        return files


class _SpanTable(Strict):
    file: str
    line: Annotated[int, Field(ge=1)]
    span: Annotated[str, Field(min_length=1)]
    after: Annotated[
        list[str],
        Field(min_length=1),
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    ] = []


class _TaskFile(Strict):
    prompt: Annotated[str, Field(min_length=1)]
    reads: Annotated[int, Field(ge=1)]
    boundary: list[Annotated[Reader, Field(strict=False)]] | None = None
    keys: Annotated[
        # An enum is not strict about its strings: TOML has no other way to write one.
        dict[str, Annotated[KeyType, Field(strict=False)]],
        Field(min_length=1),
    ]
    premises: dict[str, str]
    evidence: dict[str, Annotated[list[_SpanTable], Field(min_length=1)]]
    accepted: dict[str, Annotated[str, Field(pattern=r"\S")]] = {}


def task_ids(tasks_dir: Path) -> list[tuple[str, str]]:
    """(source group, task id) of every task, sorted; reads folder listings only.

    Raises InputError for a missing folder and for names that are not lower-case words with hyphens.
    """
    if not tasks_dir.is_dir():
        raise InputError(tasks_dir, "", "no such directory of tasks")
    try:
        found = sorted(
            (path.parent.name, path.stem)
            for path in tasks_dir.glob("[!.]*/[!.]*.toml")
            if path.name != "source.toml"
        )
    except OSError as error:
        raise InputError(tasks_dir, "", error.strerror or "cannot be read") from None
    for group, task_id in found:
        if not (is_id(group) and is_id(task_id)):
            problem = "source groups and task ids are lower-case letters, digits and hyphens"
            raise InputError(tasks_dir / group / f"{task_id}.toml", "", problem)
    return found


def siblings(tasks_dir: Path, group: str) -> tuple[str, ...]:
    """The task ids of a source group, sorted. Raises InputError for a group without tasks."""
    found = tuple(task_id for of, task_id in task_ids(tasks_dir) if of == group)
    if not found:
        raise InputError(tasks_dir, group, "no such source group")
    return found


def load_task(tasks_dir: Path, task_id: str) -> Task:
    """Read one task and its source; no other file is parsed.

    Raises InputError: an unknown task, or the first fault in its files.
    """
    group = group_of(tasks_dir, task_id)
    path = tasks_dir / group / f"{task_id}.toml"
    table = load_toml(path, _TaskFile)
    source = load_source(tasks_dir / group)
    evidence = {
        key: tuple(Span(at.file, at.line, at.span, tuple(at.after)) for at in spans)
        for key, spans in table.evidence.items()
    }
    _check_evidence(path, table.keys, evidence, source)
    _check_order(path, evidence)
    oracle = path.with_suffix(".oracle.py")
    if table.prompt.count(_PLACEHOLDER) > 1:
        raise InputError(path, "prompt", f"{_PLACEHOLDER} more than once")
    return Task(
        id=task_id,
        source=source,
        prompt=table.prompt.replace(_PLACEHOLDER, _read(oracle)),
        keys=table.keys,
        premises=table.premises,
        reads=table.reads,
        evidence=evidence,
        accepted=table.accepted,
        boundary=_in_order(table.boundary),
        gold=_load_gold(path.with_suffix(".gold.json"), table.keys),
        file=path,
    )


def _in_order(readers: list[Reader] | None) -> tuple[Reader, ...] | None:
    return None if readers is None else tuple(reader for reader in Reader if reader in readers)


def group_of(tasks_dir: Path, task_id: str) -> str:
    """The source group of a task. Raises InputError for an unknown one, naming what is close."""
    every = task_ids(tasks_dir)
    groups = [group for group, known in every if known == task_id]
    if len(groups) > 1:
        raise InputError(tasks_dir, task_id, f"in several source groups: {', '.join(groups)}")
    if not groups:
        close = difflib.get_close_matches(task_id, [known for _, known in every])
        hint = f"; close: {', '.join(close)}" if close else f" among {len(every)}"
        raise InputError(tasks_dir, task_id, f"no such task{hint}")
    return groups[0]


def is_id(text: str) -> bool:
    """Whether a text can name a task or a source group; `source.toml` is never a task."""
    return _ID.fullmatch(text) is not None and text != "source"


def load_evidence_files(path: Path) -> set[str]:
    """The files that a task's evidence names, in the allowlist or not. Raises InputError."""
    table = load_toml(path, _TaskFile)
    return {span.file for spans in table.evidence.values() for span in spans}


def check_release(package: str, version: str) -> None:
    """Raises InputError for a package or version that no source.toml may have."""
    validated("source.toml", {"package": package, "version": version}, _Release)


def load_source(folder: Path) -> Source:
    """The source of one group. Raises InputError for the first fault in its file."""
    table = load_toml(folder / "source.toml", _SourceFile)
    return Source(folder.name, table.package, table.version, table.files, table.split)


def _check_evidence(
    path: Path,
    keys: Mapping[str, KeyType],
    evidence: Mapping[str, tuple[Span, ...]],
    source: Source,
) -> None:
    for key in sorted(keys.keys() ^ evidence.keys()):
        problem = "no evidence for this key" if key in keys else "evidence for an undeclared key"
        raise InputError(path, f"evidence.{key}", problem)
    for key, spans in evidence.items():
        for span in spans:
            if span.file not in source.files:
                problem = f"{span.file!r} is not in the allowlist of source.toml"
                raise InputError(path, f"evidence.{key}", problem)


def _check_order(path: Path, evidence: Mapping[str, tuple[Span, ...]]) -> None:
    """Raises InputError where evidence is found after what is none, or only after itself."""
    before: dict[str, set[str]] = {}
    for spans in evidence.values():
        for span in spans:
            before.setdefault(span.file, set()).update(span.after)
    for key, spans in evidence.items():
        for at, span in enumerate(spans):
            for file in span.after:
                if file not in before:
                    problem = f"{file!r} is no file of this task's evidence"
                    raise InputError(path, f"evidence.{key}.{at}.after", problem)
    try:
        graphlib.TopologicalSorter({of: sorted(files) for of, files in before.items()}).prepare()
    except graphlib.CycleError as error:
        around = " after ".join(reversed(error.args[1]))
        raise InputError(path, "evidence", f"found only after itself: {around}") from None


def _load_gold(path: Path, keys: Mapping[str, KeyType]) -> Mapping[str, Any]:
    try:
        gold = canonical.strict_json(_read(path))
    except canonical.StrictJSONError as error:
        raise InputError(path, "", str(error)) from None
    if not isinstance(gold, dict):
        raise InputError(path, "", "not a JSON object")
    for key in sorted(gold.keys() ^ keys.keys()):
        raise InputError(path, key, "missing" if key in keys else "not a declared key")
    for key, value in gold.items():
        found, declared = _TYPE_OF[type(value)], keys[key]
        if found is not declared and (found, declared) != (KeyType.INTEGER, KeyType.NUMBER):
            raise InputError(path, key, f"of type {found}, declared {declared}")
        if fault := value_fault(value):
            raise InputError(path, key, fault)
    return gold


def value_fault(value: object, depth: int = 2) -> str | None:
    """Why a value of `strict_json` cannot be a gold's, None if it can; depth: brackets open."""
    if isinstance(value, Decimal) and Decimal(repr(float(value))) != value:
        return "a fraction with more digits than a double keeps"
    if not isinstance(value, dict | list):
        return None
    if depth > MAX_DEPTH:
        return f"nested deeper than {MAX_DEPTH} brackets"
    parts = value.values() if isinstance(value, dict) else value
    return next(filter(None, (value_fault(part, depth + 1) for part in parts)), None)


def _read(path: Path) -> str:
    """Bytes decoded as they are: newlines are part of what is hashed."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise InputError(path, "", "no such file") from None
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be read") from None
    except UnicodeDecodeError:
        raise InputError(path, "", "not UTF-8") from None
