"""What a report reads beside the boundary rows: plans by digest, and single pairs as they went."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from revereval.errors import FaultError, InputError
from revereval.ledger.blobs import BlobChangedError, get_blob
from revereval.ledger.database import Database
from revereval.ledger.show import Facts, run_facts
from revereval.terms import Stage

SHOWN_CHARS: Final = 120
ANSWER_CHARS: Final = 400


@dataclass(frozen=True)
class Call:
    """One tool call of a reply, and what came back."""

    tool: str
    about: str
    """Its path or query, shortened."""
    error: str | None
    """The kind of its refusal or error; None for a result."""
    archive: str | None
    """Outcome of an archive call; None for other tools."""
    size_bytes: int
    """Of the observation, UTF-8."""


@dataclass(frozen=True)
class Step:
    """One request and its reply."""

    position: int
    """In the conversation, from 0; a suffix goes on counting where the prefix ended."""
    completed: bool
    tokens_in: int | None
    tokens_out: int | None
    """None where the reply left it unknown."""
    projected: tuple[int, ...]
    """Observations that are projected in this request and in none before it."""
    calls: tuple[Call, ...]
    answered: bool
    """Its reply is the arm's final answer."""


@dataclass(frozen=True)
class Ending:
    """How an arm came to its end."""

    endpoint: str
    reason: str | None
    answer: str | None
    """The final answer, shortened."""


@dataclass(frozen=True)
class Trajectory:
    """A boundary run, request by request: the common prefix, then F and P."""

    run: int
    task: str
    provider: str
    model: str
    first_arm: str
    steps: dict[str, tuple[Step, ...]]
    """By stage: capture, F, P; the boundary request itself is in none."""
    endings: dict[str, Ending]
    """By arm."""


class PlanRow(NamedTuple):
    digest: str
    task: str
    provider: str
    model: str
    runs: int
    treatment: str


def plans_used(database: Database) -> list[PlanRow]:
    """The distinct plans of pairs that have runs, by digest; repeats of a tape are one run."""
    query = """
        SELECT digest, task_id, provider, model, count(*) AS runs, treatment
        FROM run JOIN plan ON plan.id = run.plan_id
        WHERE run.tape_run_id IS NULL AND plan.control IS NULL
        GROUP BY plan.id ORDER BY digest"""
    return [
        PlanRow(row.digest, row.task_id, row.provider, row.model, row.runs, row.treatment)
        for row in database.rows(query)
    ]


def trajectories(database: Database, runs: Iterable[int]) -> Iterator[Trajectory]:
    """The pairs of these runs, by index look-ups.

    Raises InputError for a run that is not there or has no boundary, FaultError where an answer's
    stored bytes have changed.
    """
    for run in runs:
        facts = run_facts(database, run)
        if facts["boundary"] is None:
            raise InputError(database.path, f"run {run}", "no boundary was reached: it has no pair")
        endings = {
            arm["name"]: Ending(arm["endpoint"], arm["reason"], None) for arm in facts["arms"]
        }
        for name, text in _answers(database, run):
            ended = endings[name]
            endings[name] = Ending(ended.endpoint, ended.reason, text)
        plan = facts["plan"]
        yield Trajectory(
            run=run,
            task=plan["task_id"],
            provider=plan["provider"],
            model=plan["model"],
            first_arm=next(arm["name"] for arm in facts["arms"] if arm["turn"] == 1),
            steps={
                stage.value: tuple(_steps(facts["trajectory"][stage], endings.get(stage)))
                for stage in Stage
            },
            endings=endings,
        )


def _answers(database: Database, run: int) -> Iterator[tuple[str, str]]:
    query = "SELECT name, answer_blob_id AS blob FROM arm WHERE run_id = ? AND blob IS NOT NULL"
    for row in database.rows(query, run):
        try:
            with database.reading() as connection:
                data = get_blob(connection, row.blob)
        except BlobChangedError as error:
            problem = f"an answer cannot be read, `revereval ledger audit` says more: {error}"
            raise FaultError(f"{database.path}: {problem}") from None
        yield row.name, _cut(data.decode("utf-8", "surrogatepass"), ANSWER_CHARS)


def _steps(requests: Iterable[Facts], ending: Ending | None) -> Iterator[Step]:
    sent = [request for request in requests if not request["boundary"]]
    answered = ending is not None and ending.answer is not None
    for request in sent:
        yield Step(
            position=request["position"],
            completed=request["completed_at"] is not None,
            tokens_in=request["input_tokens"],
            tokens_out=request["output_tokens"],
            projected=tuple(decision["observation"] for decision in request["projected"]),
            calls=tuple(map(_call, request["led_to"])),
            answered=answered and request is sent[-1],
        )


def _call(observation: Facts) -> Call:
    return Call(
        tool=_cut(observation["tool"], SHOWN_CHARS),
        about=_about(observation["tool"], observation["arguments"]),
        error=observation["error"],
        archive=observation["archive_outcome"],
        size_bytes=observation["size_bytes"],
    )


_ABOUT: Final = {"read": "path", "search_evidence": "query", "recover_evidence": "handle"}


def _about(tool: str, arguments: str) -> str:
    """What a call is about; the arguments as they are where they do not say it."""
    try:
        given = json.loads(arguments)
    except ValueError:
        given = None
    said = given.get(_ABOUT.get(tool, "")) if isinstance(given, dict) else None
    if not isinstance(said, str):
        return _cut(arguments, SHOWN_CHARS)
    if tool == "recover_evidence":
        assert isinstance(given, dict)
        return _cut(f"{said[:12]}… from {given.get('start')}, {given.get('chars')} characters",
                    SHOWN_CHARS)  # fmt: skip
    return _cut(said, SHOWN_CHARS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
