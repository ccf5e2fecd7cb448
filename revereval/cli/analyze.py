"""`revereval analyze`: what a record identifies, part by part or as a whole."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from revereval.analysis.study import Study
    from revereval.analysis.treatments import Record
    from revereval.report.section import Section

from revereval.cli.asking import ContractName, Definition, record_of, selected

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
Treatments = Annotated[
    list[str] | None,
    typer.Option("--treatment", metavar="T", help="Only this one: T1 or a digest's first digits."),
]
Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="MODEL", help="Only runs of this model.")
]
PlanDigests = Annotated[
    list[str] | None,
    typer.Option("--plan", metavar="DIGEST", help="Only this plan: its digest's first digits."),
]
Pool = Annotated[bool, typer.Option("--pool", help="One frame of several treatments, so named.")]
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
    treatment: Treatments = None,
    model: Models = None,
    plan: PlanDigests = None,
    pool: Pool = False,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Everything the record identifies, quality before resources."""
    from revereval.report.whole import sections

    chosen = selected(treatment, model, plan, pool)
    record = record_of(
        file, ledger, chosen, rule, exclude, relax, contract, endpoint, feature, prices,
        joint_prefix, comparable_prefix,
    )  # fmt: skip
    _print(record, sections, as_json)


@app.command()
def frame(
    file: File = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    treatment: Treatments = None,
    model: Models = None,
    plan: PlanDigests = None,
    pool: Pool = False,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """The flow from plans to joint successes, and the endpoints."""
    from revereval.report.quality import frame_section

    chosen = selected(treatment, model, plan, pool)
    record = record_of(file, ledger, chosen, contract=contract, endpoint=endpoint)
    _print(record, lambda study: [frame_section(study)], as_json)


@app.command()
def bounds(
    file: File = None,
    rule: RuleOption = None,
    exclude: Exclude = None,
    relax: Relax = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    treatment: Treatments = None,
    model: Models = None,
    plan: PlanDigests = None,
    pool: Pool = False,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """P minus F over the whole frame: the range that the record allows."""
    from revereval.report.quality import bounds_section

    chosen = selected(treatment, model, plan, pool)
    record = record_of(file, ledger, chosen, rule, exclude, relax, contract, endpoint)
    _print(record, lambda study: [bounds_section(study)], as_json)


@app.command()
def selector(
    rule: Annotated[str, typer.Argument(help="'FEATURE >= NUMBER', or a fitted rule's file.")],
    file: File = None,
    exclude: Exclude = None,
    relax: Relax = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    treatment: Treatments = None,
    model: Models = None,
    plan: PlanDigests = None,
    pool: Pool = False,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """A rule that runs P for some boundaries, against always full."""
    from revereval.report.policies import policy_section
    from revereval.report.rule import selector_section

    chosen = selected(treatment, model, plan, pool)
    record = record_of(file, ledger, chosen, rule, exclude, relax, contract, endpoint)

    def parts(study: "Study") -> "list[Section]":
        assert study.question.rule is not None
        return [selector_section(study, study.question.rule), policy_section(study)]

    _print(record, parts, as_json)


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
    treatment: Treatments = None,
    model: Models = None,
    plan: PlanDigests = None,
    pool: Pool = False,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """What pairs with known outcomes cost; the frame's quality comes first."""
    from revereval.report.cost import resources_section
    from revereval.report.policies import policy_section
    from revereval.report.quality import bounds_section

    chosen = selected(treatment, model, plan, pool)
    record = record_of(
        file, ledger, chosen, rule, exclude, None, contract, endpoint, FEATURE, prices,
        joint_prefix, comparable_prefix,
    )  # fmt: skip
    made = (bounds_section, resources_section, policy_section)
    _print(record, lambda study: [make(study) for make in made], as_json)


@app.command()
def fit(
    file: File = None,
    save: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the fitted rule, a .json file.")
    ] = None,
    contract: ContractOption = ContractName.PRIMARY,
    endpoint: DefinitionOption = Definition.PLAN,
    feature: Feature = FEATURE,
    treatment: Treatments = None,
    model: Models = None,
    plan: PlanDigests = None,
    pool: Pool = False,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Fit a threshold on the rows marked as fitting, with the whole trace."""
    from revereval.cli import output
    from revereval.errors import InputError
    from revereval.report.policies import fit_section, fitted
    from revereval.report.rule_file import write_rule
    from revereval.report.whole import hindsight_if_possible

    chosen = selected(treatment, model, plan, pool)
    record = record_of(file, ledger, chosen, contract=contract, endpoint=endpoint, feature=feature)
    if save is not None:
        if save.suffix != ".json":
            raise InputError("--output", str(save), "a rule file ends with .json")
        if len(record.parts) > 1:
            named = ", ".join(one.name for one in record.treatments)
            problem = f"a rule of each of {named}: select one with --treatment, or --pool them"
            raise InputError("--output", str(save), problem)
        study = record.parts[0][1]
        pooled = record.treatments if record.pooled else ()
        digest = write_rule(save, study, fitted(study)[0], [one.name for one in pooled])
        output.note(f"wrote {save}, digest {digest}")
    _print(record, lambda study: [fit_section(study), hindsight_if_possible(study)], as_json)


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
    treatment: Treatments = None,
    model: Models = None,
    plan: PlanDigests = None,
    pool: Pool = False,
    ledger: LedgerFile = LEDGER,
    as_json: AsJson = False,
) -> None:
    """What skipping the companion of a capped arm would have reported.

    On the complete rows of a record; with --simulate on made-up worlds, which need no record.
    """
    from revereval.cli import output
    from revereval.errors import InputError
    from revereval.report.sensitivity import censoring_section, simulation_section, worlds

    if simulate is not None:
        if file is not None:
            raise InputError("--simulate", str(file), "made-up worlds need no table")
        found = worlds(pairs, accuracy, difficulty, simulate, seed)
        section = simulation_section(found, seed)
        if as_json:
            made = [section.as_json()]
            output.print_json({"source": None, "asked": [], "sections": made})
        else:
            _print_sections([section])
        return
    chosen = selected(treatment, model, plan, pool)
    record = record_of(file, ledger, chosen, contract=contract, endpoint=endpoint)
    _print(record, lambda study: [censoring_section(study)], as_json)


def _print(record: "Record", make: "Callable[[Study], Iterable[Section]]", as_json: bool) -> None:
    from revereval.cli import output
    from revereval.report import treatments

    if as_json:
        output.print_json(treatments.document_of(record, make))
        return
    made = treatments.sections_of(record, make)
    for sentence in treatments.record_sentences(record):
        output.paragraph(sentence)
    output.line()
    if record.mixed:
        _print_sections([treatments.treatments_section(record)])
    for label, _, sections in made:
        _print_sections([treatments.labelled(label, section) for section in sections])


def _print_sections(sections: "Iterable[Section]") -> None:
    from revereval.cli import output

    for section in sections:
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
