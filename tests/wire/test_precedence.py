"""What ended an arm first, in the order answer, cap, budget, fault, is its one endpoint."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import Loopback, Response, error, ok, script
from tests.wire.lab import RIGHT, WRONG, Lab

K = 2


def prefix(lab: Lab) -> list[Response]:
    """A tape whose last reply reads so much that each arm's request outweighs the whole tape."""
    more = [
        ("call_3", "read", {"path": "tiny/big.py"}),
        ("call_4", "read", {"path": "tiny/other.py"}),
    ]
    return [*lab.prefix[:2], lab.reply(calls=more)]


def reply(lab: Lab, kind: str) -> Response:
    if kind == "cut":
        return ok(lab.wire.cut(RIGHT))
    return {
        "right": lab.right,
        "wrong": lab.reply(WRONG),
        "more": lab.reply(calls=[("", "read", {"path": "tiny/small.py"})]),
        "fault": error(500),
    }[kind]


@pytest.fixture(scope="module")
def needed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    """Metered tokens that F needs for no request, its first, and its first two: bytes over 4."""
    folder: Path = tmp_path_factory.mktemp("needed")
    with pytest.MonkeyPatch.context() as patch, Loopback(script()) as server:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        lab = Lab(folder, "chat", server)
        lab.serve(*prefix(lab), reply(lab, "more"), lab.right, lab.right)
        assert lab.run_pair().code == 0
        tokens = [-(-len(hit.data) // 4) for hit in server.hits]
    tape, first, second = sum(tokens[:3]), tokens[3], tokens[4]
    assert tape < first
    yield [0, first, first + second]


ROWS: list[tuple[str, list[str], tuple[int, int] | None, tuple[Any, ...]]] = [
    # (case, replies to F, budget as (requests it pays for, tokens more), F's endpoint)
    ("an answer at once", ["right"], None, ("correct", None, 1)),
    ("an answer in request K", ["more", "right"], None, ("correct", None, 2)),
    ("a wrong answer in request K", ["more", "wrong"], None, ("wrong", None, 2)),
    ("the need for request K + 1", ["more", "more"], None, ("capped", None, 2)),
    ("a fault in request K", ["more", "fault"], None, ("stopped", "provider_error", 1)),
    ("a cut answer in request K", ["more", "cut"], None, ("stopped", "output_limit", 2)),
    ("K answered, budget spent to the token", ["more", "right"], (2, 0), ("correct", None, 2)),
    ("K answered wrong, budget spent", ["more", "wrong"], (2, 0), ("wrong", None, 2)),
    ("K + 1 needed, budget spent", ["more", "more"], (2, 0), ("capped", None, 2)),
    ("K + 1 needed, a token left", ["more", "more"], (2, 1), ("capped", None, 2)),
    ("a fault in K, budget spent", ["more", "fault"], (2, 0), ("stopped", "provider_error", 1)),
    ("a token too few for K", ["more"], (2, -1), ("stopped", "budget", 1)),
    ("a token too few for the first", [], (1, -1), ("stopped", "budget", 0)),
    ("an answer before the budget binds", ["right"], (1, 0), ("correct", None, 1)),
]


def contrast(endpoint: str, reason: str | None, companion: str, definition: str) -> list[int]:
    """P minus F by hand: P is correct where it runs, and [0, 1] where it does not."""
    if endpoint == "correct":
        return [0, 0]
    if endpoint == "wrong":
        return [1, 1]
    fails = endpoint == "capped" or (reason == "budget" and definition == "joint")
    if companion == "always":
        return [1, 1] if fails else [0, 1]
    return [0, 1] if fails else [-1, 1]


@pytest.mark.parametrize("companion", ["always", "after_answer"])
@pytest.mark.parametrize("definition", ["request", "joint"])
@pytest.mark.parametrize(
    ("replies", "budget", "endpoint"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_one_endpoint_for_every_combination(
    lab: Lab,
    needed: list[int],
    replies: list[str],
    budget: tuple[int, int] | None,
    endpoint: tuple[Any, ...],
    definition: str,
    companion: str,
) -> None:
    limits = {"suffix_requests": K}
    if budget:
        limits["metered_tokens"] = needed[budget[0]] + budget[1]
    lab.configure(companion=companion, endpoint=definition, limits=limits)
    answered = endpoint[0] in ("correct", "wrong")
    runs = companion == "always" or answered
    lab.serve(*prefix(lab), *(reply(lab, kind) for kind in replies), *[lab.right] * runs)
    done = lab.run_pair("--json")
    assert lab.arm("F") == endpoint
    assert lab.arm("P") == (("correct", None, 1) if runs else ("unexecuted", "companion_rule", 0))
    assert done.json["p_minus_f"] == contrast(endpoint[0], endpoint[1], companion, definition)
    if endpoint[1] != "budget":
        assert done.code == (3 if endpoint[0] == "stopped" else 0)


def test_twelve_is_the_cap_and_an_answer_in_the_twelfth_is_scored(lab: Lab) -> None:
    more = [lab.read("small.py")] * 11
    lab.serve(*lab.prefix, *more, lab.right, *more, lab.read("other.py"))
    assert lab.run_pair().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 12), ("capped", None, 12))
    lab.audit()


def test_a_budget_stop_prints_its_limit_its_meter_and_the_largest_prompt(
    lab: Lab, needed: list[int]
) -> None:
    limit = needed[2] - 1
    lab.configure(limits={"metered_tokens": limit})
    lab.serve(*prefix(lab), reply(lab, "more"), lab.right)
    done = lab.run_pair("--json")
    first, second = needed[1], needed[2] - needed[1]
    assert done.json["arms"]["F"]["detail"] == (
        f"limit {limit} metered tokens; {first} used and {second} needed; "
        f"largest single prompt {first}"
    )
    (row,) = lab.rows("arm", "name = 'F'")
    assert (row["metered_tokens"], row["largest_metered_prompt"]) == (first, first)
    assert row["allowed_metered_tokens"] == limit


def test_the_prefix_cap_comes_before_the_budget_too(lab: Lab) -> None:
    lab.serve(*[lab.read("small.py")] * 2)
    lab.configure(limits={"prefix_requests": 2})
    lab.capture()
    assert lab.stop == ("stopped", "prefix_cap")
    spent = sum(-(-len(hit.data) // 4) for hit in lab.server.hits)
    lab.serve(*[lab.read("small.py")] * 2)
    lab.configure(limits={"prefix_requests": 2, "metered_tokens": spent})
    lab.capture()
    assert lab.stop == ("stopped", "prefix_cap")
    lab.serve(lab.read("small.py"))
    lab.configure(limits={"prefix_requests": 2, "metered_tokens": spent - 1})
    lab.capture()
    assert lab.stop == ("stopped", "budget")
    lab.audit()


@pytest.mark.parametrize(("prefix_requests", "outcome"), [(3, "boundary"), (2, "stopped")])
def test_a_boundary_in_the_request_after_the_prefix_cap_is_a_boundary(
    lab: Lab, prefix_requests: int, outcome: str
) -> None:
    """Preparing it takes no request; one exchange fewer and it is never prepared."""
    lab.configure(limits={"prefix_requests": prefix_requests})
    lab.serve(*lab.prefix[:prefix_requests])
    assert lab.capture().code == 0
    assert lab.stop == (outcome, None if outcome == "boundary" else "prefix_cap")
