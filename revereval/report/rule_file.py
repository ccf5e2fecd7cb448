"""A fitted rule as a file: what it says, what it was fitted on, and a digest over both."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from revereval.analysis.boundaries import Boundaries, Success, success
from revereval.analysis.fitting import Fit
from revereval.analysis.selector import Rule, parse_rule
from revereval.analysis.study import Study
from revereval.canonical import StrictJSONError, digest, strict_json
from revereval.errors import InputError
from revereval.validated_toml import Strict, validated

VERSION: Final = 1


class _Row(Strict):
    task_id: str
    source_group: str
    row_digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Of what the fit read in the row: features, prefix, endpoints and suffix tokens."""


class _RuleFile(Strict):
    version: Annotated[int, Field(ge=1, le=1)]
    rule: str
    fitted_on: Annotated[list[_Row], Field(min_length=1)]
    objective: str
    trace: list[dict[str, Any]]
    pooled: list[str] = Field(default_factory=list)
    """The treatments, where it was fitted on rows of several."""
    digest: str


def write_rule(path: Path, study: Study, found: Fit, pooled: Sequence[str] = ()) -> str:
    """Write the winner, its whole trace and its fitting rows; returns the digest.

    pooled: the treatments, where the rows are of several.
    Raises InputError where the file exists or cannot be written: a rule is never rewritten.
    """
    document = _document(study, found) | ({"pooled": list(pooled)} if pooled else {})
    document["digest"] = digest(document)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except UnicodeEncodeError:
        path.unlink(missing_ok=True)
        raise InputError(path, "", "a name in it is no Unicode text") from None
    except FileExistsError:
        raise InputError(
            path, "", "there is such a file already; a rule is not rewritten"
        ) from None
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be written") from None
    return str(document["digest"])


def _document(study: Study, found: Fit) -> dict[str, Any]:
    table = study.table
    rows = [
        {
            "task_id": table.task.text(row),
            "source_group": table.group.text(row),
            "row_digest": digest(_read_of(table, success(table), row)),
        }
        for row in map(int, found.rows.nonzero()[0])
    ]
    trace = [
        {
            "index": one.index,
            "rule": str(one.rule),
            "objective": repr(one.objective),
            "totals_ratio": repr(one.totals_ratio),
            "rejected": one.rejected,
        }
        for one in found.trace
    ]
    return {
        "version": VERSION,
        "rule": str(found.best.rule),
        "fitted_on": sorted(rows, key=lambda row: (row["task_id"], row["row_digest"])),
        "objective": repr(found.best.objective),
        "trace": trace,
    }


def _read_of(table: Boundaries, outcomes: Success, row: int) -> dict[str, str]:
    read = {name: values[row] for name, values in table.features.items()}
    read["prefix_tokens"] = table.prefix_tokens[row]
    for name, arm in table.arms.items():
        read[f"{name.lower()}_suffix_tokens"] = arm.suffix_tokens[row]
    ends = (outcomes.f_low, outcomes.f_high, outcomes.p_low, outcomes.p_high)
    success = ",".join(str(int(end[row])) for end in ends)
    return {**{name: repr(float(value)) for name, value in read.items()}, "success": success}


class LoadedRule(NamedTuple):
    rule: Rule
    tasks: frozenset[str] | None
    """What its file says it was fitted on; None for a rule without a file."""
    groups: frozenset[str] | None
    rows: frozenset[str] | None
    """Digests of the rows, which tell a fitting row under another name."""


def load_rule(text: str) -> LoadedRule:
    """A rule as text, or the file that holds a fitted one with what it was fitted on.

    Raises InputError: no such rule, or a file whose digest is not that of what it says.
    """
    if not text.endswith(".json"):
        return LoadedRule(parse_rule(text), None, None, None)
    path = Path(text)
    try:
        raw = strict_json(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(path, "", "no such file") from None
    except (OSError, UnicodeDecodeError, StrictJSONError) as error:
        raise InputError(path, "", f"not a rule file: {error}") from None
    found = validated(path, raw, _RuleFile)
    assert isinstance(raw, dict)
    stated = raw.pop("digest")
    if digest(raw) != stated:
        raise InputError(path, "digest", "not that of the file's content: it was changed")
    return LoadedRule(
        parse_rule(found.rule),
        frozenset(row.task_id for row in found.fitted_on),
        frozenset(row.source_group for row in found.fitted_on),
        frozenset(row.row_digest for row in found.fitted_on),
    )


def fitting_tasks_among(table: Boundaries, rows: frozenset[str]) -> tuple[set[str], set[str]]:
    """Tasks and source groups of the rows that a rule was fitted on, whatever they are called."""
    outcomes = success(table)
    found = [row for row in range(len(table)) if digest(_read_of(table, outcomes, row)) in rows]
    return {table.task.text(row) for row in found}, {table.group.text(row) for row in found}
