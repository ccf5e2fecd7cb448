"""A run that waits: it is shown, it goes on from its next request, or it is given up."""

import sqlite3
from contextlib import closing

import pytest

from tests.loopback import CLOSED, error, run_here
from tests.wire.lab import BOTH, Lab

DENIED = error(401, "invalid_api_key")


def shown(lab: Lab, *arguments: str) -> str:
    return run_here("ledger", "show", *arguments, "--ledger", str(lab.ledger)).said


def pause_f(lab: Lab, *more: str) -> None:
    """F waits after its first request."""
    lab.serve(*lab.prefix, lab.read("other.py"), DENIED)
    assert lab.run_pair(*more).code == 3


@BOTH
def test_a_paused_arm_goes_on_from_its_next_request(lab: Lab) -> None:
    pause_f(lab)
    assert lab.arm("F") == ("stopped", "interrupted", 1)
    lab.serve(lab.right, lab.right)
    assert lab.run_pair().code == 0
    assert len(lab.rows("run")) == 1
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 2), ("correct", None, 1))
    assert lab.attempts[-3:] == [
        (6, 1, "failed", 401), (6, 2, "completed", 200), (7, 1, "completed", 200),
    ]  # fmt: skip
    assert lab.server.hits[4].data == lab.server.hits[5].data
    (row,) = lab.rows("arm", "name = 'F'")
    assert row["detail"] == ""
    lab.audit()


def test_a_waiting_run_and_its_pauses_are_shown_and_exported(lab: Lab) -> None:
    lab.serve(error(402))
    paused = lab.capture("--json")
    assert (paused.code, paused.json["paused"]) == (4, "no_credit")
    pause_f(lab)
    assert "paused(access_denied)" in shown(lab)
    assert "F, access_denied: HTTP 401" in shown(lab, "1")
    assert "it waits still" in shown(lab, "1")
    first, second = lab.exported("pauses")
    assert (first["stage"], first["reason"], second["stage"]) == ("capture", "no_credit", "F")
    assert first["paused_at"] <= first["ended_at"] <= second["paused_at"]
    assert (second["reason"], second["ended_at"]) == ("access_denied", None)
    assert "made up" in second["detail"]
    (run,) = lab.exported("plans")
    assert (run["paused"], run["pauses"]) == ("access_denied", 2)
    lab.serve(lab.right, lab.right)
    done = lab.run_pair("--json")
    assert (done.json["paused"], len(done.json["pauses"])) == (None, 2)
    assert "paused" not in shown(lab)
    assert lab.exported("plans")[0]["paused"] is None


