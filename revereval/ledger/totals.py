"""Token totals of a run's stages: a total is unknown as soon as one of its parts is."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, case, func, select

from revereval.ledger.tables import Attempt, Request, of_run, table
from revereval.terms import EXCESS_TOTAL, AttemptState, Stage

_REQUEST, _ATTEMPT = table(Request), table(Attempt)
_DOUBTFUL = (AttemptState.AMBIGUOUS, AttemptState.IN_DOUBT, AttemptState.INTENT)


@dataclass(frozen=True)
class Totals:
    """Of the completed requests of one stage; tokens are None where a reply left one unknown."""

    requests: int = 0
    uncached_tokens: int | None = 0
    cached_tokens: int | None = 0
    output_tokens: int | None = 0
    unknown_counts: int = 0
    """Requests with U, C or O unknown, and dispatches without a reply that may have been billed."""
    flagged_usage: int = 0
    """Requests whose reported usage contradicts itself."""
    excess_totals: int = 0
    """Those of them whose total is more than input and output together."""
    estimated_usage: int = 0
    """Requests whose reply calls its usage an estimate."""


def stage_totals(connection: Connection, run: Any) -> dict[Stage, Totals]:
    """Totals by stage, for the stages that completed a request; a repeat's tape is its capture.

    run: its row, as `of_run` takes it.
    """
    columns = [_REQUEST.c[f"{kind}_tokens"] for kind in ("uncached", "cached", "output")]
    unknown = columns[0].is_(None) | columns[1].is_(None) | columns[2].is_(None)
    flagged = _REQUEST.c.usage_flags != ""
    known = [case((func.count(c) == func.count(), func.sum(c))) for c in columns]
    statement = (
        select(
            _REQUEST.c.stage,
            func.count(),
            *known,
            func.count(case((unknown, 1))),
            func.count(case((flagged, 1))),
            func.count(case((_REQUEST.c.usage_flags.contains(EXCESS_TOTAL), 1))),
            func.count(case((_REQUEST.c.usage_estimated, 1))),
        )
        .where(of_run(_REQUEST, run) & _REQUEST.c.completed_at.is_not(None))
        .group_by(_REQUEST.c.stage)
    )
    totals = {Stage(stage): Totals(*row) for stage, *row in connection.execute(statement)}
    doubtful = (
        select(_REQUEST.c.stage, func.count())
        .join(_ATTEMPT, _ATTEMPT.c.request_id == _REQUEST.c.id)
        .where(of_run(_REQUEST, run) & _ATTEMPT.c.state.in_(_DOUBTFUL))
        .group_by(_REQUEST.c.stage)
    )
    for name, count in connection.execute(doubtful):
        known_so_far = totals.get(Stage(name), Totals())
        unknown_counts = known_so_far.unknown_counts + count
        totals[Stage(name)] = replace(known_so_far, unknown_counts=unknown_counts)
    return totals
