"""The projected text of one observation: how to get it back, then its head and tail (DESIGN §3)."""

from functools import lru_cache
from typing import Final

from revereval.canonical import text_digest, utf8

VERSION: Final = 1
"""Of the projected text: raised with each change of a byte of it."""


def head_and_tail(text: str, excerpt_bytes: int) -> tuple[str, str]:
    """The longest head and tail of at most `excerpt_bytes // 2` UTF-8 bytes each.

    Both end on code points and never overlap. Time grows with the excerpt, not with the text.
    """
    half = excerpt_bytes // 2
    head = _fit(text[:half], half)
    rest = text[len(head) :]
    tail = _fit(rest[max(0, len(rest) - half) :][::-1], half)[::-1]
    return head, tail


def _fit(text: str, limit: int) -> str:
    """The longest prefix of at most `limit` bytes."""
    data = utf8(text)
    if len(data) <= limit:
        return text
    end = limit
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end].decode("utf-8", "surrogatepass")


@lru_cache(maxsize=64)
def projected_text(text: str, tool: str, excerpt_bytes: int) -> str:
    """The replacement of an observation; metadata is additional to the excerpt.

    Kept for F, which is told at each request what could be projected and projects nothing.
    """
    head, tail = head_and_tail(text, excerpt_bytes)
    start, end = len(head), len(text) - len(tail)
    return (
        "[This observation is shortened. Its original is in the archive.\n"
        f"handle: {text_digest(text)}\n"
        f"tool: {tool}\n"
        f"original: {len(utf8(text))} bytes, {len(text)} code points\n"
        "To find text in it: search_evidence(query, chars). "
        "To read an exact part: recover_evidence(handle, start, chars), in code points.]\n"
        f"{head}\n"
        f"[... omitted: code points {start} to {end}, {end - start} in all ...]\n"
        f"{tail}"
    )