def test_giving_up_ends_the_waiting_arm_and_never_starts_its_companion(lab: Lab) -> None:
    pause_f(lab)
    sent = len(lab.server.hits)
    done = lab.resume(1, "--give-up", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["paused"] is None
    assert done.json["p_minus_f"] == [-1, 1]
    assert lab.arm("F") == ("stopped", "given_up", 1)
    assert lab.arm("P") == ("unexecuted", "given_up", 0)
    (pause,) = lab.rows("pause")
    assert pause["ended_at"] is not None
    lab.audit()
    again = lab.resume()
    assert (again.code, len(lab.server.hits)) == (0, sent)
    lab.serve(*lab.prefix, lab.right, lab.right)
    assert lab.run_pair().code == 0
    assert len(lab.rows("run")) == 2, "it is owed nothing"


def test_giving_up_under_the_companion_rule_keeps_its_word(lab: Lab) -> None:
    lab.configure(companion="after_answer")
    pause_f(lab)
    assert lab.resume(1, "--give-up").code == 0
    assert lab.resume().code == 0
    assert lab.arm("P") == ("unexecuted", "given_up", 0)
    lab.audit()


def test_giving_up_ends_a_waiting_capture(lab: Lab) -> None:
    lab.serve(lab.prefix[0], DENIED)
    assert lab.capture().code == 3
    assert lab.resume(1, "--give-up").code == 0
    assert lab.stop == ("stopped", "given_up")
    assert "HTTP 401" in lab.run_row["capture_detail"]
    assert lab.rows("arm") == []
    lab.audit()


def test_giving_up_needs_neither_key_nor_task_nor_server(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADE_UP_KEY", "made-up-key-777")
    lab.configure(provider={"api_key_env": "MADE_UP_KEY"})
    pause_f(lab)
    monkeypatch.delenv("MADE_UP_KEY")
    (lab.tasks / "tiny" / "tiny-sum.toml").unlink()
    assert lab.resume(1, "--give-up").code == 0
    assert lab.arm("F") == ("stopped", "given_up", 1)


def test_what_does_not_wait_cannot_be_given_up(lab: Lab) -> None:
    lab.serve(*lab.prefix)
    assert lab.capture().code == 0
    for _ in range(2):  # not begun, then finished
        before = (lab.rows("run"), lab.rows("arm"))
        done = lab.resume(1, "--give-up")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert "run 1: is not paused" in done.err
        assert (lab.rows("run"), lab.rows("arm")) == before
        lab.serve(lab.right, lab.right)
        assert lab.resume().code == 0


@pytest.mark.parametrize(
    "arguments",
    [["tiny-sum"], ["1", "--new"], ["1", "--repeats", "2"], ["1", "--resend-in-doubt"], ["9"],
     ["9" * 30]],
)  # fmt: skip
def test_giving_up_takes_the_number_of_a_run_and_nothing_else(
    lab: Lab, arguments: list[str]
) -> None:
    pause_f(lab)
    done = lab.command("run-pair", *arguments, "--give-up")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert lab.arm("F") == ("stopped", "interrupted", 1)


def test_a_pause_in_a_repeat_leaves_the_next_one_untouched(lab: Lab) -> None:
    lab.serve(*lab.prefix, lab.right, lab.right, lab.right, DENIED)
    done = lab.run_pair("--repeats", "3", "--json")
    assert done.code == 3
    assert [pair["paused"] for pair in (done.json, *done.json["repeats"])] == [
        None, "access_denied", None,
    ]  # fmt: skip
    ends = {(row["run_id"], row["name"]): row["reason"] for row in lab.rows("arm")}
    assert ends == {
        (1, "F"): None, (1, "P"): None, (2, "P"): None, (2, "F"): "interrupted",
        (3, "F"): "not_started", (3, "P"): "not_started",
    }  # fmt: skip
    lab.audit()
    lab.serve(lab.right, lab.right, lab.right)
    assert lab.resume(2).code == 0
    assert {row["reason"] for row in lab.rows("arm")} == {None}
    lab.audit()


def test_giving_up_a_repeat_leaves_what_is_done_and_never_starts_the_rest(lab: Lab) -> None:
    lab.serve(*lab.prefix, lab.right, lab.right, lab.right, DENIED)
    lab.run_pair("--repeats", "3")
    assert lab.resume(2, "--give-up").code == 0
    ends = {(row["run_id"], row["name"]): row["reason"] for row in lab.rows("arm")}
    assert ends == {
        (1, "F"): None, (1, "P"): None, (2, "P"): None, (2, "F"): "given_up",
        (3, "F"): "given_up", (3, "P"): "given_up",
    }  # fmt: skip
    lab.audit()


def test_a_pause_after_a_resend_needs_the_word_again_and_has_no_open_row(lab: Lab) -> None:
    lab.serve(*lab.prefix, CLOSED, lab.right)
    lab.run_pair()
    lab.serve(DENIED)
    assert lab.resume(1, "--resend-in-doubt").code == 3
    assert lab.arm("F") == ("stopped", "interrupted", 0)
    lab.audit()
    lab.serve()
    assert lab.resume().code == 3
    assert lab.arm("F") == ("stopped", "in_doubt", 0)
    assert None not in [row["ended_at"] for row in lab.rows("pause")]
    lab.audit()
    lab.serve(lab.right)
    assert lab.resume(1, "--resend-in-doubt").code == 0
    assert lab.arm("F") == ("correct", None, 1)
    lab.audit()


TAMPERED = {
    "a pause that never ended": "UPDATE pause SET ended_at = NULL",
    "a pause of a stage that was never begun": "UPDATE pause SET stage = 'P'",
    "a pause of a request that succeeded": "UPDATE attempt SET state = 'ambiguous' "
    "WHERE state = 'failed'",
    "another reason of a reply": "UPDATE arm SET reason = 'refusal' WHERE name = 'P'",
    "a mark that is not due": "UPDATE request SET possibly_cut = 1 WHERE id = 1",
}


@pytest.mark.parametrize("statement", TAMPERED.values(), ids=TAMPERED)
def test_the_audit_finds_a_pause_or_a_reason_that_is_not_so(lab: Lab, statement: str) -> None:
    lab.serve(*lab.prefix, DENIED)
    lab.run_pair()
    lab.serve(lab.right, lab.reply(None, reasoning_content="hm"))
    lab.resume()
    assert lab.arm("P") == ("stopped", "reasoning_only", 1)
    lab.audit()
    with closing(sqlite3.connect(lab.ledger)) as connection, connection:
        connection.execute(statement)
    assert lab.command("ledger", "audit").code == 3
    with closing(sqlite3.connect(lab.ledger)) as connection, connection:
        connection.execute("UPDATE attempt SET state = 'failed' WHERE state = 'ambiguous'")
