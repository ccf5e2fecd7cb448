"""A strict reader of the report's page: its nesting, its references, its tables, its text."""

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

VOID: Final = {"meta"}
SVG: Final = {"svg", "g", "path", "use", "text", "tspan", "defs", "clippath", "rect", "pattern",
              "desc", "title"}  # fmt: skip
HTML: Final = {
    "html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "h1",
    "h2", "p", "ul", "ol", "li", "a", "dl", "div", "dt", "dd", "strong", "span", "code", "figure",
    "figcaption", "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES: Final = {
    "id", "class", "lang", "charset", "name", "content", "http-equiv", "href", "style", "role",
    "scope", "tabindex", "aria-label", "aria-labelledby", "width", "height", "viewbox", "version",
    "d", "x", "y", "transform", "clip-path", "patternunits",
}  # fmt: skip


@dataclass
class Reader(HTMLParser):
    """Fails on what a page of ours never has; collects the rest."""

    ids: Counter[str] = field(default_factory=Counter)
    targets: set[str] = field(default_factory=set)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    """Rows by caption, the head first."""
    headings: list[str] = field(default_factory=list)
    metas: list[dict[str, str]] = field(default_factory=list)
    svgs: int = 0
    text: str = ""
    _open: list[str] = field(default_factory=list)
    _caption: str = ""
    _taken: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._starts(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self._open, f"<{tag}/> outside of a picture"
        self._starts(tag, attrs)

    def _starts(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in HTML | SVG, f"<{tag}>"
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice: {names}"
        values = {name: value or "" for name, value in attrs}
        assert set(names) <= ATTRIBUTES, set(names) - ATTRIBUTES
        self._refers(values)
        if tag == "meta":
            self.metas.append(values)
        if tag == "th":
            assert values.get("scope") in ("row", "col")
        if tag == "svg":
            self.svgs += 1
            assert values["role"] == "img"
        if tag == "table":
            self._caption = ""
        if tag == "tr":
            self.tables[self._caption].append([])
        if tag in ("caption", "td", "th", "h1", "h2"):
            self._taken = ""

    def _refers(self, values: dict[str, str]) -> None:
        if "id" in values:
            self.ids[values["id"]] += 1
        if "href" in values:
            assert values["href"].startswith("#"), values["href"]
            self.targets.add(values["href"][1:])
        self.targets.update(values.get("aria-labelledby", "").split())
        for name in ("style", "clip-path"):
            for part in values.get(name, "").split("url(")[1:]:
                assert part.startswith("#"), part
                self.targets.add(part[1:].partition(")")[0])

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"</{tag}> closes something else"
        if tag == "caption":
            self._caption = self._taken
            assert self._caption not in self.tables, f"two tables {self._caption!r}"
            self.tables[self._caption] = []
        if tag in ("td", "th"):
            self.tables[self._caption][-1].append(self._taken)
        if tag in ("h1", "h2"):
            self.headings.append(self._taken)

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            assert "url" not in data and "@import" not in data and "//" not in data
            return
        self._taken += data
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        assert decl == "DOCTYPE html"

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"a processing instruction: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")


def read_page(page: str) -> Reader:
    """The page's content; fails where it is not a page that needs nothing but itself."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader._open, f"never closed: {reader._open}"
    assert not [name for name, times in reader.ids.items() if times > 1]
    assert reader.targets <= set(reader.ids), reader.targets - set(reader.ids)
    policies = [
        meta["content"]
        for meta in reader.metas
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    return reader
