"""Treatments of a record: which rows may share a frame, and what is asked of which of them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from revereval.analysis.boundaries import Boundaries, Coded, Flags
from revereval.analysis.flow import Captured, plans_of
from revereval.analysis.study import Question, Study
from revereval.errors import InputError
from revereval.terms import IMPORTED

MOST: Final = 50
"""Treatments side by side."""
MOST_OF_RECORD: Final = 1000
SHORTEST: Final = 4
"""Characters of a digest that may stand for it."""
NOT_SAID: Final = "not said"
_PLAIN: Final = {
    "provider": "provider.kind", "model": "provider.model", "companion": "companion",
    "endpoint_definition": "endpoint_definition", "contract": "contract",
}  # fmt: skip
"""Columns that say a setting, by the setting's name: what a table without settings has of them."""
_DEEPEST: Final = 8
"""Dots in a setting's name."""
DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Treatment:
    """What the plans of some rows fix apart from the task."""

    number: int
    """By first appearance in the whole record, from 1."""
    value: str
    """As the rows say it; empty where they do not."""
    code: int
    """Of the table's column."""
    settings: Mapping[str, str]
    """By dotted name, each as JSON or as its column has it; what is not said is not here."""

    @property
    def name(self) -> str:
        """`T1 1a2b3c4d`."""
        return f"T{self.number} {_short(self.value) or NOT_SAID}"


def _short(value: str) -> str:
    """A digest's first 8 digits; a name of another harness as it is."""
    kind = IMPORTED if value.startswith(IMPORTED) else ""
    rest = value.removeprefix(kind)
    return kind + (rest[:8] if DIGEST.fullmatch(rest) else rest)


def treatments(table: Boundaries) -> list[Treatment]:
    """In order of first appearance; rows that do not say theirs are one of their own.

    Raises InputError for more than MOST_OF_RECORD.
    """
    codes, first = np.unique(table.treatment.codes, return_index=True)
    if len(codes) > MOST_OF_RECORD:
        problem = f"{len(codes):,} treatments in one record, at most {MOST_OF_RECORD:,}"
        raise InputError(table.source, "treatment", problem)
    found = []
    for number, code in enumerate(map(int, codes[np.argsort(first)]), 1):
        value = table.treatment.values[code] if code >= 0 else ""
        settings = _settings(table, table.treatment.codes == code)
        found.append(Treatment(number, value, code, settings))
    return found


def rows_of(table: Boundaries, among: Sequence[Treatment]) -> Flags:
    """The rows under any of these treatments."""
    rows: Flags = np.isin(table.treatment.codes, [one.code for one in among])
    return rows


