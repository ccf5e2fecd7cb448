"""`tasks new` and `tasks settle`: what they write, what they refuse, and the way to a good task."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from revereval.tasks.oracle import verify_task
from revereval.tasks.spec import load_source, load_task
from tests.tasks.build import FILES, build_wheel, install, sha256
from tests.tasks.test_lint import LONG, ROOT, revereval, tree

PYTHON = {**FILES, "tinypkg/rows.py": LONG, "tinypkg/names.py": "NÄHE = 1\n".encode()}
"""What a scaffold lists."""
OTHERS = {
    "tinypkg/words.txt": b"one two three\n",
    "tinypkg/tests/test_sums.py": b"import tinypkg\n",
    "tinypkg/testing/help.py": b"",
    "tests/test_more.py": b"",
    "tinypkg/latin.py": b"# -*- coding: latin-1 -*-\n# \xe9\n",
}
"""What it does not: data, tests, Python that is not UTF-8."""
PACKAGE = PYTHON | OTHERS
DIGESTS = {path: sha256(content) for path, content in PYTHON.items()}
PROMPT = "prompt = '''What is it? {0}\n{{oracle}}'''\nreads = {1}\n[premises]\npython = 'any'\n"
SUMS = '[[evidence.{0}]]\nfile = "tinypkg/sums.py"\nline = 4\nspan = "return a + b"\n'
ROWS = '[[evidence.{0}]]\nfile = "tinypkg/rows.py"\nline = 2\nspan = "ROWS = ["\n'


@pytest.fixture
def work(tmp_path: Path, wheels: Path) -> Path:
    """An empty folder to run in; pip finds tinypkg 1.0."""
    build_wheel(wheels, PACKAGE)
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def group(work: Path) -> Path:
    """The group `tinypkg` of the scaffolds `first` and `second`, of the confirmation split."""
    for task_id in ("first", "second"):
        run(work, "new", "tinypkg", "1.0", task_id, "--split", "confirmation")
    return work / "tasks/tinypkg"


def run(work: Path, *args: str) -> Any:
    """What a command that must succeed prints as JSON."""
    done = revereval(work, *args, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def refused(work: Path, *args: str) -> str:
    """The one line of a command that must fail and leave everything as it was."""
    before = tree(work)
    done = revereval(work, *args)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert tree(work) == before, "something was written"
    assert done.stderr.startswith("revereval: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("revereval: ").rstrip("\n")


def write(group: Path, task_id: str, keys: str, evidence: str, oracle: str, reads: int = 2) -> None:
    """Edit a task as its author would; the gold stays what it was."""
    task = PROMPT.format(task_id, reads) + f"[keys]\n{keys}\n{evidence}"
    (group / f"{task_id}.toml").write_text(task)
    (group / f"{task_id}.oracle.py").write_text(f"import json, tinypkg\n{oracle}\n")


def write_both(group: Path) -> None:
    """Two tasks that need sums.py and, named by evidence only, rows.py."""
    keys, evidence = 'sum = "integer"\nhalf = "number"', "".join(map(SUMS.format, ("sum", "half")))
    printed = "print(json.dumps({'sum': tinypkg.add(20, 22), 'half': tinypkg.add(0.25, 0.5)}))"
    write(group, "first", keys, evidence + ROWS.format("half"), printed)
    said = "print(json.dumps({'said': add('é', '\\\\'), 'list': add([None], [{}])}))"
    keys, evidence = 'said = "string"\nlist = "array"', ROWS.format("said") + SUMS.format("list")
    write(group, "second", keys, evidence, f"add = tinypkg.add\n{said}")


def test_new_scaffolds_a_task_that_loads_and_holds(work: Path) -> None:
    done = revereval(work, "new", "tinypkg", "1.0", "tiny-first")
    assert (done.returncode, done.stderr) == (0, "")
    folder = work / "tasks/tinypkg"
    names = ["source.toml", "tiny-first.toml", "tiny-first.oracle.py", "tiny-first.gold.json"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    shown = [line.split() for line in done.stdout.splitlines()]
    assert "4 files, 1 of them long enough to be projected" in done.stdout
    assert ["tinypkg/rows.py", f"{len(LONG):,}"] in shown
    assert "tinypkg/sums.py" not in done.stdout
    for name in names:
        assert f"wrote tasks/tinypkg/{name}" in done.stdout.splitlines()
    task = load_task(work / "tasks", "tiny-first")
    source = task.source
    assert (source.group, source.package, source.version) == ("tinypkg", "tinypkg", "1.0")
    assert (source.split, dict(source.files)) == ("development", DIGESTS)
    assert dict(task.gold) == {"answer": "tinypkg"}
    assert {span.file for span in task.evidence["answer"]} == {"tinypkg/rows.py"}, "the largest"
    check = verify_task(work / "tasks", "tiny-first", perturb=True)
    assert (check.faults, [key.ok for key in check.keys]) == ((), [True])
    lint = revereval(work, "lint").stderr
    assert "tasks/tinypkg/tiny-first.toml: prompt: still has its TODO\n" in lint


def test_new_says_as_json_what_it_wrote_and_how_large_every_file_is(work: Path) -> None:
    said = run(
        work, "new", "tinypkg", "1.0", "a", "--group", "own-name", "--split", "calibration",
        "--tasks", "elsewhere",
    )  # fmt: skip
    assert sorted(said["written"]) == [
        f"elsewhere/own-name/{name}" for name in ("a.gold.json", "a.oracle.py", "a.toml")
    ] + ["elsewhere/own-name/source.toml"]
    assert said["files"] == {path: len(content) for path, content in PYTHON.items()}
    assert load_source(work / "elsewhere/own-name").split == "calibration"
    assert [path.name for path in work.iterdir()] == ["elsewhere"]


def test_new_takes_the_installed_release_and_asks_no_registry(
    work: Path, wheels: Path, site: Path
) -> None:
    for wheel in wheels.iterdir():
        wheel.unlink()
    install(site, PACKAGE)
    (site.parent / "tool.py").write_text("outside = 1\n")
    recorded = [*PACKAGE, "tinypkg-1.0.dist-info/RECORD", "../tool.py", "tinypkg/gone.py"]
    record = site / "tinypkg-1.0.dist-info/RECORD"
    record.write_text("".join(f"{path},,\n" for path in recorded))
    path = f"{ROOT}:{site}"
    done = revereval(work, "new", "tinypkg", "1.0", "first", PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert dict(load_source(work / "tasks/tinypkg").files) == DIGESTS
    assert verify_task(work / "tasks", "first").faults == ()
    done = revereval(work, "new", "tinypkg", "2.0", "second", "--group", "b", PYTHONPATH=path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("revereval: pip download: tinypkg==2.0: ")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (("tinypkg", "1.0", "first"), "tasks: first: there is such a task already"),
        (
            ("tinypkg", "1.0", "first", "--group", "other"),
            "tasks: first: there is such a task already",
        ),
        (
            ("tinypkg", "1.0", "Third"),
            "TASK: tinypkg/Third: lower-case letters, digits and hyphens, and not the word source",
        ),
        (
            ("tinypkg", "1.0", "a/b"),
            "TASK: tinypkg/a/b: lower-case letters, digits and hyphens, and not the word source",
        ),
        (
            ("tinypkg", "1.0", "third", "--group", "../up"),
            "TASK: ../up/third: lower-case letters, digits and hyphens, and not the word source",
        ),
        (
            ("tinypkg", "1.1", "third"),
            "tasks/tinypkg/source.toml: version: the group is of tinypkg 1.0",
        ),
        (
            ("other", "1.0", "third", "--group", "tinypkg"),
            "tasks/tinypkg/source.toml: version: the group is of tinypkg 1.0",
        ),
        (
            ("tinypkg", "1.0", "third", "--split", "training"),
            "--split: training: one of development, calibration, confirmation",
        ),
        (("nopkg", "1.0", "third"), "pip download: nopkg==1.0: "),
        (("tinypkg", "9.9", "third", "--group", "b"), "pip download: tinypkg==9.9: "),
        (("tinypkg", "1.*", "third", "--group", "b"), "source.toml: version: "),
    ],
)
def test_new_refuses_in_one_line_and_writes_nothing(
    work: Path, group: Path, args: tuple[str, ...], line: str
) -> None:
    assert group.is_dir()
    said = refused(work, "new", *args)
    assert said.startswith(line) if line.endswith(": ") else said == line


def test_new_refuses_the_id_whose_file_is_the_source_itself(work: Path) -> None:
    refused(work, "new", "tinypkg", "1.0", "source")
    assert list(work.iterdir()) == []


def test_new_refuses_a_release_without_python_files(work: Path, wheels: Path) -> None:
    build_wheel(wheels, OTHERS)
    line = "tinypkg: 1.0: a release without Python files"
    assert refused(work, "new", "tinypkg", "1.0", "first") == line


def test_a_second_task_lists_every_file_again_and_keeps_split_and_data(group: Path) -> None:
    words = {"tinypkg/words.txt": sha256(OTHERS["tinypkg/words.txt"])}
    toml, work = group / "source.toml", group.parents[1]
    kept = {"tinypkg/sums.py": DIGESTS["tinypkg/sums.py"]} | words
    table = "".join(f'"{path}" = "{digest}"\n' for path, digest in kept.items())
    toml.write_text(toml.read_text().split("[files]")[0] + "[files]\n" + table)
    first = {path: path.read_bytes() for path in group.glob("first.*")}
    said = run(work, "new", "tinypkg", "1.0", "third", "--split", "development")
    assert "tasks/tinypkg/source.toml" in said["written"]
    source = load_source(group)
    assert (source.split, dict(source.files)) == ("confirmation", DIGESTS | words)
    assert {path: path.read_bytes() for path in group.glob("first.*")} == first
    said = run(work, "new", "tinypkg", "1.0", "fourth")
    assert "tasks/tinypkg/source.toml" not in said["written"], "it holds all of them already"


def test_settle_writes_what_the_oracles_print_and_keeps_what_is_needed(group: Path) -> None:
    write_both(group)
    before, work = tree(group), group.parents[1]
    changed = [
        "first.gold.json", "first.toml", "second.gold.json", "second.toml", "source.toml",
    ]  # fmt: skip
    said = run(work, "settle", "second")
    assert sorted(said["written"]) == [f"tasks/tinypkg/{name}" for name in changed]
    after = tree(group)
    assert [name for name in sorted(after) if after[name] != before.get(name)] == changed
    assert after.keys() == before.keys()
    gold = (group / "first.gold.json").read_text()
    assert gold == '{\n  "sum": 42,\n  "half": 0.75\n}\n'
    gold = (group / "second.gold.json").read_text()
    assert json.loads(gold) == {"said": "é\\", "list": [None, {}]}
    assert "é" in gold
    needed = {path for path in PYTHON if path != "tinypkg/names.py"}
    toml = tomllib.loads((group / "source.toml").read_text())
    assert toml == {
        "package": "tinypkg",
        "version": "1.0",
        "split": "confirmation",
        "files": {path: DIGESTS[path] for path in needed},
    }
    for task_id in ("first", "second"):
        assert verify_task(work / "tasks", task_id).faults == ()
    for again in ("first", "second"):
        done = revereval(work, "settle", again)
        assert (done.returncode, done.stdout, done.stderr) == (0, "nothing to change\n", "")
    assert tree(group) == after


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("first.oracle.py", "1/0", "exit code 1: ZeroDivisionError: division by zero"),
        ("second.oracle.py", "1/0", "exit code 1: ZeroDivisionError: division by zero"),
        ("second.oracle.py", "print('{}')", "imported no module of the source"),
        ("first.oracle.py", "import tinypkg; print([1])", "printed no JSON object"),
        ("second.toml", "hint = 1", "prompt: Field required"),
    ],
)
def test_settle_writes_nothing_when_one_task_of_the_group_fails(
    group: Path, name: str, text: str, problem: str
) -> None:
    write_both(group)
    (group / name).write_text(text)
    line = refused(group.parents[1], "settle", "first")
    assert line == f"tasks/tinypkg/{name}: {problem}"


BOUNDARY = "boundary = []\n"
FALSE_LINES = "prompt = '''\nreads = 2\nboundary = [1]\n{oracle}'''\n"
WAYS: dict[str, tuple[str, str]] = {
    # the lines of reads and boundary, before and after
    "after the reads": ("reads = 2\n", f"reads = 2\n{BOUNDARY}"),
    "in place of what it said": ("boundary = ['direct']\nreads = 2\n", f"{BOUNDARY}reads = 2\n"),
    "in place of several lines": (
        "reads = 2\nboundary = [\n  'direct',\n]\n", f"reads = 2\n{BOUNDARY}"
    ),
    "first, where no line is the reads'": ('"reads" = 2\n', f'{BOUNDARY}"reads" = 2\n'),
    "but not in the prompt": (
        FALSE_LINES + "reads = 2\n", f"{FALSE_LINES}reads = 2\n{BOUNDARY}"
    ),
}


@pytest.mark.parametrize(("before", "after"), WAYS.values(), ids=WAYS)
def test_settle_says_which_readers_reach_a_boundary_and_leaves_the_rest_as_it_was(
    group: Path, before: str, after: str
) -> None:
    write_both(group)
    file = group / "first.toml"
    prompt, rest = file.read_text().split("reads = 2\n")
    prompt = "" if "prompt" in before else prompt
    file.write_text(before + prompt + rest)
    run(group.parents[1], "settle", "second")
    assert file.read_text() == after + prompt + rest
    assert load_task(group.parent, "first").boundary == ()
    assert load_task(group.parent, "second").boundary == ()


def test_settle_refuses_a_boundary_it_cannot_replace(group: Path) -> None:
    write_both(group)
    run(group.parents[1], "settle", "first")
    file = group / "first.toml"
    file.write_text(file.read_text().replace("boundary = []", '"boundary" = ["direct"]'))
    assert refused(group.parents[1], "settle", "first") == (
        "tasks/tinypkg/first.toml: boundary: cannot be replaced: write `boundary = []` on a line "
        "of its own"
    )


def test_a_settled_boundary_and_what_is_accepted_are_no_part_of_the_task(group: Path) -> None:
    write_both(group)
    run(group.parents[1], "settle", "first")
    before, file = load_task(group.parent, "first"), group / "first.toml"
    text = file.read_text().replace("boundary = []", 'boundary = ["batching", "default"]')
    file.write_text(text + "[accepted]\n'tinypkg/*:add' = 'adds'\n")
    after = load_task(group.parent, "first")
    assert (before.boundary, after.boundary) == ((), ("default", "batching"))
    assert (dict(before.accepted), dict(after.accepted)) == ({}, {"tinypkg/*:add": "adds"})
    assert after.digest == before.digest


def test_settle_refuses_an_unknown_task_in_one_line(group: Path) -> None:
    line = refused(group.parents[1], "settle", "frist")
    assert line == "tasks: frist: no such task; close: first"


def test_settle_keeps_a_data_file_that_an_oracle_opens(group: Path) -> None:
    work, words = group.parents[1], OTHERS["tinypkg/words.txt"]
    with (group / "source.toml").open("a") as file:
        file.write(f'"tinypkg/words.txt" = "{sha256(words)}"\n')
    beside = "open(tinypkg.__file__.replace('__init__.py', 'words.txt')).read().split()[1]"
    for task_id in ("first", "second"):
        evidence = SUMS.format("word")
        write(
            group, task_id, 'word = "string"', evidence, f"print(json.dumps({{'word': {beside}}}))"
        )
    run(work, "settle", "first")
    assert load_source(group).files.keys() == {*FILES, "tinypkg/words.txt"}
    assert dict(load_task(work / "tasks", "second").gold) == {"word": "two"}


def test_new_edit_settle_lint_and_verify_give_a_suite_without_faults(group: Path) -> None:
    write_both(group)
    work = group.parents[1]
    run(work, "settle", "first")
    done = revereval(work, "lint")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 tasks, no fault\n", "")
    checks = run(work, "verify", "--perturb")
    assert [(check["task_id"], check["faults"]) for check in checks] == [
        ("first", []),
        ("second", []),
    ]
    assert [key["got"] for key in checks[0]["keys"]] == ["0.75", "42"]
    assert checks[0]["used"] == sorted(FILES)
    assert {path.name for path in group.iterdir()} == {
        "source.toml",
        *(
            f"{t}{end}"
            for t in ("first", "second")
            for end in (".toml", ".oracle.py", ".gold.json")
        ),
    }
