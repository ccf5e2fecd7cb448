"""A request body as exact bytes in parts, so that each message is serialised and stored once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from revereval.canonical import canonical_bytes, sha256_hex

TAIL = b"]}"


@dataclass(frozen=True, eq=False)
class Item:
    """One element of the conversation array; `data` is its canonical JSON."""

    value: Mapping[str, Any]

    @cached_property
    def data(self) -> bytes:
        return canonical_bytes(self.value)


@dataclass(frozen=True, eq=False)
class Body:
    """`head`, the items joined by commas, and `]}`: the JSON object that is sent.

    The head ends with `"messages":[` (or `"input":[`), so a conversation only grows at its end.
    """

    head: bytes
    items: tuple[Item, ...]

    @cached_property
    def data(self) -> bytes:
        return join(self.head, [item.data for item in self.items])

    @cached_property
    def digest(self) -> str:
        return sha256_hex(self.data)

    @property
    def history_bytes(self) -> int:
        """UTF-8 bytes of the canonical JSON array of the items."""
        return len(self.data) - len(self.head) + 1 - len(b"}")

    def with_items(self, changed: Mapping[int, Item]) -> "Body":
        if not changed:
            return self
        items = tuple(changed.get(index, item) for index, item in enumerate(self.items))
        return replace(self, items=items)


def head(settings: Mapping[str, Any], items_field: str) -> bytes:
    """The bytes before the first item: every other field, then the opened array."""
    return canonical_bytes(settings)[:-1] + b',"' + items_field.encode() + b'":['


def join(head_data: bytes, items: Sequence[bytes]) -> bytes:
    return head_data + b",".join(items) + TAIL
