"""The shipped suite, from its spec files alone, and what makes a changed task another task."""

import dataclasses
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from revereval.tasks.spec import Task, load_task, task_ids
from revereval.terms import Reader, Split
from tests.tasks.build import FILES, ORACLE, TASK, write_task

SHIPPED = Path(__file__).parents[2] / "tasks"
ENDINGS = (".oracle.py", ".gold.json", ".toml")


@pytest.fixture(scope="module")
def suite() -> list[Task]:
    return [load_task(SHIPPED, task_id) for _, task_id in task_ids(SHIPPED)]


def evidence_files(task: Task) -> set[str]:
    return {span.file for spans in task.evidence.values() for span in spans}


def test_the_suite_has_its_size_and_every_task_a_sibling(suite: list[Task]) -> None:
    members = Counter(task.source.group for task in suite)
    assert [group for group, count in members.items() if count < 2] == []
    assert len(members) >= 38
    assert len(suite) >= 76


def test_a_group_has_one_source_in_one_split(suite: list[Task]) -> None:
    sources: dict[str, list[object]] = {}
    for task in suite:
        seen = sources.setdefault(task.source.group, [])
        if task.source not in seen:
            seen.append(task.source)
    assert {group: len(seen) for group, seen in sources.items() if len(seen) != 1} == {}


def test_no_release_is_pinned_by_two_groups(suite: list[Task]) -> None:
    groups = {(task.source.package, task.source.group) for task in suite}
    packages = Counter(package for package, _ in groups)
    assert [package for package, count in packages.items() if count > 1] == []


@pytest.mark.parametrize("split", list(Split))
def test_every_split_has_five_groups(suite: list[Task], split: Split) -> None:
    assert len({task.source.group for task in suite if task.source.split is split}) >= 5


def test_a_third_of_the_tasks_rest_on_three_files_or_more(suite: list[Task]) -> None:
    wide = [task.id for task in suite if len(evidence_files(task)) >= 3]
    assert len(wide) * 3 >= len(suite)


def test_eight_tasks_can_be_answered_after_two_reads(suite: list[Task]) -> None:
    assert len([task.id for task in suite if task.reads <= 2]) >= 8


def test_twenty_tasks_reach_a_boundary_under_every_named_reader(suite: list[Task]) -> None:
    assert len([task.id for task in suite if task.boundary == tuple(Reader)]) >= 20


def test_the_readme_counts_the_tasks_that_reach_a_boundary(suite: list[Task]) -> None:
    reached = Counter(reader for task in suite for reader in task.boundary or ())
    figures = [f"{reader} {reached[reader]}" for reader in Reader]
    figures += [f"all three {sum(task.boundary == tuple(Reader) for task in suite)}."]
    readme = (SHIPPED.parent / "README.md").read_text("utf-8").splitlines()
    assert ", ".join(figures) in readme


def test_no_task_needs_fewer_reads_than_its_evidence_has_files(suite: list[Task]) -> None:
    assert [task.id for task in suite if task.reads < len(evidence_files(task))] == []


def test_every_task_declares_its_python(suite: list[Task]) -> None:
    assert [task.id for task in suite if not task.premises.get("python")] == []


def test_no_two_tasks_share_an_id_a_prompt_or_a_digest(suite: list[Task]) -> None:
    for values in (
        [task.id for task in suite],
        [task.prompt for task in suite],
        [task.digest for task in suite],
    ):
        assert [value for value, count in Counter(values).items() if count > 1] == []


def test_no_file_of_a_package_is_committed() -> None:
    found = set(SHIPPED.rglob("*"))
    expected = {SHIPPED / group for group, _ in task_ids(SHIPPED)}
    for folder in list(expected):
        expected.add(folder / "source.toml")
    for group, task_id in task_ids(SHIPPED):
        expected |= {SHIPPED / group / f"{task_id}{ending}" for ending in ENDINGS}
    assert found - expected == set()
    assert expected - found == set()


