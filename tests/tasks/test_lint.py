"""`revereval tasks lint` as a process: every kind of fault is one line with its file and field."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tasks.build import FILES, GOLD, ORACLE, TASK, build_wheel, sha256, write_task

ROOT = Path(__file__).parents[2]
LONG = b"# rows\nROWS = [\n" + b"    'a row of the table',\n" * 400 + b"]\n"
PACKAGE = {**FILES, "tinypkg/rows.py": LONG, "tinypkg/extra.py": b"MORE = 1\n"}
"""One file of 10 KiB, and one that the suite does not list."""
LISTED = {path: content for path, content in PACKAGE.items() if path != "tinypkg/extra.py"}
ROWS = """
[[evidence.sum]]
file = "tinypkg/rows.py"
line = 2
span = "ROWS = ["
"""
ONE = TASK.replace("reads = 2", "reads = 3\nboundary = []") + ROWS
TWO = ONE.replace("What does this print?", "Which sum, half and name?")


SUM, HALF = (
    "line = 3\nspan = '''# so 1 + 2 is 3\n    return a + b'''",
    'line = 4\nspan = "return a + b"',
)
"""The evidence in the function `add`, and what is before it."""
COMMENT = 'line = 1\nspan = "# sums"'


def revereval(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The command `revereval tasks` of this checkout, run in a folder."""
    return subprocess.run(
        [sys.executable, "-c", "from revereval.cli.app import main; main()", "tasks", *args],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def tree(folder: Path) -> dict[str, bytes | None]:
    """What a folder holds: every path below it with its bytes, None for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def suite(tmp_path: Path, wheels: Path) -> Path:
    """Holds the group `tiny` with the siblings `one` and `two`: nothing to complain about."""
    build_wheel(wheels, PACKAGE)
    folder = tmp_path / "suite" / "tasks"
    write_task(folder, task_id="one", task=ONE, files=LISTED)
    write_task(folder, task_id="two", task=TWO, files=LISTED)
    return folder


def edit(suite: Path, name: str, change: Callable[[str], str]) -> None:
    path = suite / "tiny" / name
    before = path.read_text()
    path.write_text(change(before))
    assert path.read_text() != before


def swap(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def lines(suite: Path) -> list[str]:
    """The faults that lint prints about a suite that must have some."""
    done = revereval(suite.parent, "lint")
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr.splitlines()


def test_a_suite_without_faults_ends_with_code_0_and_one_line(suite: Path) -> None:
    assert len(LONG) >= 10 * 1024
    done = revereval(suite.parent, "lint")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 tasks, no fault\n", "")
    done = revereval(suite.parent, "lint", "--json")
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, [], "")


def list_extra(text: str) -> str:
    return f'{text}\n"tinypkg/extra.py" = "{sha256(PACKAGE["tinypkg/extra.py"])}"\n'


ABSENT = sha256(b"something else")
FAULTS: dict[str, tuple[str, Callable[[str], str], str]] = {
    # kind: (file, edit, the one line without the folder)
    "an unknown field of a task": (
        "one.toml",
        lambda text: "hint = 1\n" + text,
        "one.toml: hint: Extra inputs are not permitted",
    ),
    "an unknown field of a source": (
        "source.toml",
        lambda text: "licence = 'MIT'\n" + text,
        "source.toml: licence: Extra inputs are not permitted",
    ),
    "a key without a type": (
        "one.toml",
        swap('sum = "integer"', 'sum = ""'),
        "one.toml: keys.sum: Input should be 'string', 'integer', 'number', 'boolean', 'array', "
        "'object' or 'null'",
    ),
    "a key without evidence": (
        "one.toml",
        swap('name = "string"', 'name = "string"\nmore = "null"'),
        "one.toml: evidence.more: no evidence for this key",
    ),
    "gold of another type": (
        "one.gold.json",
        swap("3", '"3"'),
        "one.gold.json: sum: of type string, declared integer",
    ),
    "gold that the oracle does not print": (
        "one.gold.json",
        swap("3", "4"),
        "one.gold.json: sum: gold says 4, oracle printed 3",
    ),
    "a prompt that a sibling has": (
        "two.toml",
        swap("Which sum, half and name?", "What does this print?"),
        "two.toml: prompt: the same as that of one",
    ),
    "a prompt nobody wrote yet": (
        "one.toml",
        swap("What does", "TODO: what does"),
        "one.toml: prompt: still has its TODO",
    ),
    "no declared Python": (
        "one.toml",
        swap('python = "any"', 'time_zone = "UTC"'),
        "one.toml: premises.python: missing: the versions it holds for",
    ),
    "reads smaller than the evidence's files": (
        "one.toml",
        swap("reads = 3", "reads = 2"),
        "one.toml: reads: 2, but the evidence is in 3 files",
    ),
    "a file that nobody needs": (
        "source.toml",
        list_extra,
        "source.toml: files.tinypkg/extra.py: never needed: no oracle opens it and no evidence "
        "names it",
    ),
    "evidence that is elsewhere": (
        "one.toml",
        swap("line = 2", "line = 1"),
        "one.toml: evidence.sum: the span does not begin at tinypkg/rows.py:1; it does at 2",
    ),
    "no evidence long enough to be projected": (
        "two.toml",
        swap(ROWS, ""),
        "two.toml: evidence: no file of 10240 bytes: nothing could be projected",
    ),
    "readers that do not reach a boundary": (
        "one.toml",
        swap("boundary = []", 'boundary = ["batching", "default"]'),
        "one.toml: boundary: default, batching in the file, none by the snapshot; "
        "`tasks settle` writes it",
    ),
    "readers that do": (
        "two.toml",
        lambda text: re.sub(r"(line = [34]\n)", r'\1after = "tinypkg/rows.py"\n', text),
        "two.toml: boundary: none in the file, default, direct by the snapshot; "
        "`tasks settle` writes it",
    ),
    "readers nobody looked for": (
        "one.toml",
        swap("boundary = []\n", ""),
        "one.toml: boundary: missing, none by the snapshot; `tasks settle` writes it",
    ),
    "a reader without a name": (
        "one.toml",
        swap("boundary = []", 'boundary = ["slow"]'),
        "one.toml: boundary.0: Input should be 'default', 'direct' or 'batching'",
    ),
    "a function that runs and no evidence covers": (
        "one.toml",
        lambda text: text.replace(SUM, COMMENT).replace(HALF, COMMENT),
        "one.toml: evidence: tinypkg/sums.py: add runs and no evidence covers it",
    ),
    "an accepted function that does not run": (
        "one.toml",
        lambda text: text + "[accepted]\n'tinypkg/sums.py:sub*' = 'never'\n",
        "one.toml: accepted.tinypkg/sums.py:sub*: the oracle runs no such function",
    ),
    "a function accepted without a reason": (
        "one.toml",
        lambda text: text + "[accepted]\n'tinypkg/sums.py:add' = ' '\n",
        "one.toml: accepted.tinypkg/sums.py:add: String should match pattern '\\S'",
    ),
    "an oracle that ends in an error": (
        "one.oracle.py",
        lambda text: text + "1/0\n",
        "one.oracle.py: exit code 1: ZeroDivisionError: division by zero",
    ),
}


@pytest.mark.parametrize(("name", "change", "line"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_one_line_with_file_and_field(
    suite: Path, name: str, change: Callable[[str], str], line: str
) -> None:
    edit(suite, name, change)
    before = tree(suite)
    assert lines(suite) == [f"tasks/tiny/{line}"]
    assert tree(suite) == before, "lint wrote something"


def test_evidence_in_one_place_only_is_a_fault(suite: Path) -> None:
    tables = '[keys]\nsum = "integer"\n[premises]\npython = "any"'
    tables += "\n[accepted]\n'tinypkg/sums.py:add' = 'adds'"
    task = f"prompt = 'What?\\n{{oracle}}'\nreads = 1\nboundary = []\n{tables}\n{ROWS}"
    oracle = "import json, tinypkg\nprint(json.dumps({'sum': tinypkg.add(1, 2)}))\n"
    write_task(suite, task_id="one", task=task, oracle=oracle, gold='{"sum": 3}', files=LISTED)
    problem = "one place only: an answer needs at least two"
    assert lines(suite) == [f"tasks/tiny/one.toml: evidence: {problem}"]
    edit(suite, "one.toml", lambda text: text + ROWS.replace("ROWS = [", "ROWS"))
    assert lines(suite) == [f"tasks/tiny/one.toml: evidence: {problem}"], "the same line twice"


def test_a_group_with_one_task_is_a_fault_of_the_group(suite: Path) -> None:
    for path in suite.glob("tiny/two.*"):
        path.unlink()
    assert lines(suite) == ["tasks/tiny: a group with one task: it has no sibling"]


def test_a_prompt_repeated_in_another_group_is_a_fault_too(suite: Path) -> None:
    for task_id, task in (("three", ONE), ("zour", ONE.replace("What", "And what"))):
        write_task(suite, group="zwei", task_id=task_id, task=task, files=LISTED)
    assert lines(suite) == ["tasks/zwei/three.toml: prompt: the same as that of one"]


TELLING: dict[str, tuple[str, str, str]] = {
    # kind: (gold value of `name` as JSON, its type, text in the prompt)
    "text": ('"a telling name"', "string", "say a telling name, or"),
    "text with an escape, as JSON": ('"a \\"b\\" é\\nd"', "string", 'say "a \\"b\\" é\\nd" or'),
    "a list as JSON": ('["a", 12, null]', "array", 'say ["a", 12, null] or'),
    "a list as compact JSON": ('["a", 12, null]', "array", 'say ["a",12,null] or'),
    "a list as Python prints it": ('["a", 12, null]', "array", "say ['a', 12, None] or"),
    "an object as Python prints it": ('{"a": true}', "object", "say {'a': True} or"),
    "a long number": ("1234567.5", "number", "say 1234567.5 or"),
}


@pytest.mark.parametrize(("gold", "kind", "said"), TELLING.values(), ids=TELLING)
def test_a_prompt_that_holds_a_value_of_the_gold_is_a_fault(
    suite: Path, gold: str, kind: str, said: str
) -> None:
    # the oracle holds the value too, but in no spelling that lint looks for
    hexed = gold.encode().hex()
    oracle = ORACLE.replace("tinypkg.NAME", f"json.loads(bytes.fromhex({hexed!r}))")
    task = ONE.replace('name = "string"', f'name = "{kind}"')
    told = task.replace("What does this print?", f"Does it {said}?")
    for text, expected in ((task, 0), (told, 2)):
        text_gold = GOLD.replace('"tiny"', gold)
        write_task(suite, task_id="one", task=text, oracle=oracle, gold=text_gold, files=LISTED)
        done = revereval(suite.parent, "lint")
        assert done.returncode == expected, done.stderr
    assert done.stderr == "tasks/tiny/one.toml: prompt: contains the gold of 'name'\n"


def test_a_prompt_that_holds_the_whole_gold_says_so(suite: Path) -> None:
    edit(suite, "one.toml", swap("What does this print?", GOLD.strip()))
    assert lines(suite) == ["tasks/tiny/one.toml: prompt: contains the gold"]


def test_a_short_value_in_the_prompt_is_no_leak(suite: Path) -> None:
    edit(suite, "one.toml", swap("What does", "It is 3, 1.5, tiny and 'tiny' or \"tiny\": what"))
    assert revereval(suite.parent, "lint").returncode == 0


def test_what_an_oracle_opens_as_data_is_needed(suite: Path) -> None:
    edit(suite, "source.toml", list_extra)
    beside = "import pathlib\npathlib.Path(tinypkg.__file__).with_name('extra.py').read_text()\n"
    assert any("never needed" in line for line in lines(suite))
    edit(suite, "two.oracle.py", lambda text: text + beside)
    done = revereval(suite.parent, "lint")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "broken", "fault"),
    [("two.oracle.py", "1/0\n", "exit code 1: Zero"), ("two.toml", "hint = 1\n", "hint: Extra")],
)
def test_a_file_is_not_called_needless_while_a_sibling_is_broken(
    suite: Path, name: str, broken: str, fault: str
) -> None:
    edit(suite, "source.toml", list_extra)
    edit(suite, "two.oracle.py", lambda text: "import tinypkg.extra\n" + text)
    assert revereval(suite.parent, "lint").returncode == 0
    edit(suite, name, lambda text: broken + text)
    (line,) = lines(suite)
    assert line.startswith(f"tasks/tiny/{name}: {fault}")


def test_the_faults_of_every_task_and_group_appear_at_once(suite: Path) -> None:
    write_task(suite, group="zwei", task_id="three", task=ONE, files=LISTED)
    edit(suite, "one.gold.json", swap("1.5", "2.5"))
    edit(suite, "one.toml", swap("reads = 3", "reads = 1"))
    edit(suite, "two.toml", swap('"integer"', '"int"'))
    expected = [
        ("tiny/two.toml", "keys.sum", "Input should be"),
        ("tiny/one.toml", "reads", "1, but the evidence is in 3 files"),
        ("zwei/three.toml", "prompt", "the same as that of one"),
        ("zwei", "", "a group with one task: it has no sibling"),
        ("tiny/one.gold.json", "half", "gold says 2.5, oracle printed 1.5"),
    ]
    done = revereval(suite.parent, "lint", "--json")
    assert done.returncode == 2
    faults = json.loads(done.stdout)
    assert [(fault["file"], fault["field"]) for fault in faults] == [
        (f"tasks/{file}", field) for file, field, _ in expected
    ]
    for fault, (_, _, problem) in zip(faults, expected, strict=True):
        assert fault["problem"].startswith(problem)
    shown = [": ".join(filter(None, fault.values())) for fault in faults]
    assert done.stderr.splitlines() == shown == lines(suite)


def test_a_fault_that_siblings_share_is_said_once(suite: Path) -> None:
    edit(suite, "source.toml", swap(sha256(LONG), ABSENT))
    assert lines(suite) == [
        f"tiny/source.toml: files.tinypkg/rows.py: expected {ABSENT}, found {sha256(LONG)} in the "
        "downloaded tinypkg 1.0"
    ]


def test_a_directory_that_is_not_there_is_one_line(suite: Path) -> None:
    done = revereval(suite.parent, "lint", "--tasks", "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "revereval: none: no such directory of tasks\n"
