"""A control without tools: what goes over the wire, how it ends, and where it is reported."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.loopback import error, run_here
from tests.wire.lab import BIG, BOTH, FILES, RIGHT, WRONG, Lab

CLOSED: dict[str, Any] = {"control": {"kind": "closed_book"}}
SAMPLED = {"temperature": 0.5, "tool_choice": "auto", "parallel_tool_calls": True}


def closed(lab: Lab, **tables: Any) -> None:
    lab.configure(**CLOSED, **tables)


def ask(lab: Lab, answer: str) -> None:
    """One closed-book run with this answer."""
    closed(lab)
    lab.serve(lab.reply(answer))
    assert lab.capture().code == 0


def pair(lab: Lab, f: str = RIGHT, p: str = RIGHT) -> int:
    """A pair under the plain config; returns its run."""
    lab.configure()
    lab.serve(*lab.prefix, lab.reply(f), lab.reply(p))
    assert lab.run_pair().code == 0
    return int(lab.run_row["id"])


@BOTH
@pytest.mark.parametrize("command", ["capture", "run_pair"])
def test_a_closed_book_request_has_no_tools_and_names_no_file(lab: Lab, command: str) -> None:
    closed(lab, provider={"sampling": SAMPLED})
    lab.serve(lab.right)
    done = getattr(lab, command)()
    assert (done.code, done.err) == (0, "")
    (hit,) = lab.server.hits
    assert hit.body["temperature"] == 0.5
    assert hit.body.keys().isdisjoint({"tools", "tool_choice", "parallel_tool_calls"})
    system, user = (item["content"] for item in lab.wire.items(hit.body))
    for text in (system, user):
        assert not any(path in text for path in FILES)
        assert "evidence" not in text
    assert "nothing can be read" in system
    assert "What is the sum?" in user and "tiny 1.0. None of it can be read." in user
    assert "- python: any" in user and '- "sum": integer' in user
    assert "closed book: correct, 2 of 2 keys right" in done.said
    assert lab.stop == ("finished", None)
    assert lab.rows("arm") == []
    lab.audit()


@BOTH
def test_a_call_all_the_same_is_an_error_observation_and_the_loop_goes_on(lab: Lab) -> None:
    calls = [
        ("a", "read", {"path": "tiny/big.py"}),
        ("b", "search_evidence", {"query": "big", "chars": 100}),
        ("c", "recover_evidence", '{"handle'),
        ("d", "shell", {}),
    ]
    closed(lab)
    lab.serve(lab.reply(calls=calls), lab.reply(WRONG))
    done = lab.capture("--json")
    assert done.code == 0
    told = done.json
    assert (told["control"], told["endpoint"], told["reason"]) == ("closed_book", "wrong", None)
    assert told["key_scores"] == {"name": "right", "sum": "wrong"}
    results = lab.wire.results(lab.server.hits[1].body)
    assert results == [(name, "error: unknown_tool: there are no tools") for name in "abcd"]
    assert [row["error"] for row in lab.rows("observation")] == ["unknown_tool"] * 4
    assert lab.rows("archive_call") == []
    assert "tools" not in lab.server.hits[1].body
    lab.audit()


def test_what_never_answers_ends_at_the_prefix_cap(lab: Lab) -> None:
    closed(lab, limits={"prefix_requests": 3})
    lab.serve(*[lab.read("big.py") for _ in range(4)])
    done = lab.run_pair()
    assert done.code == 0
    assert "closed book: stopped (prefix_cap): 3 requests" in done.said
    assert lab.stop == ("stopped", "prefix_cap")
    assert len(lab.server.hits) == 3
    assert BIG[:40] not in str(lab.server.hits[2].body)
    lab.audit()


def test_a_fault_stops_a_control_with_the_code_of_a_fault(lab: Lab) -> None:
    closed(lab)
    lab.serve(lab.reply(RIGHT, finish="length"))
    done = lab.capture()
    assert done.code == 3
    assert "closed book: stopped (output_limit)" in done.said
    lab.audit()


def test_a_control_that_was_interrupted_goes_on_by_its_number(lab: Lab) -> None:
    closed(lab)
    lab.serve(lab.read("big.py"), error(429, headers={"Retry-After": "999"}), lab.right)
    assert lab.capture().code == 3
    done = lab.resume(1)
    assert done.code == 0
    assert "closed book: correct" in done.said
    assert "tools" not in lab.server.hits[-1].body
    assert len(lab.rows("run")) == 1
    lab.audit()


def test_a_control_is_another_plan_and_another_treatment(lab: Lab) -> None:
    pair(lab)
    ask(lab, RIGHT)
    treated, control = lab.rows("plan")
    assert (treated["control"], control["control"]) == (None, "closed_book")
    assert treated["digest"] != control["digest"]
    assert treated["treatment"] != control["treatment"]
    assert '"control"' not in treated["document"]
    assert '"control":"closed_book"' in control["document"]


@pytest.mark.parametrize(
    ("tables", "named"),
    [
        (
            {"control": {"kind": "open_book"}},
            "control.kind: Value error, must be one of closed_book",
        ),
        ({"control": {}}, "control.kind"),
        ({**CLOSED, "repeats": 2}, "repeats: 1 with [control]: a control has no arms to repeat"),
    ],
)
def test_a_control_that_cannot_be_is_one_line_and_nothing_is_written(
    lab: Lab, tables: dict[str, Any], named: str
) -> None:
    lab.configure(**tables)
    done = lab.capture()
    assert (done.code, done.out) == (2, "")
    assert named in done.said and done.err.count("\n") == 1
    assert not lab.ledger.exists()


def test_repeats_of_a_control_are_refused_on_the_command_line_too(lab: Lab) -> None:
    closed(lab)
    done = lab.run_pair("--repeats", "3")
    assert done.code == 2
    assert "a control has no arms to repeat" in done.said


def test_the_newest_control_of_the_same_task_and_model_stands_beside_f(lab: Lab) -> None:
    run = pair(lab)
    assert lab.exported("boundaries")[0]["closed_book"] is None
    assert (
        "without tools"
        not in run_here("ledger", "show", str(run), "--ledger", str(lab.ledger)).said
    )
    ask(lab, RIGHT)
    lab.configure(**CLOSED, provider={"model": "made-up-2"})
    lab.serve(lab.reply("no idea"))
    assert lab.capture().code == 0
    assert lab.exported("boundaries")[0]["closed_book"] == "correct"
    shown = run_here("ledger", "show", str(run), "--ledger", str(lab.ledger))
    assert "without tools closed book: correct (run 2)" in shown.said
    ask(lab, WRONG)
    (row,) = lab.exported("boundaries")
    assert row["closed_book"] == "wrong"
    closed(lab, limits={"prefix_requests": 1})
    lab.serve(lab.read("big.py"))
    assert lab.capture().code == 0
    assert lab.exported("boundaries")[0]["closed_book"] == "stopped"
    told = run_here("ledger", "show", str(run), "--ledger", str(lab.ledger), "--json").json[
        "closed_book"
    ]
    assert told == {"run": 5, "endpoint": "stopped", "reason": "prefix_cap"}
    lab.audit()


def test_a_controls_endpoint_is_that_of_its_own_contract(lab: Lab) -> None:
    pair(lab)
    lab.configure(**CLOSED, contract="strict")
    lab.serve(lab.reply(f"It is {RIGHT}"))
    done = lab.capture()
    assert "closed book: wrong, 0 of 2 keys right" in done.said
    assert lab.exported("boundaries")[0]["closed_book"] == "wrong"
    lab.audit()


def test_controls_are_in_no_frame_and_said_beside_it(lab: Lab) -> None:
    ask(lab, RIGHT)
    pair(lab, f=WRONG)
    ledger = ["--ledger", str(lab.ledger)]
    frame = run_here("analyze", "frame", *ledger)
    assert "Of 1 run, 0 finished before anything was eligible" in frame.said
    bounds = run_here("analyze", "bounds", *ledger)
    assert (
        "Of 1 tasks at a boundary 1 have a closed-book run, without tools; it is correct in 1: "
        "tiny-sum. F is correct in 0 of their 1 boundary runs"
    ) in bounds.said
    told = run_here("analyze", *ledger, "--json").json
    (section,) = [one for one in told["sections"] if one["name"] == "bounds"]
    assert section["facts"]["closed_book"] == {
        "tasks": 1, "asked": 1, "correct": 1, "correct_tasks": ["tiny-sum"], "runs": 1,
        "f_correct": 0,
    }  # fmt: skip
    plans = {row["run_id"]: row["control"] for row in lab.exported("plans")}
    assert plans == {1: "closed_book", 2: None}
    shown = run_here("ledger", "show", *ledger).said
    assert "tiny-sum (made-up-1): closed book, correct" in shown


def test_without_a_control_nothing_is_said_of_one(lab: Lab) -> None:
    pair(lab)
    done = run_here("analyze", "bounds", "--ledger", str(lab.ledger))
    assert "closed" not in done.said
    told = run_here("analyze", "bounds", "--ledger", str(lab.ledger), "--json").json
    assert "closed_book" not in told["sections"][0]["facts"]


def test_the_audit_finds_a_control_that_its_plan_is_not(lab: Lab) -> None:
    ask(lab, RIGHT)
    with closing(sqlite3.connect(lab.ledger)) as connection, connection:
        connection.execute("UPDATE plan SET control = NULL")
    done = lab.command("ledger", "audit")
    assert done.code == 3
    assert "control" in done.said
