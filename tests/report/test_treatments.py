"""A report on two treatments: each apart, the table of both first, pooled only where asked."""

import re
from pathlib import Path

import pytest

from tests.cli.process import ROOT
from tests.loopback import run_here
from tests.report.reading import read_page


@pytest.fixture
def two(ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ledger of two pairs, and two more runs of one of its tasks under another companion."""
    config = tmp_path / "config.toml"
    config.write_text('companion = "after_answer"\n')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for _ in range(2):
        done = run_here("run-pair", "h11-framing", "--new", "--config", str(config),
                        "--ledger", str(ledger), "--tasks", str(ROOT / "tasks"))  # fmt: skip
        assert done.code == 0, done.err
    return ledger


def test_the_report_has_the_treatments_first_and_no_frame_of_both(
    two: Path, tmp_path: Path
) -> None:
    path, figures = tmp_path / "r.html", tmp_path / "figures"
    done = run_here("report", "--ledger", str(two), "-o", str(path), "--figures", str(figures))
    assert done.code == 0, done.err
    text = path.read_text("utf-8")
    page = read_page(text)
    titles = re.findall(r'<h2 id="part-\d+-title"><span class="number">\d+</span> ([^<]*)', text)
    assert titles[0] == "Treatments"
    assert [title.split()[0] for title in titles[1:-4]] == sorted(
        title.split()[0] for title in titles[1:-4]
    )
    rows = page.tables["P minus F by treatment"]
    assert [(row[0][:3], *row[1:3]) for row in rows[1:]] == [("T1 ", "2", "2"), ("T2 ", "2", "1")]
    assert [row[0] for row in page.tables["Settings that differ"][1:]] == ["companion"]
    assert page.tables["Settings that differ"][1][1:] == ["always", "after_answer"]
    assert "over 4 boundary runs" not in page.text
    assert "1 tasks have more than one run that is no repeat (h11-framing: runs 3, 4)" in page.text
    names = {file.name for file in figures.iterdir()}
    assert {"flow-t1.svg", "flow-t2.svg", "bounds-t1.png", "bounds-t2.png"} <= names
    assert len(re.findall(r' id="[^"]+"', text)) == len(set(re.findall(r' id="[^"]+"', text)))


def test_a_report_of_one_of_two_treatments_is_that_of_one(two: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.md"
    asked = ["report", "--ledger", str(two), "--format", "md", "-o", str(path)]
    assert run_here(*asked, "--treatment", "T2").code == 0
    text = path.read_text("utf-8")
    assert "P minus F by treatment" not in text
    assert "over 2 boundary runs" in text
    assert "Only these of 2 treatments: T2 " in text
    assert "packaging-specifiers" not in text
    assert run_here(*asked, "--pool").code == 0
    pooled = path.read_text("utf-8")
    assert pooled.index("## 1. Treatments") < pooled.index("## 2. 2 treatments pooled: The frame")
    assert "over 4 boundary runs" in pooled
