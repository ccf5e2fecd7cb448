"""Every kind of change to a ledger is found by its audit."""

import hashlib
import zlib
from typing import Any

import pytest

from revereval.terms import ArmName, Endpoint
from tests.ledger.audited import disagreements, fields, findings, tamper
from tests.ledger.build import ANSWERS, PREFIX, ArmScript, Build, both
from tests.ledger.script import LITTLE, READ, SEARCH, Turn, used

# changed bytes


def flip(build: Build, blob_id: int) -> str:
    """Change one byte of a blob; returns the digest of the bytes it holds now."""
    with build.database.reading() as connection:
        query = "SELECT zlib, data FROM blob WHERE id = ?"
        packed, data = connection.exec_driver_sql(query, (blob_id,)).one()
    data = zlib.decompress(data) if packed else data
    changed = bytes([data[0] ^ 1]) + data[1:]
    values = (zlib.compress(changed) if packed else changed, blob_id)
    tamper(build, "UPDATE blob SET data = ? WHERE id = ?", *values)
    return hashlib.sha256(changed).hexdigest()


def scalar(build: Build, query: str, *values: Any) -> Any:
    with build.database.reading() as connection:
        return connection.exec_driver_sql(query, values).scalar_one()


@pytest.mark.parametrize(
    "chosen",
    [
        "SELECT head_blob_id FROM request WHERE id = 1",
        "SELECT item_blob_id FROM observation WHERE id = 1",
        "SELECT reply_blob_id FROM request WHERE id = 2",
        "SELECT answer_blob_id FROM arm WHERE id = 1",
    ],
)
def test_a_flipped_byte_is_reported_once_and_what_needs_it_is_not_checked(
    paired: Build, chosen: str
) -> None:
    blob_id = scalar(paired, chosen)
    stored = scalar(paired, "SELECT digest FROM blob WHERE id = ?", blob_id)
    recomputed = flip(paired, blob_id)
    assert disagreements(paired) == {("blob", "digest", stored, recomputed)}
    assert findings(paired)[1].unchecked != []


def test_bytes_that_cannot_be_decompressed_are_reported(paired: Build) -> None:
    tamper(paired, "UPDATE blob SET data = x'0102' WHERE zlib")
    assert fields(paired) == {("blob", "data")}


def test_a_blob_under_another_digest_is_reported(paired: Build) -> None:
    tamper(paired, "UPDATE blob SET digest = ?, size_bytes = 1 WHERE id = 1", "0" * 64)
    assert fields(paired) == {("blob", "digest"), ("blob", "size_bytes")}


def test_a_changed_reply_breaks_its_usage_and_the_seal(paired: Build) -> None:
    """Whoever changes a reply and its digest still has not changed what was sealed."""
    blob_id = scalar(paired, "SELECT reply_blob_id FROM request WHERE id = 2")
    reply = Turn([SEARCH], usage=used(100, 60, 11)).reply()
    digest = hashlib.sha256(reply).hexdigest()
    statement = "UPDATE blob SET data = ?, digest = ?, zlib = 0, size_bytes = ? WHERE id = ?"
    tamper(paired, statement, reply, digest, len(reply), blob_id)
    assert fields(paired) == {
        ("request", "output_tokens"), ("request", "usage_raw"), ("request", "entry_digest"),
        ("run", "tape_head"), ("run", "seal"),
    }  # fmt: skip


def test_a_changed_plan_is_reported(paired: Build) -> None:
    tamper(paired, 'UPDATE plan SET document = replace(document, \'"seed":"s"\', \'"seed":"t"\')')
    assert fields(paired) == {("plan", "digest")}
    reasons = {why for _, why in findings(paired)[1].unchecked}
    assert "its document has changed" in reasons


def test_rewired_items_are_reported(paired: Build) -> None:
    tamper(paired, "UPDATE request SET edits = '[[0,1],[1,1]]' WHERE id = 1")
    assert ("request", "digest") in fields(paired)
    tamper(paired, "UPDATE request SET edits = '[[0,1]]' WHERE id = 1")
    assert fields(paired) == {("request", "edits")}


