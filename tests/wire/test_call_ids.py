"""Call ids may repeat or be empty: calls and results pair by position, under ids of our own."""

from typing import Any

from tests.loopback import AsObject
from tests.wire.lab import BIG, BOTH, FILES, Lab, texts

SMALL = FILES["tiny/small.py"].rstrip("\n")
READ = {"path": "tiny/small.py"}


def ids(lab: Lab, hit: int) -> list[str]:
    """The call ids of a request; each call is followed by its own result."""
    body = lab.server.hits[hit].body
    called = [call_id for call_id, _, _ in lab.wire.calls(body)]
    assert called == [call_id for call_id, _ in lab.wire.results(body)]
    return called


@BOTH
def test_two_calls_with_one_id_get_ids_of_their_own(lab: Lab) -> None:
    calls = [("c1", "read", READ), ("c1", "read", {"path": "tiny/none.py"})]
    lab.serve(lab.reply(calls=calls), lab.right)
    assert lab.capture().code == 0
    assert ids(lab, 1) == ["c1", "call_0_1"]
    shown = texts(lab.wire.results(lab.server.hits[1].body))
    assert [text[:5] for text in shown] == [SMALL[:5], "error"]
    # the original is kept in the raw reply
    assert lab.reply_blob(0) == lab.server.answers[0].data
    lab.audit()


@BOTH
def test_an_id_that_is_empty_or_no_text_gets_one(lab: Lab) -> None:
    calls: list[tuple[Any, str, Any]] = [(i, "read", READ) for i in ("", None, 7, AsObject(a=1))]
    lab.serve(lab.reply(calls=[*calls, ("good", "read", READ)]), lab.right)
    assert lab.capture().code == 0
    assert ids(lab, 1) == ["call_0_0", "call_0_1", "call_0_2", "call_0_3", "good"]
    assert [row["call_id"] for row in lab.rows("observation")] == ids(lab, 1)


@BOTH
def test_a_made_up_id_gives_way_to_the_servers_own(lab: Lab) -> None:
    lab.serve(
        lab.reply(calls=[("call_1_0", "read", READ)]),
        lab.reply(calls=[("", "read", READ), ("call_1_0", "read", READ)]),
        lab.right,
    )
    assert lab.capture().code == 0
    assert len(set(ids(lab, 2))) == 3
    assert ids(lab, 2)[0] == "call_1_0"


@BOTH
def test_one_constant_id_for_all_rounds_projects_the_first_round_alone(lab: Lab) -> None:
    lab.serve(
        lab.read("big.py", "c0"), lab.read("small.py", "c0"), lab.read("other.py", "c0"),
        lab.right, lab.right,
    )  # fmt: skip
    assert lab.run_pair().code == 0
    assert ids(lab, 3) == ids(lab, 4) == ["c0", "call_1_0", "call_2_0"]
    f, p = (texts(lab.wire.results(lab.server.hits[at].body)) for at in (3, 4))
    assert f[0] == BIG.rstrip("\n")
    assert p[0].startswith("[This observation is shortened.")
    assert f[1:] == p[1:]
    assert lab.run_row["first_requests_match"] == 1
    lab.audit()


@BOTH
def test_numbering_that_restarts_each_round_gives_both_arms_the_same_ids(lab: Lab) -> None:
    def round_of(*paths: str) -> Any:
        calls = [(f"call_{n}", "read", {"path": f"tiny/{path}"}) for n, path in enumerate(paths)]
        return lab.reply(calls=calls)

    capture = [round_of("big.py", "small.py"), round_of("small.py"), round_of("small.py", "big.py")]
    more = [round_of("other.py", "small.py"), lab.right]
    lab.serve(*capture, *more, *more)
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 2), ("correct", None, 2))
    f, p = ids(lab, 4), ids(lab, 6)
    assert f == p
    assert len(set(f)) == len(f) == 7
    lab.audit()


def test_archive_calls_with_one_id_each_count(lab: Lab) -> None:
    """The same call id answers the same only where it is the same call."""
    search = [("s", "search_evidence", {"query": q, "chars": 30}) for q in ("big_001", "big_002")]
    lab.serve(lab.read("big.py", "s"), lab.reply(calls=search), lab.right)
    assert lab.capture().code == 0
    found = texts(lab.wire.results(lab.server.hits[2].body))[1:]
    assert ["def big_001(value)" in text for text in found] == [True, False]
    assert "archive calls left: 1" in found[1]
    assert [row["remaining"] for row in lab.rows("archive_call")] == [2, 1]
