"""How every figure of the report looks, and how it becomes SVG and PNG, byte for byte the same."""

import io
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from unicodedata import east_asian_width
from xml.etree import ElementTree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from revereval.report.plain import shortened, shown
from revereval.report.section import Table

INK: Final = "#010203"
"""Text and axes. In SVG it becomes `currentColor`, so that it follows the page."""
F_COLOUR: Final = "#0072b2"
P_COLOUR: Final = "#d55e00"
GREEN: Final = "#009e73"
PURPLE: Final = "#cc79a7"
"""Of the palette of Okabe and Ito, on white."""
VARIABLES: Final = {
    "--f": (F_COLOUR, "#56b4e9"),
    "--p": (P_COLOUR, "#f0863d"),
    "--search": (GREEN, "#2ec49a"),
    "--recover": (PURPLE, "#e09fc3"),
}
"""The CSS variable of each colour: on a light page and on a dark one."""
WIDTH: Final = 7.5
"""Inches: 720 pixels on a page, where 9 points are 12 pixels."""
SMALL, NORMAL, LARGE = 9.0, 9.5, 13.0
_FAMILY: Final = "DejaVu Sans"
_FONTS: Final = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_SVG: Final = "http://www.w3.org/2000/svg"
_STANDALONE: Final = (
    "svg{color:#1c1f23;background:#fff;stroke-linejoin:round;stroke-linecap:butt}"
    "@media (prefers-color-scheme:dark){svg{color:#e6e6e3;background:#14171a;"
    + ";".join(f"{name}:{dark}" for name, (_, dark) in VARIABLES.items())
    + "}}"
)
_STYLE: Final[dict[Any, Any]] = {
    "font.family": _FAMILY,
    "font.size": NORMAL,
    "text.color": INK,
    "text.hinting": "none",
    "text.parse_math": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": NORMAL,
    "axes.unicode_minus": True,
    "axes.linewidth": 0.8,
    "axes.facecolor": "none",
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "hatch.color": INK,
    "hatch.linewidth": 0.6,
    "patch.linewidth": 0.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "revereval",
    "savefig.facecolor": "none",
    "savefig.edgecolor": "none",
}


@dataclass(frozen=True)
class Drawn:
    """A figure with all that a reader needs who cannot see it."""

    name: str
    """Of its files, and of its place in the page."""
    title: str
    description: str
    """The main numbers in sentences."""
    caption: str
    """How to read it."""
    figure: Figure
    tables: Sequence[Table]
    """Every number that is drawn."""


@contextmanager
def house_style() -> Iterator[None]:
    """The report's settings while a figure is made or written, whatever the user's are."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=matplotlib.MatplotlibDeprecationWarning)
        warnings.filterwarnings("ignore", r"(?s)Glyph .* missing from font")
        ours: dict[Any, Any] = dict(matplotlib.rcParamsDefault)
        ours.pop("backend")
        with matplotlib.rc_context(ours | _STYLE):
            yield


def blank(height: float) -> Figure:
    """A figure of the report's width; height in inches."""
    return Figure(figsize=(WIDTH, height))


def panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place in inches from the lower left corner."""
    full = float(figure.get_figheight())
    axes = figure.add_axes((left / WIDTH, bottom / full, width / WIDTH, height / full))
    axes.set_facecolor("none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def fitted(text: str, points: float, size: float = NORMAL) -> str:
    """Foreign text for a label, cut where it would be wider than so many points.

    Measured in the settings in force: called while a figure is made.
    """
    plain = shortened(text, 120)
    if _width(plain, size) <= points:
        return plain
    wider = bisect_right(range(len(plain)), points, key=lambda n: _width(f"{plain[:n]}…", size))
    return f"{plain[: max(0, wider - 1)]}…"


def _width(text: str, size: float) -> float:
    wide = sum(east_asian_width(character) in "WF" for character in text)
    font = FontProperties(family=_FAMILY, size=size)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) + 0.5 * size * wide  # our font lacks those, a reader's has them wide


def png(drawn: Drawn) -> bytes:
    """Dark ink on white, 1,500 pixels wide."""
    out = io.BytesIO()
    with house_style():
        drawn.figure.savefig(
            out, format="png", dpi=200, facecolor="white", metadata={"Software": None}
        )
    return out.getvalue()


def svg_file(drawn: Drawn) -> str:
    """An SVG document of its own, light or dark as its reader prefers."""
    root = _tree(drawn)
    root.set("xmlns", _SVG)
    style = ElementTree.Element("style")
    style.text = _STANDALONE
    root.insert(2, style)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + _text(root)


def svg_inline(drawn: Drawn) -> str:
    """An `svg` element for an HTML page, in the page's text colour and without a link."""
    return _text(_tree(drawn))


def _text(root: ElementTree.Element) -> str:
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _tree(drawn: Drawn) -> ElementTree.Element:
    out = io.BytesIO()
    unwanted = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with house_style():
        drawn.figure.savefig(out, format="svg", transparent=True, metadata=unwanted)
    root = ElementTree.fromstring(out.getvalue())  # noqa: S314 - matplotlib has just written it
    _plain_names(root)
    _own_ids(root, drawn.name)
    for element in root.iter():
        if (fill := element.attrib.pop("fill", None)) is not None:
            element.set("style", f"fill: {fill}")  # of a hatch; only a style may name a variable
        if (style := element.get("style")) is not None:
            element.set("style", _styled(style))
    _describe(root, drawn)
    return root


def _plain_names(root: ElementTree.Element) -> None:
    """Names without a namespace: HTML knows them by their place, a file gets it on its root."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name in [name for name in element.attrib if name.startswith("{")]:
            element.set(name.rpartition("}")[2], element.attrib.pop(name))
        for child in list(element):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                element.remove(child)


_REFERENCE: Final = re.compile(r"(?<=url\(#)[\w.-]+|(?<=^#)[\w.-]+")


def _own_ids(root: ElementTree.Element, name: str) -> None:
    """Only ids that something refers to, each with the figure's name before it."""
    used: set[str] = set()
    for element in root.iter():
        for key in ("href", "clip-path", "style"):
            if (value := element.get(key)) is not None:
                used.update(_REFERENCE.findall(value))
                element.set(key, _REFERENCE.sub(rf"{name}-\g<0>", value))
    for element in root.iter():
        found = element.attrib.pop("id", None)
        if found in used:
            element.set("id", f"{name}-{found}")


def _styled(style: str) -> str:
    """In the page's colours, and in its fonts, which are no wider than those measured here."""
    style = style.replace(f"'{_FAMILY}'", _FONTS).replace(INK, "currentColor")
    for name, (light, _) in VARIABLES.items():
        style = style.replace(light, f"var({name}, {light})")
    return style


def _describe(root: ElementTree.Element, drawn: Drawn) -> None:
    title, description = ElementTree.Element("title"), ElementTree.Element("desc")
    for element, kind, text in (
        (title, "title", drawn.title),
        (description, "desc", drawn.description),
    ):
        element.set("id", f"{drawn.name}-{kind}")
        element.text = shown(text)
    root.insert(0, title)
    root.insert(1, description)
    root.set("role", "img")
    root.set("aria-labelledby", f"{drawn.name}-title {drawn.name}-desc")
