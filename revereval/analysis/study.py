"""One study of one table: its frames, its sensitivity variants, and the rule in question."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from revereval.analysis import frames
from revereval.analysis.boundaries import (
    PRIMARY,
    Boundaries,
    Flags,
    Ints,
    Success,
    success,
)
from revereval.analysis.flow import Plans
from revereval.analysis.frames import Fitting, Frame
from revereval.analysis.resources import Prices
from revereval.analysis.selector import Rule
from revereval.errors import InputError
from revereval.terms import ArmName, EndpointDefinition


@dataclass(frozen=True)
class Question:
    """What is asked of a table; all of it fixed by whoever asks, before the answer."""

    rule: Rule | None = None
    fitted_on: frozenset[str] | None = None
    """Tasks that the rule's file says it was fitted on; None for a rule without a file."""
    fitted_groups: frozenset[str] | None = None
    """Their source groups."""
    exclude: tuple[str, ...] = ()
    relax: tuple[tuple[str, ArmName], ...] = ()
    contract: str = PRIMARY
    definition: EndpointDefinition | None = None
    feature: str = "history_bytes"
    """Of the hindsight threshold."""
    prices: Prices | None = None
    joint_prefix_total: int | None = None
    """Prefix tokens of J, where the rows do not know their own."""
    comparable_prefix_total: int | None = None


@dataclass(frozen=True)
class Variant:
    """The record as it is, or with named rows left out, or with named outcomes taken as unknown."""

    name: str
    outcomes: Success
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A checked table and a question; everything else follows from them."""

    table: Boundaries
    question: Question = field(default_factory=Question)
    plans: Plans | None = None
    """None for a table that came without its plans."""
    elsewhere: int = 0
    """Runs of the ledger under treatments of which none reached a boundary; in no other count."""

    @cached_property
    def outcomes(self) -> Success:
        """Under the contract and the definition that the question names."""
        return success(self.table, self.question.contract, self.question.definition)

    @cached_property
    def whole(self) -> Frame:
        return frames.whole(self.table)

    @cached_property
    def fitting(self) -> Fitting | None:
        question = self.question
        return frames.fitting(self.table, question.fitted_on, question.fitted_groups)

    @cached_property
    def frames(self) -> list[Frame]:
        """The whole, and what is held out of a fit where there was one and it is known."""
        fitting = self.fitting
        if fitting is None or (self.question.rule is None and not fitting.doubtful.any()):
            return [self.whole]
        return [self.whole, *frames.held_out(self.table, self.whole, fitting)]

    @cached_property
    def splits(self) -> list[Frame]:
        return frames.by_split(self.table, self.whole)

    @cached_property
    def variants(self) -> list[Variant]:
        question = self.question
        found = [Variant("as recorded", self.outcomes)]
        if question.exclude:
            name = f"without {', '.join(question.exclude)}"
            self.table.tasks_named(question.exclude)  # an unknown task is the asker's error
            found.append(Variant(name, self.outcomes, question.exclude))
        if question.relax:
            relaxed = self.outcomes
            for task, arm in question.relax:
                relaxed = relaxed.relaxed(self.table.tasks_named([task]), arm)
            named = ", ".join(f"{arm} of {task}" for task, arm in question.relax)
            found.append(Variant(f"{named} taken as unknown", relaxed))
        return found

    def within(self, frame: Frame, variant: Variant) -> Frame | None:
        """A frame as a variant leaves it; None when that leaves nothing."""
        if not frame.runs:
            return None
        if not variant.without:
            return frame
        try:
            return frames.excluding(self.table, frame, variant.without)
        except InputError:
            return None

    def held_out(self, frame: Frame) -> bool:
        """Whether a rule's file says that no source group of a frame was fitted on.

        A rule without a file says nothing of the kind, whatever rows the table marks.
        """
        if self.question.fitted_on is None or self.fitting is None:
            return False
        return not bool((self.fitting.doubtful_groups & frame.rows).any())

    @cached_property
    def several_runs(self) -> dict[str, Ints]:
        """Tasks of the frame with more than one run that is no repeat: each run's first row."""
        inside = np.flatnonzero(self.whole.rows)
        _, first = np.unique(self.table.run[inside], return_index=True)
        rows = np.sort(inside[first])
        codes = self.table.task.codes[rows]
        counts = np.bincount(codes, minlength=len(self.table.task.values))
        rows, codes = rows[counts[codes] > 1], codes[counts[codes] > 1]
        order = np.argsort(codes, kind="stable")
        of_tasks = np.split(rows[order], np.flatnonzero(np.diff(codes[order])) + 1)
        named = {self.table.task.text(int(of[0])): of for of in of_tasks if len(of)}
        return dict(sorted(named.items()))

    @cached_property
    def repeated(self) -> bool:
        """Whether a run has more than one pair of continuations."""
        return len(self.table) > len(np.unique(self.table.run))


def tasks_of(table: Boundaries, rows: Flags) -> Sequence[str]:
    """The tasks of these rows, sorted, each once."""
    return sorted(_names_of(table, rows))


def first_tasks(table: Boundaries, rows: Flags, most: int) -> tuple[list[str], int]:
    """The first of them in order, and how many there are: no need to sort a million names."""
    found = _names_of(table, rows)
    return heapq.nsmallest(most, found), len(found)


def _names_of(table: Boundaries, rows: Flags) -> list[str]:
    present = np.bincount(table.task.codes[rows], minlength=len(table.task.values))
    return [table.task.values[code] for code in np.flatnonzero(present)]
