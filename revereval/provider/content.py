"""The content of a message in a reply: its text, refusals and reasoning, in parts or not."""

from collections.abc import Mapping
from typing import Any

_TEXT = ("text", "output_text")
REASONING = (
    "reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "thinking",
    "thinking_blocks", "redacted_thinking",
)  # fmt: skip
"""Fields of a Chat message, types of output items, and types of the parts of a content."""


def text_of(content: object) -> str:
    """Plain text of a `content`: a string, or the text parts of a list."""
    if isinstance(content, list):
        parts = [part for part in map(mapping, content) if part.get("type", "text") in _TEXT]
        return "".join(text_of(part.get("text")) for part in parts)
    return content if isinstance(content, str) else ""


def refusal_of(content: object) -> str:
    """The refusal parts of a `content`."""
    parts = [part for part in map(mapping, sequence(content)) if part.get("type") == "refusal"]
    return "".join(text_of(part.get("refusal")) for part in parts)


def has_reasoning(content: object) -> bool:
    """Whether a `content` has parts that are reasoning."""
    return any(part.get("type") in REASONING for part in map(mapping, sequence(content)))


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
