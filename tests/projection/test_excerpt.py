"""Head, tail and the projected text: exact in bytes and code points, whatever the text is."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from revereval.projection.excerpt import head_and_tail, projected_text
from tests.projection import naive
from tests.projection.naive import TEXTS, size

LIMITS = st.one_of(st.integers(0, 12), st.integers(0, 4100))


@settings(deadline=None)
@given(TEXTS, LIMITS)
@example("é" * 3000, 4001)
@example("", 1024)
@example("\ud83d\ude00" * 40, 8)
def test_head_and_tail_are_the_longest_whole_characters_that_fit(text: str, limit: int) -> None:
    head, tail = head_and_tail(text, limit)
    assert (head, tail) == naive.head_and_tail(text, limit)


@settings(deadline=None)
@given(TEXTS, LIMITS)
def test_the_excerpt_is_original_text_without_overlap_or_repair(text: str, limit: int) -> None:
    head, tail = head_and_tail(text, limit)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) <= len(text)
    assert size(head) + size(tail) <= limit
    omitted = text[len(head) : len(text) - len(tail)]
    assert head + omitted + tail == text


HAND_CUT = [
    # text, limit, head, tail: each cut counted by hand
    ("é" * 10, 8, "éé", "éé"),
    ("é" * 10, 7, "é", "é"),
    ("é" * 10, 2, "", ""),
    ("語語語語", 6, "語", "語"),
    ("語語語語", 5, "", ""),
    ("\U0001f600\U0001f601\U0001f602", 9, "\U0001f600", "\U0001f602"),
    ("\U0001f600\U0001f601\U0001f602", 7, "", ""),
    ("ab\r\ncd\r\nef", 6, "ab\r", "\nef"),
    ("ab\r\ncd\r\nef", 8, "ab\r\n", "\r\nef"),
    ("a\ud83dbcdef\ude00", 8, "a\ud83d", "f\ude00"),
    ("a\ud83dbcdef\ude00", 6, "a", "\ude00"),
    ("abc", 100, "abc", ""),
    ("abcdef", 8, "abcd", "ef"),
    ("abcdef", 1, "", ""),
    ("abcdef", 0, "", ""),
    ("", 0, "", ""),
    ("aéb", 4, "a", "b"),
    ("aéb", 6, "aé", "b"),
]


@pytest.mark.parametrize(("text", "limit", "head", "tail"), HAND_CUT)
def test_cuts_counted_by_hand(text: str, limit: int, head: str, tail: str) -> None:
    assert head_and_tail(text, limit) == (head, tail)


def test_a_limit_of_4001_bytes_keeps_2000_of_3000_accents() -> None:
    head, tail = head_and_tail("é" * 3000, 4001)
    assert (len(head), len(tail)) == (1000, 1000)


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["read", "weird tool"]), LIMITS)
def test_the_projected_text_is_the_designs_to_the_character(
    text: str, tool: str, limit: int
) -> None:
    assert projected_text(text, tool, limit) == naive.projected(text, tool, limit)


OMITTED = re.compile(r"\n\[\.\.\. omitted: code points (\d+) to (\d+), (\d+) in all \.\.\.\]\n")


@settings(deadline=None)
@given(st.integers(1, 3000), st.sampled_from("é語\U0001f600"), st.integers(0, 2000))
def test_what_it_says_is_omitted_is_exactly_what_is_missing(
    count: int, character: str, limit: int
) -> None:
    text = character * count
    shown = projected_text(text, "read", limit)
    mark = OMITTED.search(shown)
    assert mark is not None
    start, end, omitted = map(int, mark.groups())
    assert shown[mark.start() - start : mark.start()] == text[:start]
    assert shown[mark.end() :] == text[end:]
    assert omitted == end - start == count - shown.count(character)
    assert f"\noriginal: {size(text)} bytes, {count} code points\n" in shown


@settings(deadline=None)
@given(TEXTS.filter(lambda text: "\ufffd" not in text), LIMITS)
def test_no_replacement_sign_and_no_broken_character_is_ever_made(text: str, limit: int) -> None:
    shown = projected_text(text, "read", limit)
    assert "\ufffd" not in shown
    made_up = set(shown) - set(text)
    assert all(character.isascii() for character in made_up)
