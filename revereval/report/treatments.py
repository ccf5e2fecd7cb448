"""What a report says of treatments: each its own frame, side by side, and what differs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from revereval.analysis.bounds import Contrast, contrast
from revereval.analysis.study import Study, tasks_of
from revereval.analysis.treatments import (
    DIGEST,
    NOT_SAID,
    Record,
    Treatment,
    differences,
    mixed_columns,
)
from revereval.errors import InputError
from revereval.report.asked import asked_sentences
from revereval.report.facts import facts
from revereval.report.plain import shortened
from revereval.report.quality import BOUNDS, NOT_CONFIDENCE, bounds_row
from revereval.report.section import Section, Table, count

APART = (
    "Each treatment has a frame of its own; no figure here holds two of them. The table sets them "
    "side by side and compares nothing: treatments may differ in their tasks, and in which runs "
    "reach a boundary."
)
POOLED = (
    "The sections below pool the treatments of this table, as was asked: their figures are of no "
    "one treatment."
)
_LONGEST = 80


def treatments_section(record: Record) -> Section:
    """One row a treatment, and below it the settings in which they differ."""
    found = [_contrast(study) for study in record.apart]
    tasks = [_tasks(study) for study in record.apart]
    rows = [
        [one.name, *(_cells(known, of))]
        for one, known, of in zip(record.treatments, found, tasks, strict=True)
    ]
    differing = differences(record.treatments)
    heads = [one.name for one in record.treatments]
    tables = [Table("P minus F by treatment", ["treatment", BOUNDS[0], "tasks", *BOUNDS[1:]], rows)]
    if differing:
        cells = [[name, *map(_value, values)] for name, values in differing.items()]
        tables.append(Table("Settings that differ", ["setting", *heads], cells))
    common = len(set.intersection(*map(set, tasks)))
    sentences = [
        f"{len(heads)} treatments. Tasks with a boundary under every one of them: {common:,}.",
        POOLED if record.pooled is not None else APART,
    ]
    if not differing:
        sentences.append("In what they differ is not said.")
    if record.elsewhere:
        text = "runs are under other treatments, which reached no boundary."
        sentences.append(f"{record.elsewhere:,} {text}")
    told = [
        one_told(one) | {"tasks": len(of), "contrast": facts(known, study.table)}
        for one, study, known, of in zip(record.treatments, record.apart, found, tasks, strict=True)
    ]
    return Section(
        "treatments",
        "Treatments",
        sentences,
        tables,
        [NOT_CONFIDENCE],
        lambda: {"treatments": told, "differences": differing},
    )


def _contrast(study: Study) -> Contrast | None:
    """None for a treatment whose rows are all of single arms."""
    try:
        return contrast(study.table, study.outcomes, study.whole)
    except InputError:
        return None


def _tasks(study: Study) -> Sequence[str]:
    return tasks_of(study.table, study.table.paired)


def _cells(found: Contrast | None, tasks: Sequence[str]) -> list[str]:
    if found is None:
        return ["0", "0", "", "", "", ""]
    runs, *rest = bounds_row(found)
    return [runs, count(len(tasks)), *rest]


def _value(value: str | None) -> str:
    if value is None:
        return NOT_SAID
    return value[:12] + "…" if DIGEST.fullmatch(value) else shortened(value, _LONGEST)


def one_told(one: Treatment) -> dict[str, Any]:
    """A treatment for machines."""
    return {"name": one.name, "treatment": one.value or None, "settings": dict(one.settings)}


def record_sentences(record: Record) -> list[str]:
    """What was asked of the record, and of which part of it."""
    asked = asked_sentences(record.parts[0][1])
    chosen, selection = record.chosen, record.selection
    if selection.treatments:
        named = ", ".join(one.name for one in record.treatments)
        asked.append(f"Only these of {chosen.of} treatments: {named}.")
    if chosen.models is not None:
        asked.append(f"Only these models: {', '.join(sorted(chosen.models))}.")
    if chosen.plans is not None:
        asked.append(f"Only these plans: {', '.join(sorted(chosen.plans))}.")
    if record.pooled is not None:
        named = ", ".join(one.name for one in record.treatments)
        asked.append(f"Pooled over {len(record.treatments)} treatments: {named}.")
    for one, study in zip(record.treatments, record.apart, strict=True):
        every = np.ones(len(study.table), np.bool_)
        if not one.value and (mixed := mixed_columns(study.table, every)):
            asked.append(
                f"{len(study.table):,} rows do not say their treatment and are taken for one, "
                f"though they differ in {', '.join(mixed)}."
            )
    return asked


def labelled(label: str, section: Section) -> Section:
    """A section whose title and tables say over what they are; as it is without a label."""
    if not label:
        return section
    tables = [replace(table, title=f"{label}: {table.title}") for table in section.tables]
    return replace(section, title=f"{label}: {section.title}", tables=tables)


def sections_of(
    record: Record, make: Callable[[Study], Iterable[Section]]
) -> list[tuple[str, Study, list[Section]]]:
    """The sections of each part with its label, not yet in their titles.

    What one of several treatments cannot give is said in its place. Raises InputError where none
    gives anything.
    """
    found: list[tuple[str, Study, list[Section]]] = []
    errors = []
    for label, study in record.parts:
        try:
            made = list(make(study))
        except InputError as error:
            errors.append(error)
            made = [Section("treatments", "Not possible", [f"{error}."], [])]
        found.append((label, study, made))
    if len(errors) == len(found):
        raise errors[0]
    return found


def document_of(record: Record, make: Callable[[Study], Iterable[Section]]) -> dict[str, Any]:
    """Everything as JSON values; with several treatments apart, a list of what each has."""
    made = [
        [labelled(label, section).as_json() for section in sections]
        for label, _, sections in sections_of(record, make)
    ]
    document: dict[str, Any] = {"source": record.source, "asked": record_sentences(record)}
    told = [one_told(one) for one in record.treatments]
    if not record.mixed:
        of_one = {"treatment": told[0]} if record.chosen.of > 1 else {}
        return {**document, **of_one, "sections": made[0]}
    first = treatments_section(record).as_json()
    if record.pooled is not None:
        return {**document, "pooled": told, "sections": [first, *made[0]]}
    apart = [{**one, "sections": of} for one, of in zip(told, made, strict=True)]
    return {**document, "sections": [first], "treatments": apart}
