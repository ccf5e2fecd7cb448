"""A search for a task's gold in the bytes of a request, in every spelling JSON can give it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from revereval.agent.prompt import SYSTEM
from revereval.canonical import canonical_bytes
from revereval.tasks.snapshot import open_snapshot
from revereval.tasks.spec import load_task
from tests.pair.runs import TASKS

MIN_CHARS = 4


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def escaped(text: str, *, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def spellings(text: str) -> set[bytes]:
    """The text raw, as inside one JSON string, and as inside a JSON text inside a JSON string."""
    found = {text}
    for _ in range(2):
        found |= {escaped(one, ascii_only=how) for one in found for how in (True, False)}
    return {one.encode("utf-8", "surrogatepass") for one in found}


@dataclass(frozen=True)
class Secret:
    """What a task's requests must never hold."""

    texts: tuple[str, ...]
    """The gold object in its forms, and the gold strings that the agent cannot read anywhere."""
    needles: frozenset[bytes]

    def found_in(self, data: bytes) -> list[bytes]:
        return [needle for needle in self.needles if needle in data]

    def found_in_strings_of(self, data: bytes) -> list[str]:
        """The same in the decoded strings, whatever escapes the bytes use."""
        every = list(strings(json.loads(data)))
        return [text for text in self.texts if any(text in one for one in every)]


def secret_of(task_id: str) -> Secret:
    task = load_task(TASKS, task_id)
    text = task.oracle.with_name(f"{task_id}.gold.json").read_text(encoding="utf-8")
    gold = json.loads(text)
    readable = [SYSTEM, task.prompt, *task.premises.values(), *task.keys]
    readable += open_snapshot(task.source).files.values()
    hidden = [
        one for one in dict.fromkeys(strings(gold))
        if len(one) >= MIN_CHARS and not any(one in page for page in readable)
    ]  # fmt: skip
    objects = [
        canonical_bytes(gold).decode(),
        json.dumps(gold, separators=(",", ":"), ensure_ascii=False),
        json.dumps(gold, ensure_ascii=False),
        json.dumps(gold),
        text.strip(),
    ]
    secrets = tuple(dict.fromkeys([*objects, *hidden]))
    return Secret(secrets, frozenset(needle for one in secrets for needle in spellings(one)))
