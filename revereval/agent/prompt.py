"""The opening of every conversation: no clock, no path of this machine, no gold."""

from collections.abc import Iterable, Mapping
from typing import Final

VERSION: Final = 1
"""Of the system message and the form of the opening: raised with each change of a byte of them."""

SYSTEM = (
    "You answer one question about the source code of a pinned Python package. You can only read. "
    "Long observations may be shortened later on; search_evidence and recover_evidence bring back "
    "the original text. When you are sure, reply with one JSON object that has exactly the asked "
    "keys, and nothing else."
)


def opening(
    question: str,
    package: str,
    files: Iterable[str],
    premises: Mapping[str, str],
    keys: Mapping[str, str],
) -> str:
    """The user's message: the question, what it rests on, and the form of the answer."""
    listed = "\n".join(f"- {path}" for path in files)
    given = "\n".join(f"- {name}: {value}" for name, value in premises.items())
    asked = "\n".join(f'- "{key}": {kind}' for key, kind in keys.items())
    return (
        f"{question.strip()}\n\n"
        f"Source: {package}. The files you can read:\n{listed}\n\n"
        f"Premises:\n{given}\n\n"
        f"Answer with one JSON object with exactly these keys and JSON types:\n{asked}\n"
    )
