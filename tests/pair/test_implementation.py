"""The plan covers what the code decides with: a changed rule is another plan, and is not mixed."""

import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from revereval.canonical import canonical_bytes
from revereval.cli.execution import How, started
from revereval.errors import FaultError, InputError
from revereval.ledger.database import Database
from revereval.ledger.runs import create_run
from revereval.pair import implementation as used
from revereval.pair.config import Config
from revereval.pair.implementation import changed_since, implementation
from revereval.pair.plan import make_plan, recorded_plan
from revereval.pair.run import plan_row
from tests.pair.runs import NOW, TASKS, Watched, bench, sha256

TASK = "h11-framing"
HOMES = {
    "prompt": "revereval.agent.prompt",
    "tools": "revereval.agent.tools",
    "excerpt": "revereval.projection.excerpt",
    "policy": "revereval.projection.policy",
    "archive": "revereval.projection.archive",
    "scoring": "revereval.tasks.scoring",
    "wire": "revereval.provider.wire",
    "Viewer": "revereval.pair.view",
}
"""Where the module looks a part up, and the source that it comes from."""


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str, str], dict[str, str]]]:
    """Edits one source; returns the digest of each part as it is then."""

    def edit(name: str, old: str, new: str) -> dict[str, str]:
        original = importlib.import_module(HOMES[name])
        source = Path(str(original.__file__)).read_text("utf-8")
        assert source.count(old) >= 1
        changed = ModuleType(original.__name__)
        code = compile(source.replace(old, new, 1), "edited", "exec")
        exec(code, vars(changed))  # noqa: S102 - our own source with an edit
        monkeypatch.setattr(used, name, changed.Viewer if name == "Viewer" else changed)
        if name == "wire":
            monkeypatch.setattr(used, "WIRES", changed.WIRES)
            monkeypatch.setattr(used, "ReplyError", changed.ReplyError)
        implementation.cache_clear()
        return digests()

    yield edit
    implementation.cache_clear()


def digests() -> dict[str, str]:
    return {name: part["digest"] for name, part in implementation().items()}


