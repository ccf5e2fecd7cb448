"""What `ledger show` tells of a run, and that it looks nothing up by scanning."""

import json
import subprocess
import sys
from typing import Any

import pytest
from sqlalchemy import event
from typer.testing import CliRunner

from revereval.cli.ledger import app
from revereval.errors import InputError
from revereval.ledger.recording import Outcome
from revereval.ledger.show import recent_runs, run_facts
from revereval.terms import ArmName, AttemptState, Endpoint, StopReason
from tests.ledger.build import ANSWERS, ERRS, PREFIX, RIGHT, ArmScript, Build, both
from tests.ledger.script import READ, REFUSED, SEARCH, Asked, Turn, used


def shown(build: Build, *arguments: str) -> str:
    command = ["show", *arguments, "--ledger", str(build.database.path)]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def told_pair(build: Build) -> int:
    busy = Outcome(AttemptState.FAILED, 429, "slow down", "1")
    f = [Turn([READ, SEARCH], usage=used(200, 150, 20), failed=[busy]), ANSWERS]
    p = [Turn([REFUSED], usage=used(90, 96, 5)), Turn(answer="no", usage=None)]
    arms = both(ArmScript(f, Endpoint.CORRECT), ArmScript(p, Endpoint.WRONG))
    return build.pair(PREFIX, arms)


def test_a_run_is_told_request_by_request(build: Build) -> None:
    facts = run_facts(build.database, told_pair(build))
    assert (facts["capture"]["outcome"], facts["capture"]["input_tokens"]) == ("boundary", 200)
    assert (facts["boundary"]["eligible_count"], facts["boundary"]["eligible_bytes"]) == (1, 2100)
    trajectory = facts["trajectory"]
    assert [request["position"] for request in trajectory["capture"]] == [0, 1, 2]
    assert trajectory["capture"][2]["boundary"] is True
    first, last = trajectory["F"]
    assert [attempt["state"] for attempt in first["attempts"]] == ["failed", "completed"]
    assert [led["tool"] for led in first["led_to"]] == ["read", "search_evidence"]
    assert (first["uncached_tokens"], first["cached_tokens"], first["output_tokens"]) == (
        50,
        150,
        20,
    )
    assert last["led_to"] == []
    first, last = trajectory["P"]
    assert first["projected"] == [{"observation": 0, "saved_bytes": 1662}]
    assert first["usage_flags"] == "cached_exceeds_input"
    assert first["led_to"][0]["error"] == "unknown_handle"
    of_f, of_p = facts["arms"]
    assert (of_f["endpoint"], of_f["input_tokens"], of_f["output_tokens"]) == ("correct", 300, 30)
    assert (of_p["endpoint"], of_p["input_tokens"], of_p["unknown_usage"]) == ("wrong", None, 1)


def test_each_key_of_an_answer_is_told_for_each_arm_that_answered(build: Build) -> None:
    run_id = told_pair(build)
    told = {arm["name"]: arm["key_scores"] for arm in run_facts(build.database, run_id)["arms"]}
    assert told == {"F": {"x": "right"}, "P": {"x": "missing"}}
    lines = [line.split() for line in shown(build, str(run_id)).splitlines()]
    at = lines.index(["answers,", "key", "by", "key"])
    assert lines[at + 1] == ["key", "F", "P"]
    assert lines[at + 3] == ["x", "right", "missing"]


def test_a_finished_capture_is_told_key_by_key_and_without_an_answer_nothing_is(
    build: Build,
) -> None:
    lines = [line.split() for line in shown(build, str(build.finished([ERRS]))).splitlines()]
    at = lines.index(["answers,", "key", "by", "key"])
    assert (lines[at + 1], lines[at + 3]) == (["key", "capture"], ["x", "wrong"])
    capped = ArmScript([Turn([READ])] * 12, Endpoint.CAPPED)
    assert "key by key" not in shown(build, str(build.pair(PREFIX, both(capped, capped))))


def test_calls_that_a_conversation_made_before_are_counted_by_arm(build: Build) -> None:
    other = Asked("read", '{"path":"b.py"}')
    f = [Turn([READ, other]), Turn([other, other]), ANSWERS]
    p = [Turn([other]), ANSWERS]
    arms = both(ArmScript(f, Endpoint.CORRECT), ArmScript(p, Endpoint.CORRECT))
    of_f, of_p = run_facts(build.database, build.pair([Turn([READ])], arms))["arms"]
    assert (of_f["repeated_calls"], of_p["repeated_calls"]) == (3, 0)


