"""Figures: the same bytes every time, sound SVG, and no number that a table does not have."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from revereval.analysis.boundaries import Boundaries, Coded
from revereval.analysis.flow import plans
from revereval.analysis.selector import parse_rule
from revereval.analysis.study import Question, Study
from revereval.ledger.database import Database
from revereval.ledger.trajectories import trajectories
from revereval.report.drawing import SMALL, Drawn, house_style, png, svg_file, svg_inline
from revereval.report.figures import quality_figure, rule_figure
from revereval.report.flow_figure import flow_figure
from revereval.report.pair_figures import pairs_figure, shown_pairs
from revereval.report.trajectory_figure import trajectory_figure
from revereval.terms import ArmName
from tests.loopback import cli

RULE = parse_rule("history_bytes >= 70714")


def drawn_of(study: Study, ledger: Path) -> list[Drawn]:
    pairs = pairs_figure(study)
    assert pairs is not None
    database = Database(ledger, write=False)
    singles = [trajectory_figure(one) for one in trajectories(database, [1, 2])]
    database.close()
    many = pairs_figure(repeated(study, 10))
    assert many is not None
    return [flow_figure(study), quality_figure(study), rule_figure(study, RULE), pairs, many,
            *singles]  # fmt: skip


def repeated(study: Study, times: int) -> Study:
    """The same rows many times, as runs of their own."""
    table = study.table

    def more(values: np.ndarray) -> np.ndarray:
        return np.tile(values, times)

    def coded(column: Coded) -> Coded:
        return Coded(more(column.codes), column.values)

    arms = {
        name: replace(
            arm,
            endpoints={contract: more(codes) for contract, codes in arm.endpoints.items()},
            **{field: more(getattr(arm, field)) for field in (
                "budget_stop", "suffix_tokens", "suffix_requests", "uncached", "cached", "output")},
        )
        for name, arm in table.arms.items()
    }  # fmt: skip
    made = Boundaries(
        source=table.source, task=coded(table.task), group=coded(table.group),
        p_first=more(table.p_first), arms=arms, joint=more(table.joint),
        prefix_tokens=more(table.prefix_tokens),
        features={name: more(values) for name, values in table.features.items()},
        fitting=None if table.fitting is None else more(table.fitting), split=None,
        run=np.arange(len(table) * times), run_id=more(table.run_id),
        treatment=coded(table.treatment), said={}, place=np.arange(len(table) * times),
    )  # fmt: skip
    return Study(made, Question())


def axes_of(drawn: Drawn) -> list[Axes]:
    return drawn.figure.axes


def texts(drawn: Drawn) -> Iterator[Text]:
    """What is seen: matplotlib keeps tick labels beyond the ends of an axis, and draws none."""
    beyond = set()
    for axes in axes_of(drawn):
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            beyond |= {id(tick.label1) for tick in ticks if not low <= tick.get_loc() <= high}
    for found in drawn.figure.findobj(Text):
        assert isinstance(found, Text)
        if found.get_visible() and found.get_text() and id(found) not in beyond:
            yield found


def cells(drawn: Drawn) -> set[str]:
    return {cell for table in drawn.tables for row in table.rows for cell in row}


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def test_a_figure_is_the_same_byte_for_byte(study: Study, ledger: Path) -> None:
    one, two = drawn_of(study, ledger), drawn_of(study, ledger)
    for first, second in zip(one, two, strict=True):
        assert svg_file(first) == svg_file(second) == svg_file(first)
        assert svg_inline(first) == svg_inline(second)
        assert png(first) == png(second)


def test_neither_the_hash_seed_nor_a_persons_matplotlibrc_changes_a_figure(
    tmp_path: Path, ledger: Path
) -> None:
    rc = tmp_path / "matplotlibrc"
    rc.write_text("font.size: 40\nsvg.fonttype: path\naxes.facecolor: red\nbackend: template\n")
    kept = []
    for name, env in (("a", {"PYTHONHASHSEED": "1"}), ("b", {"MATPLOTLIBRC": str(rc)})):
        figures = tmp_path / name
        arguments = ["report", "--ledger", str(ledger), "-o", str(tmp_path / f"{name}.html"),
                     "--figures", str(figures)]  # fmt: skip
        done = subprocess.run(
            cli(*arguments), env={**os.environ, **env}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("\n") == 1
        kept.append({path.name: path.read_bytes() for path in figures.iterdir()})
    assert kept[0] == kept[1]
    assert {"flow.svg", "flow.png", "bounds.svg", "pairs.png", "run-2.svg"} <= kept[0].keys()


def test_svg_is_xml_with_a_text_alternative_in_the_pages_colour(study: Study, ledger: Path) -> None:
    for drawn in drawn_of(study, ledger):
        for text in (svg_file(drawn), svg_inline(drawn)):
            root = ElementTree.fromstring(text)  # noqa: S314 - it is ours
            assert root.get("role") == "img"
            title, description = list(root)[:2]
            assert title.text == drawn.title
            assert description.text == drawn.description
            assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
            assert "currentColor" in text
            assert "#010203" not in text
            assert "#000000" not in text
        assert "http" not in svg_inline(drawn)


def test_no_text_is_smaller_than_nine_points_and_none_is_cut(study: Study, ledger: Path) -> None:
    for drawn in drawn_of(study, ledger):
        with house_style():
            drawn.figure.draw_without_rendering()
        width, height = drawn.figure.bbox.size
        for text in texts(drawn):
            assert float(text.get_fontsize()) >= SMALL >= 9
            box = text.get_window_extent()
            inside = box.x0 >= -1 and box.x1 <= width + 1 and box.y0 >= -1 and box.y1 <= height + 1
            assert inside, f"{drawn.name}: {text.get_text()!r} is cut"


@pytest.mark.parametrize("letter", ["W", "漢", "i", "\x1b"])
def test_a_long_label_is_cut_before_it_meets_the_axis(letter: str, study: Study) -> None:
    table = study.table
    names = tuple(f"{number}{letter * 200}" for number in range(len(table.task.values)))
    long = Study(replace(table, task=Coded(table.task.codes, names)))
    drawn = pairs_figure(long)
    assert drawn is not None
    with house_style():
        drawn.figure.draw_without_rendering()
        left = axes_of(drawn)[0].get_window_extent().x0
        labels = [text for text in texts(drawn) if text.get_text().endswith("…")]
        assert len(labels) == 17
        assert max(text.get_window_extent().x1 for text in labels) < left


def test_the_flow_has_its_numbers_in_its_table_and_adds_up(study: Study) -> None:
    outcomes = {"boundary": 27, "finished": 4, "stopped": 2, "none": 1}
    counted = Study(study.table, plans=plans(outcomes, {"F": 20, "P": 14}))
    drawn = flow_figure(counted)
    table = drawn.tables[0]
    steps = [row for row in table.rows if row[0]]
    assert [row[0] for row in steps] == [
        "runs of plans", "reached a boundary", "comparable: both outcomes known",
        "J: F and P correct",
    ]  # fmt: skip
    assert [row[2] for row in steps] == ["34", "27", "17", "11"]
    for text in texts(drawn):
        if text.get_text().replace(",", "").isdigit():
            assert text.get_text() in cells(drawn)
    starts = [index for index, row in enumerate(table.rows) if row[0]] + [len(table.rows)]
    for place, step in enumerate(steps[:-1]):
        left = sum(number(row[2]) for row in table.rows[starts[place] + 1 : starts[place + 1]])
        assert number(step[2]) - left == number(steps[place + 1][2])
    assert "runs of plans" not in {row[0] for row in flow_figure(study).tables[0].rows}


def test_a_million_runs_fit_their_box(study: Study) -> None:
    outcomes = {"boundary": 27, "finished": 1_000_000}
    drawn = flow_figure(Study(study.table, plans=plans(outcomes, {"F": 500_013, "P": 500_014})))
    box = axes_of(drawn)[0].patches[0].get_window_extent()
    shown = [text for text in texts(drawn) if text.get_text() in ("1,000,027", "runs of plans")]
    assert len(shown) == 2
    for text in shown:
        assert box.x0 < text.get_window_extent().x0
        assert text.get_window_extent().x1 < box.x1


@pytest.mark.parametrize("own", [0, 2])
def test_imported_rows_are_named_in_the_flow_and_stay_in_its_boxes(own: int, study: Study) -> None:
    drawn = flow_figure(Study(study.table, plans=plans({"boundary": own}, {"F": own})))
    names = [row[0] for row in drawn.tables[0].rows if row[0]]
    assert ("reached a boundary (25 imported)" in names) == bool(own)
    assert ("runs of plans" in names) == bool(own)
    boxes = [patch for patch in axes_of(drawn)[0].patches if isinstance(patch, Rectangle)]
    for text in texts(drawn):
        if text.get_text().startswith("reached"):
            assert text.get_window_extent().x1 < boxes[0].get_window_extent().x1
    assert max(box.get_x() + box.get_width() for box in boxes) == boxes[0].get_width() + 0.05


@pytest.mark.parametrize("name", ["bounds", "rule"])
def test_the_ends_of_every_interval_and_its_denominator_are_in_its_table(
    name: str, study: Study
) -> None:
    drawn = quality_figure(study) if name == "bounds" else rule_figure(study, RULE)
    ends = [text.get_text() for text in texts(drawn) if text.get_text()[:1] in "+−0"]
    axis = {tick.get_text() for axes in axes_of(drawn) for tick in axes.get_xticklabels()}
    assert ends
    assert set(ends) - axis <= cells(drawn)
    denominators = [text.get_text() for text in texts(drawn) if text.get_text().startswith("N = ")]
    assert [row[2] for row in drawn.tables[0].rows] == [text[4:] for text in denominators]


def test_the_whole_frame_interval_is_drawn_where_its_table_says(study: Study) -> None:
    drawn = quality_figure(study)
    lines = [line for line in axes_of(drawn)[0].lines if line.get_marker() == "|"]
    first = drawn.tables[0].rows[0]
    assert first[3:5] == ["−9", "+1"]
    assert list(np.asarray(lines[0].get_xdata(), float) * 27) == pytest.approx([-9, 1])


def test_complete_cases_are_marked_differently(study: Study) -> None:
    markers = [line.get_marker() for line in axes_of(quality_figure(study))[0].lines]
    assert markers.count("D") == 1
    assert "no estimate" in quality_figure(study).caption


def test_each_pair_is_drawn_where_its_table_says_by_ratio(study: Study) -> None:
    drawn = pairs_figure(study)
    assert drawn is not None
    marks = {
        marker: [float(np.asarray(line.get_xdata())[0]) for line in axes_of(drawn)[0].lines
                 if line.get_marker() == marker]
        for marker in "os"
    }  # fmt: skip
    rows = drawn.tables[0].rows
    assert len(rows) == 17
    assert marks["o"] == [number(row[3]) for row in rows]
    assert marks["s"] == [number(row[4]) for row in rows]
    ratios = [row[5] for row in rows]
    assert ratios == sorted(ratios, key=float)
    shown = [text.get_text() for text in texts(drawn)]
    assert [text for text in shown if text in ratios] == ratios
    assert shown.count("◆") == sum(row[1] == "yes" for row in rows) == 4
    assert "suffix tokens, ratio axis" in axes_of(drawn)[0].get_xlabel()


def test_logical_tokens_are_shown_only_where_every_prefix_is_known(study: Study) -> None:
    assert shown_pairs(study).kind == "suffix"
    known = replace(study.table, prefix_tokens=np.full(len(study.table), 1000.0))
    shown = shown_pairs(Study(known))
    assert shown.kind == "logical"
    assert shown.pairs[0].tokens == (386_959, 4_421)


def test_beyond_sixty_pairs_the_ratios_are_counted_and_not_drawn_one_by_one(study: Study) -> None:
    drawn = pairs_figure(repeated(study, 300))
    assert drawn is not None
    bins, quantiles = drawn.tables
    heights = {
        arm: [patch.get_height() for patch in axes.patches if isinstance(patch, Rectangle)]
        for arm, axes in zip(ArmName, axes_of(drawn), strict=True)
    }
    for place, arm in enumerate(ArmName, 1):
        assert heights[arm] == [number(row[place]) for row in bins.rows]
    assert sum(map(sum, heights.values())) == 17 * 300
    assert len(bins.rows) <= 28
    assert len(svg_inline(drawn)) < 60_000
    medians = next(row for row in quantiles.rows if row[0] == "50%")
    titles = [axes.get_title(loc="left") for axes in axes_of(drawn)]
    assert all(
        f"median {median}" in title for median, title in zip(medians[1:], titles, strict=True)
    )


def test_pairs_of_zero_tokens_have_no_ratio_and_are_counted(study: Study) -> None:
    arm = study.table.arms[ArmName.P]
    tokens = np.where(arm.suffix_tokens == 3421, 0.0, arm.suffix_tokens)
    arms = {**study.table.arms, ArmName.P: replace(arm, suffix_tokens=tokens)}
    drawn = pairs_figure(Study(replace(study.table, arms=arms)))
    assert drawn is not None
    assert len(drawn.tables[0].rows) == 16
    assert "1 pair with an arm of 0 tokens: no ratio." in drawn.caption


def test_a_trajectory_has_its_tokens_and_events_in_its_table(ledger: Path) -> None:
    database = Database(ledger, write=False)
    (one,) = trajectories(database, [2])
    database.close()
    drawn = trajectory_figure(one)
    rows = drawn.tables[0].rows
    for arm, axes in zip(ArmName, (axes_of(drawn)[1], axes_of(drawn)[3]), strict=True):
        heights = [patch.get_height() for patch in axes.patches if isinstance(patch, Rectangle)]
        assert heights == [number(row[2]) for row in rows if row[0] in ("prefix", arm)]
    projected = [row for row in rows if row[4]]
    assert projected and all(row[0] == "P" for row in projected)
    assert "capped after 12 suffix requests" in drawn.description
    assert any("search_evidence" in row[5] for row in rows)
    assert any(row[5].startswith("answers: {") for row in rows)


def test_no_figure_loads_the_global_interface_of_matplotlib() -> None:
    program = "import sys, revereval.report.document\nassert 'matplotlib.pyplot' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
