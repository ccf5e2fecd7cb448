"""`revereval analyze`: what a record identifies, part by part or as a whole."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from revereval.analysis.study import Study
    from revereval.report.section import Section

WHOLE = "all"


class _WholeByDefault(TyperGroup):
    """`analyze FILE` is `analyze all FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "--help"):
            args = [WHOLE, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_WholeByDefault,
    help="Say what a record identifies; without a sub-command, all of it.",
)


class ContractName(StrEnum):
    PRIMARY = "primary"
    EXTRACTED = "extracted"
    STRICT = "strict"


class Definition(StrEnum):
    PLAN = "plan"
    REQUEST = "request"
    JOINT = "joint"


File = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="A boundary table; without it, the ledger."),
]
LedgerFile = Annotated[Path, typer.Option("--ledger", help="The ledger file.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
ContractOption = Annotated[ContractName, typer.Option("--contract", help="Scoring contract.")]
DefinitionOption = Annotated[
    Definition, typer.Option("--endpoint", help="Endpoint definition; plan: each row's own.")
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="TASK", help="Also without this task.")
]
Relax = Annotated[
    list[str] | None,
    typer.Option("--relax", metavar="TASK:ARM", help="Also with this outcome taken as unknown."),
]
RuleOption = Annotated[
    str | None, typer.Option("--rule", help="'FEATURE >= NUMBER', or the file of a fitted rule.")
]
PricesOption = Annotated[
    str | None, typer.Option("--prices", metavar="U,C,O", help="Prices of a million tokens.")
]
JointPrefix = Annotated[
    int | None, typer.Option("--joint-prefix", min=0, help="Prefix tokens of J, if not in rows.")
]
ComparablePrefix = Annotated[
    int | None,
    typer.Option("--comparable-prefix", min=0, help="Prefix tokens of the comparable runs."),
]
Feature = Annotated[str, typer.Option("--feature", help="Of the hindsight threshold.")]
LEDGER = Path("runs/ledger.sqlite")
FEATURE = "history_bytes"


@app.command(WHOLE)
def everything(
    file: File = None,
    rule: RuleOption = None,
    exclude: Exclude = None,
    relax: Relax = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    feature: Feature = FEATURE,
    prices: PricesOption = None,
    joint_prefix: JointPrefix = None,
    comparable_prefix: ComparablePrefix = None,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Everything the record identifies, quality before resources."""
    from revereval.report.whole import sections

    study = study_of(
        file, ledger, rule, exclude, relax, contract, endpoint, feature, prices,
        joint_prefix, comparable_prefix,
    )  # fmt: skip
    _print(study, sections(study), as_json)


@app.command()
def frame(
    file: File = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """The flow from plans to joint successes, and the endpoints."""
    from revereval.report.quality import frame_section

    study = study_of(file, ledger, contract=contract, endpoint=endpoint)
    _print(study, [frame_section(study)], as_json)


@app.command()
def bounds(
    file: File = None,
    rule: RuleOption = None,
    exclude: Exclude = None,
    relax: Relax = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """P minus F over the whole frame: the range that the record allows."""
    from revereval.report.quality import bounds_section

    study = study_of(file, ledger, rule, exclude, relax, contract, endpoint)
    _print(study, [bounds_section(study)], as_json)


@app.command()
def selector(
    rule: Annotated[str, typer.Argument(help="'FEATURE >= NUMBER', or a fitted rule's file.")],
    file: File = None,
    exclude: Exclude = None,
    relax: Relax = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """A rule that runs P for some boundaries, against always full."""
    from revereval.report.policies import policy_section
    from revereval.report.rule import selector_section

    study = study_of(file, ledger, rule, exclude, relax, contract, endpoint)
    assert study.question.rule is not None
    parts = [selector_section(study, study.question.rule), policy_section(study)]
    _print(study, parts, as_json)


@app.command()
def resources(
    file: File = None,
    rule: RuleOption = None,
    exclude: Exclude = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    prices: PricesOption = None,
    joint_prefix: JointPrefix = None,
    comparable_prefix: ComparablePrefix = None,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """What pairs with known outcomes cost; the frame's quality comes first."""
    from revereval.report.cost import resources_section
    from revereval.report.policies import policy_section
    from revereval.report.quality import bounds_section

    study = study_of(
        file, ledger, rule, exclude, None, contract, endpoint, FEATURE, prices,
        joint_prefix, comparable_prefix,
    )  # fmt: skip
    parts = [bounds_section(study), resources_section(study), policy_section(study)]
    _print(study, parts, as_json)


@app.command()
def fit(
    file: File = None,
    save: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the fitted rule, a .json file.")
    ] = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    feature: Feature = FEATURE,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Fit a threshold on the rows marked as fitting, with the whole trace."""
    from revereval.cli import output
    from revereval.errors import InputError
    from revereval.report.policies import fit_section, fitted
    from revereval.report.rule_file import write_rule
    from revereval.report.whole import hindsight_if_possible

    study = study_of(file, ledger, contract=contract, endpoint=endpoint, feature=feature)
    found, _ = fitted(study)
    parts = [fit_section(study), hindsight_if_possible(study)]
    if save is not None:
        if save.suffix != ".json":
            raise InputError("--output", str(save), "a rule file ends with .json")
        digest = write_rule(save, study, found)
        output.note(f"wrote {save}, digest {digest}")
    _print(study, parts, as_json)


@app.command()
def censoring(
    file: File = None,
    simulate: Annotated[
        int | None, typer.Option("--simulate", min=1, help="Simulated campaigns for each world.")
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", help="Pairs of a simulated campaign.")] = 27,
    accuracy: Annotated[float, typer.Option(help="Chance that an answer is correct.")] = 0.8,
    difficulty: Annotated[float, typer.Option(help="Spread of the tasks' cap chances.")] = 0.2,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the simulation.")] = 1,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """What skipping the companion of a capped arm would have reported.

    On the complete rows of a record; with --simulate on made-up worlds, which need no record.
    """
    from revereval.errors import InputError
    from revereval.report.sensitivity import censoring_section, simulation_section, worlds

    if simulate is not None:
        if file is not None:
            raise InputError("--simulate", str(file), "made-up worlds need no table")
        found = worlds(pairs, accuracy, difficulty, simulate, seed)
        _print(None, [simulation_section(found, seed)], as_json)
        return
    study = study_of(file, ledger, contract=contract, endpoint=endpoint)
    _print(study, [censoring_section(study)], as_json)


def study_of(
    file: Path | None,
    ledger: Path,
    rule: str | None = None,
    exclude: list[str] | None = None,
    relax: list[str] | None = None,
    contract: ContractName = ContractName.PRIMARY,
    endpoint: Definition = Definition.PLAN,
    feature: str = FEATURE,
    prices: str | None = None,
    joint_prefix: int | None = None,
    comparable_prefix: int | None = None,
) -> "Study":
    from dataclasses import replace

    from revereval.analysis.study import Question, Study
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
    table, plans = boundary_table(file, ledger)
    if loaded is not None and loaded.tasks is not None:
        tasks, groups = fitting_tasks_among(table, loaded.rows or frozenset())
        question = replace(
            question,
            fitted_on=loaded.tasks | tasks,
            fitted_groups=(loaded.groups or frozenset()) | groups,
        )
    return Study(table, question, plans)


def _print(study: "Study | None", sections: "Iterable[Section]", as_json: bool) -> None:
    from revereval.cli import output
    from revereval.report.asked import asked_sentences

    found = list(sections)
    if as_json:
        source = None if study is None else study.table.source
        asked = [] if study is None else asked_sentences(study)
        made = [section.as_json() for section in found]
        output.print_json({"source": source, "asked": asked, "sections": made})
        return
    if study is not None:
        for sentence in asked_sentences(study):
            output.paragraph(sentence)
        output.line()
    for section in found:
        output.line(section.title)
        output.line("=" * len(section.title))
        for sentence in section.sentences:
            output.paragraph(sentence)
        for table in section.tables:
            output.line()
            output.table(table.title, table.columns, table.rows)
        if section.caveats:
            output.line()
        for caveat in section.caveats:
            output.paragraph(caveat)
        output.line()
