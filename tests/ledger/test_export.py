"""What an export says: totals, unknowns, arms not run, runs without a boundary."""

import csv
import hashlib
import io
import json
from typing import Any

from revereval.canonical import canonical_bytes
from revereval.ledger.export import export
from revereval.ledger.recording import Outcome
from revereval.ledger.treatment import treatment_digest
from revereval.terms import ArmName, AttemptState, Endpoint, StopReason
from tests.ledger.build import ANSWERS, ERRS, IMPLEMENTATION, PREFIX, RIGHT, ArmScript, Build, both
from tests.ledger.script import READ, REFUSED, SEARCH, Turn, used

CORRECT = ArmScript([ANSWERS], Endpoint.CORRECT)


def rows(build: Build, table: str) -> list[dict[str, Any]]:
    output = io.BytesIO()
    export(build.database, table, "jsonl", output)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def part(row: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The columns that begin with a prefix, by the rest of their name."""
    return {name[len(prefix) :]: row[name] for name in row if name.startswith(prefix)}


def test_token_totals_are_the_sums_of_the_completed_requests(build: Build) -> None:
    prefix = [Turn([READ], usage=used(100, 60, 10)), Turn([READ], usage=used(200, 150, 20))]
    f = [Turn([READ], usage=used(300, 200, 30)), Turn(answer=RIGHT, usage=used(400, 0, 40))]
    p = [Turn(answer=RIGHT, usage=used(50, 5, 1))]
    build.pair(prefix, both(ArmScript(f, Endpoint.CORRECT), ArmScript(p, Endpoint.CORRECT)))
    [row] = rows(build, "boundaries")
    assert part(row, "prefix_") == {
        "tokens": 330, "input_tokens": 300, "uncached_tokens": 90, "cached_tokens": 210,
        "output_tokens": 30, "requests": 2, "archive_calls": 0, "unknown_usage": 0,
        "unknown_cache": 0, "flagged_usage": 0, "excess_totals": 0, "uncounted_attempts": 0,
        "metered_tokens": row["prefix_metered_tokens"],
    }  # fmt: skip
    assert part(row, "f_suffix_") == {
        "tokens": 770, "input_tokens": 700, "uncached_tokens": 500, "cached_tokens": 200,
        "output_tokens": 70, "requests": 2, "unknown_usage": 0, "unknown_cache": 0,
        "flagged_usage": 0, "excess_totals": 0, "uncounted_attempts": 0,
    }  # fmt: skip
    assert (row["p_suffix_tokens"], row["p_suffix_uncached_tokens"]) == (51, 45)
    assert row["last_cached_fraction"] == 0.75


def test_one_unknown_usage_makes_the_total_unknown_and_is_counted(build: Build) -> None:
    f = [Turn([READ], usage=None), Turn(answer=RIGHT, usage=used(50, 0, 5))]
    p = [Turn(answer=RIGHT, usage=used(50, None, 5))]
    build.pair(PREFIX, both(ArmScript(f, Endpoint.CORRECT), ArmScript(p, Endpoint.CORRECT)))
    [row] = rows(build, "boundaries")
    tokens = ("tokens", "input_tokens", "uncached_tokens", "cached_tokens", "output_tokens")
    assert [row[f"f_suffix_{name}"] for name in tokens] == [None] * 5
    assert (row["f_suffix_unknown_usage"], row["f_suffix_unknown_cache"]) == (1, 1)
    assert [row[f"p_suffix_{name}"] for name in tokens] == [55, 50, None, None, 5]
    assert (row["p_suffix_unknown_usage"], row["p_suffix_unknown_cache"]) == (0, 1)
    assert row["f_suffix_requests"] == 2


def test_contradictory_usage_is_counted_beside_its_total(build: Build) -> None:
    f = ArmScript([Turn(answer=RIGHT, usage=used(90, 96, 5))], Endpoint.CORRECT)
    build.pair(PREFIX, both(f, CORRECT))
    [row] = rows(build, "boundaries")
    assert part(row, "f_suffix_") == {
        "tokens": 95, "input_tokens": 90, "uncached_tokens": None, "cached_tokens": 96,
        "output_tokens": 5, "requests": 1, "unknown_usage": 0, "unknown_cache": 1,
        "flagged_usage": 1, "excess_totals": 0, "uncounted_attempts": 0,
    }  # fmt: skip


def test_the_keys_of_both_answers_are_counted_and_those_of_no_answer_are_unknown(
    build: Build,
) -> None:
    build.pair(PREFIX, both(CORRECT, ArmScript([ERRS], Endpoint.WRONG)))
    build.pair(PREFIX, {ArmName.P: ArmScript([Turn(answer="none")], Endpoint.WRONG)})
    build.finished([ERRS])
    scores = ("keys_right", "keys_wrong", "keys_missing")
    told = [
        tuple(row[f"{a}_{n}"] for a in "fp" for n in scores) for row in rows(build, "boundaries")
    ]
    assert told == [(1, 0, 0, 0, 1, 0), (None, None, None, 0, 0, 1)]
    arms = [(row["arm"], row["key_scores"]) for row in rows(build, "arms")]
    assert arms == [
        ("F", '{"x":"right"}'), ("P", '{"x":"wrong"}'), ("F", None), ("P", '{"x":"missing"}'),
    ]  # fmt: skip
    plans = [row["answer_key_scores"] for row in rows(build, "plans")]
    assert plans == [None, None, '{"x":"wrong"}']


def test_an_arm_that_was_not_run_is_a_row_of_unknown_tokens(build: Build) -> None:
    build.pair(PREFIX, {ArmName.F: CORRECT})
    [row] = rows(build, "boundaries")
    assert (row["p_endpoint"], row["p_endpoint_strict"]) == ("unexecuted", "unexecuted")
    assert row["p_reason"] == "not_started"
    assert (row["p_suffix_tokens"], row["p_suffix_output_tokens"]) == (None, None)
    assert row["p_suffix_requests"] == 0
    assert row["first_requests_match"] is None
    arms = {arm["arm"]: arm for arm in rows(build, "arms")}
    assert (arms["P"]["endpoint"], arms["P"]["suffix_tokens"]) == ("unexecuted", None)


def test_an_arm_stopped_before_its_first_reply_has_spent_nothing_known(build: Build) -> None:
    lost = Outcome(AttemptState.AMBIGUOUS, problem="read timeout")
    f = ArmScript([Turn(failed=[lost], unanswered=True)], Endpoint.STOPPED, "ambiguous_dispatch")
    build.pair(PREFIX, both(f, CORRECT))
    [row] = rows(build, "boundaries")
    assert (row["f_endpoint"], row["f_reason"]) == ("stopped", "ambiguous_dispatch")
    assert (row["f_suffix_requests"], row["f_suffix_tokens"]) == (0, 0)
    assert row["f_suffix_uncounted_attempts"] == 1


def test_a_resent_request_keeps_the_first_dispatch_beside_the_total(build: Build) -> None:
    lost = Outcome(AttemptState.IN_DOUBT, problem="died")
    refused = Outcome(AttemptState.FAILED, 429, "wait", "2")
    f = ArmScript([Turn(answer=RIGHT, failed=[lost, refused])], Endpoint.CORRECT)
    build.pair(PREFIX, both(f, CORRECT))
    [row] = rows(build, "boundaries")
    assert (row["f_suffix_tokens"], row["f_suffix_uncounted_attempts"]) == (110, 1)
    [request] = [r for r in rows(build, "requests") if r["stage"] == "F"]
    assert (request["attempts"], request["uncounted_attempts"]) == (3, 1)
    assert (request["attempt_state"], request["status"]) == ("completed", 200)


def test_each_contract_has_its_endpoint_and_the_plan_names_the_primary(build: Build) -> None:
    prose = ArmScript([Turn(answer=f"It is {RIGHT}.")], Endpoint.CORRECT)
    build.pair(PREFIX, both(prose, ArmScript([ERRS], Endpoint.WRONG)))
    strict = ArmScript([Turn(answer=f"It is {RIGHT}.")], Endpoint.WRONG)
    capped = ArmScript([Turn([READ])] * 12, Endpoint.CAPPED)
    build.pair(PREFIX, both(strict, capped), contract="strict", fitting=True, first_arm="P")
    first, second = rows(build, "boundaries")
    names = ("f_endpoint", "f_endpoint_extracted", "f_endpoint_strict", "f_extracted", "f_strict")
    assert [first[name] for name in names] == ["correct", "correct", "wrong", True, False]
    assert [second[name] for name in names] == ["wrong", "correct", "wrong", True, False]
    of_p = ("p_endpoint", "p_endpoint_extracted", "p_endpoint_strict", "p_extracted")
    assert [first[name] for name in of_p] == ["wrong", "wrong", "wrong", False]
    assert [second[name] for name in of_p] == ["capped", "capped", "capped", None]
    assert (first["fitting"], second["fitting"]) == (False, True)
    assert (first["first_arm"], second["first_arm"]) == ("F", "P")
    assert (second["contract"], second["p_suffix_requests"]) == ("strict", 12)


def test_captures_without_a_boundary_are_plans_and_not_boundaries(build: Build) -> None:
    build.finished([Turn([READ]), ANSWERS])
    refused = Outcome(AttemptState.FAILED, 500, "upstream")
    failing = [Turn([READ]), Turn(failed=[refused], unanswered=True)]
    build.stopped(failing, StopReason.PROVIDER_ERROR, "the server said 500")
    build.pair(PREFIX, both(CORRECT, ArmScript([ERRS], Endpoint.WRONG)))
    assert len(rows(build, "boundaries")) == 1
    finished, stopped, reached = rows(build, "plans")
    assert (finished["capture_outcome"], finished["answer"]) == ("finished", RIGHT)
    assert (finished["capture_requests"], finished["capture_tokens"]) == (2, 220)
    assert (stopped["capture_outcome"], stopped["capture_reason"]) == ("stopped", "provider_error")
    assert stopped["capture_detail"] == "the server said 500"
    assert (stopped["capture_requests"], stopped["f_endpoint"]) == (1, None)
    assert (reached["capture_outcome"], reached["capture_reason"]) == ("boundary", None)
    assert (reached["f_endpoint"], reached["p_endpoint"]) == ("correct", "wrong")


def test_requests_and_observations_are_told_one_by_one(build: Build) -> None:
    f = ArmScript([Turn([REFUSED]), ANSWERS], Endpoint.CORRECT)
    p = ArmScript([Turn([READ]), ANSWERS], Endpoint.CORRECT)
    build.pair([Turn([READ]), Turn([SEARCH])], both(f, p))
    requests = rows(build, "requests")
    assert [(r["stage"], r["position"], r["boundary"], r["attempts"]) for r in requests] == [
        ("capture", 0, False, 1), ("capture", 1, False, 1), ("capture", 2, True, 0),
        ("F", 2, False, 1), ("F", 3, False, 1), ("P", 2, False, 1), ("P", 3, False, 1),
    ]  # fmt: skip
    assert [r["newly_projected"] for r in requests] == [0, 0, 0, 0, 0, 1, 0]
    assert [r["entry_digest"] is not None for r in requests] == [True] * 2 + [False] * 5
    names = ("stage", "position", "tool", "error", "archive_outcome", "reason", "p_projected_at")
    assert [[o[name] for name in names] for o in rows(build, "observations")] == [
        ["capture", 0, "read", None, None, "eligible", 2],
        ["capture", 1, "search_evidence", None, "ok", "archive_result", None],
        ["F", 2, "recover_evidence", "unknown_handle", "unknown_handle", "error", None],
        ["P", 2, "read", None, None, "recent", None],
    ]  # fmt: skip
    assert rows(build, "observations")[0]["p_saved_bytes"] == 1662


def test_csv_and_jsonl_have_the_same_rows_and_columns(build: Build) -> None:
    build.pair(PREFIX, {ArmName.F: CORRECT})
    for table in ("boundaries", "arms", "requests", "observations", "plans"):
        output = io.BytesIO()
        export(build.database, table, "csv", output)
        read = list(csv.DictReader(io.StringIO(output.getvalue().decode(), newline="")))
        expected = rows(build, table)
        assert len(read) == len(expected) > 0
        for cells, row in zip(read, expected, strict=True):
            assert list(cells) == list(row)
            assert [cell == "" for cell in cells.values()] == [
                v in (None, "") for v in row.values()
            ]


def test_an_empty_table_is_a_header_and_no_rows(build: Build) -> None:
    output = io.BytesIO()
    manifest = export(build.database, "boundaries", "csv", output)
    assert manifest.rows == 0
    assert output.getvalue().startswith(b"flow,task_id,") and output.getvalue().count(b"\n") == 1


def test_a_boundary_says_its_treatment_and_what_that_is_the_digest_of(build: Build) -> None:
    first = build.pair(PREFIX, both(CORRECT, CORRECT), companion="after_answer")
    build.pair(PREFIX, both(CORRECT, CORRECT))
    odd = {
        "temperature": 1e-07,
        "top_p": 1.0,
        "stop": ['é \ud83d \u2028 \0 \x7f " \\ /', None, True],
    }
    with build.database.transaction():
        [plan] = build.database.rows("SELECT * FROM plan ORDER BY id LIMIT 1")
        document = json.loads(plan.document)
        document["provider"]["sampling"] = odd
        changed = canonical_bytes(document).decode()
        update = "UPDATE plan SET document = ?, treatment = ? WHERE id = ?"
        build.database.driver.execute(update, (changed, treatment_digest(document), plan.id))
    one, other = rows(build, "boundaries")
    assert one["run_id"] == first
    settings = [json.loads(row["treatment_settings"]) for row in (one, other)]
    assert settings[0]["provider"]["sampling"] == odd
    assert [found["companion"] for found in settings] == ["after_answer", "always"]
    assert "task" not in settings[0]
    assert settings[1]["control"] is None
    assert settings[1]["implementation"]["scorer"]["version"] == IMPLEMENTATION["scorer"]["version"]
    for row in (one, other):
        text = row["treatment_settings"].encode()
        assert row["treatment"] == hashlib.sha256(text).hexdigest()
    assert [row["treatment"] for row in rows(build, "plans")] == [
        one["treatment"],
        other["treatment"],
    ]
