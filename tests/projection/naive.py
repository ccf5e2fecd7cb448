"""The projection written a second time, from DESIGN §3 and as plainly as possible."""

import hashlib
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from revereval.projection.policy import Observation, ProjectionConfig

REASONS = (
    "error", "archive_result", "small", "recent", "exposures", "no_saving", "eligible",
    "already_projected",
)  # fmt: skip
"""In the design's order."""


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def policy(**values: int) -> ProjectionConfig:
    return ProjectionConfig.model_validate(values)


def head_and_tail(text: str, limit: int) -> tuple[str, str]:
    """One character after the other, while the half has room."""
    half = limit // 2
    head = ""
    while len(head) < len(text) and size(head + text[len(head)]) <= half:
        head += text[len(head)]
    tail = ""
    while len(head) + len(tail) < len(text) and size(text[-len(tail) - 1] + tail) <= half:
        tail = text[-len(tail) - 1] + tail
    return head, tail


def projected(text: str, tool: str, limit: int) -> str:
    head, tail = head_and_tail(text, limit)
    start, end = len(head), len(text) - len(tail)
    handle = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"""[This observation is shortened. Its original is in the archive.
handle: {handle}
tool: {tool}
original: {size(text)} bytes, {len(text)} code points
To find text in it: search_evidence(query, chars). \
To read an exact part: recover_evidence(handle, start, chars), in code points.]
{head}
[... omitted: code points {start} to {end}, {end - start} in all ...]
{tail}"""


def decide(
    observations: Sequence[Observation],
    exposures: Sequence[int],
    fixed: Mapping[int, str],
    config: ProjectionConfig,
) -> list[tuple[str, str | None]]:
    """(reason, projected text) of each: all that keep it full are looked for, the first counts."""
    decisions: list[tuple[str, str | None]] = []
    count = len(observations)
    for position, seen in enumerate(observations):
        if position in fixed:
            decisions.append(("already_projected", fixed[position]))
            continue
        text = projected(seen.text, seen.tool, config.excerpt_bytes)
        holds = {
            "error": seen.is_error,
            "archive_result": seen.from_archive,
            "small": size(seen.text) < config.min_observation_bytes,
            "recent": count - position <= config.keep_recent,
            "exposures": exposures[position] < config.full_exposures,
            "no_saving": size(text) >= size(seen.text),
        }
        reasons = [reason for reason in REASONS if holds.get(reason)]
        decisions.append((reasons[0], None) if reasons else ("eligible", text))
    return decisions


ODD_CHARACTERS = st.sampled_from(
    ["a", "B", "é", "語", "\U0001f600", "\r\n", "\n", "\r", "\ud83d", "\ude00", "\ufffd", "\0", "]"]
)
TEXTS = st.one_of(
    st.lists(ODD_CHARACTERS, max_size=40).map("".join),
    st.tuples(ODD_CHARACTERS, st.integers(0, 1500)).map(lambda pair: pair[0] * pair[1]),
    st.text(max_size=60),
)
"""Short and long, of one to four bytes a character, lone surrogates included."""
