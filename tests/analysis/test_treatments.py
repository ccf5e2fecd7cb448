"""A frame holds one treatment: several stand side by side, and are pooled only where asked."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.analysis.study import Question, Study
from revereval.analysis.treatments import Selection, record
from revereval.report.whole import sections
from revereval.terms import Endpoint
from tests.analysis.frames_drawn import frames
from tests.analysis.rows import Row, analyzed, refused, report, row, table, write
from tests.analysis.test_fitter import four
from tests.ledger.build import ANSWERS, PREFIX, ArmScript, both, open_build
from tests.loopback import run_here

APART, DIFFER = "P minus F by treatment", "Settings that differ"
BOUNDS = "P minus F by frame, as recorded"
RULE = "history_bytes >= 5"
COMMANDS = (["all"], ["frame"], ["bounds"], ["selector", RULE], ["resources"], ["censoring"])


def settings_text(**changes: Any) -> str:
    """Settings as an export spells them."""
    made = {
        "companion": "always", "control": None,
        "provider": {"kind": "openai-chat", "model": "m1", "sampling": {"temperature": 0}},
        "limits": {"metered_tokens": None, "suffix_requests": 12},
    } | changes  # fmt: skip
    return json.dumps(made, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


ONE = settings_text()
OTHER = settings_text(limits={"metered_tokens": 5000, "suffix_requests": 12})
DIGESTS = [hashlib.sha256(text.encode()).hexdigest() for text in (ONE, OTHER)]


def under(number: int, *rows: Row) -> list[Row]:
    """Rows under one of the two treatments, as an export has them."""
    said = {"treatment": DIGESTS[number], "treatment_settings": (ONE, OTHER)[number]}
    more = {"model": "m1", "history_bytes": 7, "f_suffix_tokens": 10, "p_suffix_tokens": 20}
    return [one | said | more for one in rows]


# T1: −1 of 2, T2: +1 of 2; a is a task of both
TWO = [
    *under(0, row("a"), row("b", "correct", "capped")),
    *under(1, row("a", "wrong", "correct"), row("c")),
]
T1, T2 = (f"T{number} {digest[:8]}" for number, digest in enumerate(DIGESTS, 1))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_with_one_treatment_nothing_changes(command: list[str], tmp_path: Path) -> None:
    plain = [{k: v for k, v in one.items() if "treatment" not in k} for one in TWO[:2]]
    answers = []
    for rows in (plain, TWO[:2]):
        path = write(tmp_path / "t.csv", rows)
        for more in ([], ["--json"], ["--pool"]):
            done = run_here("analyze", *command, str(path), *more)
            answers.append((done.code, done.out, done.err))
    assert answers[:3] == answers[3:]
    assert answers[0] == answers[2]
    assert answers[0][0] == 0


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_each_treatment_has_a_frame_of_its_own_and_what_differs_is_named(
    suffix: str, tmp_path: Path
) -> None:
    found = analyzed("bounds", str(write(tmp_path / f"t{suffix}", TWO)))
    assert found.columns(APART) == ["treatment", "N", "tasks", "F", "P", "P − F", "a run"]
    assert found.rows(APART) == [
        [T1, "2", "2", "2", "1", "[−1, −1]", "−0.500 to −0.500"],
        [T2, "2", "2", "1", "2", "[+1, +1]", "+0.500 to +0.500"],
    ]
    assert found.columns(DIFFER) == ["setting", T1, T2]
    assert found.rows(DIFFER) == [["limits.metered_tokens", "null", "5000"]]
    assert found.titles[0] == APART
    assert found.says("2 treatments. Tasks with a boundary under every one of them: 1.")
    for name, ends in ((T1, "[−1, −1]"), (T2, "[+1, +1]")):
        assert found.row(f"{name}: {BOUNDS}", "all boundaries")[3] == ends
    assert BOUNDS not in found.titles
    assert not found.says("over 4 boundary runs")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_every_sub_command_states_the_treatments_first(command: list[str], tmp_path: Path) -> None:
    path = str(write(tmp_path / "t.csv", TWO))
    done = run_here("analyze", *command, path)
    assert (done.code, done.err) == (0, "")
    assert done.out.index("P minus F by treatment") < done.out.index(f"{T1}: ")
    assert done.out.index(f"{T1}: ") < done.out.index(f"{T2}: ")
    document = run_here("analyze", *command, path, "--json").json
    assert [one["name"] for one in document["sections"]] == ["treatments"]
    assert [one["treatment"] for one in document["treatments"]] == DIGESTS
    assert document["treatments"][1]["settings"]["limits.metered_tokens"] == "5000"
    pooled = run_here("analyze", *command, path, "--json", "--pool").json
    assert [one["treatment"] for one in pooled["pooled"]] == DIGESTS
    titles = [one["title"] for section in pooled["sections"][1:] for one in section["tables"]]
    assert titles
    assert all(title.startswith("2 treatments pooled: ") for title in titles)
    assert any("Pooled over 2 treatments" in sentence for sentence in pooled["asked"])


@settings(max_examples=40, deadline=None)
@given(frames(), st.lists(st.sampled_from([None, "x", "y"]), min_size=6, max_size=6))
def test_a_treatments_figures_are_those_of_its_rows_alone(
    rows: list[Row], named: Sequence[str | None]
) -> None:
    for number, (one, treatment) in enumerate(zip(rows, named, strict=False)):
        tokens = {f"{arm}_suffix_tokens": 100 + number * step for arm, step in (("f", 7), ("p", 13))
                  if one[f"{arm}_endpoint"] != "unexecuted"}  # fmt: skip
        one |= {"treatment": treatment, "run_id": number, **tokens}
    question = Question(exclude=(rows[0]["task_id"],))
    found = record(table(rows), question, Selection())
    order = list(dict.fromkeys(one["treatment"] for one in rows))
    assert [one.value or None for one in found.treatments] == order
    for treatment, study in zip(order, found.apart, strict=True):
        alone = [one for one in rows if one["treatment"] == treatment]
        own = Question(exclude=question.exclude if rows[0] in alone else ())
        got, expected = report(Study(study.table, own)), report(Study(table(alone), own))
        assert got.titles == expected.titles
        for title in got.titles:
            strip = [[_unnumbered(cell) for cell in cells] for cells in got.rows(title)]
            assert strip == [[_unnumbered(c) for c in cells] for cells in expected.rows(title)]


def _unnumbered(cell: str) -> str:
    return cell.split(" (")[-1] if cell.startswith("row ") else cell


CHOICES = {
    "a number": (["--treatment", "T2"], "[+1, +1]"),
    "a digest": (["--treatment", DIGESTS[0]], "[−1, −1]"),
    "the beginning of one": (["--treatment", DIGESTS[1][:4]], "[+1, +1]"),
    "a plan": (["--plan", "abcd"], "[−1, −1]"),
    "a model": (["--model", "m2"], "[+1, +1]"),
}


@pytest.mark.parametrize("how", CHOICES)
def test_a_selection_leaves_one_frame(how: str, tmp_path: Path) -> None:
    plans = ["abcd0", "abcd0", "ef012", "ef012"]
    rows = [
        one | {"plan_digest": plan, "model": f"m{1 + (plan[0] == 'e')}"}
        for one, plan in zip(TWO, plans, strict=True)
    ]
    asked, ends = CHOICES[how]
    path = str(write(tmp_path / "t.csv", rows))
    found = analyzed("bounds", path, *asked)
    assert found.row(BOUNDS, "all boundaries")[3] == ends
    assert APART not in found.titles
    document = run_here("analyze", "bounds", path, *asked, "--json").json
    assert document["treatment"]["treatment"] == DIGESTS[ends == "[+1, +1]"]
    assert any(sentence.startswith("Only these") for sentence in document["asked"])


def test_rows_keep_the_numbers_that_they_have_in_their_table(tmp_path: Path) -> None:
    path = str(write(tmp_path / "t.csv", TWO))
    found = analyzed("selector", RULE, path, "--treatment", "T2")
    names = {cells[0] for cells in found.rows("Contributions of the runs where P runs")}
    assert names == {"row 3 (a)", "row 4 (c)"}


NOT_THERE = {
    "no such number": (["--treatment", "T3"], f"--treatment: T3: not in this record, whole or by "
                       f"its first 4 characters or more; there are: {T1}, {T2}"),
    "too short a beginning": (["--treatment", DIGESTS[0][:3]], "not in this record"),
    "no such model": (["--model", "m"], "--model: m: not in this record; there are: m1"),
    "no plans": (["--plan", "abcd"], "plan_digest: missing: --plan needs this column"),
}  # fmt: skip


@pytest.mark.parametrize("how", NOT_THERE)
@pytest.mark.parametrize("command", ["analyze", "report"])
def test_what_is_not_there_is_one_line_with_what_there_is(
    how: str, command: str, tmp_path: Path
) -> None:
    asked, problem = NOT_THERE[how]
    path, out = str(write(tmp_path / "t.csv", TWO)), tmp_path / "r.html"
    more = ["-o", str(out)] if command == "report" else []
    done = run_here(command, path, *asked, *more)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert problem in done.err
    assert not out.exists()


def test_a_name_that_stands_for_several_or_for_nothing_together_is_refused(tmp_path: Path) -> None:
    rows = [row("a", treatment="long-1", model="m1"), row("b", treatment="long-2", model="m2"),
            row("c", treatment="long")]  # fmt: skip
    path = str(write(tmp_path / "t.csv", rows))
    problem = refused("frame", path, "--treatment", "long-")
    assert "stands for several: T1 long-1, T2 long-2" in problem
    assert analyzed("frame", path, "--treatment", "long").says("The frame is 1 boundary runs.")
    problem = refused("frame", path, "--treatment", "T1", "--model", "m2")
    assert "no row is left" in problem


def test_rows_that_do_not_say_are_one_treatment_of_their_own(tmp_path: Path) -> None:
    rows = [row("a", treatment="x"), row("b", model="m1"), row("c", "wrong", model="m2")]
    found = analyzed("frame", str(write(tmp_path / "t.csv", rows)))
    assert [cells[:2] for cells in found.rows(APART)] == [["T1 x", "1"], ["T2 not said", "2"]]
    assert found.row(DIFFER, "provider.model") == ["not said", "m1 or m2"]
    chosen = analyzed("frame", str(tmp_path / "t.csv"), "--treatment", "T2")
    assert chosen.says("The frame is 2 boundary runs.")
    # without the column at all they are one frame, with a word of what differs in it
    bare = [row("b", model="m1"), row("c", "wrong", model="m2")]
    path = str(write(tmp_path / "bare.csv", bare))
    asked = run_here("analyze", "frame", path, "--json").json["asked"]
    assert asked[1:] == [
        "2 rows do not say their treatment and are taken for one, though they differ in "
        "provider.model."
    ]


def test_what_one_treatment_cannot_give_is_said_in_its_place(tmp_path: Path) -> None:
    rows = [*TWO[:2], *(one | {"history_bytes": None} for one in TWO[2:])]
    path = str(write(tmp_path / "t.csv", rows))
    found = analyzed("selector", RULE, path)
    assert (
        found.row(f"{T1}: Rule minus always full, as recorded", "all boundaries")[2] == "[−1, −1]"
    )
    assert found.says("row 3 (a): history_bytes: unknown, and the rule needs it.")
    assert "row 3 (a): history_bytes" in refused("selector", RULE, path, "--pool")
    single = [*TWO[:2], TWO[3] | {"p_endpoint": "not_planned", "p_suffix_tokens": None}]
    found = analyzed("frame", str(write(tmp_path / "s.csv", single)))
    assert found.row(APART, T2) == ["0", "0", "", "", "", ""]
    assert found.says("the frame is empty")
    assert "no row of task 'z'" in refused("bounds", path, "--exclude", "z")


def test_a_prefix_total_is_of_one_treatment(tmp_path: Path) -> None:
    path = str(write(tmp_path / "t.csv", TWO))
    problem = refused("resources", path, "--joint-prefix", "100")
    assert "2 treatments: select one that the prefix total is of" in problem
    analyzed("resources", path, "--joint-prefix", "100", "--treatment", "T1")


def fitting_rows() -> list[Row]:
    """Four fitting rows under each treatment."""
    found = []
    for number, digest in enumerate(DIGESTS):
        found += [one | {"treatment": digest, "task_id": f"{one['task_id']}{number}"}
                  for one in four()]  # fmt: skip
    return found


def test_a_rule_of_several_treatments_is_refused_unless_they_are_pooled(tmp_path: Path) -> None:
    path, rule = str(write(tmp_path / "t.csv", fitting_rows())), tmp_path / "rule.json"
    problem = refused("fit", path, "-o", str(rule))
    assert f"a rule of each of {T1}, {T2}: select one with --treatment, or --pool them" in problem
    assert not rule.exists()
    found = analyzed("fit", path)
    trace = "Trace, in order of enumeration"
    alone = report(Study(table(four()))).rows(trace)
    for name in (T1, T2):
        assert found.rows(f"{name}: {trace}") == alone
    done = run_here("analyze", "fit", path, "-o", str(rule), "--pool")
    assert done.code == 0
    assert json.loads(rule.read_text())["pooled"] == [T1, T2]
    assert run_here("analyze", "selector", str(rule), path, "--pool").code == 0
    one = tmp_path / "one.json"
    assert run_here("analyze", "fit", path, "-o", str(one), "--treatment", "T1").code == 0
    assert "pooled" not in json.loads(one.read_text())
    assert len(json.loads(one.read_text())["fitted_on"]) == 4


CONTRADICTIONS: dict[str, tuple[list[Row], str]] = {
    "two settings of one treatment": (
        [TWO[0], TWO[1] | {"treatment_settings": OTHER}],
        "row 2 (b): treatment_settings: not those of the treatment's other rows",
    ),
    "a plan under two": (
        [one | {"plan_digest": "p"} for one in (TWO[0], TWO[3])],
        "row 2 (c): treatment: not that of its plan's other rows",
    ),
    "settings of no treatment": (
        [TWO[0] | {"treatment": None}], "row 1 (a): treatment: missing",
    ),
    "settings that are no object": (
        [TWO[0] | {"treatment_settings": "[1]"}],
        "row 1 (a): treatment_settings: not a JSON object",
    ),
    "too many": (
        [row(f"t{i}", treatment=f"x{i}") for i in range(51)], "51 treatments, at most 50",
    ),
    "far too many": (
        [row(f"t{i}", treatment=f"x{i}") for i in range(1001)], "at most 1,000",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_treatments_that_contradict_themselves_are_named(kind: str, tmp_path: Path) -> None:
    rows, problem = CONTRADICTIONS[kind]
    assert problem in refused("frame", str(write(tmp_path / "t.csv", rows)))


def test_rows_of_two_harnesses_may_number_their_runs_alike(tmp_path: Path) -> None:
    rows = [row("a", run_id=1, treatment="x"), row("a", run_id=1, treatment="y")]
    found = analyzed("frame", str(write(tmp_path / "t.csv", rows)))
    assert [cells[1] for cells in found.rows(APART)] == ["1", "1"]
    rows[1]["treatment"] = "x"
    assert "a run that comes twice" in refused("frame", str(write(tmp_path / "u.csv", rows)))


def test_foreign_names_and_settings_are_printed_as_text(tmp_path: Path) -> None:
    rows = [
        row("a", treatment="[red]\u202e", treatment_settings='{"\\u001b[2J":"<b>"}'),
        row("b", treatment="y", treatment_settings='{"\\u001b[2J":"<i>"}'),
    ]
    path = str(write(tmp_path / "t.jsonl", rows))
    done = run_here("analyze", "frame", path)
    assert "T1 [red]\\u202e" in done.out
    assert "\x1b" not in done.out
    page = tmp_path / "r.html"
    assert run_here("report", path, "-o", str(page)).code == 0
    assert "<b>" not in page.read_text("utf-8")


RIGHTLY = ArmScript([ANSWERS], Endpoint.CORRECT)


def test_runs_of_a_ledger_under_another_treatment_are_not_counted_as_of_this_one(
    tmp_path: Path,
) -> None:
    for build in open_build(tmp_path):
        build.pair(PREFIX, both(RIGHTLY, RIGHTLY))
        build.finished([ANSWERS])
        build.finished([ANSWERS], companion="after_answer")
    found = analyzed("frame", "--ledger", str(tmp_path / "ledger.sqlite"))
    assert found.says(
        "Of 2 runs, 1 finished before anything was eligible, 0 stopped in capture, and 1 reached "
        "the boundary. 1 runs under other treatments reached no boundary."
    )
    assert APART not in found.titles
    imported = str(write(tmp_path / "t.csv", [row("x")]))
    ledger = str(tmp_path / "ledger.sqlite")
    assert run_here("ledger", "import", imported, "--ledger", ledger).code == 0
    for asked in ([], ["--pool"]):
        found = analyzed("frame", "--ledger", ledger, *asked)
        assert found.says("1 runs are under other treatments, which reached no boundary.")
        assert found.says("Of 2 runs, 1 finished before anything was eligible")
    assert not analyzed("frame", "--ledger", ledger, "--treatment", "T1").says("no boundary.")


def test_a_section_of_everything_is_there_for_each_treatment() -> None:
    found = record(table(TWO), Question(), Selection())
    assert [label for label, _ in found.parts] == [T1, T2]
    for _, study in found.parts:
        assert next(one.title for one in sections(study)) == "The frame"
