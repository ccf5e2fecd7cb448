"""What a person asks on the command line, turned into terms of the analysis."""

from fractions import Fraction
from typing import Final

from revereval.analysis.boundaries import FEATURES, PRIMARY
from revereval.analysis.resources import Prices
from revereval.analysis.study import Study
from revereval.errors import InputError
from revereval.report.section import count
from revereval.terms import ArmName

MOST: Final = 10**9


def parse_relaxation(text: str) -> tuple[str, ArmName]:
    """`TASK:F` or `TASK:P`. Raises InputError."""
    task, _, arm = text.rpartition(":")
    if not task or arm not in list(ArmName):
        raise InputError("--relax", text, "allowed: TASK:F or TASK:P")
    return task, ArmName(arm)


def parse_prices(text: str) -> Prices:
    """`U,C,O`, prices of a million tokens. Raises InputError."""
    try:
        u, c, o = (Fraction(part) for part in text.split(","))
    except (ValueError, ZeroDivisionError):
        u = c = o = Fraction(-1)
    if min(u, c, o) < 0 or max(u, c, o) > MOST:
        problem = f"allowed: three prices from 0 to {MOST:,}, as 1.25,0.125,10"
        raise InputError("--prices", text, problem)
    return Prices(u, c, o)


def feature_named(name: str) -> str:
    """Raises InputError for a feature that no row has."""
    if name not in FEATURES:
        raise InputError("--feature", name, f"allowed: {', '.join(FEATURES)}")
    return name


def asked_sentences(study: Study) -> list[str]:
    """What was asked of the record: under which contract and definition, with which variants."""
    question = study.question
    contract = "each plan's own" if question.contract == PRIMARY else f"{question.contract}"
    definition = "each plan's own" if question.definition is None else f"{question.definition}"
    text = [f"Scoring contract: {contract}. Endpoint definition: {definition}."]
    if question.rule is not None:
        text.append(f"Rule: P where {question.rule}.")
    if question.exclude:
        text.append(f"Also without: {', '.join(question.exclude)}.")
    if question.relax:
        relaxed = ", ".join(f"{arm} of {task}" for task, arm in question.relax)
        text.append(f"Also with these outcomes taken as unknown: {relaxed}.")
    if question.prices is not None:
        prices = question.prices
        each = (prices.uncached, prices.cached, prices.output)
        named = ", ".join(f"{float(price):g}" for price in each)
        text.append(f"Prices of a million uncached, cached and output tokens: {named}.")
    totals = (question.joint_prefix_total, question.comparable_prefix_total)
    for name, total in zip(("J", "the comparable runs"), totals, strict=True):
        if total is not None:
            text.append(f"Prefix tokens of {name}, as given by who asked: {count(total)}.")
    return text
