"""Controls beside pairs: what a task's newest run without tools came to, by task and model."""

from typing import Any, Final

from revereval.ledger.database import Database

_CONTROL: Final = """
FROM plan AS control_plan JOIN run AS control_run ON control_run.plan_id = control_plan.id
"""
_ENDPOINT: Final = """
CASE WHEN control_run.capture_outcome != 'finished' THEN 'stopped'
  WHEN CASE control_plan.contract WHEN 'strict' THEN control_run.answer_strict
    ELSE control_run.answer_extracted END THEN 'correct' ELSE 'wrong' END
"""
"""Under the control's own contract; a control that has not ended is stopped(interrupted)."""
_NEWEST_BESIDE: Final = """
WHERE control_plan.task_id = plan.task_id AND control_plan.control = 'closed_book'
  AND control_plan.task_digest = plan.task_digest AND control_plan.provider = plan.provider
  AND control_plan.model = plan.model
ORDER BY control_run.id DESC LIMIT 1
"""
CLOSED_BOOK: Final = f"(SELECT {_ENDPOINT} {_CONTROL} {_NEWEST_BESIDE})"
"""SQL over a row of `plan`: the endpoint of its task's and model's newest closed-book run."""


def control_ending(database: Database, run_id: int) -> dict[str, Any]:
    """A control's `run`, `endpoint` (correct, wrong or stopped) and `reason`."""
    columns = f"control_run.id AS run, {_ENDPOINT} AS endpoint, capture_reason AS reason"
    query = f"SELECT {columns} {_CONTROL} WHERE control_run.id = ?"
    (found,) = database.rows(query, run_id)
    return {"run": found.run, "endpoint": found.endpoint, "reason": found.reason}


def closed_book_beside(database: Database, plan_id: int) -> dict[str, Any] | None:
    """The ending of the newest closed-book run of a plan's task and model; None without one."""
    newest = f"(SELECT control_run.id {_CONTROL} {_NEWEST_BESIDE})"
    (found,) = database.rows(f"SELECT {newest} AS run FROM plan WHERE id = ?", plan_id)  # noqa: S608 - constants
    return None if found.run is None else control_ending(database, found.run)