# changed rows


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE request SET digest = 'x' WHERE id = 5", ("request", "digest")),
        ("UPDATE request SET size_bytes = 1 WHERE id = 3", ("request", "size_bytes")),
        ("UPDATE request SET input_tokens = 7 WHERE id = 2", ("request", "input_tokens")),
        ("UPDATE request SET input_tokens = 0 WHERE id = 6", ("request", "input_tokens")),
        ("UPDATE request SET cached_tokens = NULL WHERE id = 4", ("request", "cached_tokens")),
        ("UPDATE request SET uncached_tokens = 0 WHERE id = 4", ("request", "uncached_tokens")),
        ("UPDATE request SET output_tokens = 9 WHERE id = 4", ("request", "output_tokens")),
        ("UPDATE request SET reasoning_tokens = 0 WHERE id = 4", ("request", "reasoning_tokens")),
        ("UPDATE request SET usage_flags = 'x' WHERE id = 4", ("request", "usage_flags")),
        ("UPDATE request SET usage_raw = '{}' WHERE id = 4", ("request", "usage_raw")),
        ("UPDATE request SET reply_model = 'other' WHERE id = 4", ("request", "reply_model")),
        ("UPDATE request SET entry_digest = 'x' WHERE id = 1", ("request", "entry_digest")),
        ("UPDATE request SET entry_digest = 'x' WHERE id = 4", ("request", "entry_digest")),
        ("UPDATE request SET newly_projected = 2 WHERE id = 6", ("request", "newly_projected")),
        ("UPDATE request SET completed_at = NULL WHERE id = 4", ("request", "completed_at")),
        ("UPDATE run SET tape_head = 'x'", ("run", "tape_head")),
        ("UPDATE run SET seal = 'x'", ("run", "seal")),
        ("UPDATE run SET prefix_requests = 3", ("run", "prefix_requests")),
        ("UPDATE run SET prefix_archive_calls = NULL", ("run", "prefix_archive_calls")),
        ("UPDATE run SET eligible_bytes = 1", ("run", "eligible_bytes")),
        ("UPDATE run SET eligible_count = 2", ("run", "eligible_count")),
        ("UPDATE run SET history_bytes = 1", ("run", "history_bytes")),
        ("UPDATE run SET last_cached_fraction = 0.5", ("run", "last_cached_fraction")),
        ("UPDATE run SET boundary_request_id = 2", ("request", "attempts")),
        ("UPDATE run SET boundary_request_id = 4", ("run", "boundary_request_id")),
        ("UPDATE run SET f_first_request_digest = 'x'", ("run", "f_first_request_digest")),
        ("UPDATE run SET p_first_request_digest = NULL", ("run", "p_first_request_digest")),
        ("UPDATE run SET first_requests_match = 0", ("run", "first_requests_match")),
        ("UPDATE run SET capture_reason = 'budget'", ("run", "capture_reason")),
        ("UPDATE run SET answer_strict = 1", ("run", "answer_strict")),
        ("UPDATE arm SET endpoint = 'wrong' WHERE id = 1", ("arm", "endpoint")),
        ("UPDATE arm SET endpoint = 'correct' WHERE id = 2", ("arm", "endpoint")),
        ("UPDATE arm SET endpoint = 'capped' WHERE id = 1", ("arm", "suffix_requests")),
        ("UPDATE arm SET endpoint = 'capped' WHERE id = 1", ("arm", "answer_blob_id")),
        ("UPDATE arm SET extracted = 0 WHERE id = 2", ("arm", "extracted")),
        ("UPDATE arm SET strict = 1 WHERE id = 2", ("arm", "strict")),
        ("UPDATE arm SET strict_reason = 'x' WHERE id = 2", ("arm", "strict_reason")),
        ("""UPDATE arm SET key_scores = '{"x":"wrong"}' WHERE id = 1""", ("arm", "key_scores")),
        ("""UPDATE arm SET key_scores = '{"x":"right"}' WHERE id = 2""", ("arm", "key_scores")),
        ("""UPDATE run SET answer_key_scores = '{"x":"right"}'""", ("run", "answer_key_scores")),
        ("UPDATE plan SET control = 'closed_book'", ("plan", "control")),
        ("UPDATE arm SET answer_blob_id = 1 WHERE id = 1", ("arm", "answer_blob_id")),
        ("UPDATE arm SET answer_blob_id = NULL WHERE id = 1", ("arm", "answer_blob_id")),
        ("UPDATE arm SET suffix_requests = 3 WHERE id = 1", ("arm", "suffix_requests")),
        ("UPDATE arm SET archive_calls = 0 WHERE id = 1", ("arm", "archive_calls")),
        ("UPDATE arm SET metered_tokens = 3 WHERE id = 2", ("arm", "metered_tokens")),
        ("UPDATE arm SET largest_metered_prompt = 3", ("arm", "largest_metered_prompt")),
        ("UPDATE arm SET metered_since_projection = 3", ("arm", "metered_since_projection")),
        ("UPDATE arm SET turn = 2 WHERE id = 1", ("arm", "turn")),
        ("UPDATE arm SET allowed_requests = 13", ("arm", "allowed_requests")),
        ("UPDATE arm SET allowed_archive_calls = 3", ("arm", "allowed_archive_calls")),
        ("UPDATE arm SET allowed_metered_tokens = 3", ("arm", "allowed_metered_tokens")),
        ("UPDATE arm SET endpoint = 'stopped', reason = 'tired' WHERE id = 1", ("arm", "reason")),
        ("DELETE FROM arm WHERE name = 'P'", ("run", "arms")),
        ("UPDATE attempt SET state = 'failed' WHERE request_id = 4", ("attempt", "state")),
        ("UPDATE attempt SET state = 'completed' WHERE request_id = 6", ("attempt", "state")),
        ("UPDATE attempt SET ended_at = NULL WHERE request_id = 4", ("attempt", "ended_at")),
        ("UPDATE attempt SET number = 9 WHERE request_id = 4", ("attempt", "number")),
        ("UPDATE attempt SET reply_blob_id = 1 WHERE request_id = 4", ("attempt", "reply_blob_id")),
        ("DELETE FROM attempt WHERE request_id = 4", ("request", "attempts")),
        ("UPDATE observation SET handle = 'x' WHERE id = 1", ("observation", "handle")),
        ("UPDATE observation SET size_bytes = 9 WHERE id = 1", ("observation", "size_bytes")),
        ("UPDATE observation SET code_points = 9 WHERE id = 1", ("observation", "code_points")),
        ("UPDATE observation SET item_index = 1 WHERE id = 1", ("observation", "item_blob_id")),
        ("UPDATE decision SET reason = 'small' WHERE stage = 'P'", ("request", "decisions")),
        ("UPDATE decision SET reason = 'small' WHERE stage = 'capture'", ("run", "eligible_count")),
        ("UPDATE archive_call SET outcome = 'bad_arguments'", ("run", "prefix_archive_calls")),
        ("UPDATE archive_call SET outcome = 'bad_arguments'", ("arm", "archive_calls")),
        ("UPDATE plan SET contract = 'extracted'", ("plan", "contract")),
        ("UPDATE plan SET gold_digest = 'x'", ("plan", "gold_digest")),
        ("UPDATE plan SET fitting = 1", ("plan", "fitting")),
    ],
)
def test_every_kind_of_tampering_is_found(
    paired: Build, statement: str, found: tuple[str, str]
) -> None:
    tamper(paired, statement)
    assert found in fields(paired)


