"""The report as a file: one document through one template for each format.

Every text that a template prints is foreign until it is escaped, and the environments do that by
themselves: HTML has no script, no network and nothing in it but what it shows; Markdown acts on
nothing that a model, a task or a server wrote.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from revereval.report import document
from revereval.report.document import Document
from revereval.report.drawing import VARIABLES, Drawn, svg_inline
from revereval.report.plain import in_markdown, shown
from revereval.report.section import Table

_FIGURE: Final = re.compile(r"[-+−\[\]\d.,%–\s]*\d[-+−\[\]\d.,%–\s]*|unknown|none|")
_BETWEEN: Final = re.compile(r"(?<=\d) to (?=[-+−\d])")
_HEX: Final = re.compile(r"[0-9a-f]{64}")


def page(report: Document) -> str:
    """The whole HTML file, UTF-8."""
    made = _environment(autoescape=True, finalize=_defused)
    made.filters |= {"kinds": _kinds, "prose": _prose, "svg": _svg}
    return made.get_template("page.html.jinja").render(
        report=report, text=document, colours=_colours
    )


def markdown(report: Document, files: Mapping[str, str]) -> str:
    """The whole file as GitHub-flavoured Markdown, UTF-8: the page's sentences, tables and figures.

    `files` has a link to the picture of each figure, by the figure's name; a figure without one is
    there in words and numbers.
    """
    made = _environment(autoescape=False, finalize=_escaped)
    made.filters["rules"] = _rules
    glossary = Table("", ["term", "meaning"], document.GLOSSARY)
    rendered = made.get_template("report.md.jinja").render(
        report=report, text=document, glossary=glossary, files=files
    )
    return rendered.rstrip("\n") + "\n"


def _environment(**options: Any) -> Environment:
    return Environment(  # noqa: S701 - each caller says how it escapes
        loader=PackageLoader("revereval.report"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        **options,
    )


def _defused(value: Any) -> Any:
    return shown(value) if type(value) is str else value


def _escaped(value: Any) -> Any:
    return in_markdown(value) if type(value) is str else value


def _colours(place: int) -> Markup:
    """The variables of a light page (0) or a dark one (1)."""
    return Markup(" ".join(f"{name}: {both[place]};" for name, both in VARIABLES.items()))  # noqa: S704 - our colours


def _svg(drawn: Drawn) -> Markup:
    return Markup(svg_inline(drawn))  # noqa: S704 - its texts are escaped where it is made


def _prose(text: str) -> Markup:
    """A sentence; a digest in it may break anywhere."""
    return Markup(_HEX.sub(r"<code>\g<0></code>", escape(shown(text))))  # noqa: S704 - escaped here


def _columns(table: Table) -> list[list[str]]:
    return [[row[place] for row in table.rows] for place in range(len(table.columns))]


def _is_figures(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers, ranges and unknowns only: those stand right."""
    return any(cells) and all(_FIGURE.fullmatch(_BETWEEN.sub(" ", cell)) for cell in cells)


def _rules(table: Table) -> list[Markup]:
    return [Markup("--:" if _is_figures(cells) else ":--") for cells in _columns(table)]  # noqa: S704 - one of the two


def _kinds(table: Table) -> list[Markup]:
    """The class attribute of each column's cells."""
    kinds = map(_kind, _columns(table))
    return [Markup(' class="{}"').format(kind) if kind else Markup() for kind in kinds]


def _kind(cells: Sequence[str]) -> str:
    """Figures stand right, one below the other; long words may break, digests anywhere."""
    if _is_figures(cells):
        return "n ends" if any(" to " in cell for cell in cells) else "n"
    if any(_HEX.fullmatch(cell) for cell in cells):
        return "digest"
    longest = max(map(len, cells), default=0)
    return "long" if longest > 60 else "short" if longest <= 34 else ""
