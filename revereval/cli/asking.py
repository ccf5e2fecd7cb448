"""What `analyze` and `report` ask of a record, from the words of the command line."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from revereval.analysis.treatments import Record, Selection


class ContractName(StrEnum):
    PRIMARY = "primary"
    EXTRACTED = "extracted"
    STRICT = "strict"


class Definition(StrEnum):
    PLAN = "plan"
    REQUEST = "request"
    JOINT = "joint"


def selected(
    treatment: list[str] | None, model: list[str] | None, plan: list[str] | None, pool: bool
) -> "Selection":
    from revereval.analysis.treatments import Selection

    return Selection(tuple(treatment or ()), tuple(model or ()), tuple(plan or ()), pool)


def record_of(
    file: Path | None,
    ledger: Path,
    selection: "Selection",
    rule: str | None = None,
    exclude: list[str] | None = None,
    relax: list[str] | None = None,
    contract: ContractName = ContractName.PRIMARY,
    endpoint: Definition = Definition.PLAN,
    feature: str = "history_bytes",
    prices: str | None = None,
    joint_prefix: int | None = None,
    comparable_prefix: int | None = None,
) -> "Record":
    """One question about a file's rows, or a ledger's; raises InputError for a fault in them."""
    from dataclasses import replace

    from revereval.analysis.study import Question
    from revereval.analysis.treatments import record
    from revereval.cli.tables import boundary_table
    from revereval.report.asked import feature_named, parse_prices, parse_relaxation
    from revereval.report.rule_file import fitting_tasks_among, load_rule
    from revereval.terms import EndpointDefinition

    loaded = None if rule is None else load_rule(rule)
    question = Question(
        rule=loaded and loaded.rule,
        exclude=tuple(exclude or ()),
        relax=tuple(map(parse_relaxation, relax or ())),
        contract=contract,
        definition=None if endpoint is Definition.PLAN else EndpointDefinition(endpoint),
        feature=feature_named(feature),
        prices=None if prices is None else parse_prices(prices),
        joint_prefix_total=joint_prefix,
        comparable_prefix_total=comparable_prefix,
    )
    table, captured = boundary_table(file, ledger)
    if loaded is not None and loaded.tasks is not None:
        tasks, groups = fitting_tasks_among(table, loaded.rows or frozenset())
        question = replace(
            question,
            fitted_on=loaded.tasks | tasks,
            fitted_groups=(loaded.groups or frozenset()) | groups,
        )
    return record(table, question, selection, captured)
