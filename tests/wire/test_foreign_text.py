"""Lone surrogates and NUL in what a model says: recorded, sent back, exported, audited, shown."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.loopback import Response, run_here
from tests.wire.lab import BOTH, FILES, RIGHT, Lab, texts

LONE, NUL, BOTH_KINDS = "ok \ud83d end", "a\0b", "\0\udc00\0"
NASTY = pytest.mark.parametrize(
    "text", [LONE, NUL, BOTH_KINDS + "\x1b]8;;http://x\x07 [/done] :warning: \u2028\u202e é 🙂"]
)


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)


@BOTH
@NASTY
def test_an_answer_is_recorded_exported_and_audited_without_loss(lab: Lab, text: str) -> None:
    answer = text + RIGHT
    lab.serve(*lab.prefix, lab.reply(answer), lab.reply(text))
    done = lab.run_pair()
    assert done.code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("wrong", None, 1))
    f, p = lab.rows("arm", "name = 'F'"), lab.rows("arm", "name = 'P'")
    assert lab.blob(f[0]["answer_blob_id"]) == answer.encode("utf-8", "surrogatepass")
    assert lab.blob(p[0]["answer_blob_id"]) == text.encode("utf-8", "surrogatepass")
    assert lab.reply_blob(3) == lab.server.answers[3].data
    exported = {row["arm"]: row["answer"] for row in lab.exported("arms")}
    assert exported == {"F": answer, "P": text}
    lab.audit()
    shown = run_here("ledger", "show", "1", "--ledger", str(lab.ledger))
    assert shown.code == 0
    assert not {"\x1b", "\0", "\u2028", "\u202e"} & set(shown.out + done.out)


@BOTH
@NASTY
def test_text_beside_a_call_and_in_its_arguments_goes_back_word_for_word(
    lab: Lab, text: str
) -> None:
    arguments = json.dumps({"query": text, "chars": 9}, ensure_ascii=False)
    calls = [("c1", "search_evidence", arguments)]
    lab.serve(*lab.prefix[:2], lab.reply(text, calls), lab.right, lab.right)
    assert lab.run_pair().code == 0
    for hit in lab.server.hits[3:]:
        assert text in list(strings(lab.wire.items(hit.body)))
        assert lab.wire.calls(hit.body)[2] == ("c1", "search_evidence", arguments)
        assert texts(lab.wire.results(hit.body))[2].startswith("no match")
    assert lab.reply_blob(2) == lab.server.answers[2].data
    row = next(row for row in lab.exported("observations") if row["call_id"] == "c1")
    assert row["archive_outcome"] == "ok"
    assert json.loads(row["arguments"])["query"] == text
    lab.audit()


@BOTH
def test_ids_and_unknown_fields_may_hold_any_text(lab: Lab) -> None:
    lab.serve(
        lab.reply("", [(BOTH_KINDS, "read", {"path": "tiny/small.py"})]),
        lab.reply("", [(BOTH_KINDS, "read", {"path": "tiny/small.py"})]),
        lab.right,
    )
    assert lab.capture().code == 0
    body = lab.server.hits[2].body
    assert [call_id for call_id, _ in lab.wire.results(body)] == [BOTH_KINDS, "call_1_0"]
    lab.audit()


@BOTH
def test_a_file_with_a_nul_is_read_as_it_is(lab: Lab) -> None:
    lab.serve(lab.read("nul.py", "c"), lab.right)
    assert lab.capture().code == 0
    assert lab.wire.results(lab.server.hits[1].body) == [("c", FILES["tiny/nul.py"].rstrip("\n"))]
    (row,) = lab.exported("observations")
    assert (row["size_bytes"], row["code_points"]) == (10, 10)
    lab.audit()


def test_requests_are_sent_as_utf_8_with_escapes_only_where_it_has_no_bytes(lab: Lab) -> None:
    lab.serve(lab.reply(f"é {LONE}", [("c", "read", {"path": "tiny/small.py"})]), lab.right)
    assert lab.capture().code == 0
    assert "é ok \\ud83d end".encode() in lab.server.hits[1].data


def test_every_export_format_takes_any_text(lab: Lab) -> None:
    lab.serve(*lab.prefix, lab.reply(LONE + NUL + RIGHT), lab.reply("=1+1", model=BOTH_KINDS))
    assert lab.run_pair().code == 0
    for table in ("boundaries", "arms", "requests", "observations", "plans"):
        for kind in ("csv", "jsonl", "parquet"):
            output = str(lab.folder / f"{table}.{kind}")
            ledger = ["--ledger", str(lab.ledger), "--output", output]
            done = run_here("ledger", "export", "--table", table, "--format", kind, *ledger)
            assert (table, kind, done.code) == (table, kind, 0)


def test_usage_with_any_text_loses_no_paid_reply(lab: Lab) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1, LONE: NUL, "note": BOTH_KINDS}
    lab.serve(lab.reply(RIGHT, usage=usage))
    assert lab.capture().code == 0
    (row,) = lab.exported("requests")
    assert json.loads(row["usage_raw"]) == usage
    lab.audit()


@pytest.mark.parametrize("data", [b"\xff\xfe{}", b'{"choices": "\x00"}', b'"\xed\xa0\xbd"'])
def test_bytes_that_are_no_text_are_kept_as_bytes(lab: Lab, data: bytes) -> None:
    lab.serve(Response(data))
    assert lab.capture().code == 3
    assert lab.stop == ("stopped", "ambiguous_dispatch")
    assert lab.reply_blob(0) == data
    lab.audit()
