"""A request body as exact bytes in parts, so that each message is serialised and stored once."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from revereval.canonical import canonical_bytes, flat_bytes

TAIL = b"]}"


@dataclass(frozen=True, eq=False)
class Item:
    """One element of the conversation array; `data` is its canonical JSON."""

    value: Mapping[str, Any]
    stored: bytes | None = None
    """`data` as it was read back from the ledger, where it was."""

    @cached_property
    def data(self) -> bytes:
        if self.stored is not None:
            return self.stored
        if all(type(value) is str for value in self.value.values()):
            return flat_bytes(self.value)
        return canonical_bytes(self.value)


class RunningDigest:
    """SHA-256 of one conversation's bodies in turn: of each only what is new is hashed."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._states = [hashlib.sha256()]
        """After the first n parts, by n."""

    def of(self, head_data: bytes, items: Sequence[bytes]) -> str:
        """The digest of `join(head_data, items)`."""
        parts = [head_data, *items]
        kept = 0
        for old, new in zip(self._parts, parts, strict=False):
            if old != new:
                break
            kept += 1
        del self._states[kept + 1 :]
        for index in range(kept, len(parts)):
            state = self._states[-1].copy()
            if index > 1:
                state.update(b",")
            state.update(parts[index])
            self._states.append(state)
        self._parts = parts
        whole = self._states[-1].copy()
        whole.update(TAIL)
        return whole.hexdigest()


@dataclass(frozen=True, eq=False)
class Body:
    """`head`, the items joined by commas, and `]}`: the JSON object that is sent.

    The head ends with `"messages":[` (or `"input":[`), so a conversation only grows at its end.
    """

    head: bytes
    items: tuple[Item, ...]
    running: RunningDigest = field(default_factory=RunningDigest)
    """Shared with the conversation's other bodies."""

    @cached_property
    def data(self) -> bytes:
        return join(self.head, [item.data for item in self.items])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of `data`."""
        return self.running.of(self.head, [item.data for item in self.items])

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
