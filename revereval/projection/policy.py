"""Which observations of a request are projected: pure decisions over tool results (DESIGN §3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pydantic import Field, ValidationInfo, field_validator

from revereval.canonical import utf8
from revereval.projection.excerpt import projected_text
from revereval.terms import DecisionReason
from revereval.validated_toml import Strict

VERSION: Final = 1
"""Of the boundary rule: raised with each change of what is eligible, or when."""


class ProjectionConfig(Strict):
    """The projection policy; the defaults are the recorded campaign's."""

    min_observation_bytes: int = Field(default=10240, ge=1)
    """UTF-8 bytes; smaller observations are never projected."""
    full_exposures: int = Field(default=2, ge=1)
    """Completed requests that must have carried the observation in full."""
    keep_recent: int = Field(default=1, ge=0)
    """The most recent tool results, whatever their tool, that are never projected."""
    excerpt_bytes: int = Field(default=1024, ge=0)
    """Original text that stays, half head, half tail."""
    archive_calls: int = Field(default=3, ge=0)
    """Successful archive calls of one arm, its prefix included."""
    search_matches: int = Field(default=5, ge=1)
    """Matches that a search shows at most, the first of each observation."""
    search_match_chars: int = Field(default=200, ge=1)
    """Code points that it shows around each match, at most."""
    search_chars: int = Field(default=1000, ge=1)
    """Code points that it shows in all, at most; also where the call does not say."""
    recover_chars: int = Field(default=6000, ge=1)
    """Code points that a recovery shows, at most."""
    recover_default_chars: int = Field(default=2000, ge=1, validate_default=True)
    """Where the call does not say."""

    @field_validator("recover_default_chars")
    @classmethod
    def _allowed_by_default(cls, chars: int, info: ValidationInfo) -> int:
        limit = info.data.get("recover_chars", chars)
        if chars > limit:
            raise ValueError(f"must be at most recover_chars, which is {limit}")
        return chars


@dataclass(frozen=True)
class Observation:
    """One tool result as the agent received it."""

    tool: str
    text: str
    is_error: bool = False
    from_archive: bool = False

    @cached_property
    def size_bytes(self) -> int:
        return len(utf8(self.text))


@dataclass(frozen=True)
class Decision:
    """Why one observation is or is not projected in one request."""

    reason: DecisionReason
    text: str | None = None
    """The projected text when the reason is `eligible` or `already_projected`, else None."""


def decide(
    observations: Sequence[Observation],
    exposures: Sequence[int],
    projected: Mapping[int, str],
    config: ProjectionConfig,
) -> list[Decision]:
    """One decision for each observation, by position.

    observations: (n,) in conversation order; exposures: (n,) completed requests that carried each
    in full; projected: the texts fixed by earlier requests, by position: once projected, an
    observation stays projected with the same text.
    """
    first_recent = len(observations) - config.keep_recent
    decisions = []
    for position, observation in enumerate(observations):
        if position in projected:
            decisions.append(Decision(DecisionReason.ALREADY_PROJECTED, projected[position]))
        else:
            recent = position >= first_recent
            decisions.append(_decide(observation, exposures[position], recent, config))
    return decisions


def _decide(
    observation: Observation, exposures: int, recent: bool, config: ProjectionConfig
) -> Decision:
    if observation.is_error:
        return Decision(DecisionReason.ERROR)
    if observation.from_archive:
        return Decision(DecisionReason.ARCHIVE_RESULT)
    if observation.size_bytes < config.min_observation_bytes:
        return Decision(DecisionReason.SMALL)
    if recent:
        return Decision(DecisionReason.RECENT)
    if exposures < config.full_exposures:
        return Decision(DecisionReason.EXPOSURES)
    text = projected_text(observation.text, observation.tool, config.excerpt_bytes)
    if len(utf8(text)) >= observation.size_bytes:
        return Decision(DecisionReason.NO_SAVING)
    return Decision(DecisionReason.ELIGIBLE, text)
