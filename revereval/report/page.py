"""The report as one HTML file: no script, no network, nothing in it but what it shows."""

import re
from collections.abc import Iterator, Sequence
from itertools import count as numbers
from typing import Final

from revereval.report.document import GLOSSARY, LEAD, READING, TITLE, Document, Part
from revereval.report.drawing import Drawn, svg_inline
from revereval.report.page_style import STYLE
from revereval.report.plain import in_html
from revereval.report.section import Table

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_FIGURE: Final = re.compile(r"[-+−\[\]\d.,%–\s]*\d[-+−\[\]\d.,%–\s]*|unknown|none|")
_BETWEEN: Final = re.compile(r"(?<=\d) to (?=[-+−\d])")
_HEX: Final = re.compile(r"[0-9a-f]{64}")


def page(report: Document) -> str:
    """The whole file, UTF-8."""
    return "".join(_lines(report))


def _lines(report: Document) -> Iterator[str]:
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>revereval: {in_html(report.source)}</title>\n<style>\n{STYLE}</style>\n</head>\n"
        "<body>\n<header>\n"
        f'<p class="kind">revereval report on <span class="source">{in_html(report.source)}</span>'
        f'</p>\n<h1>{in_html(TITLE)}</h1>\n<p class="lead">{in_html(LEAD)}</p>\n'
    )
    if report.stand_in:
        yield f'<p class="notice" role="note">{in_html(report.stand_in)}</p>\n'
    yield '<ul class="key">\n'
    for figure in report.key_figures:
        yield f"<li><strong>{in_html(figure.value)}</strong> {in_html(figure.meaning)}</li>\n"
    yield "</ul>\n</header>\n"
    yield from _contents(report.parts)
    yield "<main>\n"
    yield from _introduction(report)
    counter = numbers(1)
    for number, part in enumerate(report.parts, 1):
        yield from _part(part, number, counter)
    yield "</main>\n</body>\n</html>\n"


def _contents(parts: Sequence[Part]) -> Iterator[str]:
    yield '<nav aria-labelledby="contents">\n<h2 id="contents">Contents</h2>\n<ol>\n'
    yield '<li class="plain"><a href="#reading">How to read this</a></li>\n'
    for part in parts:
        yield f'<li><a href="#{part.anchor}">{in_html(part.section.title)}</a></li>\n'
    yield "</ol>\n</nav>\n"


def _introduction(report: Document) -> Iterator[str]:
    yield '<section id="reading" aria-labelledby="reading-title">\n'
    yield f'<h2 id="reading-title">How to read this</h2>\n<p>{in_html(READING)}</p>\n<dl>\n'
    for term, meaning in GLOSSARY:
        yield f"<div><dt>{in_html(term)}</dt><dd>{in_html(meaning)}</dd></div>\n"
    yield f"</dl>\n<p><strong>Asked of the record.</strong> {in_html(' '.join(report.asked))}</p>\n"
    yield "</section>\n"


def _part(part: Part, number: int, counter: Iterator[int]) -> Iterator[str]:
    section = part.section
    title = f"{part.anchor}-title"
    yield f'<section id="{part.anchor}" aria-labelledby="{title}">\n'
    yield f'<h2 id="{title}"><span class="number">{number}</span> {in_html(section.title)}</h2>\n'
    for sentence in section.sentences:
        yield f"<p>{_prose(sentence)}</p>\n"
    for drawn in part.figures:
        yield from _figure(drawn, next(counter))
    for table in section.tables:
        yield from _table(table)
    for caveat in section.caveats:
        yield f'<p class="caveat">{_prose(caveat)}</p>\n'
    yield "</section>\n"


def _prose(text: str) -> str:
    """A sentence; a digest in it may break anywhere."""
    return _HEX.sub(r"<code>\g<0></code>", in_html(text))


def _figure(drawn: Drawn, number: int) -> Iterator[str]:
    yield f'<figure id="figure-{drawn.name}">\n<div class="scroll">\n{svg_inline(drawn)}</div>\n'
    yield (
        f"<figcaption><strong>Figure {number}. {in_html(drawn.title)}.</strong> "
        f"{in_html(drawn.caption)}</figcaption>\n"
    )
    yield f"<details>\n<summary>Numbers of figure {number}</summary>\n"
    for table in drawn.tables:
        yield from _table(table)
    yield "</details>\n</figure>\n"


def _table(table: Table) -> Iterator[str]:
    columns = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    kinds = [_kind(cells) for cells in columns]
    yield f'<div class="scroll" role="group" aria-label="{in_html(table.title)}" tabindex="0">\n'
    short = ' class="short"' if len(table.title) <= 60 else ""
    yield f"<table>\n<caption{short}>{in_html(table.title)}</caption>\n<thead><tr>"
    for name, kind in zip(table.columns, kinds, strict=True):
        yield f'<th scope="col"{kind}>{in_html(name)}</th>' if name else f"<td{kind}></td>"
    yield "</tr></thead>\n<tbody>\n"
    for row in table.rows:
        yield "<tr>"
        for place, (cell, kind) in enumerate(zip(row, kinds, strict=True)):
            tag, scope = ("th", ' scope="row"') if place == 0 and cell else ("td", "")
            yield f"<{tag}{scope}{kind}>{in_html(cell)}</{tag}>"
        yield "</tr>\n"
    yield "</tbody>\n</table>\n</div>\n"


def is_figures(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers, ranges and unknowns only: those stand right."""
    return any(cells) and all(_FIGURE.fullmatch(_BETWEEN.sub(" ", cell)) for cell in cells)


def _kind(cells: Sequence[str]) -> str:
    """Figures stand right, one below the other; long words may break, digests anywhere."""
    if is_figures(cells):
        return ' class="n ends"' if any(" to " in cell for cell in cells) else ' class="n"'
    if any(_HEX.fullmatch(cell) for cell in cells):
        return ' class="digest"'
    longest = max(map(len, cells), default=0)
    return ' class="long"' if longest > 60 else ' class="short"' if longest <= 34 else ""
