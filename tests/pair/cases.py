"""The shipped tasks, under several readers on both wires: every combination is run once."""

from dataclasses import dataclass
from typing import Any

TASK_IDS = (
    "h11-framing", "h11-states", "markdown-it-lists", "markdown-it-typography",
    "packaging-requirements", "packaging-specifiers",
)  # fmt: skip
READERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "notes": {"notes": True, "seed": 1},
    "parallel": {"parallel": 4, "seed": 7},
    "recover": {"recovery": "recover", "parallel": 2},
    "reread": {"recovery": "reread", "patience": 3, "seed": 2},
    "impatient": {"patience": 0, "seed": 5, "detours": 1},
}


@dataclass(frozen=True)
class Case:
    task_id: str
    wire: str
    reader: str

    @property
    def name(self) -> str:
        return f"{self.task_id}-{self.wire}-{self.reader}"


CASES = [
    Case(task_id, wire, reader)
    for task_id in TASK_IDS
    for wire in ("chat", "responses")
    for reader in READERS
]
