"""Foreign text for every format of the report: shown as text, never acted on."""

import html
import re
from typing import Final
from unicodedata import category


def shown(text: str) -> str:
    """Text with all that a reader could not see, or that would reorder what is seen, escaped.

    Controls, format characters, surrogates, line separators and unassigned code points become
    `\\x1b` or `\\u202e`; letters of every script and spaces of every width stay.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or category(character) == "Zs" else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()


def in_html(text: str) -> str:
    """The same for element content and quoted attribute values."""
    return html.escape(shown(text), quote=True)


_SPECIAL: Final = re.compile(r"[\\`*_\[\]|~$]")
_BEGINS_BLOCK: Final = re.compile(r"[-+](?=[-\s]|$)|#|=+$|\d{1,9}(?=[.)](?:\s|$))")
"""List items, headings, rules."""
_LINKS: Final = re.compile(r"(?<=\w)(?=://)|(?=@)|(?<=www)(?=\.)|(?<=:)(?=[\w+-]+:)", re.IGNORECASE)
_BREAK: Final = "<!-- -->"
"""An empty comment: the only thing that keeps GitHub from making links, mentions and emoji of the
text around it, whatever stage of its rendering looks for them."""


def in_markdown(text: str) -> str:
    """The same for GitHub-flavoured Markdown, in a paragraph or in a table cell."""
    plain = _LINKS.sub("\0", shown(text))  # no NUL is left by now
    escaped = _SPECIAL.sub(r"\\\g<0>", html.escape(plain, quote=False)).strip()
    if found := _BEGINS_BLOCK.match(escaped):
        number = found[0].isdigit()
        escaped = escaped[: found.end() * number] + "\\" + escaped[found.end() * number :]
    return escaped.replace("\0", _BREAK)


def shortened(text: str, most: int) -> str:
    """At most so many characters of what is shown."""
    plain = shown(text)
    return plain if len(plain) <= most else plain[: most - 1] + "…"
