"""The page holds every number of the sections, and needs nothing but itself."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from revereval.analysis.flow import plans_of
from revereval.analysis.selector import parse_rule
from revereval.analysis.study import Question, Study
from revereval.analysis.treatments import alone
from revereval.cli.tables import boundary_table
from revereval.report.document import document
from revereval.report.rendering import page
from revereval.report.whole import sections
from revereval.terms import ArmName
from tests.loopback import run_here
from tests.report.conftest import study_of
from tests.report.reading import Reader, read_page

RULE = "history_bytes >= 70714"


def assert_holds(reader: Reader, study: Study) -> None:
    for section in sections(study):
        assert any(section.title in heading for heading in reader.headings)
        for sentence in (*section.sentences, *section.caveats):
            assert sentence in reader.text
        for table in section.tables:
            rows: list[Sequence[str]] = [table.columns, *table.rows]
            assert reader.tables[table.title] == [list(row) for row in rows]


def written(folder: Path, *arguments: str) -> Reader:
    path = folder / "report.html"
    done = run_here("report", *arguments, "--output", str(path))
    assert done.code == 0, done.err
    return read_page(path.read_text(encoding="utf-8"))


def test_every_number_of_the_reference_record_is_in_the_page(
    tmp_path: Path, reference: Path
) -> None:
    reader = written(
        tmp_path, str(reference), "--rule", RULE, "--exclude", "docutils-nodes",
        "--relax", "pathspec-util:F", "--prices", "1.25,0.125,10",
    )  # fmt: skip
    question = Question(
        rule=parse_rule(RULE), exclude=("docutils-nodes",), relax=(("pathspec-util", ArmName.F),),
        prices=None,
    )  # fmt: skip
    plain = study_of(reference, question)
    for section in sections(plain):
        for table in section.tables:
            if "Usage" not in table.title:  # the prices add a column
                assert reader.tables[table.title][1:] == [list(row) for row in table.rows]
    assert "[−9, +1]" in reader.text
    assert "N = 27" in reader.text
    assert reader.svgs == 4


def test_every_number_of_a_ledger_is_in_the_page(tmp_path: Path, ledger: Path) -> None:
    reader = written(tmp_path, "--ledger", str(ledger))
    table, captured = boundary_table(None, ledger)
    study = Study(table, Question(), plans_of(captured or ()))
    assert_holds(reader, study)
    assert (
        "a program that stands in for a model and whose token usage is an estimate" in reader.text
    )
    plan_rows = reader.tables["Plans by digest"]
    assert {row[1] for row in plan_rows[1:]} == {"h11-framing", "packaging-specifiers"}
    assert all(len(row[0]) == 64 for row in plan_rows[1:])
    assert reader.tables["Providers and models"][1][:3] == ["scripted", "scripted", "2"]


def test_quality_is_read_before_resources(study: Study) -> None:
    reader = read_page(page(document(alone(study), [], None)))
    order = [heading.lstrip("0123456789 ") for heading in reader.headings]
    places = [order.index(name) for name in ("How to read this", "The frame",
              "Quality of the whole frame", "Conditional resources",
              "What this record does not establish")]  # fmt: skip
    assert places == sorted(places)
    assert order[-1] == "What this record does not establish"
    start = reader.text.index("P minus F in successes, over 27 boundary runs")
    assert start < reader.text.index("suffix tokens, ratio of sums")


def test_a_table_says_that_it_has_no_single_pairs_and_no_plans(study: Study) -> None:
    reader = read_page(page(document(alone(study), [], None)))
    assert "The table came without its requests" in reader.text
    assert "The table names neither plans nor providers nor models." in reader.text


def test_a_record_without_a_comparable_pair_has_a_page_without_that_figure(tmp_path: Path) -> None:
    table = tmp_path / "open.csv"
    table.write_text(
        "task_id,source_group,first_arm,f_endpoint,p_endpoint,f_suffix_tokens\n"
        "a,g,F,correct,unexecuted,100\n"
        "b,g,P,unexecuted,stopped,\n"
    )
    reader = written(tmp_path, str(table))
    assert reader.svgs == 2
    assert "[−2, +1]" in reader.text


def test_an_empty_frame_is_an_error_and_no_page(tmp_path: Path) -> None:
    table = tmp_path / "single.csv"
    table.write_text(
        "task_id,source_group,first_arm,f_endpoint,p_endpoint\na,g,F,correct,not_planned\n"
    )
    done = run_here("report", str(table), "-o", str(tmp_path / "report.html"))
    assert done.code == 2
    assert "the frame is empty" in done.err
    assert not (tmp_path / "report.html").exists()


def test_a_long_trace_is_cut_and_says_so(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("revereval.report.document.MOST_ROWS", 5)
    reader = read_page(page(document(alone(study), [], None)))
    cut = [title for title in reader.tables if "the first 5 of 17 rows" in title]
    assert cut and all(len(reader.tables[title]) == 6 for title in cut)


@pytest.mark.parametrize("kind", ["html", "md"])
def test_the_same_record_gives_the_same_bytes(kind: str, tmp_path: Path, ledger: Path) -> None:
    found = []
    for name in ("one", "two"):
        path = tmp_path / name
        done = run_here("report", "--ledger", str(ledger), "-o", str(path), "--format", kind)
        assert done.code == 0, done.err
        found.append(path.read_bytes())
    assert found[0] == found[1]
