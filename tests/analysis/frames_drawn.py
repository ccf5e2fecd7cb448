"""Small random frames, and what they allow, by writing out every completion."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from hypothesis import strategies as st

from tests.analysis.rows import Row, row

ENDPOINTS = ("correct", "wrong", "capped", "stopped", "unexecuted")
REASONS = {
    "stopped": (None, "budget", "provider_error", "interrupted"),
    "unexecuted": (None, "companion_rule", "not_started"),
}
SHARED = ("source_group", "history_bytes")
"""What the repeats of one run have in common, of what is drawn here."""
Pair = tuple[int, int]
"""F's success and P's, 0 or 1."""


@st.composite
def arms(draw: st.DrawFn) -> Row:
    drawn: Row = {}
    for arm in "fp":
        endpoint = draw(st.sampled_from(ENDPOINTS))
        drawn[f"{arm}_endpoint"] = endpoint
        drawn[f"{arm}_reason"] = draw(st.sampled_from(REASONS.get(endpoint, (None,))))
    return drawn


@st.composite
def frames(draw: st.DrawFn, most: int = 6) -> list[Row]:
    """Up to `most` paired rows: every endpoint state, both definitions, three source groups."""
    rows = []
    for number in range(draw(st.integers(1, most))):
        drawn = draw(arms())
        rows.append(
            row(f"t{number}")
            | drawn
            | {
                "first_arm": draw(st.sampled_from("FP")),
                "source_group": draw(st.sampled_from("ghi")),
                "endpoint_definition": draw(st.sampled_from(["request", "joint"])),
                "history_bytes": draw(st.integers(0, 4)),
            }
        )
    return rows


def outcomes(one: Row, arm: str, definition: str | None = None) -> tuple[int, ...]:
    """What the arm's success may be: the table of endpoints, as the design words it."""
    endpoint, reason = one[f"{arm}_endpoint"], one.get(f"{arm}_reason")
    if endpoint == "correct":
        return (1,)
    if endpoint in ("wrong", "capped"):
        return (0,)
    definition = definition or one.get("endpoint_definition", "request")
    if endpoint == "stopped" and reason == "budget" and definition == "joint":
        return (0,)
    return (0, 1)


def completions(rows: Sequence[Row], definition: str | None = None) -> Iterator[tuple[Pair, ...]]:
    """Every assignment of the unknown outcomes, each as one (F, P) a row."""
    cells: list[Any] = [
        list(product(outcomes(one, "f", definition), outcomes(one, "p", definition)))
        for one in rows
    ]
    return product(*cells)
