"""`ledger show`: one run as facts, every stage request by request; index look-ups only."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, select

from revereval.errors import InputError
from revereval.ledger.controls import closed_book_beside, control_ending
from revereval.ledger.database import Database
from revereval.ledger.tables import (
    ArchiveCall,
    Arm,
    Attempt,
    Decision,
    Observation,
    Pause,
    Plan,
    Request,
    Run,
    of_run,
    table,
)
from revereval.terms import EXCESS_TOTAL, AttemptState, DecisionReason, Stage

Facts = dict[str, Any]
"""JSON values by the ledger's column names."""

_PLAN, _RUN, _ARM, _REQUEST = table(Plan), table(Run), table(Arm), table(Request)
_ATTEMPT, _OBSERVATION = table(Attempt), table(Observation)
_DECISION, _ARCHIVE, _PAUSE = table(Decision), table(ArchiveCall), table(Pause)
_DOUBTFUL = (AttemptState.AMBIGUOUS, AttemptState.IN_DOUBT, AttemptState.INTENT)

_BOUNDARY = (
    "boundary_request_id", "prefix_requests", "prefix_archive_calls", "tape_head", "seal",
    "eligible_bytes", "eligible_count", "history_bytes", "last_cached_fraction",
    "first_requests_match", "f_first_request_digest", "p_first_request_digest",
)  # fmt: skip
_TOKENS: Final = (
    "input_tokens", "uncached_tokens", "cached_tokens", "output_tokens",
)  # fmt: skip
_REQUEST_FACTS = (
    "position", "digest", "size_bytes", "metered_tokens", "newly_projected", "prepared_at",
    "completed_at", "reply_model", *_TOKENS, "cache_write_tokens", "reasoning_tokens",
    "usage_estimated", "usage_flags", "possibly_cut",
)  # fmt: skip


_PAUSE_FACTS = ("stage", "reason", "detail", "paused_at", "ended_at")


def recent_runs(database: Database, count: int = 10) -> list[Facts]:
    """The last runs, the newest first."""
    wanted = select(_RUN).order_by(_RUN.c.id.desc()).limit(count)
    with database.reading() as connection:
        return [_brief(database, connection, run) for run in _rows(connection, wanted)]


def _brief(database: Database, connection: Connection, run: Facts) -> Facts:
    plan = _one(connection, _PLAN, run["plan_id"])
    wanted = select(_ARM).where(_ARM.c.run_id == run["id"])
    arms = {arm["name"]: arm for arm in _rows(connection, wanted)}
    return {
        "run": run["id"],
        "repeat": run["repeat"],
        "created_at": run["created_at"],
        **{name: plan[name] for name in ("task_id", "provider", "model", "control")},
        "control_endpoint": control_ending(database, run["id"])["endpoint"]
        if plan["control"]
        else None,
        "first_arm": next((arm["name"] for arm in arms.values() if arm["turn"] == 1), None)
        or plan["first_arm"],
        "capture_outcome": run["capture_outcome"],
        "capture_reason": run["capture_reason"],
        "paused": _waits_for(_of_run(connection, _PAUSE, run)),
        **{
            f"{name.lower()}_{column}": arms[name][column] if name in arms else None
            for name in (Stage.F, Stage.P)
            for column in ("endpoint", "reason")
        },
    }


def run_facts(database: Database, run_id: int) -> Facts:
    """Everything recorded of a run but its texts. Raises InputError when there is no such run."""
    with database.reading() as connection:
        run = _one(connection, _RUN, run_id)
        if not run:
            raise InputError(database.path, "", f"no run {run_id} in this ledger")
        plan = _one(connection, _PLAN, run["plan_id"])
        document = json.loads(plan.pop("document"))
        del plan["id"]
        wanted = select(_ARM).where(_ARM.c.run_id == run_id).order_by(_ARM.c.turn)
        stages = _stages(connection, run)
        arms = [
            {
                **_arm(arm, stages[arm["name"]]),
                "repeated_calls": _repeated_calls(stages[Stage.CAPTURE], stages[arm["name"]]),
            }
            for arm in _rows(connection, wanted)
        ]
        pauses = _of_run(connection, _PAUSE, run)
    reached = run["boundary_request_id"] is not None
    beside = closed_book_beside(database, run["plan_id"])
    return {
        "run": run_id,
        "repeat": run["repeat"],
        "tape_run_id": run["tape_run_id"],
        "created_at": run["created_at"],
        "plan": {**plan, "document": document},
        "capture": {
            "outcome": run["capture_outcome"],
            "reason": run["capture_reason"],
            "detail": run["capture_detail"],
            "ended_at": run["capture_ended_at"],
            "answer_extracted": run["answer_extracted"],
            "answer_strict": run["answer_strict"],
            "key_scores": _key_scores(run["answer_key_scores"]),
            **_totals(stages[Stage.CAPTURE]),
        },
        "paused": _waits_for(pauses),
        "pauses": [{name: pause[name] for name in _PAUSE_FACTS} for pause in pauses],
        "boundary": {name: run[name] for name in _BOUNDARY} if reached else None,
        "arms": arms,
        "closed_book": control_ending(database, run_id) if plan["control"] else beside,
        "trajectory": stages,
    }


def _key_scores(stored: str | None) -> Facts | None:
    """By key; None where there is no answer."""
    return None if stored is None else json.loads(stored)


