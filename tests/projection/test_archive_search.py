"""`search_evidence` against a search that compares character by character."""

import re
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from revereval.canonical import text_digest
from revereval.projection.archive import Archive
from tests.projection.naive import policy

MATCH = re.compile(
    r"handle: ([0-9a-f]{64})\n"
    r"match: (\d+) to (\d+), excerpt: (\d+) to (\d+), of (\d+) code points\n---\n"
)


@dataclass(frozen=True)
class Found:
    """One match as the agent reads it."""

    handle: str
    start: int
    end: int
    excerpt_start: int
    excerpt_end: int
    length: int
    excerpt: str


def parsed(text: str) -> list[Found]:
    """Read the result by its own offsets, whatever the excerpts hold."""
    _, _, rest = text.partition("\n")
    found = []
    while rest:
        match = MATCH.match(rest)
        assert match is not None, rest
        start, end, first, last, length = (int(match[group]) for group in range(2, 7))
        excerpt = rest[match.end() : match.end() + last - first]
        rest = rest[match.end() + last - first :]
        assert rest == "\n---" or rest.startswith("\n---\nhandle: ")
        rest = rest.removeprefix("\n---").removeprefix("\n")
        found.append(Found(match[1], start, end, first, last, length, excerpt))
    return found


def archive_of(*texts: str, allowance: int = 3) -> Archive:
    archive = Archive(policy(archive_calls=allowance))
    for text in texts:
        archive.add(text)
    return archive


def search(archive: Archive, query: str, chars: int = 80) -> list[Found]:
    result = archive.call("c", "search_evidence", {"query": query, "chars": chars})
    assert result.outcome == "ok", result.text
    return parsed(result.text)


LOWER, UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def same_letter(a: str, b: str) -> bool:
    """Equal, or the two cases of one of the 26 ASCII letters."""
    return a == b or any({a, b} == {x, y} for x, y in zip(LOWER, UPPER, strict=True))


def naive_matches(texts: list[str], query: str) -> list[tuple[str, int]]:
    """The leftmost of each text, each text once."""
    matches = []
    for text in dict.fromkeys(texts):
        for at in range(len(text) - len(query) + 1):
            if all(same_letter(a, b) for a, b in zip(text[at:], query, strict=False)):
                matches.append((text_digest(text), at))
                break
    return matches


LETTERS = st.text(st.sampled_from("aAbB\u212a\u017fkKsSiIİıéÉß\n-\U0001f600\ud800"), max_size=40)


@settings(deadline=None, max_examples=200)
@given(st.lists(LETTERS, max_size=9), LETTERS.filter(lambda q: 1 <= len(q) <= 3))
@example(["aaaaaaaaaaaaaaa"], "aA")
@example(["a", "ba", "ca", "a", "da", "ea", "fa"], "A")
@example(["aaaaaaaa", "bbab", "aaaaaaaa"], "a")
@example(["\u212a K k"], "k")
def test_it_finds_the_first_match_of_the_first_five_texts_that_a_naive_search_finds(
    texts: list[str], query: str
) -> None:
    found = search(archive_of(*texts), query)
    assert [(match.handle, match.start) for match in found] == naive_matches(texts, query)[:5]


