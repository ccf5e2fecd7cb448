"""How a capture and a pair came out: a small table, and one sentence that claims no more."""

import json
from typing import Any

from revereval.cli.output import line, paragraph, print_json, table
from revereval.ledger.controls import control_ending
from revereval.ledger.database import Database
from revereval.ledger.pauses import pauses_of
from revereval.ledger.repeats import repeats_of
from revereval.ledger.runs import RunRows, load_run
from revereval.ledger.totals import Totals, stage_totals
from revereval.terms import (
    CaptureOutcome,
    Endpoint,
    EndpointDefinition,
    KeyScore,
    Stage,
    StopReason,
    success_interval,
)

FAULT_CODE = 3

_RESULTS = frozenset({None, StopReason.BUDGET, StopReason.PREFIX_CAP, StopReason.GIVEN_UP})
"""Reasons that are outcomes of the plan's own limits or the user's word, and not faults."""


def print_capture(database: Database, run_id: int, *, as_json: bool) -> int:
    """Print what a capture came to; returns the exit code."""
    rows = load_run(database, run_id)
    if rows.plan.control:
        return _print_control(database, rows, as_json=as_json)
    if as_json:
        paused = _pauses_json(database, run_id)
        print_json({**_head(rows), "features": _features(rows.run), **paused})
    else:
        paragraph(_capture_line(rows))
        if rows.run.capture_outcome == CaptureOutcome.BOUNDARY:
            for name, value in _features(rows.run).items():
                line(f"  {name}: {_cell(value)}")
            line(f"  seal: {rows.run.seal}")
            line(f"`revereval run-pair {run_id}` runs both continuations from here.")
    return _code([rows.run.capture_reason])


def print_pair(database: Database, run_id: int, *, as_json: bool) -> int:
    """Print both endpoints and the tokens, repeat after repeat; returns the exit code."""
    tape = load_run(database, run_id)
    if tape.plan.control:
        return _print_control(database, tape, as_json=as_json)
    repeats = repeats_of(database, tape.run)
    pairs = [(load_run(database, repeat), _totals(database, repeat)) for repeat in repeats]
    if as_json:
        first, *others = [
            {**_pair_json(rows, totals), **_pauses_json(database, rows.run.id)}
            for rows, totals in pairs
        ]
        print_json({**first, "repeats": others})
    else:
        for rows, totals in pairs:
            _print_pair(rows, totals)
        if len(pairs) > 1:
            paragraph(
                f"These are {len(pairs)} repeats from one tape: one task seen {len(pairs)} times, "
                "not so many tasks."
            )
    reasons = [pairs[0][0].run.capture_reason]
    return _code([*reasons, *(_fault(arm) for rows, _ in pairs for arm in rows.arms)])


def _print_control(database: Database, rows: RunRows, *, as_json: bool) -> int:
    """Print what a run without tools answered; returns the exit code."""
    run, ending = rows.run, control_ending(database, rows.run.id)
    scores = _key_scores(run.answer_key_scores)
    if as_json:
        print_json({**_head(rows), "endpoint": ending["endpoint"], "key_scores": scores})
        return _code([run.capture_reason])
    said = str(ending["endpoint"])
    if scores is not None:
        right = sum(score == KeyScore.RIGHT for score in scores.values())
        said += f", {right} of {len(scores)} keys right"
    if run.capture_reason:
        said += f" ({run.capture_reason})" + (
            f": {run.capture_detail}" if run.capture_detail else ""
        )
    paragraph(f"{_run_head(rows)}closed book: {said}")
    paragraph(
        "It is a control, without tools and arms, and in no frame; it is reported beside F of the "
        "same task and model."
    )
    return _code([run.capture_reason])


def _key_scores(stored: str | None) -> dict[str, str] | None:
    return None if stored is None else json.loads(stored)


def _totals(database: Database, run_id: int) -> dict[Stage, Totals]:
    run = load_run(database, run_id).run
    with database.reading() as connection:
        return stage_totals(connection, run)


def _print_pair(rows: RunRows, totals: dict[Stage, Totals]) -> None:
    paragraph(_capture_line(rows))
    _print_table(rows, totals)
    for arm in rows.arms:
        if arm.detail:
            paragraph(f"{arm.name} {_endpoint(arm)}: {arm.detail}")
    paragraph(_sentence(rows))


def _print_table(rows: RunRows, totals: dict[Stage, Totals]) -> None:
    estimated = any(total.estimated_usage for total in totals.values())
    title = "Tokens: U uncached input, C cached input, O output"
    columns = ["", "endpoint", "requests", "U", "C", "O", "unknown"]
    body = [["prefix (once)", "", *_cells(totals.get(Stage.CAPTURE, Totals()))]]
    for arm in rows.arms:
        turn = "first" if arm.turn == 1 else "second"
        arm_totals = totals.get(Stage(arm.name), Totals())
        body.append([f"{arm.name} ({turn})", _endpoint(arm), *_cells(arm_totals)])
    table(title + (" (scripted: an estimate)" if estimated else ""), columns, body)


