"""`revereval --help` against the `--help` of a ten-line Typer app with as many commands."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROUNDS = 15
AIM = 1.3

_SMALL = """
import typer
app = typer.Typer(rich_markup_mode=None, add_completion=False)
def command(count: int = 1, name: str = "x", flag: bool = False) -> None:
    "Say hello."
for name in ("capture", "run-pair", "serve-scripted"):
    app.command(name)(command)
for group, names in {"tasks": "list show fetch verify", "ledger": "show audit export"}.items():
    sub = typer.Typer()
    for name in names.split():
        sub.command(name)(command)
    app.add_typer(sub, name=group)
app()
"""
_OURS = "from revereval.cli.app import main; main()"


def run(folder: Path) -> Iterator[str]:
    small = folder / "small.py"
    small.write_text(_SMALL)
    ours = folder / "ours.py"
    ours.write_text(_OURS)
    times: dict[Path, list[float]] = {small: [], ours: []}
    for _ in range(ROUNDS):
        for script, taken in times.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, script, "--help"], check=True, capture_output=True)
            taken.append(time.perf_counter() - start)
    base, mine = (statistics.median(taken) for taken in times.values())
    yield (
        f"startup revereval --help {mine * 1000:.0f} ms, small Typer app {base * 1000:.0f} ms: "
        f"ratio {mine / base:.2f} (aim: at most {AIM})"
    )
