"""The published record, to the digit: every figure of the reference from one command."""

import json
import subprocess
from dataclasses import dataclass

import pytest

from tests.analysis.rows import REFERENCE, Report, one_section, table
from tests.analysis.rows import reference_rows as rows
from tests.cli.process import REVEREVAL

RULE = "history_bytes >= 93641"
ASKED = [
    "analyze", str(REFERENCE), "--rule", RULE, "--exclude", "pathspec-util",
    "--relax", "pathspec-util:F", "--joint-prefix", "330842", "--comparable-prefix", "510392",
]  # fmt: skip
RECORDED, WITHOUT = "as recorded", "without pathspec-util"
RELAXED = "F of pathspec-util taken as unknown"
ALL, TASKS, GROUPS = "all boundaries", "outside fitting tasks", "outside fitting source groups"
PAIRS = "Suffix tokens of pairs"
OF_EACH = "Suffix and logical tokens of each comparable pair, by P / F"


@dataclass(frozen=True)
class Answer:
    report: Report
    text: str
    """Every run of white space is one space."""


@pytest.fixture(scope="module")
def answer() -> Answer:
    """The one command, as a process, for people and for machines."""
    said = []
    for how in ([], ["--json"]):
        done = subprocess.run(
            [str(REVEREVAL), *ASKED, *how], capture_output=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        said.append(done.stdout.decode())
    document = json.loads(said[1])
    assert document["source"] == str(REFERENCE)
    return Answer(Report(document["sections"]), " ".join(said[0].split()))


@pytest.fixture(scope="module")
def report(answer: Answer) -> Report:
    return answer.report


def test_the_frame_is_27_runs_and_the_six_single_arms_are_in_none(report: Report) -> None:
    assert report.says("The frame is 27 boundary runs.")
    assert report.says("6 rows of single arms are in no paired frame")
    steps = "From boundaries to joint successes, in runs"
    assert report.columns(steps) == ["step", "all", "F first", "P first"]
    assert report.row(steps, "boundaries with both arms planned") == ["27", "15", "12"]
    assert report.row(steps, "both arms answered") == ["15", "10", "5"]
    assert report.row(steps, "comparable: both outcomes known") == ["17", "12", "5"]
    assert report.row(steps, "J: F and P correct")[0] == "11"


def test_the_endpoints_of_the_arm_that_went_first(report: Report) -> None:
    title = "Endpoint of the arm that went first"
    assert report.columns(title)[1:] == [
        "correct", "wrong", "capped", "stopped", "unexecuted", "N",
    ]  # fmt: skip
    assert report.row(title, "F first") == ["9", "3", "3", "0", "0", "15"]
    assert report.row(title, "P first") == ["5", "0", "7", "0", "0", "12"]
    assert report.says("no effect")


def test_the_twelve_stopped_pairs_are_ten_with_an_unexecuted_companion_and_two(
    report: Report,
) -> None:
    title = "F's endpoint by P's"
    assert report.columns(title) == [
        "", "P correct", "P wrong", "P capped", "P stopped", "P unexecuted",
    ]  # fmt: skip
    assert report.row(title, "F correct") == ["11", "1", "2", "0", "0"]
    assert report.row(title, "F wrong") == ["1", "2", "0", "0", "0"]
    assert report.row(title, "F capped") == ["0", "0", "0", "0", "3"]
    assert report.row(title, "F stopped") == ["0", "0", "0", "0", "0"]
    assert report.row(title, "F unexecuted") == ["0", "0", "7", "0", "0"]
    arms = "Endpoints by arm"
    assert report.row(arms, "F") == ["14", "3", "3", "0", "7", "27"]
    assert report.row(arms, "P") == ["12", "3", "9", "0", "3", "27"]
    stopped = [
        one for one in rows()
        if one["flow"] == "paired"
        and not {one["f_endpoint"], one["p_endpoint"]} <= {"correct", "wrong"}
    ]  # fmt: skip
    assert [one["first_arm"] for one in stopped].count("F") == 5
    assert [one["first_arm"] for one in stopped].count("P") == 7


def test_the_pairs_in_which_both_arms_answered(report: Report) -> None:
    title = "Complete cases only, for comparison"
    assert report.rows(title) == [
        ["both correct", "11"],
        ["both wrong", "2"],
        ["F correct only", "1"],
        ["P correct only", "1"],
        ["pairs in which both arms answered", "15"],
    ]
    assert report.says("The 15 pairs in which both arms answered (12 correct under F, 12 under P)")


def test_whole_frame_bounds(report: Report) -> None:
    title = f"P minus F by frame, {RECORDED}"
    assert report.row(title, ALL)[:4] == ["27", "14–21", "12–15", "[−9, +1]"]
    assert report.says("P minus F in successes, over 27 boundary runs: [−9, +1].")
    assert report.row(title, ALL)[4] == "−0.333 to +0.037"
    assert [report.row(title, name)[0] for name in (TASKS, GROUPS)] == ["23", "22"]
    assert report.says("an identification interval, not a confidence interval")


def test_the_strict_contract_moves_both_arms_of_one_run(report: Report) -> None:
    title = "By contract and endpoint definition"
    for definition in ("request", "joint"):
        assert report.row(title, "extracted", definition)[:4] == [
            "27", "14–21", "12–15", "[−9, +1]",
        ]  # fmt: skip
        assert report.row(title, "strict", definition)[:4] == [
            "27", "13–20", "11–14", "[−9, +1]",
        ]  # fmt: skip
    changed = [
        (one["task_id"], one["f_endpoint"], one["f_endpoint_strict"],
         one["p_endpoint"], one["p_endpoint_strict"])
        for one in rows()
        if (one["f_endpoint"], one["p_endpoint"])
        != (one["f_endpoint_strict"], one["p_endpoint_strict"])
    ]  # fmt: skip
    assert changed == [("click-parameters", "correct", "wrong", "correct", "wrong")]


SELECTOR = {
    (RECORDED, ALL): ("27", "[−3, 0]"),
    (RECORDED, TASKS): ("23", "[−4, −1]"),
    (RECORDED, GROUPS): ("22", "[−4, −1]"),
    (WITHOUT, ALL): ("26", "[−2, +1]"),
    (WITHOUT, TASKS): ("22", "[−3, 0]"),
    (WITHOUT, GROUPS): ("21", "[−3, 0]"),
    (RELAXED, ALL): ("27", "[−3, +1]"),
    (RELAXED, TASKS): ("23", "[−4, 0]"),
    (RELAXED, GROUPS): ("22", "[−4, 0]"),
}


@pytest.mark.parametrize(("cell", "expected"), SELECTOR.items(), ids=map(str, SELECTOR))
def test_the_rule_minus_always_full(
    cell: tuple[str, str], expected: tuple[str, str], answer: Answer
) -> None:
    variant, frame = cell
    title = f"Rule minus always full, {variant}"
    number, _, difference, _ = answer.report.row(title, frame)
    assert (number, difference) == expected
    part = answer.text.split(f"{title} ")[1].split("Selected harm")[0]
    assert difference in part.split(f"{frame} ")[1][:60]


def test_the_rule_selects_eight_runs_five_of_them_comparable(report: Report) -> None:
    assert report.row(f"Rule minus always full, {RECORDED}", ALL)[:2] == ["27", "8"]
    assert report.says("The rule runs P in 8 of 27 runs: 5 rows are comparable, in 3 an outcome")
    contributions = report.rows("Contributions of the runs where P runs")
    assert len(contributions) == 8
    open_ = [cells for cells in contributions if cells[5] == "unknown"]
    assert [(cells[2], cells[3], cells[4]) for cells in open_] == [
        ("unexecuted", "capped", "[−1, 0]")
    ] * 3
    harmed = [cells for cells in contributions if cells[5] == "true"]
    assert harmed == [["row 17 (pathspec-util)", "94493", "correct", "capped", "−1", "true"]]
    harm = f"Selected harm (F would have succeeded and P fails), {RECORDED}"
    assert report.columns(harm)[1:4] == ["runs true", "runs false", "runs unknown"]
    assert report.row(harm, ALL)[:3] == ["1", "23", "3"]


def _policies(report: Report, frame: str, variant: str = RECORDED) -> dict[str, list[str]]:
    joint = " " if variant == WITHOUT else ", "
    title = f"Policies on the comparable runs of {frame}{joint}{variant}"
    assert report.columns(title)[1:] == [
        "N", "failures", "suffix tokens", "minus full", "strict failures",
    ]  # fmt: skip
    return {cells[0]: cells[1:] for cells in report.rows(title)}


def test_failures_and_tokens_of_the_policies_on_the_17(report: Report) -> None:
    found = _policies(report, ALL)
    assert found["always full"] == ["17", "3", "1,313,508", "0", "4"]
    assert found["always projected"] == ["17", "5", "1,240,753", "−72,755", "6"]
    assert found[RULE] == ["17", "3", "1,329,748", "+16,240", "4"]


def test_the_rules_tokens_outside_its_fit_and_without_one_task(report: Report) -> None:
    outside = _policies(report, TASKS)[RULE]
    assert (outside[0], outside[3]) == ("13", "+122,682")
    without = _policies(report, TASKS, WITHOUT)[RULE]
    assert (without[0], without[3]) == ("12", "−30,745")


def test_the_hindsight_threshold_and_its_folds(report: Report) -> None:
    title = "Thresholds on comparable runs"
    assert report.row(title, "hindsight threshold") == [
        "history_bytes >= 95519", "17", "2", "1,276,951",
    ]  # fmt: skip
    folds = report.row(title, "leave one source group out")
    assert folds[:3] == ["14 folds", "17", "4"]
    chosen = {cells[0]: cells[1] for cells in report.rows("Thresholds that the folds choose")}
    assert chosen == {"95519": "12", "96013": "1", "93641": "1"}


def test_joint_successes(report: Report) -> None:
    assert report.says("is 11 of 27 (10 under the strict contract); 17 are comparable.")
    assert report.columns(PAIRS) == ["figure", "J", "comparable"]
    expected = {
        "runs with known tokens": ["11", "17"],
        "left out: tokens unknown": ["0", "0"],
        "F suffix tokens": ["936,194", "1,313,508"],
        "P suffix tokens": ["618,932", "1,240,753"],
        "pairs with more under P": ["7", "12"],
        "pairs with fewer under P": ["4", "5"],
        "prefix tokens, once a run": ["330,842", "510,392"],
    }
    assert {name: report.row(PAIRS, name) for name in expected} == expected
    assert report.row(PAIRS, "P − F")[0] == "−317,262"
    assert report.row(PAIRS, "exact two-sided sign test, p")[0] == "0.55"


def test_the_largest_saving_and_the_other_ten(report: Report) -> None:
    assert report.says(
        "The largest saving is row 13 (more-itertools-recipes), 382,538 suffix tokens; the other "
        "pairs together differ by +65,276."
    )


def test_logical_totals_from_the_published_prefix_totals(report: Report) -> None:
    assert report.row(PAIRS, "F logical tokens") == ["1,267,036", "1,823,900"]
    assert report.row(PAIRS, "P logical tokens")[0] == "949,774"
    assert report.row(PAIRS, "logical ratio of sums")[0] == "0.750"
    assert report.says(
        "Without it the logical ratio of sums lies between 1.074 and 1.119, whatever its share of "
        "the prefix total; at the mean prefix it is 1.077."
    )


def test_logical_ratios_of_single_pairs_are_unknown_and_nothing_else_bears_their_name(
    report: Report,
) -> None:
    assert report.columns(OF_EACH)[5:] == ["F logical", "P logical", "logical P / F"]
    logical = {cells[0]: cells[5:] for cells in report.rows(OF_EACH)}
    assert len(logical) == 17
    assert logical.pop("pathspec-util") == ["123,741", "277,168", "2.24"]
    assert set(map(tuple, logical.values())) == {("unknown", "unknown", "unknown")}
    assert report.says(
        "Logical ratios of single pairs need each pair's own prefix tokens, which 11 of 11 pairs "
        "(J) and 16 of 17 pairs (comparable) do not have: theirs are unknown and in no figure."
    )
    title = "Logical ratios of single pairs, prefix included, P / F"
    assert report.columns(title) == ["figure", "J, 0 of 11 pairs", "comparable, 1 of 17 pairs"]
    assert report.row(title, "left out: prefix unknown") == ["11", "16"]
    assert report.row(title, "geometric mean")[0] == "unknown"
    assert report.row(title, "median")[0] == "unknown"
    shown = {cell for title in report.titles for cells in report.rows(title) for cell in cells}
    assert not {"1.292", "0.883"} & shown, "the table cannot know the published per-row figures"


def test_without_the_published_prefix_totals_logical_totals_are_unknown() -> None:
    from revereval.analysis.study import Study
    from revereval.report.cost import resources_section

    found = one_section(resources_section(Study(table(rows()))))
    for name in ("prefix tokens, once a run", "F logical tokens", "logical ratio of sums"):
        assert found.row(PAIRS, name) == ["unknown", "unknown"]
    assert not found.says("Without it the logical ratio")


def test_one_pair_in_full(report: Report) -> None:
    [pair] = [cells for cells in report.rows(OF_EACH) if cells[0] == "pathspec-util"]
    assert pair[2:] == ["84,202", "237,629", "2.82", "123,741", "277,168", "2.24"]
    [title] = [one for one in report.titles if one.startswith("Requests and mean tokens a request")]
    assert "1 of 17 pairs know them" in title
    [requests] = report.rows(title)
    assert requests[:3] == ["pathspec-util", "3", "12"]
    means = [float(cell.replace(",", "")) for cell in requests[3:]]
    assert [round(mean / 1000, 1) for mean in means] == [28.1, 19.8]


def test_what_the_record_does_not_hold_is_unknown(report: Report) -> None:
    usage = report.rows("Usage of the suffix requests")
    assert len(usage) == 6
    sides = [cells for cells in usage if cells[1] != "P − F"]
    assert {cell for cells in usage for cell in cells[2:] if cells not in sides} == {"unknown"}
    # J: 11 rows, none with requests or U, C, O; of the 17 P's requests are known where it capped
    assert [cells[2] for cells in sides] == [
        "unknown in 11", "unknown in 11", "unknown in 16", "unknown in 15",
    ]  # fmt: skip
    assert {cell for cells in sides for cell in cells[4:]} == {"unknown in 11", "unknown in 17"}
    assert report.says("P − F of J costs (unknown)·p_u + (unknown)·p_c + (unknown)·p_o")
    assert report.says("Not possible with this record")
    assert report.says("prefix_tokens: unknown, and a fit needs it")
    assert report.says("How many plans never reached a boundary is unknown")
    assert report.says("10 of 27 pairs have an unknown outcome; no figure above guesses it.")


def test_nobody_reads_resources_before_the_quality_of_the_whole_frame(answer: Answer) -> None:
    quality = answer.text.index("[−9, +1]")
    assert quality < answer.text.index("[−3, 0]") < answer.text.index("936,194")


def test_people_and_machines_read_the_same_figures(answer: Answer) -> None:
    for sentence in answer.report.sentences:
        assert " ".join(sentence.split()) in answer.text
    for title in answer.report.titles:
        assert title in answer.text
        for cells in answer.report.rows(title):
            for cell in cells:
                # long names are folded inside their column; figures are not
                assert cell in answer.text or not cell[0].isdigit()


def test_the_76_plans_of_the_campaign_before_its_boundaries() -> None:
    from revereval.analysis.flow import plans
    from revereval.analysis.study import Study
    from revereval.report.quality import frame_section

    counted = plans({"finished": 44, "stopped": 5, "boundary": 27}, {"F": 38, "P": 38})
    found = one_section(frame_section(Study(table(rows()), plans=counted)))
    assert found.says(
        "Of 76 runs, 44 finished before anything was eligible, 5 stopped in capture, and 27 "
        "reached the boundary."
    )
