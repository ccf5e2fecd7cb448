"""The report as GitHub-flavoured Markdown: the same sentences, tables and figures as the page."""

from collections.abc import Iterator, Mapping
from itertools import count as numbers

from revereval.report.document import GLOSSARY, LEAD, READING, TITLE, Document, Part
from revereval.report.drawing import Drawn
from revereval.report.page import is_figures
from revereval.report.plain import in_markdown
from revereval.report.section import Table


def markdown(report: Document, files: Mapping[str, str]) -> str:
    """The whole file, UTF-8.

    `files` has a link to the picture of each figure, by the figure's name; a figure without one is
    there in words and numbers.
    """
    return "".join(f"{block}\n\n" for block in _blocks(report, files)).rstrip("\n") + "\n"


def _blocks(report: Document, files: Mapping[str, str]) -> Iterator[str]:
    yield f"# {in_markdown(TITLE)}"
    yield f"revereval report on {in_markdown(report.source)}"
    yield in_markdown(LEAD)
    if report.stand_in:
        yield f"> **Note.** {in_markdown(report.stand_in)}"
    yield "\n".join(
        f"- **{in_markdown(figure.value)}** {in_markdown(figure.meaning)}"
        for figure in report.key_figures
    )
    yield "## How to read this"
    yield in_markdown(READING)
    yield from _table(Table("", ["term", "meaning"], GLOSSARY))
    yield f"**Asked of the record.** {in_markdown(' '.join(report.asked))}"
    counter = numbers(1)
    for number, part in enumerate(report.parts, 1):
        yield from _part(part, number, counter, files)


def _part(
    part: Part, number: int, counter: Iterator[int], files: Mapping[str, str]
) -> Iterator[str]:
    section = part.section
    yield f"## {number}. {in_markdown(section.title)}"
    for sentence in section.sentences:
        yield in_markdown(sentence)
    for drawn in part.figures:
        yield from _figure(drawn, next(counter), files.get(drawn.name))
    for table in section.tables:
        yield from _table(table)
    for caveat in section.caveats:
        yield f"*Note.* {in_markdown(caveat)}"


def _figure(drawn: Drawn, number: int, file: str | None) -> Iterator[str]:
    if file is not None:
        yield f"![{in_markdown(drawn.description)}](<{file}>)"
    yield f"**Figure {number}. {in_markdown(drawn.title)}.** {in_markdown(drawn.caption)}"
    if file is None:
        yield in_markdown(drawn.description)
    for table in drawn.tables:
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"**{in_markdown(table.title)}**"
    columns = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    rules = ["--:" if is_figures(cells) else ":--" for cells in columns]
    lines = [table.columns, rules, *table.rows]
    yield "\n".join(
        "| " + " | ".join(cells if cells is rules else map(in_markdown, cells)) + " |"
        for cells in lines
    )
