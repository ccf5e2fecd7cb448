"""`read`: an allowlist, two limits, and pages that follow each other to the end of the file."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from revereval.agent.tools import ToolResult, read
from revereval.provider.wire import Call

MAX_BYTES, MAX_LINES = 51_200, 2_000
"""50 KiB and 2,000 lines: DESIGN §3."""
CONTINUED = re.compile(r"\n\[lines (\d+) to (\d+) of (\d+); continue with offset=(\d+)\]\Z")
CUT = re.compile(r"\n\[line (\d+) is cut at 51200 bytes\]\Z")


def ask(files: dict[str, str], **arguments: Any) -> ToolResult:
    return read(files, Call("c1", "read", arguments, ""))


def pages(text: str, limit: int | None = None) -> list[tuple[int, str, bool]]:
    """Follow the notes from the top: (first line, the page's own text, its line was cut)."""
    found, offset = [], 1
    while True:
        result = ask({"f": text}, path="f", offset=offset, limit=limit)
        assert result.error is None, result.text
        shown = result.text
        if continued := CONTINUED.search(shown):
            first, last, total, following = map(int, continued.groups())
            assert (first, following) == (offset, last + 1)
            assert following <= total
            shown = shown[: continued.start()]
        cut = CUT.search(shown)
        if cut:
            assert int(cut[1]) == offset
            shown = shown[: cut.start()]
        found.append((offset, shown, cut is not None))
        if not continued:
            return found
        offset = following


LINES = st.one_of(
    st.text(st.sampled_from("aé語\U0001f600 \t\r\x0b\x0c\x1c\x85\u2028"), max_size=12),
    st.sampled_from(["", "\r", "x" * 300, "é" * 20_000, "語" * 17_000]),
)
FILES = st.tuples(st.lists(LINES, max_size=40), st.sampled_from(["", "\n", "\n\n"])).map(
    lambda made: "\n".join(made[0]) + made[1]
)


@settings(deadline=None)
@given(FILES, st.none() | st.integers(1, 7))
@example("", None)
@example("\n", None)
@example("one line, no newline", None)
@example("a\r\nb\r\n", 1)
@example("\n" * 4001, None)
@example("x" * 99 + "\n" + "y" * 51_099, None)
def test_following_the_notes_gives_the_file_back_exactly(text: str, limit: int | None) -> None:
    found = pages(text, limit)
    assert not any(cut for _, _, cut in found)
    # a page ends where its last line does: of the newline at the file's end nothing is said
    assert "\n".join(page for _, page, _ in found) == text.removesuffix("\n")


@settings(deadline=None)
@given(FILES, st.none() | st.integers(1, 7))
def test_no_page_is_larger_than_either_limit(text: str, limit: int | None) -> None:
    for _, page, _ in pages(text, limit):
        assert len(page.encode()) <= MAX_BYTES
        assert page.count("\n") + 1 <= (limit or MAX_LINES)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.sampled_from(["a", "", "x" * 51_199, "é" * 25_599]), max_size=4),
    st.integers(51_201, 60_000),
    st.sampled_from("xé語\U0001f600"),
)
def test_a_line_above_50_kib_is_cut_between_characters_and_all_others_are_whole(
    lines: list[str], size: int, character: str
) -> None:
    giant = character * size
    found = pages("\n".join([*lines, giant, *lines, "end"]))
    assert [first for first, _, cut in found if cut] == [len(lines) + 1]
    shown = "\n".join(page for _, page, _ in found).split("\n")
    kept = character * (MAX_BYTES // len(character.encode()))
    assert shown == [*lines, kept, *lines, "end"]


def test_a_line_of_exactly_50_kib_is_whole_and_not_called_cut() -> None:
    assert pages("x" * MAX_BYTES) == [(1, "x" * MAX_BYTES, False)]
    assert pages("x" * MAX_BYTES + "x") == [(1, "x" * MAX_BYTES, True)]


def test_a_page_has_2000_lines_and_says_where_it_goes_on() -> None:
    text = "".join(f"{number}\n" for number in range(1, 2502))
    first = ask({"f": text}, path="f")
    assert first.text.endswith("\n2000\n[lines 1 to 2000 of 2501; continue with offset=2001]")
    assert first.text.startswith("1\n2\n")
    second = ask({"f": text}, path="f", offset=2001)
    assert second.text.startswith("2001\n2002\n")
    assert second.text.endswith("\n2500\n2501")


def test_a_page_has_50_kib_of_whole_lines() -> None:
    line = "x" * 1023
    text = f"{line}\n" * 60
    assert ask({"f": text}, path="f").text == (
        f"{line}\n" * 50 + "[lines 1 to 50 of 60; continue with offset=51]"
    )


def test_offset_and_limit_choose_lines_counted_from_one() -> None:
    text = "a\nb\nc\nd"
    assert ask({"f": text}, path="f", offset=2, limit=2).text == (
        "b\nc\n[lines 2 to 3 of 4; continue with offset=4]"
    )
    assert ask({"f": text}, path="f", offset=4, limit=2).text == "d"
    assert ask({"f": text}, path="f", offset=None, limit=None).text == text


BAD_NUMBERS = [0, -1, True, False, 1.0, "1", "", [1], {"a": 1}, 10**400, float("nan")]


@pytest.mark.parametrize("value", [*BAD_NUMBERS, 5])
def test_an_offset_that_is_no_line_is_an_error_observation(value: object) -> None:
    result = ask({"f": "a\nb\nc\nd"}, path="f", offset=value)
    assert result.error == "bad_arguments"
    assert result.text.startswith("error: bad_arguments: ")


@pytest.mark.parametrize("value", [*BAD_NUMBERS, 2001])
def test_a_limit_outside_1_to_2000_is_an_error_observation(value: object) -> None:
    assert ask({"f": "a\nb"}, path="f", limit=value).error == "bad_arguments"


@pytest.mark.parametrize("path", [None, 7, True, ["f"], {"path": "f"}])
def test_a_path_that_is_no_string_is_an_error_observation(path: object) -> None:
    assert ask({"f": "a"}, path=path).error == "bad_arguments"


def test_unknown_arguments_and_a_missing_path_are_error_observations() -> None:
    assert ask({"f": "a"}, path="f", encoding="latin-1").error == "bad_arguments"
    assert ask({"f": "a"}).error == "bad_arguments"


NOT_LISTED = [
    "/etc/passwd", "../outside.txt", "pkg/../outside.txt", "pkg/../pkg/a.py", "./pkg/a.py",
    "pkg//a.py", "pkg/a.py/", "pkg/./a.py", "pkg", "pkg/", "", ".", "..", "/", "~/x",
    "PKG/A.PY", "pkg/a.p", "pkg/a.pyc", "pkg/a.py\0", "pkg/a.py ", " pkg/a.py", "pkg\\a.py",
    "pkg-evil/a.py", "pkg/a.py-evil", "file:///etc/passwd", "pkg/link.py", "pkg/pipe.py",
    "pkg/unlisted.py", "pkg/a\u200b.py", "%2e%2e/outside.txt", "a.py", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("path", NOT_LISTED)
def test_whatever_is_not_on_the_list_is_a_denied_access(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names exist beside the listed file: links, a FIFO, look-alikes, files outside."""
    root = tmp_path / "root"
    for folder in ("pkg", "pkg-evil"):
        (root / folder).mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("the secret outside")
    for listed in ("pkg/a.py", "pkg/unlisted.py", "pkg-evil/a.py"):
        (root / listed).write_text("the secret inside")
    (root / "pkg/link.py").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(root / "pkg/pipe.py")
    monkeypatch.chdir(root)
    result = ask({"pkg/a.py": "listed"}, path=path)
    assert result.error == "denied_access"
    assert result.text == "error: denied_access: not one of the listed files"


def test_the_listed_name_itself_is_served_from_memory_and_not_from_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("changed on disk")
    monkeypatch.chdir(tmp_path)
    assert ask({"a.py": "as it was pinned"}, path="a.py").text == "as it was pinned"
