"""Every section of a study in reading order: quality before conditional resources."""

from collections.abc import Callable, Iterator

from revereval.analysis.study import Study
from revereval.errors import InputError
from revereval.report.cost import resources_section
from revereval.report.policies import fit_section, hindsight_section, policy_section
from revereval.report.quality import bounds_section, frame_section
from revereval.report.rule import selector_section
from revereval.report.section import Section
from revereval.report.sensitivity import censoring_section, repeats_section


def sections(study: Study) -> Iterator[Section]:
    """Raises InputError for an empty frame or a rule that a row cannot follow.

    A section whose rows the record lacks is there, and says what is lacking.
    """
    yield frame_section(study)
    yield bounds_section(study)
    if study.question.rule is not None:
        yield selector_section(study, study.question.rule)
    yield resources_section(study)
    yield policy_section(study)
    yield hindsight_if_possible(study)
    yield _if_possible("fit", "The fitted rule", fit_section, study)
    yield _if_possible("censoring", "What stopping early would show", censoring_section, study)
    if study.repeated:
        yield repeats_section(study)
    yield not_established(study)


def hindsight_if_possible(study: Study) -> Section:
    return _if_possible("fit", "What hindsight would have chosen", hindsight_section, study)


def _if_possible(name: str, title: str, make: Callable[[Study], Section], study: Study) -> Section:
    try:
        return make(study)
    except InputError as error:
        return Section(name, title, [f"Not possible with this record: {error}."], [])


def not_established(study: Study) -> Section:
    """What the record does not identify, in sentences."""
    unknown = int((study.whole.rows & ~study.outcomes.known).sum())
    sentences = [
        "Nothing here is an effect on other tasks, other models or other sources: the frame is "
        "these runs, and the ranges are about them alone.",
        "Which arm went first follows a balance rule and was not drawn at random.",
    ]
    if unknown:
        sentences.append(
            f"{unknown} of {int(study.whole.rows.sum())} pairs have an unknown outcome; no figure "
            "above guesses it."
        )
    if study.fitting is None:
        sentences.append("Nothing is held out: what a rule was fitted on is not recorded.")
    if study.plans is None:
        sentences.append("How many plans never reached a boundary is not in this table.")
    return Section("frame", "What this record does not establish", sentences, [])
