"""Gold stays with the controller: no byte of any request of any task holds it."""

import json
from collections.abc import Callable
from functools import cache

import pytest

from tests.pair.cases import CASES, TASK_IDS, Case
from tests.pair.gold import Secret, secret_of, spellings
from tests.pair.runs import Pair

secret = cache(secret_of)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_request_holds_the_gold_or_a_gold_string_that_cannot_be_read(
    case: Case, pair_of: Callable[[Case], Pair]
) -> None:
    hidden: Secret = secret(case.task_id)
    pair = pair_of(case)
    assert len(pair.every) > 1
    for sent in pair.every:
        assert not hidden.found_in(sent.data)
        assert not hidden.found_in_strings_of(sent.data)


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_every_task_has_a_gold_string_that_the_search_looks_for(task_id: str) -> None:
    texts = [text for text in secret(task_id).texts if not text.startswith("{")]
    assert texts, "a task whose gold can be read off the source proves nothing here"


def planted(data: bytes, text: str, *, ascii_only: bool, nested: bool) -> bytes:
    """The request with a text put into its last tool result, or into the arguments of a call."""
    body = json.loads(data)
    items = body.get("messages", body.get("input"))
    item = next(
        item for item in reversed(items)
        if item.get("role") == "tool" or item.get("type") == "function_call_output"
    )  # fmt: skip
    inside = json.dumps({"query": text}, ensure_ascii=ascii_only) if nested else text
    key = "content" if "content" in item else "output"
    item[key] = f"some {inside} text"
    return json.dumps(body, ensure_ascii=ascii_only).encode()


@pytest.mark.parametrize("wire", ["chat", "responses"])
@pytest.mark.parametrize("task_id", TASK_IDS)
def test_the_search_finds_every_secret_that_is_planted_in_a_real_request(
    task_id: str, wire: str, pair_of: Callable[[Case], Pair]
) -> None:
    hidden: Secret = secret(task_id)
    clean = pair_of(Case(task_id, wire, "plain")).requests["P"][-1].data
    assert not hidden.found_in(clean)
    for text in hidden.texts:
        for ascii_only in (True, False):
            data = planted(clean, text, ascii_only=ascii_only, nested=False)
            assert hidden.found_in(data)
            assert text in hidden.found_in_strings_of(data)
            nested = planted(clean, text, ascii_only=ascii_only, nested=True)
            assert hidden.found_in(nested)


def test_spellings_are_raw_escaped_and_escaped_twice() -> None:
    assert spellings('a"é') == {
        'a"é'.encode(), rb'a"\u00e9'[0:1] + b'\\"' + "é".encode(), b'a\\"\\u00e9',
        'a\\\\\\"é'.encode(), b'a\\\\\\"\\u00e9', b'a\\\\\\"\\\\u00e9',
    }  # fmt: skip
