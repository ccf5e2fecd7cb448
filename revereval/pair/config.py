"""The config file: everything a user chooses, and all of it goes into the plan."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from revereval.projection.policy import ProjectionConfig
from revereval.provider.settings import ProviderSettings
from revereval.terms import SUFFIX_CAP, Companion, Contract, ControlKind, EndpointDefinition
from revereval.validated_toml import Strict, load_toml

PREFIX_CAP = 12


def _allowed(enum: Any) -> BeforeValidator:
    """The values of a closed list, named in full when another one comes."""

    def check(value: object) -> object:
        if value not in list(enum):
            raise ValueError(f"must be one of {', '.join(enum)}")
        return enum(value)

    return BeforeValidator(check)


class Limits(Strict):
    """Of one run. A token here is 4 bytes of a request as sent, rounded up: the one meter."""

    prefix_requests: int = Field(default=PREFIX_CAP, ge=1, le=1000)
    suffix_requests: int = Field(default=SUFFIX_CAP, ge=1, le=1000)
    """K."""
    metered_tokens: int | None = Field(default=None, ge=1)
    """Budget: cumulative input of the capture, and of each continuation; none by default."""


class Control(Strict):
    """A plan that is no treatment: a task run once, without arms."""

    kind: Annotated[ControlKind, _allowed(ControlKind)]


class Config(Strict):
    """A config file's tables."""

    seed: str = Field(default="revereval-v1", min_length=1)
    """Of the allocation rule that says which arm goes first."""
    companion: Annotated[Companion, _allowed(Companion)] = Companion.ALWAYS
    endpoint: Annotated[EndpointDefinition, _allowed(EndpointDefinition)] = (
        EndpointDefinition.REQUEST
    )
    contract: Annotated[Contract, _allowed(Contract)] = Contract.EXTRACTED
    repeats: int = Field(default=1, ge=1, le=1000)
    """R: pairs of continuations taken from one sealed tape."""
    fitting_tasks: list[str] = Field(default_factory=list)
    """Ids of the tasks that the projection rule was fitted on."""
    provider: ProviderSettings = ProviderSettings()
    projection: ProjectionConfig = ProjectionConfig()
    limits: Limits = Limits()
    control: Control | None = None


def load_config(path: Path | None) -> Config:
    """The file's config, or the built-in one: the scripted reader. Raises InputError."""
    return load_toml(path, Config) if path else Config()
