"""Scaffolds of odd releases, and what `settle` will not write."""

from pathlib import Path

import pytest

from revereval.tasks.oracle import verify_task
from tests.tasks.build import build_wheel
from tests.tasks.test_scaffold import group, refused, run, work, write

__all__ = ["group", "work"]
"""The fixtures."""

ODD = {
    "a path outside the basic plane": {"odd/__init__.py": b"x = 1\n", "odd/\U0001f600.py": b"\n"},
    "DEL in the first line": {"odd/__init__.py": b"# \x7f is DEL\n"},
    "an empty first line and a form feed": {"odd/__init__.py": b"\n\x0c# second\n"},
    "a first module named like a keyword": {"class/__init__.py": b"", "odd.py": b"x = 1\n"},
    "a folder without __init__.py beside it": {"aaa/one.py": b"x = 1\n", "odd.py": b"x = 1\n"},
}


@pytest.mark.parametrize("files", ODD.values(), ids=ODD)
def test_an_odd_release_makes_a_scaffold_that_holds(
    files: dict[str, bytes], tmp_path: Path, wheels: Path
) -> None:
    build_wheel(wheels, files)
    run(tmp_path, "new", "tinypkg", "1.0", "odd-one")
    assert verify_task(tmp_path / "tasks", "odd-one").faults == ()


@pytest.mark.parametrize(
    "files",
    [
        {"odd/__init__.py": b"", "odd/more.py": b"\n\n"},
        {"odd/one.py": b"x = 1\n"},
        {"class/__init__.py": b"x = 1\n", "json.py": b"x = 1\n"},
    ],
)
def test_a_release_that_no_question_can_be_about_is_refused(
    files: dict[str, bytes], tmp_path: Path, wheels: Path
) -> None:
    build_wheel(wheels, files)
    said = refused(tmp_path, "new", "tinypkg", "1.0", "odd-one")
    assert said == "tasks/tinypkg/source.toml: files: no module that can be imported"


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            '{"answer": "\\\\ud800"}',
            "tasks/tinypkg: a lone surrogate, which no UTF-8 file can hold",
        ),
        (
            '{"answer": 1.00000000000000001}',
            "tasks/tinypkg/first.oracle.py: answer: "
            "prints a fraction with more digits than a double keeps",
        ),
    ],
)
def test_settle_writes_no_gold_that_would_not_be_the_oracles(
    group: Path, printed: str, said: str
) -> None:
    evidence = '[[evidence.answer]]\nfile = "tinypkg/sums.py"\nline = 4\nspan = "return a + b"\n'
    write(group, "first", 'answer = "number"', evidence, f"print('''{printed}''')")
    assert refused(group.parents[1], "settle", "first") == said


@pytest.mark.parametrize("place", ["tasks", "tasks/tinypkg"])
def test_a_file_where_a_folder_must_be_is_one_line(work: Path, place: str) -> None:
    (work / place).parent.mkdir(exist_ok=True)
    (work / place).write_text("a file")
    said = refused(work, "new", "tinypkg", "1.0", "first")
    assert said.startswith("tasks")
    assert said.endswith(("no such directory of tasks", "File exists", "Not a directory"))


def test_a_package_that_pip_would_take_for_an_option_never_reaches_it(work: Path) -> None:
    said = refused(work, "new", "--group", "b", "--", "-r/etc/hostname", "1.0", "first")
    assert said.startswith("source.toml: package: ")
