"""The whole report as data: what every format of it says, in reading order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from revereval.analysis.bounds import contrast
from revereval.analysis.frames import counted
from revereval.analysis.study import Study
from revereval.analysis.treatments import Record
from revereval.canonical import sha256_hex
from revereval.report.cost import joint_pairs
from revereval.report.drawing import Drawn
from revereval.report.figures import quality_figure, rule_figure
from revereval.report.flow_figure import flow_figure
from revereval.report.pair_figures import pairs_figure
from revereval.report.quality import interval_text, means_text
from revereval.report.section import Section, Table, count, ratio
from revereval.report.trajectory import NAMED, RULE, Trajectory
from revereval.report.trajectory_figure import trajectory_figure
from revereval.report.treatments import (
    labelled,
    record_sentences,
    sections_of,
    treatments_section,
)
from revereval.report.whole import sections

SCRIPTED: Final = "scripted"
MOST_PLANS: Final = 200
MOST_ROWS: Final = 300


@dataclass(frozen=True)
class PlanUsed:
    """A plan of the record, or of a table's rows."""

    digest: str
    """Empty where the record does not say."""
    task: str
    provider: str
    model: str
    runs: int
    treatment: str = ""


@dataclass(frozen=True)
class Singles:
    """Single pairs, where the record has their requests."""

    pairs: Sequence[Trajectory]
    asked: bool
    """They were named and not chosen by rule."""


@dataclass(frozen=True)
class KeyFigure:
    value: str
    meaning: str


@dataclass(frozen=True)
class Part:
    """A section with its figures; the anchor is its place in the document."""

    anchor: str
    section: Section
    figures: Sequence[Drawn] = ()


@dataclass(frozen=True)
class Document:
    source: str
    stand_in: str
    """What to know before anything else where no model was asked; empty otherwise."""
    key_figures: Sequence[KeyFigure]
    asked: Sequence[str]
    parts: Sequence[Part]

    @property
    def figures(self) -> list[Drawn]:
        return [drawn for part in self.parts for drawn in part.figures]


TITLE: Final = "What a shortened history did to an agent, and what the record shows of it"
LEAD: Final = (
    "An agent answered questions about source code. Once its history was long enough to be "
    "shortened, it was continued twice from that one point: once with everything it had read (F), "
    "once with old tool results cut to an excerpt (P). This report says what is known of the "
    "difference, and what is not."
)
READING: Final = (
    "Quality comes first and is stated over the whole frame: every run that reached the point of "
    "intervention is in the denominator, whatever happened to it later. A run that was cut off is "
    "a failure, not a gap; a continuation that was not run could have gone either way, and is "
    "counted both ways. What the two continuations cost comes after, and only for runs whose "
    "outcomes are known: it says nothing about the others."
)
GLOSSARY: Final = (
    ("F", "The continuation with full observations: the agent sees every tool result as it was."),
    ("P", "The continuation with projected observations: old, long tool results are replaced by a "
          "short excerpt and a handle by which the agent can search and recover the original."),
    ("boundary", "The first request in which something could be shortened. Both continuations "
                 "start from it, after one common prefix of sealed exchanges."),
    ("frame", "The set of boundary runs over which a statement is made; N is its size. Every "
              "number here carries its frame."),
    ("correct, wrong", "A final answer was given and is right, or is not."),
    ("capped", "The allowed number of requests was used up without an answer. It counts as a "
               "failure."),
    ("stopped", "Ended early for another reason, as a budget or a provider's error. Unless the "
                "plan counts a budget stop as failure, the outcome is unknown."),
    ("unexecuted", "Planned and not run. The outcome is unknown."),
    ("range [a, b]", "All values that the record allows, both ends included: unknown outcomes are "
                     "set to whatever makes the difference smallest, and then largest. It is not a "
                     "confidence interval, holds no probability and says nothing about other "
                     "tasks. A range that contains 0 does not show that there is no difference."),
    ("comparable", "Both outcomes of the run are known."),
    ("J", "The runs in which F and P are both correct: there the costs of two right answers are "
          "compared."),
    ("suffix, logical tokens", "Input and output tokens of the requests after the boundary; "
                               "logical tokens add the common prefix once."),
)  # fmt: skip


def document(record: Record, plans: Sequence[PlanUsed], singles: Singles | None) -> Document:
    """Everything, whatever prints it. `singles` is None for a record without requests.

    Each treatment has its sections, after a table of them all. Raises InputError as
    `whole.sections` does.
    """
    made = sections_of(record, sections)
    parts = [Part("", treatments_section(record))] if record.mixed else []
    parts += [
        _part(label, study, section) for label, study, of in made for section in of[:-1] or of
    ]
    followed, drawn = _singles(singles, record)
    parts += [Part("", followed, drawn), Part("", _plans(plans))]
    parts += [Part("", labelled(label, of[-1])) for label, _, of in made if of[1:]]
    figures = [figure for label, study in record.parts for figure in _key_figures(label, study)]
    return Document(
        source=record.source,
        stand_in=_stand_in(plans),
        key_figures=figures,
        asked=record_sentences(record),
        parts=[replace(part, anchor=f"part-{number}") for number, part in enumerate(parts, 1)],
    )