EDITS = [
    ("prompt", "prompt", "You can only read,", "You can only look,"),
    ("prompt", "prompt", "Source: {package}.", "Source {package}:"),
    ("tools", "tools", "at most 2,000 lines", "up to 2,000 lines"),
    ("tools", "tools", "MAX_READ_LINES = 2000", "MAX_READ_LINES = 1999"),
    ("tools", "tools", "50 * 1024", "50 * 1024 - 1"),
    ("tools", "tools", "< 0 else last_break]", "< 0 else last_break - 1]"),
    ("tools", "tools", "continue with offset={end + 1}", "continue at {end + 1}"),
    ("tools", "tools", "not one of the listed files", "not listed"),
    ("tools", "tools", "the tools are", "tools:"),
    ("tools", "tools", "self._archive.add(result.text)", "None"),
    ("archive", "archive", "chars // max(1, len(matches))", "chars"),
    ("archive", "archive", "if len(found) == most.search_matches", "if len(found) > 1"),
    ("archive", "archive", "most.search_match_chars", "201"),
    ("archive", "archive", "utf8(text).lower()", "utf8(text)"),
    ("archive", "archive", "utf8(query).lower()", "utf8(query.lower())"),
    ("archive", "archive", "chars - length) // 2", "chars - length) // 3"),
    ("archive", "archive", "setdefault(handle, text)", "__setitem__(handle + '', text[1:])"),
    ("archive", "archive", "MAX_QUERY_CHARS = 256", "MAX_QUERY_CHARS = 255"),
    ("archive", "archive", "start = 0 if start is None", "start = 1 if start is None"),
    ("archive", "archive", "if self._allowance == 0", "if self._allowance == 1"),
    ("archive", "archive", "if call_id not in self._answered", "if True"),
    ("archive", "archive", "type(value) is int", "isinstance(value, int)"),
    ("projection_text", "excerpt", "in the archive.", "in the archive!"),
    ("projection_text", "excerpt", "half = excerpt_bytes // 2", "half = (excerpt_bytes + 1) // 2"),
    ("projection_text", "excerpt", "{end - start} in all", "{end - start + 1} in all"),
    ("projection_text", "excerpt", "code points\\n", "characters\\n"),
    ("boundary_rule", "policy", "exposures < config", "exposures <= config"),
    ("boundary_rule", "policy", "position >= first_recent", "position > first_recent"),
    ("boundary_rule", "policy", "size_bytes < config", "size_bytes <= config"),
    ("boundary_rule", "policy", ">= observation.size_bytes", "> observation.size_bytes * 2"),
    ("boundary_rule", "policy", "if observation.is_error", "if False"),
    ("boundary_rule", "policy", "if observation.from_archive", "if False"),
    ("boundary_rule", "policy", "if position in projected", "if False"),
    ("boundary_rule", "Viewer", "self._exposures[position] += 1", "self._exposures[position] += 2"),
    ("boundary_rule", "Viewer", "if self._project:", "if True:"),
    ("scorer", "scoring", "if left.keys() != right.keys()", "if not left.keys() <= right.keys()"),
    ("scorer", "scoring", "if type(left) is not type(right)", "if False"),
    ("scorer", "scoring", "number=keys[key] is KeyType.NUMBER", "number=True"),
    ("scorer", "scoring", "number=keys[key] is KeyType.NUMBER", "number=False"),
    ("scorer", "scoring", "(?:json)?", "(?:json)"),
    ("scorer", "scoring", "answer.strip()", "answer"),
    ("scorer", "scoring", 'return "wrong_keys"', 'return "wrong keys"'),
    ("wire", "wire", 'SUBSTITUTE_ARGUMENTS = "{}"', 'SUBSTITUTE_ARGUMENTS = "null"'),
    ("wire", "wire", "call_{turn}_{index}", "made_{turn}_{index}"),
    ("wire", "wire", "ids = set(used_ids)", "ids = set()"),
    ("wire", "wire", '"length": StopReason.OUTPUT_LIMIT', '"longer": StopReason.OUTPUT_LIMIT'),
    ("wire", "wire", 'reason == "content_filter"', "True"),
    ("wire", "wire", "possibly_cut(usage, output_limit)", "False"),
    ("wire", "wire", 'if choice.get("finish_reason") == "error"', "if False"),
    ("wire", "wire", 'in ("failed", "cancelled")', 'in ("failed",)'),
    ("wire", "wire", "if echo_unknown or k in", "if k in"),
    ("wire", "wire", "parse_constant=_not_json", "parse_constant=str"),
    ("wire", "wire", '"store": False', '"store": True'),
    ("wire", "wire", '{**item.value, "output": text}', '{"output": text, "type": "x"}'),
]  # fmt: skip


@pytest.mark.parametrize(("part", "name", "old", "new"), EDITS)
def test_each_changed_rule_changes_the_digest_of_its_part(
    part: str, name: str, old: str, new: str, edited: Callable[[str, str, str], dict[str, str]]
) -> None:
    before = digests()
    after = edited(name, old, new)
    changed = {known for known in before if before[known] != after[known]}
    assert part in changed
    assert changed <= {part, "tools"}, "what the archive answers is seen through the tools, too"


@pytest.mark.parametrize("name", HOMES)
def test_code_that_only_moved_has_the_digest_it_had(
    name: str, edited: Callable[[str, str, str], dict[str, str]]
) -> None:
    before = digests()
    assert edited(name, '"""', '"""Moved. ') == before


def test_the_plan_has_a_version_and_a_digest_of_every_part() -> None:
    planned = make_plan(TASKS, TASK, Config()).document["implementation"]
    assert planned.keys() == {
        "prompt", "tools", "archive", "projection_text", "boundary_rule", "scorer", "wire",
    }  # fmt: skip
    for part in planned.values():
        assert type(part["version"]) is int
        assert len(part["digest"]) == 64


