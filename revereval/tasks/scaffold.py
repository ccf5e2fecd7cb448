"""Writing task files: the scaffold of a new task, and what its oracle then settles."""

import json
import keyword
import os
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from sys import stdlib_module_names
from typing import Any

from revereval.canonical import sha256_hex
from revereval.errors import InputError
from revereval.tasks.download import download_files
from revereval.tasks.lint import TODO, Reach, needed_files
from revereval.tasks.oracle import OracleError, OracleRun, TaskCheck, run_oracle
from revereval.tasks.snapshot import fetch_snapshot, installed_files
from revereval.tasks.spec import (
    Source,
    check_release,
    group_of,
    is_id,
    json_text,
    load_evidence_files,
    load_source,
    load_task,
    siblings,
    task_ids,
    value_fault,
)
from revereval.terms import Reader, Split

_TASK = '''prompt = """
{todo}: what a maintainer wants to know, and why. What does this program print when it runs
against the pinned source?

```python
{{oracle}}
```
"""
reads = 2

[keys]
answer = "string"

[premises]
python = "CPython 3.11 or later"

# One table for each literal piece of source that the answer rests on, and where it begins. What is
# found only after the evidence in other files says so: after = "that/file.py", or a list of files.
[[evidence.answer]]
file = {file}
line = {line}
span = {span}

# The other functions that the oracle runs, once it is clear that they decide no value, each with
# the reason. The name may be a glob: "package/module.py:*".
[accepted]
'''
_BOUNDARY = re.compile(r"^boundary *=[^\]]*\]", re.M)
_READS = re.compile(r"^reads *=.*\n", re.M)
_ORACLE = '''import json

import {module}

print(json.dumps({{"answer": {module}.__name__}}))
'''


def new_task(
    tasks_dir: Path, task_id: str, package: str, version: str, group: str, split: Split
) -> tuple[list[Path], Mapping[str, int]]:
    """Write the scaffold of a task that holds, and a source.toml that lists all its files.

    A group that exists keeps its split and gets back every file that `settle` left out.
    Returns the files written and the size in bytes of every listed file of the package.
    Raises InputError, with nothing written, for a name that is no id or is taken, a group of
    another release, or a release without Python files.
    """
    folder = tasks_dir / group
    check_release(package, version)
    if not (is_id(task_id) and is_id(group)):
        problem = "lower-case letters, digits and hyphens, and not the word source"
        raise InputError("TASK", f"{group}/{task_id}", problem)
    if tasks_dir.exists() and task_id in {known for _, known in task_ids(tasks_dir)}:
        raise InputError(tasks_dir, task_id, "there is such a task already")
    present: Mapping[str, str] = {}
    if (folder / "source.toml").exists():
        source = load_source(folder)
        present, split = source.files, source.split
        if (source.package, source.version) != (package, version):
            problem = f"the group is of {source.package} {source.version}"
            raise InputError(folder / "source.toml", "version", problem)
    contents = _python_files(package, version)
    digests = {path: sha256_hex(content) for path, content in contents.items()}
    source = Source(group, package, version, {**present, **digests}, split)
    texts = {folder / "source.toml": source_toml(source), **_scaffold(folder / task_id, contents)}
    written = _write_changed(texts)
    return written, {path: len(content) for path, content in contents.items()}


def settle(tasks_dir: Path, task_id: str, reach: Reach) -> list[Path]:
    """Write what the oracles of a task's group decide; returns the files that changed.

    Each gold becomes what its oracle prints, and source.toml keeps the files that an oracle opens
    or that evidence names. Raises InputError, with nothing written, when an oracle fails. Then
    each task that loads says which scripted readers reach a boundary in it.
    """
    group = group_of(tasks_dir, task_id)
    folder = tasks_dir / group
    source = load_source(folder)
    snapshot = fetch_snapshot(source, rebuild=False)
    runs: dict[str, OracleRun] = {}
    named: set[str] = set()
    for sibling in siblings(tasks_dir, group):
        oracle = folder / f"{sibling}.oracle.py"
        try:
            runs[sibling] = run_oracle(oracle, snapshot)
        except OracleError as error:
            raise InputError(oracle, "", str(error)) from None
        named |= load_evidence_files(folder / f"{sibling}.toml")
    used = needed_files([], (TaskCheck(t, (), (), run.used) for t, run in runs.items()))
    kept = {path: digest for path, digest in source.files.items() if path in used | named}
    written = {folder / "source.toml": source_toml(replace(source, files=kept))}
    for sibling, run in runs.items():
        for key, value in run.printed.items():
            if fault := value_fault(value):
                raise InputError(folder / f"{sibling}.oracle.py", key, f"prints {fault}")
        text = json.dumps(json.loads(json_text(run.printed)), indent=2, ensure_ascii=False)
        written[folder / f"{sibling}.gold.json"] = text + "\n"
    changed = _write_changed(written)
    files = {path: snapshot.files[path] for path in kept}
    told = {}
    for sibling in runs:
        try:
            file = load_task(tasks_dir, sibling).file
        except InputError:
            continue  # lint says what keeps it from loading
        told[file] = _with_boundary(file, reach(tasks_dir, sibling, files))
    return changed + _write_changed(told)


