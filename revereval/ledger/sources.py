"""Where the rows of `ledger export` come from: one statement a table, an expression a column."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sqlalchemy import TextClause, text

from revereval.ledger.columns import (
    ARMS,
    BOUNDARIES,
    OBSERVATIONS,
    PAUSES,
    PLANS,
    REQUESTS,
    ExportTable,
)
from revereval.ledger.controls import CLOSED_BOOK
from revereval.ledger.treatment import TREATMENT_FIELDS
from revereval.terms import KeyScore


@dataclass(frozen=True)
class Source:
    export: ExportTable
    table: str
    """Walked by its `id`, so that rows come in that order without sorting."""
    key: str
    """The column that holds that id."""
    rows: int
    """Of a full page."""
    joins: str
    expressions: Mapping[str, str]
    """SQL of every column by name."""
    where: str = "TRUE"
    common: str = ""
    """Common table expressions over `page`, the runs of the page and those of their tapes."""

    @cached_property
    def statement(self) -> TextClause:
        """One page: the next `:rows` rows after the id `:after`. All its parts are constants."""
        chosen = f"{self.table}.id > :after AND {self.where} ORDER BY {self.table}.id LIMIT :rows"
        columns = ", ".join(f"{self.expressions[name]} AS {name}" for name in self.export.names)
        select = f"SELECT {columns} FROM {self.table} {self.joins} WHERE {chosen}"  # noqa: S608 - constants
        if not self.common:
            return text(select)
        run = "id, tape_run_id" if self.table == "run" else "run_id, NULL"
        rows = f"SELECT {run} FROM {self.table} WHERE {chosen}"  # noqa: S608 - constants
        both = "SELECT own FROM chosen UNION SELECT tape FROM chosen"
        page = f"SELECT * FROM ({both}) WHERE own IS NOT NULL"  # noqa: S608 - constants
        chosen_runs = f"chosen(own, tape) AS ({rows})"
        return text(f"WITH {chosen_runs}, page(run_id) AS ({page}), {self.common} {select}")


# a sum is NULL when a single row does not know its part; `uncounted` are the dispatches that may
# have cost something and are in no sum
_USAGE = """
usage AS (
  SELECT run_id, stage, count(*) AS requests, sum(metered_tokens) AS metered,
    CASE WHEN count(input_tokens + output_tokens) = count(*)
      THEN sum(input_tokens + output_tokens) END AS tokens,
    CASE WHEN count(input_tokens) = count(*) THEN sum(input_tokens) END AS input,
    CASE WHEN count(uncached_tokens) = count(*) THEN sum(uncached_tokens) END AS uncached,
    CASE WHEN count(cached_tokens) = count(*) THEN sum(cached_tokens) END AS cached,
    CASE WHEN count(output_tokens) = count(*) THEN sum(output_tokens) END AS output,
    count(*) - count(input_tokens + output_tokens) AS unknown,
    count(*) - count(uncached_tokens + cached_tokens) AS unknown_cache,
    count(*) FILTER (WHERE usage_flags != '') AS flagged,
    count(*) FILTER (WHERE usage_flags LIKE '%total_exceeds_parts%') AS excess_totals
  FROM request
  WHERE completed_at IS NOT NULL AND run_id IN (SELECT run_id FROM page)
  GROUP BY run_id, stage),
uncounted AS (
  SELECT request.run_id, request.stage, count(*) AS attempts
  FROM request JOIN attempt ON attempt.request_id = request.id
  WHERE attempt.state IN ('ambiguous', 'in_doubt', 'intent')
    AND request.run_id IN (SELECT run_id FROM page)
  GROUP BY request.run_id, request.stage)
