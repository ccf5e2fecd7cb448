"""The opening of every conversation: no clock, no path of this machine, no gold."""

from collections.abc import Iterable, Mapping
from typing import Final

VERSION: Final = 2
"""Of all texts here: raised with each change of a byte of them."""

SYSTEM = (
    "You answer one question about the source code of a pinned Python package. You can only read, "
    "and no more need be read than the question needs. "
    "Long observations may be shortened later on; search_evidence and recover_evidence bring back "
    "the original text. When you are sure, reply with one JSON object that has exactly the asked "
    "keys, and nothing else."
)
CLOSED_BOOK_SYSTEM = (
    "You answer one question about the source code of a pinned Python package from memory: nothing "
    "can be read, and there are no tools. Reply with one JSON object that has exactly the asked "
    "keys, and nothing else."
)


def opening(
    question: str,
    package: str,
    files: Iterable[str],
    premises: Mapping[str, str],
    keys: Mapping[str, str],
) -> str:
    """The user's message: the question, what it rests on, and the form of the answer.

    files: none where the question is asked closed book.
    """
    listed = "".join(f"\n- {path}" for path in files)
    readable = f"The files you can read:{listed}" if listed else "None of it can be read."
    given = "\n".join(f"- {name}: {value}" for name, value in premises.items())
    asked = "\n".join(f'- "{key}": {kind}' for key, kind in keys.items())
    return (
        f"{question.strip()}\n\n"
        f"Source: {package}. {readable}\n\n"
        f"Premises:\n{given}\n\n"
        "Answer with one JSON object with exactly these keys and JSON types; null is the answer "
        f"for what the source does not decide:\n{asked}\n"
    )
