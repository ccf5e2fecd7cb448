"""A ledger and its own export, read by the analysis, say the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from revereval.terms import ArmName, Endpoint, StopReason
from tests.analysis.rows import Report, analyzed, refused
from tests.cli.process import Scene, at
from tests.ledger.build import ANSWERS, ERRS, PREFIX, RIGHT, ArmScript, both, open_build
from tests.ledger.script import READ, Turn
from tests.loopback import run_here

RIGHTLY = ArmScript([Turn([READ]), ANSWERS], Endpoint.CORRECT)
WRONGLY = ArmScript([ERRS], Endpoint.WRONG)
CAPPED = ArmScript([Turn([READ])] * 12, Endpoint.CAPPED)
BUDGET = ArmScript([Turn([READ])], Endpoint.STOPPED, StopReason.BUDGET)
FAILED = ArmScript([], Endpoint.STOPPED, StopReason.PROVIDER_ERROR)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven plans: two without a boundary, five boundary runs with every endpoint.

    One of the five is under another treatment than the rest, so that they share no frame.
    """
    folder = tmp_path_factory.mktemp("analysed")
    for build in open_build(folder):
        build.pair(PREFIX, both(RIGHTLY, WRONGLY))
        build.pair(PREFIX, both(RIGHTLY, RIGHTLY), first_arm="P", fitting=True)
        build.pair(PREFIX, both(CAPPED, BUDGET), endpoint_definition="joint")
        build.pair(PREFIX, both(BUDGET, FAILED))
        build.pair(PREFIX, {ArmName.F: WRONGLY})
        build.finished([Turn(answer=RIGHT)])
        build.stopped([Turn([READ])], StopReason.PROVIDER_ERROR)
    return folder / "ledger.sqlite"


POOLED, APART = "2 treatments pooled: ", "P minus F by treatment"


def test_the_flow_of_a_ledger_begins_with_its_plans(ledger: Path) -> None:
    found = analyzed("frame", "--pool", "--ledger", str(ledger))
    assert found.says(
        "Of 7 runs, 1 finished before anything was eligible, 1 stopped in capture, and 5 reached "
        "the boundary."
    )
    assert found.row(f"{POOLED}Endpoints by arm", "F") == ["2", "1", "1", "1", "0", "5"]
    assert found.row(f"{POOLED}Endpoints by arm", "P") == ["1", "1", "0", "2", "1", "5"]
    apart = analyzed("frame", "--ledger", str(ledger))
    assert apart.says(
        "Of 6 runs, 1 finished before anything was eligible, 1 stopped in capture, and 4 reached "
        "the boundary."
    )
    assert apart.says("Of 1 run, 0 finished before anything was eligible, 0 stopped in capture,")


def test_the_bounds_of_a_ledger_by_hand(ledger: Path) -> None:
    # runs: -1 | 0 | F fails, P's budget stop under joint 0 | both unknown | F wrong, P unknown
    found = analyzed("bounds", "--pool", "--ledger", str(ledger))
    title = f"{POOLED}P minus F by frame, as recorded"
    assert found.row(title, "all boundaries")[:4] == ["5", "2–3", "1–3", "[−2, +1]"]
    contracts = f"{POOLED}By contract and endpoint definition"
    assert found.row(contracts, "extracted", "request")[3] == "[−2, +2]"
    assert found.row(contracts, "extracted", "joint")[3] == "[−1, +1]"
    for definition, expected in (("request", "[−2, +2]"), ("joint", "[−1, +1]")):
        other = analyzed("bounds", "--pool", "--ledger", str(ledger), "--endpoint", definition)
        assert other.row(title, "all boundaries")[3] == expected
    # the third run alone is under the joint definition: 0
    apart = analyzed("bounds", "--ledger", str(ledger))
    assert [cells[1:6] for cells in apart.rows(APART)] == [
        ["4", "1", "2–3", "1–3", "[−2, +1]"],
        ["1", "1", "0", "0", "[0, 0]"],
    ]
    assert apart.row("Settings that differ", "endpoint_definition") == ["request", "joint"]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_an_export_is_analysed_as_the_ledger_itself(
    form: str, ledger: Path, tmp_path: Path
) -> None:
    path = tmp_path / f"boundaries.{form}"
    done = run_here(
        "ledger", "export", "--table", "boundaries", "--format", form, "-o", str(path),
        "--ledger", str(ledger),
    )  # fmt: skip
    assert done.code == 0
    asked = ["--rule", "history_bytes >= 1", "--prices", "1,0.1,8"]
    by_ledger = analyzed("--ledger", str(ledger), *asked)
    by_file = analyzed(str(path), *asked)
    assert by_file.titles == by_ledger.titles
    for title in by_file.titles:
        assert by_file.columns(title) == by_ledger.columns(title)
        assert by_file.rows(title) == by_ledger.rows(title)
    assert _sentences(by_file, path) == _sentences(by_ledger, ledger)


def _sentences(found: Report, source: Path) -> list[str]:
    """All but what only a ledger knows: its plans."""
    about_plans = ("plans never reached", "finished before anything was eligible")
    return [
        sentence.replace(str(source), "SOURCE")
        for sentence in found.sentences
        if not any(part in sentence for part in about_plans)
    ]


def test_a_real_run_of_the_controller_is_analysed(tmp_path: Path) -> None:
    scene: Scene = at(tmp_path / "scene", tmp_path / "cache")
    done = scene.run("run-pair", "h11-framing", "--new", "--ledger", "l.sqlite")
    assert done.returncode == 0, done.stderr
    ledger = str(scene.folder / "l.sqlite")
    assert analyzed("--ledger", ledger).says("The frame is 1 boundary runs.")
    exported = scene.run("ledger", "export", "--ledger", "l.sqlite", "-o", "b.csv")
    assert exported.returncode == 0
    by_file = scene.run("analyze", "bounds", "b.csv", "--json")
    assert (by_file.returncode, by_file.stderr) == (0, b"")
    by_ledger = scene.run("analyze", "bounds", "--ledger", "l.sqlite", "--json")
    assert by_file.stdout.replace(b"b.csv", b"") == by_ledger.stdout.replace(b"l.sqlite", b"")


def test_analysing_changes_nothing(ledger: Path) -> None:
    before = ledger.read_bytes()
    analyzed("--ledger", str(ledger))
    assert ledger.read_bytes() == before


def test_a_ledger_without_a_boundary_is_an_empty_frame(tmp_path: Path) -> None:
    made: Iterator[object] = open_build(tmp_path)
    for _ in made:
        pass
    said = refused("--ledger", str(tmp_path / "ledger.sqlite"))
    assert "the frame is empty" in said
    assert "no ledger here" in refused("--ledger", str(tmp_path / "none.sqlite"))
