"""Answers as reasoning models give them: kept whole, scored by the plan's contract, key by key."""

import json

import pytest

from tests.wire.lab import RIGHT, Lab

THOUGHT = f'<think>\nFirst {{"sum": 0, "name": "x"}}, no.\n</think>\n\n{RIGHT}'
HALF = '{"sum": 4, "name": "tiny", "name": "tiny"}'


@pytest.mark.parametrize(
    ("contract", "f", "p", "f_keys", "p_keys"),
    [
        (
            "extracted", "correct", "wrong",
            {"name": "right", "sum": "right"}, {"name": "right", "sum": "wrong"},
        ),
        (
            "strict", "wrong", "wrong",
            {"name": "missing", "sum": "missing"}, {"name": "missing", "sum": "missing"},
        ),
    ],
)  # fmt: skip
def test_an_answer_is_kept_whole_and_scored_key_by_key(
    lab: Lab, contract: str, f: str, p: str, f_keys: dict[str, str], p_keys: dict[str, str]
) -> None:
    lab.configure(contract=contract)
    lab.serve(*lab.prefix, lab.reply(THOUGHT), lab.reply(HALF))
    done = lab.run_pair("--json")
    assert done.code == 0
    assert [done.json["arms"][arm]["endpoint"] for arm in "FP"] == [f, p]
    assert [done.json["arms"][arm]["key_scores"] for arm in "FP"] == [f_keys, p_keys]
    arms = {row["arm"]: row for row in lab.exported("arms")}
    assert arms["F"]["answer"] == THOUGHT
    assert [json.loads(arms[arm]["key_scores"]) for arm in "FP"] == [f_keys, p_keys]
    assert [arms[arm]["strict_reason"] for arm in "FP"] == ["not_json", "duplicate_key"]
    assert [arms[arm]["extracted_reason"] for arm in "FP"] == ["", "wrong_value:sum"]
    lab.audit()


def test_a_finished_capture_is_scored_key_by_key_and_one_without_an_answer_is_not(
    lab: Lab,
) -> None:
    lab.serve(lab.reply('{"sum": 3}'))
    assert lab.capture().code == 0
    lab.configure(limits={"prefix_requests": 1})
    lab.serve(lab.read("small.py"))
    assert lab.capture().code == 0
    scores = [row["answer_key_scores"] for row in lab.exported("plans")]
    assert scores == ['{"name":"missing","sum":"right"}', None]
    lab.audit()
