"""What the model answers without tools: boundary tasks that it may know from memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from revereval.analysis.boundaries import Flags
from revereval.analysis.frames import counted
from revereval.analysis.study import Study, first_tasks


@dataclass(frozen=True)
class ClosedBook:
    """Of the whole frame; a task counts once, a run as the frame counts it."""

    tasks: int
    asked: int
    """Tasks with a closed-book run."""
    correct: int
    """Of these, the tasks that it answers correctly."""
    correct_tasks: Sequence[str]
    """The first of them, sorted."""
    runs: Fraction
    """Boundary runs of the correct tasks."""
    f_correct: Fraction
    """Of these, the ones in which F is correct."""


def closed_book(study: Study, most: int) -> ClosedBook | None:
    """None where no task of the frame has a closed-book run. `most`: names to give."""
    column, frame = study.table.closed_book, study.whole.rows
    if column is None or not (frame & (column.codes >= 0)).any():
        return None

    def tasks(rows: Flags) -> tuple[list[str], int]:
        return first_tasks(study.table, frame & rows, most)

    correct, every = tasks(column.equals("correct"))
    runs = frame & column.equals("correct")
    return ClosedBook(
        tasks=tasks(frame)[1],
        asked=tasks(column.codes >= 0)[1],
        correct=every,
        correct_tasks=correct,
        runs=counted(study.table, runs),
        f_correct=counted(study.table, runs & (study.outcomes.f_low == 1)),
    )
