"""Writing task files: the scaffold of a new task, and what its oracle then settles."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from revereval.canonical import sha256_hex
from revereval.errors import InputError
from revereval.tasks.download import download_files
from revereval.tasks.lint import TODO, needed_files
from revereval.tasks.oracle import OracleError, OracleRun, TaskCheck, run_oracle
from revereval.tasks.snapshot import fetch_snapshot, installed_files
from revereval.tasks.spec import (
    Source,
    checked_source,
    group_of,
    is_id,
    json_text,
    load_evidence_files,
    load_source,
    siblings,
    task_ids,
)
from revereval.terms import Split

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

# One table for each literal piece of source that the answer rests on, and where it begins.
[[evidence.answer]]
file = {file}
line = 1
span = {span}
'''
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
    if not (is_id(task_id) and is_id(group)):
        raise InputError("TASK", f"{group}/{task_id}", "lower-case letters, digits and hyphens")
    if tasks_dir.is_dir() and task_id in {known for _, known in task_ids(tasks_dir)}:
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
    source = checked_source(Source(group, package, version, {**present, **digests}, split))
    texts = {folder / "source.toml": source_toml(source), **_scaffold(folder / task_id, contents)}
    folder.mkdir(parents=True, exist_ok=True)
    written = [path for path, text in texts.items() if _write_changed(path, text)]
    return written, {path: len(content) for path, content in contents.items()}


def settle(tasks_dir: Path, task_id: str) -> list[Path]:
    """Write what the oracles of a task's group decide; returns the files that changed.

    Each gold becomes what its oracle prints, and source.toml keeps the files that an oracle opens
    or that evidence names. Raises InputError, with nothing written, when an oracle fails.
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
        text = json.dumps(json.loads(json_text(run.printed)), indent=2, ensure_ascii=False)
        written[folder / f"{sibling}.gold.json"] = text + "\n"
    return [path for path, text in written.items() if _write_changed(path, text)]


def source_toml(source: Source) -> str:
    """The text of a source.toml. TOML's basic strings are written as JSON's."""
    lines = [f"{name} = {json.dumps(getattr(source, name))}" for name in ("package", "version")]
    lines += [f'split = "{source.split}"', "", "[files]"]
    lines += [f'{json.dumps(path)} = "{source.files[path]}"' for path in sorted(source.files)]
    return "\n".join(lines) + "\n"


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
    module = min(_modules(contents), key=lambda name: (name.startswith("_"), name))
    longest = max(contents, key=lambda path: len(contents[path]))
    lines = contents[longest].decode().splitlines()
    first = next(filter(str.strip, lines[:1]), None) or "\n".join(lines[:2])
    name = stem.name
    return {
        stem.with_name(f"{name}.toml"): _TASK.format(
            todo=TODO, file=json.dumps(longest), span=json.dumps(first, ensure_ascii=False)
        ),
        stem.with_name(f"{name}.oracle.py"): _ORACLE.format(module=module),
        stem.with_name(f"{name}.gold.json"): json.dumps({"answer": module}, indent=2) + "\n",
    }


def _modules(contents: Iterable[str]) -> set[str]:
    """The names that can be imported at the top."""
    tops = {PurePosixPath(path).parts[0].removesuffix(".py") for path in contents}
    return {top for top in tops if top.isidentifier()} or tops


def _write_changed(path: Path, text: str) -> bool:
    if path.exists() and path.read_bytes() == text.encode():
        return False
    fresh = path.with_name(f".{path.name}.fresh")
    fresh.write_text(text, "utf-8")
    os.replace(fresh, path)
    return True
