"""One allowance for both archive calls: what it counts, what it refuses, what it never charges."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.canonical import text_digest
from revereval.projection.archive import Archive, ArchiveResult
from tests.projection.naive import policy

TEXT = "0123456789é語\U0001f600\ud800 end"
SEARCH: dict[str, Any] = {"query": "345", "chars": 5}
RECOVER: dict[str, Any] = {"handle": text_digest(TEXT), "start": 10, "chars": 4}


def archive(allowance: int = 3) -> Archive:
    made = Archive(policy(archive_calls=allowance))
    assert made.add(TEXT) == text_digest(TEXT)
    return made


def search(of: Archive, call_id: str, **changed: Any) -> ArchiveResult:
    return of.call(call_id, "search_evidence", SEARCH | changed)


def recover(of: Archive, call_id: str, **changed: Any) -> ArchiveResult:
    return of.call(call_id, "recover_evidence", RECOVER | changed)


def test_recovered_text_is_the_exact_code_point_interval() -> None:
    result = recover(archive(), "c")
    assert (result.outcome, result.remaining) == ("ok", 2)
    assert result.text == (
        f"handle: {text_digest(TEXT)}\n"
        "interval: 10 to 14 of 18 code points; archive calls left: 2\n"
        "---\né語\U0001f600\ud800\n---"
    )


@settings(deadline=None)
@given(st.text(min_size=1, max_size=60), st.integers(0, 70), st.integers(1, 6000))
def test_any_interval_comes_back_as_python_slices_it(text: str, start: int, chars: int) -> None:
    made = archive(1)
    handle = made.add(text)
    arguments = {"handle": handle, "start": start, "chars": chars}
    result = made.call("c", "recover_evidence", arguments)
    if start >= len(text):
        assert (result.outcome, result.remaining) == ("bad_arguments", 1)
        return
    expected = text[start : start + chars]
    assert result.text.endswith(f"\n---\n{expected}\n---")
    interval = f"interval: {start} to {start + len(expected)} of {len(text)} code points;"
    assert interval in result.text


def test_both_calls_draw_on_one_allowance_and_the_next_is_refused() -> None:
    made = archive(3)
    left = [
        search(made, "1").remaining,
        recover(made, "2").remaining,
        search(made, "3", query="nothing like it").remaining,
    ]
    assert left == [2, 1, 0], "a search without a match is a successful call"
    for refused in (search(made, "4"), recover(made, "5")):
        assert (refused.outcome, refused.remaining) == ("allowance_exhausted", 0)
        assert refused.text.startswith("error: allowance_exhausted: ")


def test_no_allowance_serves_nothing() -> None:
    assert search(archive(0), "1").outcome == "allowance_exhausted"


BAD: list[tuple[str, dict[str, Any]]] = [
    ("search_evidence", {}),
    ("search_evidence", {"chars": 5}),
    ("search_evidence", SEARCH | {"query": ""}),
    ("search_evidence", SEARCH | {"query": "x" * 257}),
    ("search_evidence", SEARCH | {"query": 345}),
    ("search_evidence", SEARCH | {"query": ["345"]}),
    ("search_evidence", SEARCH | {"query": None}),
    ("search_evidence", SEARCH | {"chars": 0}),
    ("search_evidence", SEARCH | {"chars": -1}),
    ("search_evidence", SEARCH | {"chars": 1001}),
    ("search_evidence", SEARCH | {"chars": True}),
    ("search_evidence", SEARCH | {"chars": 5.0}),
    ("search_evidence", SEARCH | {"chars": "5"}),
    ("search_evidence", SEARCH | {"chars": 10**400}),
    ("search_evidence", SEARCH | {"limit": 1}),
    ("recover_evidence", {}),
    ("recover_evidence", RECOVER | {"handle": 7}),
    ("recover_evidence", RECOVER | {"handle": None}),
    ("recover_evidence", RECOVER | {"start": -1}),
    ("recover_evidence", RECOVER | {"start": len(TEXT)}),
    ("recover_evidence", RECOVER | {"start": False}),
    ("recover_evidence", RECOVER | {"start": 1.0}),
    ("recover_evidence", RECOVER | {"chars": 0}),
    ("recover_evidence", RECOVER | {"chars": 6001}),
    ("recover_evidence", RECOVER | {"chars": True}),
    ("recover_evidence", RECOVER | {"query": "345"}),
]


@pytest.mark.parametrize(("name", "arguments"), BAD)
def test_bad_arguments_are_refused_and_consume_nothing(
    name: str, arguments: dict[str, Any]
) -> None:
    made = archive()
    result = made.call("bad", name, arguments)
    assert (result.outcome, result.remaining) == ("bad_arguments", 3)
    assert result.text.startswith("error: bad_arguments: ")
    assert search(made, "good").remaining == 2


@pytest.mark.parametrize(
    "arguments",
    [SEARCH | {"query": "x"}, SEARCH | {"query": "x" * 256}, SEARCH | {"chars": 1},
     SEARCH | {"chars": 1000}],
)  # fmt: skip
def test_the_bounds_themselves_are_allowed(arguments: dict[str, Any]) -> None:
    assert archive().call("c", "search_evidence", arguments).outcome == "ok"


@pytest.mark.parametrize("left_out", [{}, {"start": None, "chars": None}])
def test_a_recovery_begins_at_0_and_shows_2000_where_the_call_does_not_say(
    left_out: dict[str, Any],
) -> None:
    made = archive()
    handle = made.add("a" * 1999 + "bcd")
    result = made.call("c", "recover_evidence", {"handle": handle, **left_out})
    assert "interval: 0 to 2000 of 2002 code points" in result.text
    assert result.text.endswith("\n---\n" + "a" * 1999 + "b\n---")


def test_a_recovery_shows_6000_code_points_at_most() -> None:
    made = archive()
    handle = made.add("é" * 6001)
    arguments = {"handle": handle, "chars": 6000}
    assert made.call("c", "recover_evidence", arguments).text.endswith("\n" + "é" * 6000 + "\n---")
    refused = made.call("d", "recover_evidence", arguments | {"chars": 6001})
    assert refused.text.startswith("error: bad_arguments: chars must be an integer from 1 to 6000;")


def test_every_limit_is_the_plans() -> None:
    chosen = policy(
        search_matches=2, search_match_chars=6, search_chars=10, recover_chars=8,
        recover_default_chars=3,
    )  # fmt: skip
    made = Archive(chosen)
    handles = [made.add(f"{number}....x....") for number in range(3)]
    found = made.call("a", "search_evidence", {"query": "x"}).text
    assert found.count("\nhandle: ") == 2, "matches"
    assert "excerpt: 3 to 8, of 10" in found, "10 in all: 5 for each of two"
    assert made.call("b", "search_evidence", {"query": "x", "chars": 11}).outcome == "bad_arguments"
    (one,) = [made.call("c", "search_evidence", {"query": "2...."}).text]
    assert "excerpt: 0 to 6, of 10" in one, "at most 6 for one"
    by_default = made.call("d", "recover_evidence", {"handle": handles[0]})
    assert by_default.text.endswith("\n---\n0..\n---")
    asked = {"handle": handles[0], "chars": 9}
    assert made.call("e", "recover_evidence", asked).outcome == "bad_arguments"


def test_a_default_beyond_the_limit_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="at most recover_chars, which is 100"):
        policy(recover_chars=100)


@pytest.mark.parametrize(
    "handle", ["0" * 64, "", text_digest(TEXT).upper(), text_digest(TEXT)[:12]]
)
def test_an_unknown_handle_is_refused_and_consumes_nothing(handle: str) -> None:
    made = archive(1)
    result = recover(made, "c", handle=handle)
    assert (result.outcome, result.remaining) == ("unknown_handle", 1)
    assert recover(made, "d").outcome == "ok"


def test_the_same_call_id_gets_the_same_result_and_consumes_nothing() -> None:
    made = archive(1)
    first = search(made, "same")
    assert search(made, "same") == first == recover(made, "same", start=0)
    made.add("later text with 345 in it")
    assert search(made, "same") == first
    refused = search(made, "other")
    assert refused.outcome == "allowance_exhausted"
    assert search(made, "other") == refused


@settings(deadline=None)
@given(
    st.integers(0, 4),
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(range(len(BAD) + 4))), max_size=12),
)
def test_the_allowance_counts_distinct_successes_and_nothing_else(
    allowance: int, calls: list[tuple[int, int]]
) -> None:
    """A model of the allowance beside the real one, over any mixture of calls."""
    good: list[tuple[str, dict[str, Any]]] = [
        ("search_evidence", SEARCH),
        ("search_evidence", SEARCH | {"query": "absent"}),
        ("recover_evidence", RECOVER),
        ("recover_evidence", RECOVER | {"handle": "f" * 64}),
    ]
    made, left, answered = archive(allowance), allowance, dict[int, tuple[str, int]]()
    for call_id, kind in calls:
        name, arguments = (good + BAD)[kind]
        if call_id not in answered:
            outcome = "bad_arguments" if kind > 3 else "unknown_handle" if kind == 3 else "ok"
            if outcome == "ok" and left == 0:
                outcome = "allowance_exhausted"
            left -= outcome == "ok"
            answered[call_id] = outcome, left
        result = made.call(str(call_id), name, arguments)
        assert (str(result.outcome), result.remaining) == answered[call_id]
        assert f"archive calls left: {answered[call_id][1]}" in result.text
