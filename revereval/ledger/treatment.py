"""The treatment: what a plan fixes apart from the task, under one digest."""

from collections.abc import Mapping
from typing import Any, Final

from revereval.canonical import digest

TREATMENT_FIELDS: Final = (
    "provider",
    "head_digest",
    "projection",
    "limits",
    "companion",
    "endpoint_definition",
    "contract",
    "control",
    "implementation",
)
"""Of a plan's document. The task, the order of the arms and the repeats are no treatment."""


def treatment_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a plan's document that the treatment's digest covers; absent fields are None."""
    return {field: document.get(field) for field in TREATMENT_FIELDS}


def treatment_digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of `treatment_fields`."""
    return digest(treatment_fields(document))