def _settings(table: Boundaries, rows: Flags) -> dict[str, str]:
    said = table.said.get("treatment_settings")
    if said is not None and (known := rows & (said.codes >= 0)).any():
        return dict(_leaves("", json.loads(said.text(int(np.argmax(known))))))
    found = {}
    for column, name in _PLAIN.items():
        if values := _values(table.said.get(column), rows):
            found[name] = " or ".join(values)
    return found


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Each setting by its dotted name: an empty object is one too."""
    if isinstance(value, dict) and value and path.count(".") < _DEEPEST:
        for name, part in value.items():
            yield from _leaves(f"{path}.{name}" if path else name, part)
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield path, text


def _values(column: Coded | None, rows: Flags) -> list[str]:
    """The values that a column has in these rows, sorted."""
    if column is None:
        return []
    return sorted(column.values[code] for code in np.unique(column.codes[rows]) if code >= 0)


def mixed_columns(table: Boundaries, rows: Flags) -> list[str]:
    """Settings that differ among rows which do not say their treatment."""
    return [
        name for column, name in _PLAIN.items() if len(_values(table.said.get(column), rows)) > 1
    ]


def differences(found: Sequence[Treatment]) -> dict[str, list[str | None]]:
    """The settings in which treatments differ, by dotted name, in their order; None: not said."""
    names = sorted({name for one in found for name in one.settings})
    values = {name: [one.settings.get(name) for one in found] for name in names}
    return {name: of for name, of in values.items() if len(set(of)) > 1}


@dataclass(frozen=True)
class Selection:
    """What of a record is asked about; several of one kind are alternatives."""

    treatments: tuple[str, ...] = ()
    """The whole name, `T` and the number, or the first characters of a digest."""
    models: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    """Plan digests, or their first characters."""
    pool: bool = False

    def __bool__(self) -> bool:
        return bool(self.treatments or self.models or self.plans)


def _one_of(option: str, text: str, there: Mapping[str, str], *, whole: bool = False) -> str:
    """The one key that a text stands for: itself, or unless `whole` the beginning of one.

    there: what to call each key in a message. Raises InputError for none and for several.
    """
    may_begin = not whole and len(text) >= SHORTEST
    begins = [key for key in there if may_begin and key.startswith(text)]
    found = [text] if text in there else begins
    if len(found) == 1:
        return found[0]
    named = [there[key] for key in found or there]
    listed = ", ".join(named[:10]) + (f" and {len(named) - 10} more" if len(named) > 10 else "")
    if found:
        raise InputError(option, text, f"stands for several: {listed}")
    how = "" if whole else f", whole or by its first {SHORTEST} characters or more"
    raise InputError(option, text, f"not in this record{how}; there are: {listed or 'none'}")


def _treatment_named(text: str, found: Sequence[Treatment]) -> Treatment:
    by_value = {one.value: one for one in found if one.value}
    by_number = {f"T{one.number}": one for one in found}
    if text not in by_value and text in by_number:
        return by_number[text]
    named = {one.value or f"T{one.number}": one.name for one in found}
    return by_value[_one_of("--treatment", text, named)]


@dataclass(frozen=True)
class Chosen:
    """The part of a record that a selection leaves."""

    rows: Flags
    treatments: tuple[Treatment, ...]
    """Those with a row left."""
    of: int
    """How many treatments the whole record has."""
    models: frozenset[str] | None
    """Selected; None for all."""
    plans: frozenset[str] | None

    def has(self, treatment: str, model: str, plan: str) -> bool:
        """Whether the selection keeps a run under these."""
        return (
            any(one.value == treatment for one in self.treatments)
            and (self.models is None or model in self.models)
            and (self.plans is None or plan in self.plans)
        )


def choose(table: Boundaries, selection: Selection) -> Chosen:
    """Raises InputError where a name is not there or stands for several, or nothing is left."""
    every = treatments(table)
    asked = [_treatment_named(text, every) for text in selection.treatments] or every
    rows = rows_of(table, asked)
    models = _asked(table, "model", selection.models)
    plans = _asked(table, "plan_digest", selection.plans)
    for column, values in (("model", models), ("plan_digest", plans)):
        if values is not None:
            rows &= np.logical_or.reduce([table.said[column].equals(value) for value in values])
    codes = set(table.treatment.codes[rows].tolist())
    left = tuple(one for one in every if one.code in codes)
    if selection and not left:
        raise InputError(table.source, "", "no row is left of the treatments, models and plans")
    if len(left) > MOST:
        problem = f"{len(left):,} treatments, at most {MOST} in one table: select some"
        raise InputError(table.source, "treatment", problem)
    return Chosen(rows, left, len(every), models, plans)


def _asked(table: Boundaries, column: str, asked: Sequence[str]) -> frozenset[str] | None:
    """The values of a column that were asked for; None for all."""
    if not asked:
        return None
    option = f"--{column.removesuffix('_digest')}"
    said = table.said.get(column)
    if said is None:
        raise InputError(table.source, column, f"missing: {option} needs this column")
    there = {value: value for value in said.values}
    return frozenset(_one_of(option, text, there, whole=column == "model") for text in asked)


@dataclass(frozen=True)
class Record:
    """One question about a record: a study of each treatment, and one of all where asked for."""

    source: str
    chosen: Chosen
    selection: Selection
    apart: tuple[Study, ...]
    """Of each chosen treatment."""
    pooled: Study | None
    """Of several together; None unless it was asked for."""
    elsewhere: int = 0
    """As of a study, where several treatments share it."""

    @property
    def treatments(self) -> tuple[Treatment, ...]:
        return self.chosen.treatments

    @property
    def mixed(self) -> bool:
        """Whether more than one treatment is asked about."""
        return len(self.apart) > 1

    @property
    def parts(self) -> tuple[tuple[str, Study], ...]:
        """The frames that are stated, each with what its titles begin with."""
        if self.pooled is not None:
            return ((f"{len(self.apart)} treatments pooled", self.pooled),)
        if not self.mixed:
            return (("", self.apart[0]),)
        names = (one.name for one in self.treatments)
        return tuple(zip(names, self.apart, strict=True))


def record(
    table: Boundaries,
    question: Question,
    selection: Selection,
    captured: Sequence[Captured] | None = None,
) -> Record:
    """Studies of one question, treatment by treatment; a frame holds several only if pooled.

    captured: the ledger's runs; None for a table, which has none. Raises InputError as `choose`,
    and for a total of prefix tokens that would be given for several frames.
    """
    chosen = choose(table, selection)
    several = len(chosen.treatments) > 1

    def study(among: Sequence[Treatment], elsewhere: int = 0) -> Study:
        rows = chosen.rows & rows_of(table, among)
        values = {one.value for one in among}
        plans = None
        if captured is not None:
            kept = [one for one in captured if one.treatment in values and _kept(chosen, one)]
            plans = plans_of(kept)
        return Study(table if rows.all() else table.only(rows), question, plans, elsewhere)

    if not chosen.treatments:  # no row at all
        return Record(table.source, chosen, selection, (Study(table, question, None),), None)
    totals = (question.joint_prefix_total, question.comparable_prefix_total)
    if several and not selection.pool and totals != (None, None):
        problem = f"{len(chosen.treatments)} treatments: select one that the prefix total is of"
        raise InputError(table.source, "treatment", problem)
    elsewhere = 0 if selection else _elsewhere(table, captured or ())
    pooled = study(chosen.treatments) if several and selection.pool else None
    apart = tuple(study([one], 0 if several else elsewhere) for one in chosen.treatments)
    return Record(table.source, chosen, selection, apart, pooled, elsewhere if several else 0)


def alone(study: Study) -> Record:
    """A record of one study, whatever treatments its rows say."""
    rows = np.ones(len(study.table), np.bool_)
    one = Treatment(1, "", -1, {})
    return Record(
        study.table.source, Chosen(rows, (one,), 1, None, None), Selection(), (study,), None
    )


def _kept(chosen: Chosen, one: Captured) -> bool:
    return chosen.has(one.treatment, one.model, one.plan)


def _elsewhere(table: Boundaries, captured: Sequence[Captured]) -> int:
    there = set(table.treatment.values)
    return sum(one.runs for one in captured if one.treatment not in there)