def test_a_changed_rule_is_another_plan_and_another_treatment(
    edited: Callable[[str, str, str], dict[str, str]],
) -> None:
    def row() -> Any:
        return plan_row(make_plan(TASKS, TASK, Config()), NOW)

    before = row()
    edited("excerpt", "in the archive.", "in the archive!")
    after = row()
    for name in ("digest", "treatment", "implementation"):
        assert before[name] != after[name]
    assert before["implementation"] == sha256(canonical_bytes(implementation_of(before)))


def implementation_of(row: Any) -> Any:
    return json.loads(row["document"])["implementation"]


def altered(change: Callable[[dict[str, Any]], Any]) -> str:
    """A plan's document whose implementation is changed."""
    document = json.loads(canonical_bytes(make_plan(TASKS, TASK, Config()).document))
    change(document)
    return canonical_bytes(document).decode()


def other_version(document: dict[str, Any]) -> None:
    document["implementation"]["scorer"]["version"] = 77


def other_digest(document: dict[str, Any]) -> None:
    document["implementation"]["wire"]["digest"] = "0" * 64


def one_part_less(document: dict[str, Any]) -> None:
    del document["implementation"]["archive"]


def without(document: dict[str, Any]) -> None:
    del document["implementation"]


CHANGES = [
    (other_version, "scorer (version 77, here "),
    (other_digest, "wire (version "),
    (one_part_less, "archive (version none, here "),
    (without, "recorded without the versions of its rules"),
]


@pytest.mark.parametrize(("change", "said"), CHANGES)
def test_a_run_recorded_under_other_rules_is_refused_by_the_name_of_the_part(
    change: Callable[[dict[str, Any]], None], said: str
) -> None:
    with pytest.raises(InputError) as refused:
        recorded_plan(altered(change), TASKS)
    assert "implementation" in str(refused.value)
    assert said in str(refused.value)
    assert "start a new run" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_such_a_run_is_not_continued_and_nothing_of_it_changes(tmp_path: Path) -> None:
    document = altered(other_version)
    planned = plan_row(make_plan(TASKS, TASK, Config()), NOW)
    row = {**planned, "document": document, "digest": sha256(document.encode())}
    ledger = tmp_path / "ledger.sqlite"
    with Database(ledger, write=True) as database:
        run_id = create_run(database, row)
        before = database.rows("SELECT * FROM run")
    how = How(new=False, resend=False, arms=True)
    with pytest.raises(InputError, match="scorer"), started(str(run_id), None, ledger, TASKS, how):
        pass
    with Database(ledger, write=False) as database:
        assert database.rows("SELECT * FROM run") == before
        assert database.rows("SELECT * FROM request") == []


def test_the_same_implementation_has_not_changed() -> None:
    document = make_plan(TASKS, TASK, Config()).document
    assert changed_since(document["implementation"]) is None


@pytest.mark.parametrize(
    ("where", "value"),
    [("revereval.pair.plan.SYSTEM", "Guess."), ("revereval.pair.plan.tool_specs", lambda _: ())],
)
def test_a_process_whose_prompt_or_tools_are_not_the_plans_sends_nothing(
    where: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(tmp_path, TASK, Config())
    transport = Watched(one.plan)
    monkeypatch.setattr(where, value)
    error = one.run(transport)
    assert isinstance(error, FaultError)
    assert "start a new run" in str(error)
    assert transport.bodies == []


def test_a_prompt_that_changes_under_way_stops_the_stage_before_the_next_dispatch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(tmp_path, TASK, Config())
    assert one.plan.beginning
    monkeypatch.setattr("revereval.pair.plan.SYSTEM", "Guess.")
    transport = Watched(one.plan)
    assert one.run(transport) is None
    run = one.result().run
    assert (run.capture_outcome, run.capture_reason) == ("stopped", "prefix_mismatch")
    assert transport.bodies == []
