"""Task files: what loads, what is refused with which line, and what the digests cover."""

import dataclasses
import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from revereval.canonical import digest
from revereval.errors import InputError
from revereval.tasks.spec import KeyType, Span, load_task, siblings, task_ids
from tests.tasks.build import FILES, GOLD, ORACLE, TASK, sha256, source, write_task


def test_a_task_loads_with_its_oracle_in_the_prompt(tasks_dir: Path) -> None:
    task = load_task(tasks_dir, "tiny-add")
    assert task.prompt == f"What does this print?\n{ORACLE}"
    assert task.source == source()
    assert task.keys == {
        "sum": KeyType.INTEGER,
        "half": KeyType.NUMBER,
        "name": KeyType.STRING,
    }
    assert task.premises == {"python": "any"}
    assert task.reads == 2
    assert task.evidence["name"] == (Span("tinypkg/__init__.py", 3, "'tiny'"),)
    assert task.gold == {"sum": 3, "half": Decimal("1.5"), "name": "tiny"}
    assert task.oracle == tasks_dir / "tiny" / "tiny-add.oracle.py"


def test_the_oracle_is_put_in_literally(tasks_dir: Path) -> None:
    tricky = '# {oracle} {0} \\g<0> {"a": 1} é\r\n'
    write_task(tasks_dir, oracle="")
    (tasks_dir / "tiny/tiny-add.oracle.py").write_bytes(tricky.encode())
    assert load_task(tasks_dir, "tiny-add").prompt == f"What does this print?\n{tricky}"


def test_a_prompt_without_the_placeholder_stays_as_it_is(tasks_dir: Path) -> None:
    write_task(tasks_dir, task=TASK.replace("{oracle}", "{no}"))
    assert load_task(tasks_dir, "tiny-add").prompt == "What does this print?\n{no}"


def test_tasks_are_listed_by_group_and_id_without_being_parsed(tasks_dir: Path) -> None:
    for path in ("b/z.toml", "a/y.toml", "a/b.toml", "a/source.toml", "b/z.gold.json"):
        (tasks_dir / path).parent.mkdir(exist_ok=True)
        (tasks_dir / path).write_text("not TOML at all [")
    (tasks_dir / "README").write_text("")
    expected = [("a", "b"), ("a", "y"), ("b", "z"), ("tiny", "tiny-add")]
    assert task_ids(tasks_dir) == expected
    assert siblings(tasks_dir, "a") == ("b", "y")
    load_task(tasks_dir, "tiny-add")  # only its own files are parsed
    with pytest.raises(InputError, match="nope: no such source group"):
        siblings(tasks_dir, "nope")


