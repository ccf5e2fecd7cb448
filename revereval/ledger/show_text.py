"""The facts of `ledger show` for a person; its texts are foreign and to be printed escaped."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from revereval.ledger.show import Facts

_SHOWN_CHARS = 80
_UNCOUNTED = {"unknown_usage": 0, "flagged_usage": 0, "excess_totals": 0}


@dataclass(frozen=True)
class Grid:
    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Lines:
    title: str
    lines: Sequence[str]


def run_lines(runs: Sequence[Facts]) -> Lines:
    """A line a run."""
    return Lines("last runs", [_brief(run) for run in runs])


def _brief(run: Facts) -> str:
    arms = [
        f"{arm} {_ending(run[f'{arm.lower()}_endpoint'], run[f'{arm.lower()}_reason'])}"
        for arm in ("F", "P")
        if run[f"{arm.lower()}_endpoint"]
    ]
    capture = _ending(run["capture_outcome"], run["capture_reason"])
    if run["control"]:
        capture = f"closed book, {_ending(run['control_endpoint'], run['capture_reason'])}"
    arms += [f"paused({run['paused']})"] if run["paused"] else []
    who = f"{run['task_id']} ({run['model']})"
    return f"{run['run']:>4}  {run['created_at'][:16]}  {who}: {', '.join([capture, *arms])}"


def run_sections(facts: Facts) -> Iterator[Grid | Lines]:
    """What a person wants to know of a run, in the order it happened."""
    yield _pairs(f"run {facts['run']}", _plan(facts))
    yield _pairs("capture", _capture(facts["capture"]))
    if facts["capture"]["key_scores"]:
        yield _keys({"capture": facts["capture"]["key_scores"]})
    if facts["pauses"]:
        yield Lines("pauses", list(map(_pause, facts["pauses"])))
    boundary = facts["boundary"]
    if boundary:
        yield _pairs("boundary", {name: _fact(value) for name, value in boundary.items()})
    if facts["arms"]:
        yield _arms(facts["arms"], facts["closed_book"])
    scored = {arm["name"]: arm["key_scores"] for arm in facts["arms"] if arm["key_scores"]}
    if scored:
        yield _keys(scored)
    answered = {arm["name"] for arm in facts["arms"] if arm["endpoint"] in ("correct", "wrong")}
    if facts["capture"]["outcome"] == "finished":
        answered.add("capture")
    for stage, requests in facts["trajectory"].items():
        if requests:
            yield _trajectory(stage, requests, stage in answered)


def _pairs(title: str, pairs: Mapping[str, str]) -> Lines:
    return Lines(title, [f"{name}: {value}" for name, value in pairs.items()])


def _plan(facts: Facts) -> dict[str, str]:
    plan, document = dict(facts["plan"]), facts["plan"]["document"]
    if facts["arms"]:
        plan["first_arm"] = facts["arms"][0]["name"]  # a repeat's own
    names = ("source_group", "provider", "model", "first_arm", "companion")
    usage = " (usage is estimated)" if plan["provider"] == "scripted" else ""
    tape = facts["tape_run_id"]
    return {
        **({"repeat": f"{facts['repeat']}, from the tape of run {tape}"} if tape else {}),
        **({"control": _closed_book(facts["closed_book"])} if plan["control"] else {}),
        "created": facts["created_at"],
        "task": plan["task_id"],
        **{name: plan[name] for name in names},
        "provider": plan["provider"] + usage,
        "endpoint": plan["endpoint_definition"],
        "contract": plan["contract"],
        "seed": plan["seed"],
        "fitting": _fact(plan["fitting"]),
        "projection": _settings(document["projection"]),
        "limits": _settings(document["limits"]),
        "plan": plan["digest"],
    }


def _pause(pause: Facts) -> str:
    until = f"until {pause['ended_at']}" if pause["ended_at"] else "it waits still"
    return f"{pause['paused_at']}, {pause['stage']}, {pause['reason']}: {pause['detail']}; {until}"


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_fact(value, 'none')}" for name, value in values.items())


def _capture(capture: Facts) -> dict[str, str]:
    pairs = {
        "outcome": _ending(capture["outcome"], capture["reason"]),
        "detail": capture["detail"],
        "requests": str(capture["completed_requests"]),
        "tokens": _tokens(capture),
    }
    if capture["outcome"] == "finished":
        pairs["answer"] = (
            f"extracted {_fact(capture['answer_extracted'])}, "
            f"strict {_fact(capture['answer_strict'])}"
        )
    return {name: value for name, value in pairs.items() if value}


def _closed_book(ending: Facts) -> str:
    return f"closed book: {_ending(ending['endpoint'], ending['reason'])}"


def _keys(scored: Mapping[str, Mapping[str, str]]) -> Grid:
    """A row a key of the gold, and whose answer has it right, wrong or not at all."""
    keys = next(iter(scored.values()))
    rows = [[key, *(scores[key] for scores in scored.values())] for key in keys]
    return Grid("answers, key by key", ("key", *scored), rows)


def _arms(arms: Sequence[Facts], closed_book: Facts | None) -> Grid:
    """One column an arm, in the order they go; beside F what its model answers without tools."""
    beside = (
        "" if closed_book is None else f"{_closed_book(closed_book)} (run {closed_book['run']})"
    )
    lines = {
        "endpoint": [_ending(arm["endpoint"], arm["reason"]) for arm in arms],
        "without tools": [beside if arm["name"] == "F" else "" for arm in arms],
        "detail": [arm["detail"] for arm in arms],
        "extracted": [_verdict(arm, "extracted") for arm in arms],
        "strict": [_verdict(arm, "strict") for arm in arms],
        "suffix requests": [f"{a['suffix_requests']} of {a['allowed_requests']}" for a in arms],
        "archive calls": [f"{a['archive_calls']} of {a['allowed_archive_calls']}" for a in arms],
        "repeated calls": [str(arm["repeated_calls"]) for arm in arms],
        "tokens": [_tokens(a) if a["endpoint"] != "unexecuted" else "" for a in arms],
        "metered": [
            f"{arm['metered_tokens']:,} of {_fact(arm['allowed_metered_tokens'], 'no limit')}; "
            f"largest prompt {arm['largest_metered_prompt']:,}; "
            f"since projection {arm['metered_since_projection']:,}"
            for arm in arms
        ],
    }
    columns = ("", *(f"{arm['name']} (turn {arm['turn']})" for arm in arms))
    rows = [[name, *cells] for name, cells in lines.items() if any(cells)]
    return Grid("arms", columns, rows)


def _verdict(arm: Facts, contract: str) -> str:
    verdict = arm[contract]
    if verdict is None:
        return ""
    reason = arm[f"{contract}_reason"]
    return "correct" if verdict else f"wrong: {reason}" if reason else "wrong"


def _tokens(totals: Facts) -> str:
    """U, C and O of a stage, and how many requests leave them unknown or contradict themselves."""
    names = ("uncached_tokens", "cached_tokens", "output_tokens")
    counts = [_fact(totals[name], "unknown") for name in names]
    text = "U {}, C {}, O {}".format(*counts)
    if totals["unknown_usage"]:
        text += f"; {totals['unknown_usage']} of unknown usage"
    if totals["flagged_usage"]:
        text += f"; {totals['flagged_usage']} with contradictions"
    if totals["excess_totals"]:
        text += f"; {totals['excess_totals']} with a total of more than its parts"
    return text


def _trajectory(stage: str, requests: Sequence[Facts], answered: bool) -> Lines:
    """A line a request, and below it what it projected, what went wrong, what its reply asked."""
    lines = []
    for request in requests:
        lines.append(f"{request['position']:>4}  {_request(request)}")
        below = [*_notes(request), *map(_projected, request["projected"])]
        below += map(_led_to, request["led_to"])
        if answered and request is requests[-1]:
            below.append("the final answer")
        lines += [f"      {text}" for text in below]
    return Lines(f"requests of {stage}, by position in the conversation", lines)


def _request(request: Facts) -> str:
    metered = f"{request['metered_tokens']:,} metered tokens"
    if request["boundary"]:
        return f"{metered}; the boundary, not dispatched"
    if not request["completed_at"]:
        return f"{metered}; not completed"
    return f"{metered}; {_tokens({**request, **_UNCOUNTED})}"


def _projected(decision: Facts) -> str:
    saved = decision["saved_bytes"]
    return f"newly projected: observation {decision['observation']}, {saved:,} bytes saved"


def _led_to(observation: Facts) -> str:
    """One tool call and its result, as in `read a.py: observation 3, 12,345 bytes`."""
    call = f"{observation['tool']} {_arguments(observation['arguments'])}".strip()
    if observation["error"]:
        return f"{call}: refused, {observation['error']}"
    result = f"{call}: observation {observation['position']}, {observation['size_bytes']:,} bytes"
    if observation["archive_outcome"]:
        result += f", {observation['archive_remaining']} calls left"
    return result


def _arguments(text: str) -> str:
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    if isinstance(parsed, dict):
        text = " ".join(str(value) for value in parsed.values())
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"


def _notes(request: Facts) -> Iterator[str]:
    attempts = request["attempts"]
    failed = attempts[:-1] if request["completed_at"] else attempts
    for attempt in failed:
        yield f"attempt {attempt['number']}: {_state(attempt)}"
    if request["usage_flags"]:
        yield f"usage contradicts itself: {request['usage_flags']}"
    if request["possibly_cut"]:
        yield "possibly cut: its output is as long as was allowed"


def _state(attempt: Facts) -> str:
    parts = (attempt["state"], attempt["problem"])
    return ", ".join(part for part in parts if part)


def _ending(ending: str | None, reason: str | None) -> str:
    return f"{ending}({reason})" if reason else ending or ""


def _fact(value: Any, unknown: str = "unknown") -> str:
    if value is None:
        return unknown
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
