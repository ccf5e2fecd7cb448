"""Single pairs: which are chosen, and what the ledger says of each request."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from revereval.analysis.boundaries import CORRECT, PRIMARY, WRONG, Boundaries
from revereval.analysis.study import Study
from revereval.analysis.treatments import alone
from revereval.errors import InputError
from revereval.ledger.database import Database
from revereval.ledger.show import run_facts
from revereval.ledger.trajectories import plans_used, trajectories
from revereval.report.document import PlanUsed, document
from revereval.report.trajectory import chosen_runs
from revereval.terms import ArmName


@pytest.fixture
def database(ledger: Path) -> Iterator[Database]:
    opened = Database(ledger, write=False)
    yield opened
    opened.close()


def test_every_request_of_a_pair_is_there_but_the_boundary_itself(database: Database) -> None:
    (one,) = trajectories(database, [1])
    facts = run_facts(database, 1)["trajectory"]
    for stage, steps in one.steps.items():
        sent = [request for request in facts[stage] if not request["boundary"]]
        assert [step.position for step in steps] == [request["position"] for request in sent]
        assert [step.tokens_in for step in steps] == [request["input_tokens"] for request in sent]
        calls = [[call.tool for call in step.calls] for step in steps]
        assert calls == [[led["tool"] for led in request["led_to"]] for request in sent]
    assert one.steps["F"][-1].answered
    assert not one.steps["P"][0].answered
    assert one.endings["F"].endpoint == "correct"
    assert one.endings["F"].answer is not None
    assert one.steps["P"][0].projected == (1,)
    searches = [call for step in one.steps["P"] for call in step.calls if call.archive]
    assert [call.archive for call in searches] == ["ok"] * 3
    assert all(call.error is None for call in searches)
    assert one.steps["capture"][0].calls[0].about == "h11/_readers.py"


def test_the_pairs_come_in_the_order_asked_for(database: Database) -> None:
    assert [one.run for one in trajectories(database, [2, 1])] == [2, 1]


def test_a_run_that_is_not_there_is_the_askers_error(database: Database) -> None:
    with pytest.raises(InputError, match="no run 7"):
        list(trajectories(database, [7]))


def test_plans_are_listed_by_digest(database: Database) -> None:
    plans = plans_used(database)
    assert [plan.digest for plan in plans] == sorted(plan.digest for plan in plans)
    assert [plan.runs for plan in plans] == [1, 1]


def with_outcomes(study: Study, rows: list[int], f: int, p: int) -> Study:
    table: Boundaries = study.table
    arms = {}
    for arm, code in zip(ArmName, (f, p), strict=True):
        codes = table.arms[arm].endpoints[PRIMARY].copy()
        codes[rows] = code
        arms[arm] = replace(table.arms[arm], endpoints={PRIMARY: codes})
    return Study(replace(table, arms=arms))


def test_the_choice_follows_its_rule(study: Study) -> None:
    ids: list[int | None] = [100 + row for row in range(len(study.table))]
    names = [study.table.task.text(run - 100) for run in chosen_runs(study, ids)]
    harmed = ["docutils-nodes", "pathspec-util", "six-moves"]
    largest_saving = ["more-itertools-recipes"]  # the largest increase is among those harmed
    capped = ["attrs-define", "docutils-tree"]
    assert names == [*harmed, *largest_saving, *capped]


def test_a_row_without_a_run_is_never_chosen(study: Study) -> None:
    ids: list[int | None] = [None] * len(study.table)
    assert chosen_runs(study, ids) == []
    ids[4] = 7
    assert chosen_runs(study, ids) == [7]


def test_harmed_pairs_do_not_crowd_out_the_others(study: Study) -> None:
    rows = list(range(len(study.table)))
    harmed = with_outcomes(study, rows, CORRECT, WRONG)
    chosen = chosen_runs(harmed, list(range(len(rows))))
    assert chosen[:3] == [0, 1, 2]
    assert 12 in chosen, "the largest saving"


def test_plans_beyond_two_hundred_are_counted_and_hashed(study: Study) -> None:
    plans = [PlanUsed(f"{number:064x}", "t", "openai-chat", "m", 1) for number in range(450)]
    part = next(
        part for part in document(alone(study), plans, None).parts if part.section.name == "plans"
    )
    table = part.section.tables[1]
    assert len(table.rows) == 200
    said = " ".join(part.section.sentences)
    assert "450 distinct plans." in said
    assert "The other 250, sorted, a line each, have the SHA-256 " in said
    changed = [*plans[:-1], replace(plans[-1], digest=f"{999:064x}")]
    other = next(
        part for part in document(alone(study), changed, None).parts if part.section.name == "plans"
    )
    assert other.section.sentences != part.section.sentences


def test_a_stand_in_is_named_as_one(study: Study) -> None:
    plans = [PlanUsed("", "t", "scripted", "scripted", 2), PlanUsed("", "t", "openai-chat", "m", 3)]
    assert document(alone(study), plans, None).stand_in.startswith("2 of 5 runs were answered by")
    assert document(alone(study), plans[1:], None).stand_in == ""
