"""The installed `revereval` command, in an environment and a folder of the test's own."""

import os
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
REVEREVAL = Path(sys.executable).with_name("revereval")
NOISY = {"FORCE_COLOR": "1", "NO_COLOR": "", "TERM": "xterm-256color", "COLUMNS": "40",
         "CLICOLOR_FORCE": "1", "PY_COLORS": "1"}  # fmt: skip
"""What people and CI systems set; none of it may reach a pipe."""


@dataclass(frozen=True)
class Scene:
    """A folder with `tasks` in it, as a clone has it, and a snapshot cache."""

    folder: Path
    cache: Path

    def env(self, **more: str) -> dict[str, str]:
        return {"PATH": os.defpath, "XDG_CACHE_HOME": str(self.cache), "PIP_NO_INDEX": "1", **more}

    def run(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        program: list[str] | None = None,
        **how: Any,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run to the end with both outputs piped, unless `how` says otherwise."""
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        return subprocess.run(
            [*(program or [str(REVEREVAL)]), *arguments],
            cwd=self.folder,
            env=self.env(**(env or {})),
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
            **piped,
        )

    def shell(self, script: str) -> subprocess.CompletedProcess[bytes]:
        """Run a bash script in which `revereval` is the command."""
        env = self.env(PATH=f"{REVEREVAL.parent}:{os.environ.get('PATH', os.defpath)}")
        return subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )

    def config(self, text: str, name: str = "config.toml") -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)


def at(folder: Path, cache: Path) -> Scene:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "tasks").exists():
        (folder / "tasks").symlink_to(ROOT / "tasks")
    return Scene(folder, cache)


def unsafe(text: str) -> list[str]:
    """Characters that a terminal acts on or that hide text, by their Unicode categories."""
    return [
        f"U+{ord(character):04X}"
        for character in text
        if character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
