"""The plan's digest covers everything that is fixed before an outcome is seen, and only that."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from revereval.canonical import canonical_bytes
from revereval.errors import InputError
from revereval.pair.config import Config
from revereval.pair.plan import make_plan, recorded_plan
from tests.pair.runs import ROOT, TASKS, config, sha256

TASK = "h11-framing"
GROUP = "python-hyper-h11"
ELSEWHERE = {"kind": "openai-responses", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
PRINT_DIGEST = """
import sys
from pathlib import Path
from revereval.pair.config import Config
from revereval.pair.plan import make_plan
print(make_plan(Path(sys.argv[1]), sys.argv[2], Config()).digest)
"""


def digest(tasks: Path = TASKS, **values: Any) -> str:
    return make_plan(tasks, TASK, config(**values)).digest


def test_the_digest_is_the_sha256_of_the_documents_canonical_json() -> None:
    plan = make_plan(TASKS, TASK, Config())
    assert plan.digest == sha256(canonical_bytes(plan.document))
    assert json.loads(canonical_bytes(plan.document)) == plan.document


def test_the_same_inputs_give_the_same_digest_in_every_process_and_folder(
    tmp_path: Path,
) -> None:
    shutil.copytree(TASKS, tmp_path / "elsewhere")
    found = {digest()}
    for seed, folder in (("1", TASKS), ("2", tmp_path / "elsewhere")):
        done = subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST, str(folder), TASK],
            cwd=tmp_path,
            env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        found.add(done.stdout.strip())
    assert len(found) == 1


OTHER: dict[str, Any] = {
    "companion": "after_answer",
    "endpoint": "joint",
    "contract": "strict",
    "fitting_tasks": [TASK],
    "provider.kind": "openai-chat",
    "provider.wire": "responses",
    "provider.base_url": "http://other.invalid/v1",
    "provider.api_key_env": "ANOTHER_VARIABLE",
    "provider.sampling": {"temperature": 0},
    "provider.usage_convention": "cached_apart",
    "provider.reader.recovery": "reread",
    "limits.metered_tokens": 10**6,
    "control": {"kind": "closed_book"},
}
"""Other values than the built-in ones, where not any other value would do."""


def leaves(values: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


SETTINGS = dict(leaves(Config().model_dump(mode="json")))


def other(name: str, value: Any) -> Any:
    if name in OTHER:
        return OTHER[name]
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + "x"
    assert isinstance(value, int | float), f"say in OTHER what {name} can be else"
    return value + 1


def nested(name: str, value: Any) -> dict[str, Any]:
    for key in reversed(name.split(".")):
        value = {key: value}
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_of_a_config_is_in_the_digest(name: str) -> None:
    changed = other(name, SETTINGS[name])
    assert changed != SETTINGS[name]
    values = nested(name, changed)
    if name == "provider.kind":  # which has no defaults for where and what
        values["provider"] |= {key: SETTINGS[f"provider.{key}"] for key in ("base_url", "model")}
    assert digest(**values) != digest()
    assert digest(**values) == digest(**values)


def test_sampling_and_model_are_in_it_by_value() -> None:
    found = {
        digest(provider={"sampling": {"temperature": value}}) for value in (0, 0.5, 1, "1")
    }  # fmt: skip
    assert len(found) == 4


GOLD = f"{GROUP}/{TASK}.gold.json"
SPEC = f"{GROUP}/{TASK}.toml"
CHANGES = {
    "a gold value": (GOLD, '"tail": 0', '"tail": 1'),
    "the question": (SPEC, "A maintainer", "The maintainer"),
    "the program in the question": (f"{GROUP}/{TASK}.oracle.py", "import", "import  "),
    "a premise": (SPEC, "CPython 3.11 or later", "CPython 3.12 or later"),
    "a key's type": (SPEC, 'tail = "integer"', 'tail = "number"'),
    "what the task counts as read": (SPEC, "reads = 6", "reads = 7"),
    "where evidence is": (SPEC, "line = 84", "line = 85"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_the_task_is_in_the_digest(change: str, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    shutil.copytree(TASKS, tasks)
    name, old, new = CHANGES[change]
    file = tasks / name
    text = file.read_bytes().decode()
    assert old in text
    file.write_bytes(text.replace(old, new, 1).encode())
    changed = digest(tasks)
    assert changed != digest()
    file.write_bytes(text.encode())
    assert digest(tasks) == digest()


def test_a_pinned_file_and_a_new_sibling_are_in_the_digest(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    shutil.copytree(TASKS, tasks)
    source = tasks / GROUP / "source.toml"
    text = source.read_text()
    line = next(line for line in text.splitlines() if line.endswith('"') and "= " in line
                and ".py" in line)  # fmt: skip
    source.write_text(text.replace(line, line[:-2] + ("0" if line[-2] != "0" else "1") + '"'))
    assert digest(tasks) != digest()
    source.write_text(text)
    for suffix in (".toml", ".oracle.py", ".gold.json"):
        old = tasks / GROUP / f"{TASK}{suffix}"
        shutil.copy(old, old.with_name(f"h11-another{suffix}"))
    assert digest(tasks) != digest()


def test_gold_is_in_the_plan_by_its_digest_alone() -> None:
    document = canonical_bytes(make_plan(TASKS, TASK, Config()).document).decode()
    assert "peer closed connection" not in document
    assert '"gold"' not in document
    assert '"evidence"' not in document


def test_a_recorded_plan_comes_back_whole_and_with_its_own_config() -> None:
    for values in (
        {},
        {"provider": {**ELSEWHERE, "sampling": {"top_p": 0.5}}},
        {"provider": {"wire": "responses"}, "fitting_tasks": [TASK], "companion": "after_answer"},
        {"limits": {"metered_tokens": 5}, "contract": "strict", "endpoint": "joint", "seed": "é"},
    ):
        plan = make_plan(TASKS, TASK, config(**values))
        again = recorded_plan(canonical_bytes(plan.document).decode(), TASKS)
        assert again.digest == plan.digest
        assert again.config == plan.config
        assert again.first_arm == plan.first_arm
        assert again.head == plan.head


@pytest.mark.parametrize("change", CHANGES)
def test_a_recorded_plan_refuses_a_task_that_has_changed_since(change: str, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    shutil.copytree(TASKS, tasks)
    document = canonical_bytes(make_plan(tasks, TASK, Config()).document).decode()
    name, old, new = CHANGES[change]
    (tasks / name).write_bytes((tasks / name).read_bytes().replace(old.encode(), new.encode(), 1))
    with pytest.raises(InputError) as refused:
        recorded_plan(document, tasks)
    assert TASK in str(refused.value)
    assert "start a new run" in str(refused.value)


def test_an_unknown_fitting_task_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="h11-framign"):
        make_plan(TASKS, TASK, config(fitting_tasks=["h11-framign"]))