def _with_boundary(file: Path, reached: Sequence[Reader]) -> str:
    """The text of a task file that says so, in the field that it has or after its reads."""
    text = file.read_bytes().decode()
    names = list(map(str, reached))
    line = f"boundary = {json.dumps(names)}"
    wanted = tomllib.loads(text) | {"boundary": names}
    edits = [text[: at.start()] + line + text[at.end() :] for at in _BOUNDARY.finditer(text)]
    places = [*(at.end() for at in _READS.finditer(text)), 0]
    edits += [f"{text[:place]}{line}\n{text[place:]}" for place in places]
    for edit in edits:
        if _toml(edit) == wanted:  # the lines may be a prompt's
            return edit
    raise InputError(file, "boundary", f"cannot be replaced: write `{line}` on a line of its own")


def _toml(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def source_toml(source: Source) -> str:
    """The text of a source.toml."""
    lines = [f"{name} = {_quoted(getattr(source, name))}" for name in ("package", "version")]
    lines += [f'split = "{source.split}"', "", "[files]"]
    lines += [f'{_quoted(path)} = "{source.files[path]}"' for path in sorted(source.files)]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A basic string of TOML: JSON's, but for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _python_files(package: str, version: str) -> dict[str, bytes]:
    """Every Python file of a release but its own tests, from the installed copy or a download."""

    def listed(path: str) -> bool:
        parts = PurePosixPath(path).parts
        return path.endswith(".py") and not {"test", "tests", "testing"}.intersection(parts)

    try:
        contents = installed_files(package, version, None)
    except LookupError:
        contents = download_files(package, version, listed)
    readable = {p: content for p, content in contents.items() if listed(p) and _is_text(content)}
    if not readable:
        raise InputError(package, version, "a release without Python files")
    return readable


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _scaffold(stem: Path, contents: Mapping[str, bytes]) -> dict[Path, str]:
    """A task that holds at once: its answer is the name of the package's first module."""
    module = _module(contents)
    longest = max(contents, key=lambda path: len(contents[path]))
    lines = contents[longest].decode().split("\n")
    number, line = next(((n, line) for n, line in enumerate(lines, 1) if line.strip()), (0, ""))
    if not (module and number):
        raise InputError(stem.parent / "source.toml", "files", "no module that can be imported")
    return {
        stem.with_name(f"{stem.name}.toml"): _TASK.format(
            todo=TODO, file=_quoted(longest), line=number, span=_quoted(line)
        ),
        stem.with_name(f"{stem.name}.oracle.py"): _ORACLE.format(module=module),
        stem.with_name(f"{stem.name}.gold.json"): json.dumps({"answer": module}, indent=2) + "\n",
    }


def _module(paths: Collection[str]) -> str | None:
    """The first name that `import` finds in the package and not in the standard library."""
    packages = {path.removesuffix("/__init__.py") for path in paths if path.count("/") == 1}
    tops = {path.removesuffix(".py") for path in paths if "/" not in path}
    names = [
        name
        for name in packages | tops
        if name.isidentifier() and not keyword.iskeyword(name) and name not in stdlib_module_names
    ]
    return min(names, key=lambda name: (name.startswith("_"), name), default=None)


def _write_changed(texts: Mapping[Path, str]) -> list[Path]:
    """Write the files whose text differs, each whole; returns them. Raises InputError."""
    try:
        contents = {path: text.encode() for path, text in texts.items()}
    except UnicodeEncodeError:
        problem = "a lone surrogate, which no UTF-8 file can hold"
        raise InputError(next(iter(texts)).parent, "", problem) from None
    written = []
    for path, content in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.read_bytes() == content:
                continue
            fresh = path.with_name(f".{path.name}.fresh")
            fresh.write_bytes(content)
            os.replace(fresh, path)
        except OSError as error:
            raise InputError(path, "", error.strerror or "cannot be written") from None
        written.append(path)
    return written