def _swap(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return edit


CHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "the prompt's text": ("tiny-add.toml", _swap("What does", "What would")),
    "white space in the prompt": ("tiny-add.toml", _swap("What does", "What  does")),
    "the oracle, which the prompt shows": ("tiny-add.oracle.py", _swap("(1, 2)", "(2, 1)")),
    "the type of a key": ("tiny-add.toml", _swap('sum = "integer"', 'sum = "number"')),
    "the value of a premise": ("tiny-add.toml", _swap('"any"', '"3.12 or later"')),
    "one more premise": ("tiny-add.toml", _swap('"any"', '"any"\nplatform = "POSIX"')),
    "the reads": ("tiny-add.toml", _swap("reads = 2", "reads = 3")),
    "the file of evidence": ("tiny-add.toml", _swap("tinypkg/sums.py", "tinypkg/__init__.py")),
    "the line of evidence": ("tiny-add.toml", _swap("line = 4", "line = 5")),
    "the span of evidence": ("tiny-add.toml", _swap('"return a + b"', '"return a"')),
    "the digest of a source file": (
        "source.toml",
        lambda text: (
            text[: text.rindex('"') - 1]
            + ("0" if text[text.rindex('"') - 1] != "0" else "1")
            + text[text.rindex('"') :]
        ),
    ),
    "one listed file more": ("source.toml", lambda text: f'{text}\n"more.py" = "{"0" * 64}"\n'),
    "the version of the source": ("source.toml", _swap('"1.0"', '"1.1"')),
    "the package of the source": ("source.toml", _swap('"tinypkg"', '"tiny.pkg"')),
}


@pytest.mark.parametrize(("name", "change"), CHANGES.values(), ids=CHANGES)
def test_a_changed_task_is_another_task(
    tasks_dir: Path, name: str, change: Callable[[str], str]
) -> None:
    before = load_task(tasks_dir, "tiny-add")
    path = tasks_dir / "tiny" / name
    path.write_text(change(path.read_text()))
    after = load_task(tasks_dir, "tiny-add")
    assert after.digest != before.digest
    assert after.gold_digest == before.gold_digest


def test_another_key_is_another_task(tasks_dir: Path) -> None:
    before = load_task(tasks_dir, "tiny-add")
    task = TASK.replace("name = ", "title = ").replace("evidence.name", "evidence.title")
    write_task(tasks_dir, task=task, gold='{"sum": 3, "half": 1.5, "title": "tiny"}')
    after = load_task(tasks_dir, "tiny-add")
    assert after.digest != before.digest
    assert dataclasses.replace(before, keys=after.keys).digest != before.digest


def test_the_same_files_under_another_id_or_group_are_another_task(tasks_dir: Path) -> None:
    write_task(tasks_dir, task_id="tiny-sum")
    write_task(tasks_dir, group="other", task_id="other-add")
    tasks = [load_task(tasks_dir, task_id) for task_id in ("tiny-add", "tiny-sum", "other-add")]
    moved = dataclasses.replace(tasks[2], id="tiny-add")
    assert len({task.digest for task in (*tasks, moved)}) == 4


@pytest.mark.parametrize("split", ["calibration", "confirmation"])
def test_a_task_in_another_split_is_the_same_task(tasks_dir: Path, split: str) -> None:
    before = load_task(tasks_dir, "tiny-add")
    path = tasks_dir / "tiny/source.toml"
    path.write_text(path.read_text().replace("development", split))
    after = load_task(tasks_dir, "tiny-add")
    assert (before.source.split, after.source.split) == ("development", split)
    assert (after.digest, after.source.snapshot_digest) == (
        before.digest,
        before.source.snapshot_digest,
    )


def test_how_the_files_are_laid_out_is_no_part_of_a_task(tasks_dir: Path) -> None:
    before = load_task(tasks_dir, "tiny-add")
    files = dict(sorted(FILES.items(), reverse=True))
    assert list(files) != list(FILES)
    fields = TASK.replace('sum = "integer"\n', "").replace(
        "[keys]", '[keys]\n"sum" = "integer" # !'
    )
    moved = fields.replace("reads = 2", "# two\nreads   = 2")
    write_task(tasks_dir, files=files, task=moved, oracle=ORACLE)
    assert load_task(tasks_dir, "tiny-add").digest == before.digest