"""


def _usage_joins(alias: str, run: str, stage: str) -> str:
    return (
        f"LEFT JOIN usage AS {alias} ON {alias}.run_id = {run} AND {alias}.stage = {stage} "
        f"LEFT JOIN uncounted AS {alias}_uncounted "
        f"ON {alias}_uncounted.run_id = {run} AND {alias}_uncounted.stage = {stage} "
    )


def _usage(name: str, alias: str, executed: str = "TRUE") -> dict[str, str]:
    """A stage's totals: NULL where it was not executed, 0 where it completed no request."""

    def total(column: str) -> str:
        return (
            f"CASE WHEN NOT ({executed}) THEN NULL WHEN {alias}.run_id IS NULL THEN 0 "
            f"ELSE {alias}.{column} END"
        )

    return {
        f"{name}_tokens": total("tokens"),
        f"{name}_input_tokens": total("input"),
        f"{name}_uncached_tokens": total("uncached"),
        f"{name}_cached_tokens": total("cached"),
        f"{name}_output_tokens": total("output"),
        f"{name}_unknown_usage": f"coalesce({alias}.unknown, 0)",
        f"{name}_unknown_cache": f"coalesce({alias}.unknown_cache, 0)",
        f"{name}_flagged_usage": f"coalesce({alias}.flagged, 0)",
        f"{name}_excess_totals": f"coalesce({alias}.excess_totals, 0)",
        f"{name}_uncounted_attempts": f"coalesce({alias}_uncounted.attempts, 0)",
    }


def _under(contract: str, arm: str) -> str:
    """The endpoint under a contract: only correct and wrong can change places."""
    return (
        f"CASE WHEN {arm}.endpoint IN ('correct', 'wrong') "
        f"THEN CASE {arm}.{contract} WHEN 1 THEN 'correct' WHEN 0 THEN 'wrong' END "
        f"ELSE {arm}.endpoint END"
    )


def _keys(arm: str, score: str) -> str:
    counted = f"SELECT count(*) FROM json_each({arm}.key_scores) WHERE value = '{score}'"  # noqa: S608 - constants
    return f"CASE WHEN {arm}.key_scores IS NOT NULL THEN ({counted}) END"


def _executed(arm: str) -> str:
    return f"coalesce({arm}.endpoint, 'unexecuted') != 'unexecuted'"


def _same(table: str, *names: str) -> dict[str, str]:
    """Columns that are called the same in the ledger."""
    return {name: f"{table}.{name}" for name in names}


_TASK = _same("plan", "task_id", "source_group")
_SETTINGS = {
    "plan_digest": "plan.digest",
    "treatment": "plan.treatment",
    "split": "json_extract(plan.document, '$.task.split')",
    **_same("plan", "task_digest", "snapshot_digest", "gold_digest", "provider", "model", "seed"),
    **_same("plan", "companion", "endpoint_definition", "contract", "first_arm", "fitting"),
}
# sorted, and each value as the plan's canonical JSON spells it: their SHA-256 is the treatment
_TREATMENT_SETTINGS = ", ".join(
    f"'{name}', plan.document -> '$.{name}'" for name in sorted(TREATMENT_FIELDS)
)
_ARM_COLUMNS = (
    "endpoint", "reason", "extracted", "strict", "allowed_requests", "allowed_archive_calls",
    "allowed_metered_tokens", "suffix_requests", "archive_calls", "metered_tokens",
    "largest_metered_prompt", "metered_since_projection",
)  # fmt: skip
_OF_RUN = "JOIN plan ON plan.id = run.plan_id "


def _side(arm: str) -> dict[str, str]:
    """One arm's columns of a boundary row; `arm` is f or p."""
    return {
        **{f"{arm}_{name}": f"{arm}.{name}" for name in _ARM_COLUMNS},
        f"{arm}_endpoint_extracted": _under("extracted", arm),
        f"{arm}_endpoint_strict": _under("strict", arm),
        f"{arm}_first_request_digest": f"run.{arm}_first_request_digest",
        **{f"{arm}_keys_{score}": _keys(arm, score) for score in KeyScore},
        **_usage(f"{arm}_suffix", f"{arm}_usage", _executed(arm)),
    }