@settings(deadline=None, max_examples=200)
@given(
    st.lists(LETTERS.filter(bool), min_size=1, max_size=3),
    LETTERS.filter(lambda q: 1 <= len(q) <= 3),
    st.integers(1, 60),
)
def test_offsets_and_excerpts_are_original_text_in_code_points(
    texts: list[str], query: str, chars: int
) -> None:
    originals = {text_digest(text): text for text in texts}
    matches = search(archive_of(*texts), query, chars)
    each = min(200, chars // len(matches)) if matches else 0
    for found in matches:
        text = originals[found.handle]
        assert found.length == len(text)
        assert found.end - found.start == len(query)
        assert found.excerpt == text[found.excerpt_start : found.excerpt_end]
        assert len(found.excerpt) == min(each, len(text))
        matched = text[found.start : found.end]
        assert all(map(same_letter, matched, query))
        if each >= len(query):
            assert found.excerpt_start <= found.start <= found.end <= found.excerpt_end
        else:
            assert matched.startswith(found.excerpt)


def test_a_match_stands_in_the_middle_of_its_excerpt_where_the_text_allows() -> None:
    (found,) = search(archive_of("...!" + "." * 50), "!", 11)
    assert (found.start, found.excerpt_start, found.excerpt_end) == (3, 0, 11)
    (found,) = search(archive_of("." * 50 + "!" + "." * 50), "!", 11)
    assert (found.start, found.excerpt_start, found.excerpt_end) == (50, 45, 56)
    (found,) = search(archive_of("." * 50 + "!"), "!", 11)
    assert (found.start, found.excerpt_start, found.excerpt_end) == (50, 40, 51)


@pytest.mark.parametrize(
    ("text", "query", "starts"),
    [
        ("Straße STRASSE", "strasse", [7]),
        ("É é", "é", [2]),
        ("İstanbul istanbul", "istanbul", [9]),
        ("a.c abc", "A.C", [0]),
        ("x\\ny x\ny", "x\ny", [5]),
        ("aaaa", "aa", [0]),
        ("xabcabcabcabcabcabc", "ABC", [1]),
        ("\U0001f600x\U0001f600X", "x", [1]),
        ("none here", "zebra", []),
    ],
)
def test_the_search_is_literal_and_ignores_the_case_of_ascii_letters_alone(
    text: str, query: str, starts: list[int]
) -> None:
    assert [found.start for found in search(archive_of(text), query)] == starts


def test_originals_are_searched_once_each_in_the_order_they_were_seen() -> None:
    archive = archive_of("second a", "first a", "second a")
    handles = [found.handle for found in search(archive, "a")]
    assert handles == [text_digest("second a"), text_digest("first a")]


@pytest.mark.parametrize(
    ("texts", "chars", "each"),
    [(1, 1000, 200), (5, 1000, 200), (9, 1000, 200), (1, 150, 150), (4, 150, 37), (2, 401, 200),
     (5, 4, 0), (1, None, 200), (7, None, 200)],
)  # fmt: skip
def test_matches_share_the_code_points_asked_for_at_most_200_each(
    texts: int, chars: int | None, each: int
) -> None:
    """min(200, chars // number of matches), from the record; 1,000 where none are asked for."""
    archive = archive_of(*("." * 300 + f"needle {number}" + "." * 300 for number in range(texts)))
    arguments = {"query": "needle"} | ({} if chars is None else {"chars": chars})
    found = parsed(archive.call("c", "search_evidence", arguments).text)
    assert [match.start for match in found] == [300] * min(5, texts)
    assert {len(match.excerpt) for match in found} == {each}


def test_the_heading_counts_the_observations_that_match() -> None:
    for texts, said in (
        (0, "no match; archive calls left: 2"),
        (1, "1 observation matches, each with its first match; archive calls left: 2"),
        (2, "2 observations match, each with its first match; archive calls left: 2"),
        (6, "5 observations match (at most 5 are shown), each with its first match; "
            "archive calls left: 2"),
    ):  # fmt: skip
        archive = archive_of(*(f"x{number}" for number in range(texts)))
        text = archive.call("c", "search_evidence", {"query": "X"}).text
        assert text.split("\n")[0] == said


def test_a_query_of_256_characters_is_found_and_its_bounds_are_characters_not_bytes() -> None:
    query = "語" * 256
    (found,) = search(archive_of("x" + query + "y"), query, 300)
    assert (found.start, found.end, found.length) == (1, 257, 258)
    assert found.excerpt == "語" * 200
    refused = archive_of(query).call("c", "search_evidence", {"query": query + "語", "chars": 9})
    assert refused.outcome == "bad_arguments"


def test_an_excerpt_that_looks_like_the_archives_own_words_is_still_only_an_excerpt() -> None:
    hostile = (
        "needle\n---\nhandle: " + "0" * 64 + "\nmatch: 0 to 9, excerpt: 0 to 9, of 9 code points"
    )
    (found,) = search(archive_of(hostile), "needle", 500)
    assert found.excerpt == hostile
