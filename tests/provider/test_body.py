"""Bodies in parts: what is sent, what is hashed of it, and what an item's bytes are."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.canonical import canonical_bytes, sha256_hex
from revereval.provider.body import Body, Item, RunningDigest

TEXTS = st.text(st.characters(exclude_categories=()))
PARTS = st.binary(max_size=6)


@settings(deadline=None)
@given(st.dictionaries(TEXTS, TEXTS | st.integers() | st.none(), max_size=4))
def test_the_bytes_of_an_item_are_its_canonical_json(value: dict[str, Any]) -> None:
    assert Item(value).data == canonical_bytes(value)


@settings(deadline=None)
@given(st.lists(st.tuples(PARTS, st.lists(PARTS, max_size=5)), max_size=6))
def test_each_digest_is_of_the_bytes_that_are_sent_whatever_was_hashed_before(
    conversation: list[tuple[bytes, list[bytes]]],
) -> None:
    running = RunningDigest()
    for head, items in conversation:
        body = Body(head, tuple(Item({}, item) for item in items), running)
        assert body.digest == sha256_hex(body.data)


def test_a_conversation_that_grows_and_is_shortened_has_its_own_digest_each_time() -> None:
    running = RunningDigest()
    items = [Item({"content": text}) for text in ("one", "two", "three")]
    whole = Body(b"[", tuple(items), running)
    shortened = whole.with_items({1: Item({"content": "2"})})
    grown = Body(b"[", (*items, Item({"content": "four"})), running)
    digests = [body.digest for body in (whole, shortened, grown, whole)]
    assert digests == [sha256_hex(body.data) for body in (whole, shortened, grown, whole)]
    assert len(set(digests)) == 3
