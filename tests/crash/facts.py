"""What a ledger says of a run, read with nothing but sqlite3: no id, no time, no plan digest."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Rows = list[tuple[Any, ...]]

_QUERIES = {
    "run": """
        SELECT capture_outcome, capture_reason, capture_detail, capture_ended_at IS NOT NULL,
               prefix_requests, prefix_archive_calls, eligible_bytes, eligible_count,
               history_bytes, f_first_request_digest, p_first_request_digest, first_requests_match
        FROM run WHERE id = ?""",
    "requests": """
        SELECT stage, position, digest, size_bytes, metered_tokens, newly_projected, item_count,
               completed_at IS NOT NULL
        FROM request WHERE run_id = ? ORDER BY stage, position""",
    "usage": """
        SELECT stage, position, reply.digest, reply_model, input_tokens, uncached_tokens,
               cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usage_flags,
               usage_raw, last_cached_fraction
        FROM request JOIN run ON run.id = run_id
        LEFT JOIN blob AS reply ON reply.id = reply_blob_id
        WHERE run_id = ? ORDER BY stage, position""",
    "arms": """
        SELECT name, turn, endpoint, reason, detail, allowed_requests, allowed_archive_calls,
               allowed_metered_tokens, suffix_requests, archive_calls, arm.metered_tokens,
               largest_metered_prompt, metered_since_projection, answer.digest, extracted, strict,
               extracted_reason, strict_reason, started_at IS NOT NULL, ended_at IS NOT NULL
        FROM arm LEFT JOIN blob AS answer ON answer.id = arm.answer_blob_id
        WHERE run_id = ? ORDER BY name""",
    "observations": """
        SELECT stage, position, request_position, item_index, tool, call_id, arguments, handle,
               observation.size_bytes, code_points, error, item.digest
        FROM observation JOIN blob AS item ON item.id = observation.item_blob_id
        WHERE run_id = ? ORDER BY stage, position""",
    "decisions": """
        SELECT stage, request_position, observation, reason, saved_bytes
        FROM decision WHERE run_id = ? ORDER BY 1, 2, 3""",
    "archive calls": """
        SELECT stage, observation, outcome, remaining
        FROM archive_call WHERE run_id = ? ORDER BY 1, 2""",
}


@dataclass(frozen=True)
class Arm:
    endpoint: str
    reason: str | None
    suffix_requests: int


def query(ledger: Path, statement: str, *values: Any) -> Rows:
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        return connection.execute(statement, values).fetchall()


def facts(ledger: Path, run_id: int = 1) -> dict[str, Rows]:
    """All that two executions of one plan must share."""
    return {name: query(ledger, text, run_id) for name, text in _QUERIES.items()}


def but_usage(found: dict[str, Rows]) -> dict[str, Rows]:
    """Without replies and tokens: they depend on what the server's prefix cache met before."""
    return {name: rows for name, rows in found.items() if name != "usage"}


def arms(ledger: Path, run_id: int = 1) -> dict[str, Arm]:
    text = "SELECT name, endpoint, reason, suffix_requests FROM arm WHERE run_id = ?"
    return {name: Arm(*rest) for name, *rest in query(ledger, text, run_id)}


def capture(ledger: Path, run_id: int = 1) -> tuple[str, str | None]:
    """Outcome and reason."""
    text = "SELECT capture_outcome, capture_reason FROM run WHERE id = ?"
    ((outcome, reason),) = query(ledger, text, run_id)
    return outcome, reason


def attempts(ledger: Path) -> list[tuple[str, int, int, str]]:
    """(stage, position, number, state) of every attempt, in the order of their intents."""
    return query(
        ledger,
        """SELECT stage, position, number, state FROM attempt
        JOIN request ON request.id = attempt.request_id ORDER BY attempt.id""",
    )


def attempts_without_reply(ledger: Path) -> list[tuple[str, int, int]]:
    """(stage, position, number) of the attempts of which nothing came back: usage unknown."""
    return query(
        ledger,
        """SELECT stage, position, number FROM attempt
        JOIN request ON request.id = attempt.request_id
        WHERE attempt.reply_blob_id IS NULL AND status IS NULL ORDER BY attempt.id""",
    )


def intended(ledger: Path) -> Counter[str]:
    """How often each request body was committed as an intent."""
    text = "SELECT digest FROM attempt JOIN request ON request.id = attempt.request_id"
    return Counter(digest for (digest,) in query(ledger, text))


def run_count(ledger: Path) -> int:
    ((count,),) = query(ledger, "SELECT count(*) FROM run")
    return int(count)