def test_a_disagreement_names_both_values(paired: Build) -> None:
    tamper(paired, "UPDATE request SET output_tokens = 9 WHERE id = 4")
    assert disagreements(paired) == {("request", "output_tokens", 9, 20)}
    tamper(paired, "UPDATE request SET output_tokens = NULL WHERE id = 4")
    assert disagreements(paired) == {("request", "output_tokens", None, 20)}


def test_a_gap_in_the_count_is_reported(paired: Build) -> None:
    tamper(paired, "UPDATE request SET position = 20 WHERE id = 5")
    assert ("request", "position") in fields(paired)


def test_an_answer_after_the_cap_is_reported(build: Build) -> None:
    many = ArmScript([Turn([READ])] * 12 + [ANSWERS], Endpoint.CORRECT)
    build.pair(PREFIX, both(many, many))
    assert fields(build) == {("arm", "suffix_requests")}


def test_rows_without_their_parents_are_reported(paired: Build) -> None:
    with paired.database.reading() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        connection.exec_driver_sql("UPDATE attempt SET reply_blob_id = 999 WHERE request_id = 4")
    assert {("attempt", "foreign key"), ("blob", "id")} <= fields(paired)
    assert disagreements(paired) >= {("blob", "id", 999, "no such row")}


def test_a_finished_capture_is_scored_again(build: Build) -> None:
    build.finished([Turn([READ]), ANSWERS])
    tamper(build, "UPDATE run SET answer_strict = 0")
    assert disagreements(build) == {("run", "answer_strict", False, True)}
    tamper(build, "UPDATE run SET answer_strict = 1, answer_key_scores = '{}'")
    assert disagreements(build) == {("run", "answer_key_scores", "{}", '{"x":"right"}')}


def test_answers_that_an_older_ledger_did_not_score_key_by_key_are_no_disagreement(
    build: Build,
) -> None:
    arms = {name: ArmScript([ANSWERS], Endpoint.CORRECT) for name in ArmName}
    build.pair([Turn([READ]), Turn([LITTLE])], arms, implementation=None)
    tamper(build, "UPDATE arm SET key_scores = NULL")
    assert disagreements(build) == set()


def test_a_boundary_column_without_a_boundary_is_reported(build: Build) -> None:
    build.finished([Turn([READ]), ANSWERS])
    tamper(build, "UPDATE run SET seal = 'x'")
    assert disagreements(build) == {("run", "seal", "x", None)}