def _part(label: str, study: Study, section: Section) -> Part:
    drawn: list[Drawn | None] = []
    if section.name == "frame":
        drawn = [flow_figure(study)]
    elif section.name == "bounds":
        drawn = [quality_figure(study)]
    elif section.name == "resources":
        drawn = [pairs_figure(study)]
    elif study.question.rule is not None and section.title.startswith("The rule: "):
        drawn = [rule_figure(study, study.question.rule)]
    readable = replace(section, tables=[_readable(table) for table in section.tables])
    figures = [_labelled(label, figure) for figure in drawn if figure is not None]
    return Part("", labelled(label, readable), figures)


def _labelled(label: str, drawn: Drawn) -> Drawn:
    """A figure that says over what it is, its file and its tables too."""
    if not label:
        return drawn
    tables = [replace(table, title=f"{label}: {table.title}") for table in drawn.tables]
    name = f"{drawn.name}-{label.split()[0].lower()}"
    return replace(drawn, name=name, title=f"{label}: {drawn.title}", tables=tables)


def _readable(table: Table) -> Table:
    """A fit on many rows has a trace of tens of thousands of lines, which nobody reads."""
    if len(table.rows) <= MOST_ROWS:
        return table
    title = (
        f"{table.title}: the first {MOST_ROWS} of {len(table.rows):,} rows; `revereval analyze` "
        "prints them all"
    )
    return replace(table, title=title, rows=table.rows[:MOST_ROWS])


def _key_figures(label: str, study: Study) -> list[KeyFigure]:
    """Of the one frame, or with a label the contrast alone; none for an empty one of several."""
    if label and not study.table.paired.any():
        return []
    whole, joint = study.whole, joint_pairs(study)
    found = contrast(study.table, study.outcomes, whole)
    runs = count(whole.runs)
    over = f"{label}: " if label else ""
    known = counted(study.table, whole.rows & study.outcomes.known)
    unknown = count(whole.runs - known)
    figures = [
        KeyFigure(
            interval_text(found.difference),
            f"{over}P minus F in successes, over {runs} boundary runs "
            f"({means_text(found.difference, whole.runs)} a run)",
        ),
        KeyFigure(unknown, f"of {runs} runs have an unknown outcome in F or P"),
        KeyFigure(count(joint.of_runs), f"of {runs} runs are J: F and P both correct"),
    ]
    if label:
        return figures[:1]
    if joint.ratio is not None:
        figures.append(
            KeyFigure(
                ratio(joint.ratio),
                f"P over F in suffix tokens, ratio of sums over {count(joint.runs)} runs of J "
                "(conditional)",
            )
        )
    return figures


def _stand_in(plans: Sequence[PlanUsed]) -> str:
    runs = sum(plan.runs for plan in plans if plan.provider == SCRIPTED)
    every = sum(plan.runs for plan in plans)
    if not runs:
        return ""
    which = "All runs" if runs == every else f"{runs:,} of {every:,} runs"
    return (
        f"{which} were answered by the scripted reader, a program that stands in for a model and "
        "whose token usage is an estimate. They show that the experiment works, and nothing about "
        "any model."
    )


def _singles(singles: Singles | None, record: Record) -> tuple[Section, list[Drawn]]:
    title = "Single pairs, request by request"
    if singles is None:
        text = "The table came without its requests, so no single pair can be followed."
        return Section("pairs", title, [text], []), []
    if not singles.pairs:
        return Section("pairs", title, ["No pair fits: neither harmed, nor with known tokens, nor "
                                        "capped under P."], []), []  # fmt: skip
    drawn = [trajectory_figure(one) for one in singles.pairs]
    each = ["Of each treatment, by the same rule."] if len(record.parts) > 1 else []
    return Section("pairs", title, [NAMED] if singles.asked else [*each, RULE], []), drawn


def _plans(plans: Sequence[PlanUsed]) -> Section:
    """Providers, models and plan digests: what was fixed before anything was seen."""
    if not plans:
        text = "The table names neither plans nor providers nor models."
        return Section("plans", "What was run", [text], [])
    made: dict[tuple[str, str], int] = {}
    for plan in plans:
        made[plan.provider, plan.model] = made.get((plan.provider, plan.model), 0) + plan.runs
    providers = [
        [provider, model, count(runs), _note(provider)]
        for (provider, model), runs in sorted(made.items())
    ]
    tables = [Table("Providers and models", ["provider", "model", "runs", ""], providers)]
    digests = sorted((plan.digest, plan.task, plan.runs) for plan in plans if plan.digest)
    sentences = [
        "A plan fixes task, source snapshot, provider, projection, limits, schedule, endpoint and "
        "scoring before any outcome is seen; its digest is the SHA-256 of it all."
    ]
    if digests:
        rows = [[digest, task, count(runs)] for digest, task, runs in digests[:MOST_PLANS]]
        tables.append(Table("Plans by digest", ["plan", "task", "runs"], rows))
        sentences.append(f"{len(digests):,} distinct plans.")
    else:
        sentences.append("The table does not give their digests.")
    if rest := [digest for digest, _, _ in digests[MOST_PLANS:]]:
        listed = "".join(f"{digest}\n" for digest in rest)
        sentences.append(
            f"The table shows the first {MOST_PLANS} by digest. The other {len(rest):,}, sorted, a "
            f"line each, have the SHA-256 {sha256_hex(listed.encode())}."
        )
    return Section("plans", "What was run", sentences, tables)


def _note(provider: str) -> str:
    return "a stand-in: usage is an estimate" if provider == SCRIPTED else ""