# left joins throughout: a row that should be there and is not must not take its run along
_BOTH_ARMS = (
    "LEFT JOIN arm AS f ON f.run_id = run.id AND f.name = 'F' "
    "LEFT JOIN arm AS p ON p.run_id = run.id AND p.name = 'P' "
)
# a repeat's own, which takes turns with the plan's
_FIRST_ARM = "CASE f.turn WHEN 1 THEN 'F' WHEN 2 THEN 'P' ELSE plan.first_arm END"
_BOUNDARIES = Source(
    export=BOUNDARIES,
    table="run",
    key="run_id",
    rows=500,
    where="run.capture_outcome = 'boundary'",
    common=_USAGE,
    joins=_OF_RUN
    + _BOTH_ARMS
    + "LEFT JOIN request AS boundary ON boundary.id = run.boundary_request_id "
    + _usage_joins("prefix", "coalesce(run.tape_run_id, run.id)", "'capture'")
    + _usage_joins("f_usage", "run.id", "'F'")
    + _usage_joins("p_usage", "run.id", "'P'"),
    expressions={
        "flow": "'paired'",
        "run_id": "run.id",
        "boundary_request_digest": "boundary.digest",
        "prefix_metered_tokens": "coalesce(prefix.metered, 0)",
        "closed_book": CLOSED_BOOK,
        **_TASK,
        **_SETTINGS,
        "treatment_settings": f"json_object({_TREATMENT_SETTINGS})",
        "first_arm": _FIRST_ARM,
        **_same("run", "repeat", "tape_run_id", "created_at", "tape_head", "seal"),
        **_same("run", "history_bytes", "eligible_bytes"),
        **_same("run", "eligible_count", "prefix_requests", "last_cached_fraction"),
        **_same("run", "prefix_archive_calls", "first_requests_match"),
        **_usage("prefix", "prefix"),
        **_side("f"),
        **_side("p"),
    },
)
_ARMS = Source(
    export=ARMS,
    table="arm",
    key="arm_id",
    rows=1000,
    common=_USAGE,
    joins="JOIN run ON run.id = arm.run_id "
    + _OF_RUN
    + _usage_joins("suffix", "arm.run_id", "arm.name"),
    expressions={
        "arm_id": "arm.id",
        "arm": "arm.name",
        **_same("arm", *_ARM_COLUMNS, "run_id", "turn", "detail", "started_at", "ended_at"),
        **_same("arm", "extracted_reason", "strict_reason", "key_scores"),
        "endpoint_extracted": _under("extracted", "arm"),
        "endpoint_strict": _under("strict", "arm"),
        "answer": "arm.answer_blob_id",
        **_TASK,
        **{name: _SETTINGS[name] for name in ("plan_digest", "provider", "model")},
        **_usage("suffix", "suffix", _executed("arm")),
    },
)
_PLANS = Source(
    export=PLANS,
    table="run",
    key="run_id",
    rows=500,
    common=_USAGE,
    joins=_OF_RUN + _BOTH_ARMS + _usage_joins("capture", "run.id", "'capture'"),
    expressions={
        "run_id": "run.id",
        **_same("run", "repeat", "tape_run_id", "created_at", "capture_outcome"),
        **_same("run", "capture_reason", "capture_detail"),
        **_same("run", "capture_ended_at", "answer_extracted", "answer_strict"),
        **_same("run", "answer_key_scores"),
        **_same("plan", "control"),
        "answer": "run.answer_blob_id",
        "capture_requests": "coalesce(capture.requests, 0)",
        **_TASK,
        **_SETTINGS,
        "first_arm": _FIRST_ARM,
        **_usage("capture", "capture"),
        **{f"{arm}_{name}": f"{arm}.{name}" for arm in "fp" for name in ("endpoint", "reason")},
        "paused": "(SELECT reason FROM pause WHERE run_id = run.id AND ended_at IS NULL LIMIT 1)",
        "pauses": "(SELECT count(*) FROM pause WHERE run_id = run.id)",
    },
)
_LAST_ATTEMPT = (
    "(SELECT {} FROM attempt WHERE request_id = request.id ORDER BY number DESC LIMIT 1)"
)
_REQUESTS = Source(
    export=REQUESTS,
    table="request",
    key="request_id",
    rows=2000,
    joins="JOIN run ON run.id = request.run_id "
    + _OF_RUN
    + "LEFT JOIN blob AS reply ON reply.id = request.reply_blob_id ",
    expressions={
        "request_id": "request.id",
        "boundary": "run.boundary_request_id IS request.id",
        **_same("request", "run_id", "stage", "position", "digest", "size_bytes", "item_count"),
        **_same("request", "metered_tokens", "newly_projected", "prepared_at", "completed_at"),
        **_same("request", "entry_digest", "reply_model", "input_tokens", "uncached_tokens"),
        **_same("request", "cached_tokens", "cache_write_tokens", "output_tokens"),
        **_same("request", "reasoning_tokens", "usage_estimated", "usage_flags", "usage_raw"),
        **_same("request", "possibly_cut"),
        "attempts": "(SELECT count(*) FROM attempt WHERE request_id = request.id)",
        "uncounted_attempts": "(SELECT count(*) FROM attempt WHERE request_id = request.id "
        "AND state IN ('ambiguous', 'in_doubt', 'intent'))",
        **{name: _LAST_ATTEMPT.format(name) for name in ("status", "problem")},
        "attempt_state": _LAST_ATTEMPT.format("state"),
        "reply_digest": "reply.digest",
        "reply_bytes": "reply.size_bytes",
        **_TASK,
    },
)
_LAST_DECISION = (
    "(SELECT {} FROM decision WHERE run_id = observation.run_id AND stage = observation.stage "
    "AND decision.observation = observation.position ORDER BY request_position DESC LIMIT 1)"
)
_PROJECTION = (
    "(SELECT {} FROM decision JOIN request AS sent ON sent.run_id = decision.run_id "
    "AND sent.stage = 'P' AND sent.position = decision.request_position "
    "WHERE decision.run_id = observation.run_id AND decision.stage = 'P' "
    "AND decision.observation = observation.position AND decision.reason = 'eligible' "
    "AND observation.stage != 'F' ORDER BY decision.request_position LIMIT 1)"
)
_OBSERVATIONS = Source(
    export=OBSERVATIONS,
    table="observation",
    key="observation_id",
    rows=2000,
    joins="JOIN run ON run.id = observation.run_id "
    + _OF_RUN
    + "LEFT JOIN archive_call ON archive_call.run_id = observation.run_id "
    "AND archive_call.stage = observation.stage "
    "AND archive_call.observation = observation.position ",
    expressions={
        "observation_id": "observation.id",
        **_same("observation", "run_id", "stage", "position", "request_position", "tool"),
        **_same("observation", "call_id", "arguments", "handle", "size_bytes", "code_points"),
        **_same("observation", "error"),
        "archive_outcome": "archive_call.outcome",
        "archive_remaining": "archive_call.remaining",
        "reason": _LAST_DECISION.format("reason"),
        "reason_from": _LAST_DECISION.format("request_position"),
        "p_projected_at": _PROJECTION.format("decision.request_position"),
        "p_saved_bytes": _PROJECTION.format("decision.saved_bytes"),
        **_TASK,
    },
)
_PAUSES = Source(
    export=PAUSES,
    table="pause",
    key="pause_id",
    rows=2000,
    joins="JOIN run ON run.id = pause.run_id " + _OF_RUN,
    expressions={
        "pause_id": "pause.id",
        **_same("pause", "run_id", "stage", "reason", "detail", "paused_at", "ended_at"),
        **_TASK,
    },
)
SOURCES: Final[Mapping[str, Source]] = {
    "boundaries": _BOUNDARIES,
    "arms": _ARMS,
    "requests": _REQUESTS,
    "observations": _OBSERVATIONS,
    "plans": _PLANS,
    "pauses": _PAUSES,
}