def _waits_for(pauses: Iterable[Facts]) -> str | None:
    """Why the run waits; None where it does not."""
    return next((pause["reason"] for pause in pauses if pause["ended_at"] is None), None)


def _arm(arm: Facts, requests: Sequence[Facts]) -> Facts:
    executed = arm["endpoint"] != "unexecuted"
    hidden = {"id", "run_id", "answer_blob_id"}
    tokens = _totals(requests)
    return {
        **{name: value for name, value in arm.items() if name not in hidden},
        "key_scores": _key_scores(arm["key_scores"]),
        **(tokens if executed else dict.fromkeys(tokens)),
    }


def _repeated_calls(prefix: Iterable[Facts], requests: Iterable[Facts]) -> int:
    """Calls of an arm that its conversation had made before, to the letter: reading in circles."""
    seen = {_identity(call) for request in prefix for call in request["led_to"]}
    repeated = 0
    for request in requests:
        for call in request["led_to"]:
            repeated += _identity(call) in seen
            seen.add(_identity(call))
    return repeated


def _identity(call: Facts) -> tuple[str, str]:
    return call["tool"], call["arguments"]


def _totals(requests: Iterable[Facts]) -> Facts:
    """Tokens of the completed requests; a total is None when one of them is unknown.

    `unknown_usage` counts the dispatches without a reply that may have been billed as well.
    """
    every = list(requests)
    completed = [request for request in every if request["completed_at"]]
    doubtful = [
        attempt for request in every for attempt in request["attempts"]
        if attempt["state"] in _DOUBTFUL
    ]  # fmt: skip
    columns = {name: [request[name] for request in completed] for name in _TOKENS}
    unknown = [
        request for request in completed
        if request["input_tokens"] is None or request["output_tokens"] is None
    ]  # fmt: skip
    return {
        "completed_requests": len(completed),
        **{name: None if None in counts else sum(counts) for name, counts in columns.items()},
        "unknown_usage": len(unknown) + len(doubtful),
        "flagged_usage": sum(bool(request["usage_flags"]) for request in completed),
        "excess_totals": sum(EXCESS_TOTAL in request["usage_flags"] for request in completed),
    }


def _stages(connection: Connection, run: Facts) -> dict[str, list[Facts]]:
    """Every stage's requests in order, each with its attempts and what it showed and led to."""
    wanted = select(_ATTEMPT).join(_REQUEST, _ATTEMPT.c.request_id == _REQUEST.c.id)
    wanted = wanted.where(_in_run(_REQUEST, run)).order_by(_ATTEMPT.c.number)
    attempts = _grouped(_rows(connection, wanted), "request_id")
    decisions = _grouped(_of_run(connection, _DECISION, run), "stage", "request_position")
    observations = _observations(connection, run)
    stages: dict[str, list[Facts]] = {stage.value: [] for stage in Stage}
    for request in _of_run(connection, _REQUEST, run):
        stage, position = request["stage"], request["position"]
        decided = decisions[stage, position] if request["newly_projected"] else []
        stages[stage].append(
            {
                **{name: request[name] for name in _REQUEST_FACTS},
                "boundary": request["id"] == run["boundary_request_id"],
                "attempts": [_attempt(attempt) for attempt in attempts[request["id"],]],
                "projected": [
                    {name: decision[name] for name in ("observation", "saved_bytes")}
                    for decision in decided
                    if decision["reason"] is DecisionReason.ELIGIBLE
                ],
                "led_to": observations[stage, position + 1],
            }
        )
    return {stage: sorted(rows, key=lambda row: row["position"]) for stage, rows in stages.items()}


def _attempt(attempt: Facts) -> Facts:
    names = ("number", "state", "started_at", "ended_at", "status", "problem", "retry_after")
    return {name: attempt[name] for name in names}


def _observations(connection: Connection, run: Facts) -> Mapping[tuple[Any, ...], list[Facts]]:
    """A run's observations by stage and the position of the request that carries them first."""
    archived = {
        (call["stage"], call["observation"]): call for call in _of_run(connection, _ARCHIVE, run)
    }
    found = []
    for row in _of_run(connection, _OBSERVATION, run):
        call = archived.get((row["stage"], row["position"]))
        names = ("position", "tool", "arguments", "handle", "size_bytes", "code_points", "error")
        found.append(
            {
                **{name: row[name] for name in ("stage", "request_position", *names)},
                "archive_outcome": call["outcome"] if call else None,
                "archive_remaining": call["remaining"] if call else None,
            }
        )
    return _grouped(found, "stage", "request_position")


def _of_run(connection: Connection, rows: Table, run: Facts) -> list[Facts]:
    return _rows(connection, select(rows).where(_in_run(rows, run)).order_by(rows.c.id))


def _in_run(rows: Table, run: Facts) -> ColumnElement[bool]:
    """A repeat's tape included."""
    return of_run(rows, SimpleNamespace(id=run["id"], tape_run_id=run["tape_run_id"]))


def _one(connection: Connection, rows: Table, row_id: int) -> Facts:
    """The row with this id; empty where there is none."""
    return next(iter(_rows(connection, select(rows).where(rows.c.id == row_id))), {})


def _rows(connection: Connection, wanted: Any) -> list[Facts]:
    return [dict(row) for row in connection.execute(wanted).mappings()]


def _grouped(rows: Iterable[Facts], *names: str) -> Mapping[tuple[Any, ...], list[Facts]]:
    groups: defaultdict[tuple[Any, ...], list[Facts]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups
