"""A reply cut by the output limit: paid for, counted, and nothing of it is done or scored."""

from typing import Any

import pytest

from tests.loopback import ok
from tests.wire.lab import BOTH, RIGHT, Lab

CUTS: list[tuple[str, str | None, list[tuple[str, str, Any]]]] = [
    ("half a call", None, [("c", "search_evidence", '{"query":"hand')]),
    ("a call that parses but lacks a key", None, [("c", "search_evidence", '{"query":"hand"}')]),
    ("a whole call", "", [("c", "read", {"path": "tiny/small.py"})]),
    ("a whole answer", RIGHT, []),
    ("nothing", None, []),
]


@pytest.mark.parametrize(("text", "calls"), [row[1:] for row in CUTS], ids=[r[0] for r in CUTS])
def test_nothing_of_a_cut_reply_is_executed_or_scored(
    lab: Lab, text: str | None, calls: list[tuple[str, str, Any]]
) -> None:
    lab.serve(*lab.prefix, ok(lab.wire.cut(text, calls)), lab.right)
    done = lab.run_pair("--json")
    assert done.code == 3
    assert lab.arm("F") == ("stopped", "output_limit", 1)
    assert lab.arm("P") == ("correct", None, 1)
    (row,) = lab.rows("arm", "name = 'F'")
    assert (row["answer_blob_id"], row["extracted"], row["archive_calls"]) == (None, None, 0)
    assert lab.rows("observation", "stage = 'F'") == []
    # it was paid for: a completed attempt with its usage
    assert lab.attempts[3] == (5, 1, "completed", 200)
    assert done.json["arms"]["F"]["output_tokens"] == 20
    assert done.json["p_minus_f"] == [0, 1]


@BOTH
def test_a_cut_reply_stops_the_capture(lab: Lab) -> None:
    lab.serve(lab.prefix[0], ok(lab.wire.cut(RIGHT)))
    done = lab.capture()
    assert done.code == 3
    assert "output limit" in done.said
    assert lab.stop == ("stopped", "output_limit")
    assert lab.run_row["answer_blob_id"] is None
    lab.audit()


@BOTH
def test_a_cut_call_of_the_capture_is_not_executed(lab: Lab) -> None:
    lab.serve(ok(lab.wire.cut("", [("c", "read", {"path": "tiny/small.py"})])))
    assert lab.capture().code == 3
    assert lab.stop == ("stopped", "output_limit")
    assert lab.rows("observation") == []


def test_a_cut_reply_is_final(lab: Lab) -> None:
    lab.serve(*lab.prefix, ok(lab.wire.cut("")), lab.right)
    lab.run_pair()
    lab.serve()
    assert lab.resume(1, "--resend-in-doubt").code == 3
    assert lab.arm("F") == ("stopped", "output_limit", 1)
    lab.audit()