def test_a_person_reads_what_was_read_searched_refused_and_projected(build: Build) -> None:
    text = shown(build, str(told_pair(build)))
    lines = [line.strip() for line in text.splitlines()]
    for line in (
        "provider: openai-chat",
        "eligible_bytes: 2,100",
        "read a.py: observation 0, 2,100 bytes",
        "search_evidence x 9: observation 1, 214 bytes, 2 calls left",
        "recover_evidence ?: refused, unknown_handle",
        "newly projected: observation 0, 1,662 bytes saved",
        "attempt 1: failed, slow down",
        "usage contradicts itself: cached_exceeds_input",
        "the final answer",
    ):
        assert line in lines
    assert "U 90, C 210, O 30" in text
    assert "1 of unknown usage" in text


def test_arms_that_were_not_run_and_dispatches_in_doubt_are_told(build: Build) -> None:
    lost = Outcome(AttemptState.AMBIGUOUS, problem="read timeout")
    f = ArmScript([Turn(failed=[lost], unanswered=True)], Endpoint.STOPPED, "ambiguous_dispatch")
    text = shown(build, str(build.pair(PREFIX, {ArmName.F: f})))
    assert "stopped(ambiguous_dispatch)" in text
    assert "unexecuted(not_started)" in text
    assert "not completed" in text and "attempt 1: ambiguous, read timeout" in text


def test_the_last_runs_are_a_line_each(build: Build) -> None:
    for _ in range(11):
        build.finished([ANSWERS])
    build.pair(PREFIX, {ArmName.F: ArmScript([ANSWERS], Endpoint.CORRECT)})
    build.stopped([Turn([READ])], StopReason.BUDGET)
    assert [run["run"] for run in recent_runs(build.database)] == list(range(13, 3, -1))
    title, *lines, _ = shown(build).splitlines()
    assert (title, len(lines)) == ("last runs", 10)
    assert lines[0].endswith("what-is-x (m): stopped(budget)")
    assert lines[1].endswith("boundary, F correct, P unexecuted(not_started)")
    assert lines[2].endswith("finished")


def test_an_unknown_run_is_one_clear_line(build: Build) -> None:
    build.finished([ANSWERS])
    with pytest.raises(InputError, match="no run 7 in this ledger"):
        run_facts(build.database, 7)
    with pytest.raises(InputError, match="no row has a number that long"):
        run_facts(build.database, 10**20)


def test_hostile_text_is_printed_as_text(build: Build) -> None:
    hostile = "[red]\x1b[2J\u202e</script>"
    asked = Asked(hostile, json.dumps({"path": hostile}), "text", hostile)
    run_id = build.stopped([Turn([asked]), ANSWERS], StopReason.PROVIDER_ERROR, hostile)
    text = shown(build, str(run_id))
    assert "\x1b" not in text and "\u202e" not in text
    assert r"detail: [red]\x1b[2J\u202e</script>" in text
    document = shown(build, str(run_id), "--json")
    assert document.isascii()
    assert json.loads(document)["capture"]["detail"] == hostile


def test_show_json_is_one_document_in_a_narrow_pipe(build: Build) -> None:
    run_id = told_pair(build)
    command = [
        sys.executable, "-c", "from revereval.cli.ledger import app; app()",
        "show", str(run_id), "--json", "--ledger", str(build.database.path),
    ]  # fmt: skip
    piped = subprocess.run(command, capture_output=True, env={"COLUMNS": "40"}, check=True)
    assert json.loads(piped.stdout)["run"] == run_id


def test_no_statement_of_show_scans_a_table(build: Build) -> None:
    run_id = told_pair(build)
    statements: list[tuple[str, Any]] = []

    def keep(*arguments: Any) -> None:
        statements.append((arguments[2], arguments[3]))

    engine = build.database._engine
    event.listen(engine, "before_cursor_execute", keep)
    run_facts(build.database, run_id)
    event.remove(engine, "before_cursor_execute", keep)
    assert len(statements) >= 8
    with build.database.reading() as connection:
        for statement, parameters in statements:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            details = [row[-1] for row in plan]
            assert details and not any(d.startswith("SCAN") for d in details), statement


def test_an_answer_is_never_printed_as_part_of_a_run(build: Build) -> None:
    assert RIGHT not in shown(build, str(told_pair(build)))