def _cells(totals: Totals) -> list[str]:
    counts = (totals.requests, totals.uncached_tokens, totals.cached_tokens, totals.output_tokens)
    return [*map(_cell, counts), str(totals.unknown_counts)]


def _cell(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _endpoint(arm: Any) -> str:
    return f"{arm.endpoint} ({arm.reason})" if arm.reason else str(arm.endpoint)


def _run_head(rows: RunRows) -> str:
    plan = rows.plan
    return f"run {rows.run.id}, {plan.task_id} ({plan.source_group}), {plan.provider}: "


def _capture_line(rows: RunRows) -> str:
    run, head = rows.run, _run_head(rows)
    if run.tape_run_id is not None:
        return f"{head}repeat {run.repeat} from the tape of run {run.tape_run_id}, {_first(rows)}"
    if run.capture_outcome == CaptureOutcome.BOUNDARY:
        return f"{head}boundary after {run.prefix_requests} requests, {_first(rows)}"
    if run.capture_outcome == CaptureOutcome.FINISHED:
        return f"{head}finished before anything was eligible; there is no pair"
    detail = f": {run.capture_detail}" if run.capture_detail else ""
    return f"{head}the capture stopped ({run.capture_reason}){detail}; there is no pair"


def _first(rows: RunRows) -> str:
    return f"{rows.arms[0].name} goes first"


def _sentence(rows: RunRows) -> str:
    """What this pair shows, and what it does not."""
    if not rows.arms:
        return (
            "Without a boundary this run is not in the frame of pairs; it is still in the ledger."
        )
    bounds = contrast(rows)
    low, high = bounds
    contract = f"{rows.plan.contract} contract, {rows.plan.endpoint_definition} endpoint"
    if low == high:
        shown = f"P minus F is exactly {low:+d}" if low else "P and F come out equal"
    else:
        shown = f"P minus F lies in [{low:+d}, {high:+d}]: what was not observed is not guessed"
    return f"In this one pair {shown} ({contract}); it says nothing yet about other tasks or runs."


def contrast(rows: RunRows) -> tuple[int, int]:
    """[l_P - u_F, u_P - l_F] of one pair (DESIGN §6)."""
    definition = EndpointDefinition(rows.plan.endpoint_definition)
    ends = {
        arm.name: success_interval(Endpoint(arm.endpoint), arm.reason, definition)
        for arm in rows.arms
    }
    (f_low, f_high), (p_low, p_high) = ends["F"], ends["P"]
    return p_low - f_high, p_high - f_low


def _head(rows: RunRows) -> dict[str, Any]:
    run, plan = rows.run, rows.plan
    return {
        "run": run.id,
        "plan": plan.digest,
        "task": plan.task_id,
        "source_group": plan.source_group,
        "provider": plan.provider,
        "model": plan.model,
        "control": plan.control,
        "repeat": run.repeat,
        "first_arm": rows.arms[0].name if rows.arms else plan.first_arm,
        "capture": run.capture_outcome,
        "reason": run.capture_reason,
        "detail": run.capture_detail,
        "seal": run.seal,
    }


def _features(run: Any) -> dict[str, Any]:
    names = ("eligible_bytes", "history_bytes", "eligible_count", "prefix_requests")
    return {name: getattr(run, name) for name in (*names, "last_cached_fraction")}


def _pair_json(rows: RunRows, totals: dict[Stage, Totals]) -> dict[str, Any]:
    arms = {
        arm.name: {
            "turn": arm.turn,
            "endpoint": arm.endpoint,
            "reason": arm.reason,
            "detail": arm.detail,
            "extracted": _truth(arm.extracted),
            "strict": _truth(arm.strict),
            "key_scores": _key_scores(arm.key_scores),
            **vars(totals.get(Stage(arm.name), Totals())),
        }
        for arm in rows.arms
    }
    return {
        **_head(rows),
        "features": _features(rows.run),
        "usage_estimated": any(total.estimated_usage for total in totals.values()),
        "prefix": vars(totals.get(Stage.CAPTURE, Totals())),
        "arms": arms,
        "p_minus_f": list(contrast(rows)) if rows.arms else None,
    }


def _pauses_json(database: Database, run_id: int) -> dict[str, Any]:
    """`paused`: what the run waits for, None where it does not."""
    rows = pauses_of(database, run_id)
    names = ("stage", "reason", "detail", "paused_at", "ended_at")
    return {
        "paused": next((row.reason for row in rows if row.ended_at is None), None),
        "pauses": [{name: getattr(row, name) for name in names} for row in rows],
    }


def _truth(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _fault(arm: Any) -> str | None:
    return arm.reason if arm.endpoint == Endpoint.STOPPED else None


def _code(reasons: list[str | None]) -> int:
    return 0 if all(reason in _RESULTS for reason in reasons) else FAULT_CODE
