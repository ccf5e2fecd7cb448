"""What the body of an error answer says of itself: its codes, and its words for a person."""

import re
from dataclasses import dataclass

MAX_SAID_CHARS = 300
"""Of what a server says of an error: it goes into one line."""


@dataclass(frozen=True)
class WireError:
    """A body's own words for an error."""

    codes: tuple[str, ...] = ()
    """`code`, then `type`: some servers put the status in one and the reason in the other."""
    message: str = ""


def error_of(body: object) -> WireError:
    """What an error body, or a choice that ended in an error, says of itself.

    Some servers put the error object in a field `error`, others make it the body itself.
    """
    outer = body if isinstance(body, dict) else {}
    said = outer.get("error")
    if said is None and isinstance(outer.get("message"), str) and outer.keys() & {"code", "type"}:
        said = outer
    if isinstance(said, str):
        said = {"message": said}
    error = said if isinstance(said, dict) else {}
    codes = [error.get("code"), error.get("type")]
    named = [str(code)[:MAX_SAID_CHARS] for code in codes if isinstance(code, str | int) and code]
    message = error.get("message")
    return WireError(tuple(named), message[:MAX_SAID_CHARS] if isinstance(message, str) else "")


def words(data: bytes) -> str:
    """The beginning of a body that is no error object, on one line and without its tags."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""
    text = text[: 20 * MAX_SAID_CHARS]
    if text.lstrip().startswith("<"):
        text = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>", " ", text)
    return " ".join(text.split())[:MAX_SAID_CHARS]
