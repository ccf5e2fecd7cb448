"""What a command prints: results to stdout, notes to stderr, foreign text always as text."""

import json
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

# C0 and C1 controls, line and paragraph separators, and marks that reorder or hide text
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)

_FIGURE = re.compile(r"[-+]?[\d,.]+|unknown|")


def shown(text: str) -> str:
    """Text from models, tasks or servers with everything a terminal would act on escaped."""
    return _UNSAFE.sub(lambda match: ascii(match[0])[1:-1], text)


def use_safe_streams() -> None:
    """Never fail on a character that the terminal's or cron's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def print_json(value: Any) -> None:
    """One JSON document on stdout, whatever the terminal's width."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n")


def line(text: str = "") -> None:
    """One line of a result on stdout; the text may be foreign."""
    sys.stdout.write(shown(text) + "\n")


def paragraph(text: str) -> None:
    """A sentence on stdout, folded at the terminal's width."""
    sys.stdout.write(textwrap.fill(shown(text), width(), break_on_hyphens=False) + "\n")


def note(text: str) -> None:
    """One line for the person who watches, on stderr; a reader that went away is no fault."""
    try:
        sys.stderr.write(shown(text) + "\n")
        sys.stderr.flush()
    except OSError:
        return


def width() -> int:
    """Columns to fill: the terminal's, or 80 where nobody watches."""
    if sys.stdout.isatty():
        return os.get_terminal_size(sys.stdout.fileno()).columns
    return 80


def table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A plain table on stdout: no markup, no escapes, long cells folded."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(
        width=width(), no_color=True, markup=False, emoji=False, highlight=False,
        force_terminal=False,
    )  # fmt: skip
    drawn = Table(box=box.SIMPLE_HEAD, title=None, show_edge=False, pad_edge=False)
    for index, column in enumerate(columns):
        figures = all(_FIGURE.fullmatch(row[index]) for row in rows)
        drawn.add_column(Text(column), overflow="fold", justify="right" if figures else "left")
    for row in rows:
        drawn.add_row(*(Text(shown(cell)) for cell in row))
    if title:
        line(title)
    with console.capture() as captured:
        console.print(drawn)
    sys.stdout.writelines(row.rstrip() + "\n" for row in captured.get().splitlines())
