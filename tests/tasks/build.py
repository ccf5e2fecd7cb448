"""Builds small real things to test with: a package, its wheel, its installation, a task on it."""

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

from revereval.tasks.spec import Source

FILES: Mapping[str, bytes] = {
    "tinypkg/__init__.py": b"from tinypkg.sums import add\n\nNAME = 'tiny'\n",
    "tinypkg/sums.py": b"# sums\r\ndef add(a, b):\n    # so 1 + 2 is 3\n    return a + b\n",
}

TASK = """
prompt = '''What does this print?
{oracle}'''
reads = 2

[keys]
sum = "integer"
half = "number"
name = "string"

[premises]
python = "any"

[[evidence.sum]]
file = "tinypkg/sums.py"
line = 3
span = '''# so 1 + 2 is 3
    return a + b'''

[[evidence.half]]
file = "tinypkg/sums.py"
line = 4
span = "return a + b"

[[evidence.name]]
file = "tinypkg/__init__.py"
line = 3
span = "'tiny'"
"""

ORACLE = """import json

import tinypkg

print(json.dumps({"sum": tinypkg.add(1, 2), "half": tinypkg.add(1, 2) / 2, "name": tinypkg.NAME}))
"""

GOLD = '{"sum": 3, "half": 1.5, "name": "tiny"}\n'


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def source(files: Mapping[str, bytes] = FILES, version: str = "1.0") -> Source:
    return Source("tiny", "tinypkg", version, {path: sha256(files[path]) for path in files})


def write_task(
    tasks_dir: Path,
    *,
    files: Mapping[str, bytes] = FILES,
    group: str = "tiny",
    task_id: str = "tiny-add",
    task: str = TASK,
    oracle: str = ORACLE,
    gold: str = GOLD,
) -> Path:
    """Write a group with one task; returns the path without a suffix."""
    folder = tasks_dir / group
    folder.mkdir(parents=True, exist_ok=True)
    lines = ['package = "tinypkg"', 'version = "1.0"', 'split = "development"', "[files]"]
    lines += [f'"{path}" = "{sha256(content)}"' for path, content in files.items()]
    (folder / "source.toml").write_text("\n".join(lines))
    (folder / f"{task_id}.toml").write_text(task)
    (folder / f"{task_id}.oracle.py").write_text(oracle)
    (folder / f"{task_id}.gold.json").write_text(gold)
    return folder / task_id


def _with_metadata(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {
        **files,
        "tinypkg-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tinypkg\nVersion: 1.0\n",
        "tinypkg-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nTag: py3-none-any\n",
        "tinypkg-1.0.dist-info/RECORD": b"",
    }


def build_wheel(folder: Path, files: Mapping[str, bytes] = FILES) -> Path:
    wheel = folder / "tinypkg-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in _with_metadata(files).items():
            archive.writestr(path, content)
    return wheel


def install(site: Path, files: Mapping[str, bytes] = FILES) -> Path:
    """Lay the release out as an installer would; the caller puts `site` on the path."""
    for path, content in _with_metadata(files).items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(content)
    return site