def test_an_unknown_task_is_answered_with_the_closest_names(tasks_dir: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_task(tasks_dir, "tiny-ad")
    assert str(caught.value) == f"{tasks_dir}: tiny-ad: no such task; close: tiny-add"
    for task_id in ("", "../tiny/tiny-add", "source", "tiny-add.toml"):
        with pytest.raises(InputError, match="no such task"):
            load_task(tasks_dir, task_id)


def test_a_missing_tasks_directory_has_its_own_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_task(tmp_path / "none", "tiny-add")
    assert str(caught.value) == f"{tmp_path / 'none'}: no such directory of tasks"


@pytest.mark.parametrize(("group", "task_id"), [("Tiny", "t"), ("g", "t_1"), ("g", "1t")])
def test_names_outside_the_rule_are_refused(tmp_path: Path, group: str, task_id: str) -> None:
    write_task(tmp_path, group=group, task_id=task_id)
    with pytest.raises(InputError, match="lower-case letters, digits and hyphens"):
        task_ids(tmp_path)


def test_a_task_id_in_two_groups_is_refused(tasks_dir: Path) -> None:
    write_task(tasks_dir, group="other")
    with pytest.raises(InputError, match="several source groups: other, tiny"):
        load_task(tasks_dir, "tiny-add")


def _replace(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return edit


def _after(span: str, file: str) -> Callable[[str], str]:
    return _replace(span, f'{span}\nafter = "{file}"')


GOOD_DIGEST = sha256(FILES["tinypkg/sums.py"])
FIRST_SPAN = TASK.index("[[evidence.sum]]")

FAULTS: list[tuple[str, Callable[[str], str], str]] = [
    # file, edit, the line after the file's name
    ("source.toml", _replace("package =", "pakage ="), "package: Field required"),
    ("source.toml", lambda text: "x = 1\n" + text, "x: Extra inputs are not permitted"),
    ("source.toml", _replace('"tinypkg"\nv', '"-r/etc/passwd"\nv'), "package: String should match"),
    ("source.toml", _replace('"1.0"', '"1.*"'), "version: String should match"),
    ("source.toml", _replace('"1.0"', "1.0"), "version: Input should be a valid string"),
    ("source.toml", _replace(GOOD_DIGEST, GOOD_DIGEST[:-1]), "files.tinypkg/sums.py: String"),
    ("source.toml", _replace(GOOD_DIGEST, GOOD_DIGEST[:-1] + "G"), "files.tinypkg/sums.py: Str"),
    ("source.toml", _replace(GOOD_DIGEST, GOOD_DIGEST.upper()), "files.tinypkg/sums.py: String"),
    ("source.toml", _replace("tinypkg/sums.py", "/tinypkg/sums.py"), "an absolute path"),
    ("source.toml", _replace("tinypkg/sums.py", "C:/tinypkg/sums.py"), "an absolute path"),
    ("source.toml", _replace("tinypkg/sums.py", "tinypkg/../sums.py"), "'..' segment"),
    ("source.toml", _replace("tinypkg/sums.py", "../sums.py"), "'..' segment"),
    ("source.toml", _replace("tinypkg/sums.py", "tinypkg//sums.py"), "an empty, '.' or"),
    ("source.toml", _replace("tinypkg/sums.py", "tinypkg/./sums.py"), "'.' or"),
    ("source.toml", _replace("tinypkg/sums.py", "tinypkg/"), "an empty, '.' or"),
    ("source.toml", _replace("tinypkg/sums.py", "tinypkg\\\\sums.py"), "a backslash or a NUL"),
    ("source.toml", _replace("tinypkg/sums.py", "tinypkg\\u0000sums.py"), "a backslash or a NUL"),
    ("source.toml", _replace("tinypkg/sums.py", "tinypkg"), "'tinypkg' is a file and a folder"),
    ("source.toml", lambda text: text.split("[files]")[0] + "[files]", "files: Dictionary should"),
    ("tiny-add.toml", _replace("reads = 2", "reads = 0"), "reads: Input should be greater"),
    ("tiny-add.toml", _replace("reads = 2", "reads = true"), "reads: Input should be a valid int"),
    ("tiny-add.toml", _replace("reads = 2", "read = 2"), "reads: Field required"),
    ("tiny-add.toml", _replace("reads = 2", "reads = 2\nhint = 1"), "hint: Extra inputs"),
    ("tiny-add.toml", _replace('"integer"', '"int"'), "keys.sum: Input should be 'string', 'int"),
    ("tiny-add.toml", _replace('"any"', "3.11"), "premises.python: Input should be a valid str"),
    ("tiny-add.toml", _replace("{oracle}", "{oracle} {oracle}"), "prompt: {oracle} more than once"),
    ("tiny-add.toml", _replace("evidence.half", "evidence.more"), "evidence.half: no evidence"),
    (
        "tiny-add.toml",
        lambda text: text + '[[evidence.more]]\nfile="tinypkg/sums.py"\nline=1\nspan="#"',
        "evidence.more: evidence for an undeclared key",
    ),
    (
        "tiny-add.toml",
        _replace('"tinypkg/__init__.py"', '"tinypkg/none.py"'),
        "evidence.name: 'tinypkg/none.py' is not in the allowlist",
    ),
    ("tiny-add.toml", _replace("line = 4", "line = 0"), "evidence.half.0.line: Input should be"),
    ("tiny-add.toml", _replace("\"'tiny'\"", '""'), "evidence.name.0.span: String should have"),
    (
        "tiny-add.toml",
        lambda text: text[:FIRST_SPAN] + "[evidence]\nsum = []",
        "evidence.sum: List",
    ),
    (
        "tiny-add.toml",
        _after("'tiny'\"", "tinypkg/none.py"),
        "evidence.name.0.after: 'tinypkg/none.py' is no file of this task's evidence",
    ),
    (
        "tiny-add.toml",
        _after("'tiny'\"", "tinypkg/__init__.py"),
        "evidence: found only after itself: tinypkg/__init__.py after tinypkg/__init__.py",
    ),
    (
        "tiny-add.toml",
        lambda text: _after("return a + b\"", "tinypkg/__init__.py")(
            _after("'tiny'\"", "tinypkg/sums.py")(text)
        ),
        "evidence: found only after itself: tinypkg/",
    ),
    (
        "tiny-add.toml",
        _replace("'tiny'\"", "'tiny'\"\nafter = []"),
        "evidence.name.0.after: List should have at least 1 item",
    ),
    (
        "tiny-add.toml",
        _replace("'tiny'\"", "'tiny'\"\nafter = 1"),
        "evidence.name.0.after: Input should be a valid list",
    ),
    ("tiny-add.gold.json", _replace('"sum": 3, ', ""), "sum: missing"),
    ("tiny-add.gold.json", _replace("{", '{"more": 1, '), "more: not a declared key"),
    ("tiny-add.gold.json", _replace(": 3", ": 3.0"), "sum: of type number, declared integer"),
    ("tiny-add.gold.json", _replace(": 3", ": true"), "sum: of type boolean, declared integer"),
    ("tiny-add.gold.json", _replace("1.5", "false"), "half: of type boolean, declared number"),
    ("tiny-add.gold.json", _replace("1.5", '"1.5"'), "half: of type string, declared number"),
    ("tiny-add.gold.json", _replace('"tiny"', "null"), "name: of type null, declared string"),
    ("tiny-add.gold.json", _replace("{", '{"sum": 4, '), "duplicate key 'sum'"),
    ("tiny-add.gold.json", _replace("1.5", "NaN"), "NaN is not JSON"),
    ("tiny-add.gold.json", _replace("1.5", "1e999"), "number out of range"),
    ("tiny-add.gold.json", _replace("1.5", "1e-99999999999999999999"), "number out of range"),
    ("tiny-add.gold.json", _replace("1.5", "1.00000000000000001"), "half: a fraction with more"),
    ("tiny-add.gold.json", lambda text: f"[{text}]", "not a JSON object"),
    ("tiny-add.gold.json", lambda text: text + "}", "Extra data"),
    ("tiny-add.gold.json", lambda _: "", "Expecting value"),
]


@pytest.mark.parametrize(("name", "edit", "line"), FAULTS)
def test_a_fault_in_a_file_names_file_and_field(
    tasks_dir: Path, name: str, edit: Callable[[str], str], line: str
) -> None:
    path = tasks_dir / "tiny" / name
    path.write_text(edit(path.read_text()))
    with pytest.raises(InputError) as caught:
        load_task(tasks_dir, "tiny-add")
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert line in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["source.toml", "tiny-add.oracle.py", "tiny-add.gold.json"])
def test_a_missing_or_undecodable_file_is_named(tasks_dir: Path, name: str) -> None:
    path = tasks_dir / "tiny" / name
    path.write_bytes(b"\xff")
    with pytest.raises(InputError) as caught:
        load_task(tasks_dir, "tiny-add")
    assert str(caught.value) == f"{path}: not UTF-8"
    path.unlink()
    with pytest.raises(InputError) as caught:
        load_task(tasks_dir, "tiny-add")
    assert str(caught.value) == f"{path}: no such file"


def test_repeated_keys_deep_in_a_gold_are_refused(tasks_dir: Path) -> None:
    task = TASK.replace('"string"', '"object"')
    write_task(tasks_dir, task=task, gold=GOLD.replace('"tiny"', '{"a": [{"b": 1, "b": 1}]}'))
    with pytest.raises(InputError, match="duplicate key 'b'"):
        load_task(tasks_dir, "tiny-add")


def test_a_gold_deeper_than_any_answer_may_be_is_refused(tasks_dir: Path) -> None:
    task = TASK.replace('"string"', '"array"')
    for depth, fits in ((199, True), (200, False), (600, False)):
        write_task(tasks_dir, task=task, gold=GOLD.replace('"tiny"', "[" * depth + "]" * depth))
        if fits:
            load_task(tasks_dir, "tiny-add")
        else:
            with pytest.raises(InputError, match="name: nested deeper than 200 brackets"):
                load_task(tasks_dir, "tiny-add")


def test_an_integer_is_a_gold_for_a_number(tasks_dir: Path) -> None:
    write_task(tasks_dir, gold=GOLD.replace("1.5", "2"))
    assert load_task(tasks_dir, "tiny-add").gold["half"] == 2


def test_the_snapshot_digest_is_the_sha256_of_the_canonical_json(tasks_dir: Path) -> None:
    files = ",".join(f'"{path}":"{sha256(FILES[path])}"' for path in sorted(FILES))
    text = f'{{"files":{{{files}}},"package":"tinypkg","version":"1.0"}}'
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert load_task(tasks_dir, "tiny-add").source.snapshot_digest == expected


def test_the_gold_digest_ignores_layout_and_nothing_else(tasks_dir: Path) -> None:
    expected = sha256(b'{"half":1.5,"name":"tiny","sum":3}')
    layouts = [GOLD, '{"sum":3,"name":"t\\u0069ny","half":15e-1}', GOLD.replace("1.5", "1.50")]
    for gold in layouts:
        write_task(tasks_dir, gold=gold)
        assert load_task(tasks_dir, "tiny-add").gold_digest == expected
    for gold in (GOLD.replace("1.5", "2"), GOLD.replace("1.5", "2.0"), GOLD.replace(" 3", " 4")):
        write_task(tasks_dir, gold=gold)
        assert load_task(tasks_dir, "tiny-add").gold_digest != expected


def test_the_task_digest_covers_everything_but_the_gold(tasks_dir: Path) -> None:
    task = load_task(tasks_dir, "tiny-add")
    span = {"file": "tinypkg/sums.py", "line": 4, "span": "return a + b"}
    expected = {
        "id": "tiny-add",
        "source_group": "tiny",
        "snapshot": task.source.snapshot_digest,
        "prompt": task.prompt,
        "keys": {"sum": "integer", "half": "number", "name": "string"},
        "premises": {"python": "any"},
        "reads": 2,
        "evidence": {
            "sum": [{**span, "line": 3, "span": "# so 1 + 2 is 3\n    return a + b"}],
            "half": [span],
            "name": [{"file": "tinypkg/__init__.py", "line": 3, "span": "'tiny'"}],
        },
    }
    assert task.digest == digest(json.loads(json.dumps(expected)))
    assert dataclasses.replace(task, gold={}, file=Path("x")).digest == task.digest


def test_what_evidence_is_found_after_is_one_file_or_a_list_and_part_of_the_task(
    tasks_dir: Path,
) -> None:
    before = load_task(tasks_dir, "tiny-add")
    found = {}
    for after in ('"tinypkg/sums.py"', '["tinypkg/sums.py"]'):
        write_task(tasks_dir, task=TASK + f"after = {after}\n")
        found[after] = load_task(tasks_dir, "tiny-add")
    first, second = found.values()
    assert first.evidence["name"] == (
        Span("tinypkg/__init__.py", 3, "'tiny'", ("tinypkg/sums.py",)),
    )
    assert first.evidence["sum"] == before.evidence["sum"]
    assert first.digest == second.digest != before.digest
