"""What a command prints: results to stdout, notes to stderr, foreign text always as text."""

import io
import json
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, Literal

from revereval.report.plain import shown

_FIGURE = re.compile(r"[-+−]?[\d,.]+(–[\d,.]+| to [-+−][\d,.]+)?|\[[^\]]{1,60}\]|unknown|")
"""A number, a range of counts, a range of means, an interval."""
_WORD = 8
"""Columns that words keep at least."""
_BETWEEN = 3
"""Columns between two columns of a table."""


def use_safe_streams() -> None:
    """Standard streams that exist and never fail on a character that their encoding lacks.

    A stream closed by the caller is opened on the null device, before a file of ours gets its
    number and with it what others write to that stream.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 - a descriptor, for good
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
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
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    return 80


def _widths(natural: Sequence[int], figures: Sequence[bool], room: int) -> list[int]:
    """Columns of each column: figures whole, words folded where they do not fit beside them.

    A figure is never cut in two: where there is no room for it the lines are longer.
    """
    words = [wide for wide, are in zip(natural, figures, strict=True) if not are]
    left = room - (sum(natural) - sum(words))
    cap = max([*words, _WORD])
    while cap > _WORD and sum(min(wide, cap) for wide in words) > left:
        cap -= 1  # the widest give way first
    return [wide if are else min(wide, cap) for wide, are in zip(natural, figures, strict=True)]


def table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A plain table on stdout: no markup, no escapes, long cells folded."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[shown(row[index]) for row in rows] for index in range(len(columns))]
    figures = [all(map(_FIGURE.fullmatch, column)) for column in cells]
    room = width() - _BETWEEN * (len(columns) - 1)
    natural = [max(map(len, [head, *of])) for head, of in zip(columns, cells, strict=True)]
    if sum(natural) > room:  # heads of figures fold between their words
        heads = [c.split() if are else [c] for c, are in zip(columns, figures, strict=True)]
        natural = [max(map(len, [*head, *of, ""])) for head, of in zip(heads, cells, strict=True)]
    widths = _widths(natural, figures, room)
    # on a buffer: a console on stdout would end the process itself when its reader goes away
    drawing = io.StringIO()
    console = Console(
        file=drawing, width=sum(widths) + _BETWEEN * len(columns), no_color=True, markup=False,
        emoji=False, highlight=False, force_terminal=False,
    )  # fmt: skip
    drawn = Table(box=box.SIMPLE_HEAD, title=None, show_edge=False, pad_edge=False)
    for column, are, wide in zip(columns, figures, widths, strict=True):
        justify: Literal["left", "right"] = "right" if are else "left"
        drawn.add_column(Text(column), overflow="fold", justify=justify, width=wide)
    for row in rows:
        drawn.add_row(*(Text(shown(cell)) for cell in row))
    if title:
        paragraph(title)
    console.print(drawn)
    sys.stdout.writelines(row.rstrip() + "\n" for row in drawing.getvalue().split("\n")[:-1])
