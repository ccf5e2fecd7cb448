"""A task over made-up files of equal size, so that a conversation can be as long as is asked."""

import hashlib
import os
from pathlib import Path

from revereval.tasks.spec import load_task


def make_task(folder: Path, files: int, kib: int) -> Path:
    """Write a task `long-read` that needs every one of its files; returns the tasks folder.

    The snapshot is put where the local cache keeps it, below a new XDG_CACHE_HOME.
    """
    texts = {f"made/part{number:03}.py": _text(number, kib) for number in range(files)}
    group = folder / "tasks" / "made-up"
    group.mkdir(parents=True)
    digests = [
        f'"{path}" = "{hashlib.sha256(text.encode()).hexdigest()}"' for path, text in texts.items()
    ]
    (group / "source.toml").write_text(
        'package = "made-up"\nversion = "1.0"\nsplit = "development"\n[files]\n'
        + "\n".join(digests)
        + "\n"
    )
    spans = [
        f'[[evidence.total]]\nfile = "{path}"\nline = 20\nspan = "{_line(number, 19)}"'
        for number, path in enumerate(texts)
    ]
    (group / "long-read.toml").write_text(
        'prompt = "What is the total?"\nreads = 1\n[keys]\ntotal = "integer"\n'
        '[premises]\npython = "CPython 3.11 or later"\n' + "\n".join(spans) + "\n"
    )
    (group / "long-read.oracle.py").write_text("print('{\"total\": 1}')\n")
    (group / "long-read.gold.json").write_text('{"total": 1}\n')
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    digest = load_task(folder / "tasks", "long-read").source.snapshot_digest
    for path, text in texts.items():
        at = folder / "cache" / "revereval" / "snapshots" / digest / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
    return folder / "tasks"


def _line(number: int, at: int) -> str:
    token = hashlib.sha256(f"{number}.{at}".encode()).hexdigest()[:12]
    return f"value_{token} = combine({number}, {at}, left_{token[:5]})"


def _text(number: int, kib: int) -> str:
    lines = (kib * 1024) // (len(_line(number, 0)) + 1)
    return "".join(_line(number, at) + "\n" for at in range(lines))
