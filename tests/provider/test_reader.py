"""The scripted reader answers from what a request shows, and from nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.projection.policy import ProjectionConfig
from revereval.provider.reader import (
    READERS,
    ReaderSettings,
    ReaderSpan,
    ReaderTask,
    ToolCall,
    View,
    next_turn,
    wrong_guess,
)
from revereval.provider.scripted import ScriptedApp
from revereval.terms import Reader

from . import FILES, GOLD, GUESSES, SPANS, Run, in_process, make_task, run, span

RIGHT = {name: GOLD[name] for name in SPANS}


def read_by(task: ReaderTask, *, project: bool = False, **how: Any) -> Run:
    """A run of the reader; what ReaderSettings does not know goes to `run`."""
    known = {name: how.pop(name) for name in list(how) if name in ReaderSettings.model_fields}
    app = ScriptedApp([task], ReaderSettings(**known))
    return run(task, in_process(app), project=project, **how)


def names(done: Run) -> list[str]:
    return [name for name, _ in done.calls]


def shown_texts(body: bytes) -> list[str]:
    """Tool results and assistant texts of a Chat Completions request."""
    messages = json.loads(body)["messages"]
    return [m["content"] or "" for m in messages if m["role"] in ("tool", "assistant")]


@pytest.mark.parametrize("wire", ["chat", "responses"])
@pytest.mark.parametrize("parallel", [1, 3])
def test_with_full_observations_it_answers_right(wire: str, parallel: int) -> None:
    done = read_by(make_task(), wire=wire, parallel=parallel)
    assert done.answer == RIGHT
    assert set(names(done)) == {"read"}
    assert max(len(reply.calls) for reply in done.replies) == parallel


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_projection_makes_it_search_reread_and_guess_wrong(wire: str) -> None:
    wide = make_task(SPANS | {"four": (span("pkg/long.py", 300),)})
    done = read_by(wide, project=True, patience=2, wire=wire, config=policy(archive_calls=1))
    assert done.answer is not None
    assert done.answer != GOLD
    assert all(done.answer[name] in (GOLD[name], GUESSES[name]) for name in GOLD)
    reads = [arguments for name, arguments in done.calls if name == "read"]
    assert "search_evidence" in names(done)
    assert len(reads) == len({str(arguments) for arguments in reads}) + 2


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_notes_keep_it_right_under_projection(wire: str) -> None:
    full = read_by(make_task(), wire=wire, notes=True)
    projected = read_by(make_task(), wire=wire, notes=True, project=True)
    assert projected.answer == full.answer == RIGHT
    assert projected.calls == full.calls
    assert projected.bodies != full.bodies


def test_a_patient_reader_wanders_until_the_cap() -> None:
    done = read_by(make_task(), project=True, patience=99, cap=12, recovery="reread")
    assert done.answer is None
    assert names(done) == ["read"] * 12


def test_parallel_reads_show_all_that_it_needs_at_once() -> None:
    assert read_by(make_task(), project=True, parallel=4).answer == RIGHT


@pytest.mark.parametrize(
    ("recovery", "tool"), [("search", "search_evidence"), ("recover", "recover_evidence")]
)
def test_the_archive_brings_hidden_spans_back(recovery: str, tool: str) -> None:
    done = read_by(make_task(), project=True, recovery=recovery)
    assert done.answer == RIGHT
    assert names(done)[-1] == tool
    assert names(done).count("read") == len({str(arguments) for _, arguments in done.calls}) - (
        names(done).count(tool)
    )


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_it_recovers_no_more_at_once_than_the_definition_allows(wire: str) -> None:
    small = policy(recover_chars=2500, archive_calls=9)
    done = read_by(make_task(), project=True, recovery="recover", wire=wire, config=small)
    asked = [arguments["chars"] for name, arguments in done.calls if name == "recover_evidence"]
    assert done.answer == RIGHT
    assert max(asked) == 2500


def test_a_span_longer_than_a_search_shows_is_recovered_instead() -> None:
    long = make_task(SPANS | {"two": (span("pkg/beta.py", 170, 12),)})
    done = read_by(long, project=True)
    assert done.answer == RIGHT
    assert names(done)[-1] == "recover_evidence"


def test_a_refused_archive_is_not_asked_again() -> None:
    done = read_by(make_task(), project=True, patience=1, config=policy(archive_calls=0))
    assert names(done).count("search_evidence") == 1
    assert done.answer != RIGHT


def test_patience_counts_repeated_reads() -> None:
    for patience in (0, 1, 5):
        done = read_by(make_task(), project=True, patience=patience, config=policy(archive_calls=0))
        reads = [str(arguments) for name, arguments in done.calls if name == "read"]
        assert len(reads) - len(set(reads)) <= patience


def test_it_follows_a_long_file_only_as_far_as_its_spans_lie() -> None:
    near = make_task({"one": (span("pkg/long.py", 40),)})
    far = make_task({"one": (span("pkg/long.py", 40), span("pkg/long.py", 1500))})
    assert read_by(near, detours=0).calls == [("read", {"path": "pkg/long.py"})]
    done = read_by(far, detours=0)
    assert done.answer == {"one": GOLD["one"]}
    assert [sorted(arguments) for _, arguments in done.calls] == [["path"], ["offset", "path"]]


def test_a_span_cut_by_the_end_of_a_page_is_read_from_its_start() -> None:
    first = read_by(make_task({"one": (span("pkg/long.py", 1500),)}), detours=0)
    page_end = int(first.calls[1][1]["offset"]) - 1
    done = read_by(make_task({"one": (span("pkg/long.py", page_end - 1, 4),)}), detours=0)
    assert done.calls[1] == ("read", {"path": "pkg/long.py", "offset": page_end - 1})
    assert done.answer == {"one": GOLD["one"]}


def test_a_page_whose_end_projection_hid_is_still_followed() -> None:
    task = make_task({"one": (span("pkg/long.py", 1500),), "two": (span("pkg/alpha.py", 200),)})
    bare = policy(excerpt_bytes=0, full_exposures=1, keep_recent=0)
    assert read_by(task, project=True, config=bare, notes=True).answer == {
        "one": GOLD["one"],
        "two": GOLD["two"],
    }


CHAIN = {
    "one": (span("pkg/long.py", 1500),),
    "two": (span("pkg/beta.py", 170, after=("pkg/long.py",)),),
    "three": (span("pkg/gamma.py", 220, after=("pkg/beta.py", "pkg/long.py")),),
    "four": (span("pkg/gamma.py", 10, after=("pkg/beta.py",)),),
}
"""The second page of long.py leads to beta.py, and that to gamma.py."""


def test_what_is_found_only_after_other_evidence_is_read_after_all_of_it() -> None:
    for seed in range(8):
        done = read_by(make_task(CHAIN), seed=seed, detours=0, parallel=4)
        assert [arguments["path"] for _, arguments in done.calls] == [
            "pkg/long.py", "pkg/long.py", "pkg/beta.py", "pkg/gamma.py",
        ]  # fmt: skip
        assert [len(reply.calls) for reply in done.replies] == [1, 1, 1, 1, 0]
        assert done.answer == GOLD


def test_what_is_found_only_later_is_no_detour_before() -> None:
    done = read_by(make_task(CHAIN), detours=99, parallel=9)
    first = {str(call.arguments["path"]) for call in done.replies[0].calls}
    assert first == set(FILES) - {"pkg/beta.py", "pkg/gamma.py"}


def test_what_projection_hides_still_leads_on_to_what_is_found_after_it() -> None:
    bare = policy(excerpt_bytes=0, full_exposures=1, keep_recent=0, archive_calls=0)
    done = read_by(make_task(CHAIN), project=True, detours=0, patience=0, config=bare)
    assert [call for call in done.calls if call[0] == "read"] == read_by(
        make_task(CHAIN), detours=0
    ).calls
    assert done.answer != GOLD


def test_what_is_found_after_a_file_that_cannot_be_read_is_never_sought() -> None:
    gone = ReaderSpan("pkg/gone.py", 3, "not there")
    task = make_task({"one": (gone,), "two": (span("pkg/beta.py", 170, after=("pkg/gone.py",)),)})
    done = read_by(task, detours=0)
    assert done.calls == [("read", {"path": "pkg/gone.py"})]
    assert done.answer == {"one": GUESSES["one"], "two": GUESSES["two"]}


def test_every_name_has_its_reader() -> None:
    assert list(READERS) == list(Reader)
    changed = {name: reader.model_dump(exclude_defaults=True) for name, reader in READERS.items()}
    direct = {"detours": 0}
    assert changed == {"default": {}, "direct": direct, "batching": {**direct, "parallel": 4}}


def test_the_seed_alone_decides_the_reading_order() -> None:
    orders = [read_by(make_task(), seed=seed).calls for seed in (0, 0, 1, 2, 3)]
    assert orders[0] == orders[1]
    assert len({str(order) for order in orders}) > 1


def test_it_reads_no_more_than_it_needs_and_its_detours() -> None:
    everything = {arguments["path"] for _, arguments in read_by(make_task(), detours=99).calls}
    needed = {arguments["path"] for _, arguments in read_by(make_task(), detours=0).calls}
    assert needed == {"pkg/alpha.py", "pkg/beta.py", "pkg/gamma.py", "pkg/small.py"}
    assert needed <= everything <= set(FILES)


@pytest.mark.parametrize("notes", [True, False])
@pytest.mark.parametrize("project", [True, False])
def test_no_request_carries_a_gold_value(notes: bool, project: bool) -> None:
    done = read_by(make_task(), notes=notes, project=project)
    sent = b"".join(done.bodies)
    assert not any(value in sent for value in (b"gold-", b"90210"))


def test_a_file_it_may_not_read_is_tried_once() -> None:
    missing = ReaderSpan("pkg/gone.py", 3, "not there")
    done = read_by(make_task({"one": (missing,), "two": (span("pkg/beta.py", 170),)}))
    assert done.calls.count(("read", {"path": "pkg/gone.py"})) == 1
    assert done.answer == {"one": GUESSES["one"], "two": GOLD["two"]}


def test_a_span_that_is_nowhere_ends_in_a_guess() -> None:
    nowhere = ReaderSpan("pkg/beta.py", 3, "no such text")
    done = read_by(make_task({"one": (nowhere,)}), patience=2)
    assert done.answer == {"one": GUESSES["one"]}


def test_without_tools_it_guesses_what_it_cannot_see() -> None:
    task = make_task()
    shown = ToolCall("read", {"path": "pkg/beta.py"}), FILES["pkg/beta.py"]
    turn = next_turn(View((), (shown,), frozenset()), task, ReaderSettings())
    assert not turn.calls
    assert json.loads(turn.text) == {"one": "", "two": GOLD["two"], "three": []}


def test_a_span_in_its_own_call_is_not_seen() -> None:
    task = make_task({"two": (span("pkg/beta.py", 170),)})
    asked = ToolCall("search_evidence", {"query": task.spans[0].text, "chars": 9}), "no match"
    turn = next_turn(View((), (asked,), frozenset({"read"})), task, ReaderSettings())
    assert turn.calls


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("string", ""),
        ("string", "x"),
        ("integer", 0),
        ("integer", 7),
        ("number", 0.0),
        ("boolean", True),
        ("boolean", False),
        ("array", []),
        ("object", {}),
        ("object", {"a": 1}),
    ],
)
def test_a_guess_has_the_declared_type_and_is_wrong(kind: str, value: object) -> None:
    types = {"string": str, "integer": int, "number": int, "boolean": bool, "array": list}
    guess = wrong_guess(kind, value)
    assert type(guess) is types.get(kind, dict)
    assert guess != value


@settings(max_examples=40, deadline=None)
@given(
    st.builds(
        ReaderSettings,
        seed=st.integers(0, 5),
        notes=st.booleans(),
        parallel=st.integers(1, 4),
        patience=st.integers(0, 4),
        recovery=st.sampled_from(["search", "recover", "reread"]),
        detours=st.integers(0, 3),
    ),
    st.builds(
        ProjectionConfig,
        min_observation_bytes=st.sampled_from([100, 10240]),
        full_exposures=st.integers(1, 2),
        keep_recent=st.integers(0, 2),
        excerpt_bytes=st.sampled_from([0, 40, 1024, 20000]),
        archive_calls=st.integers(0, 4),
        search_match_chars=st.sampled_from([20, 200]),
        recover_chars=st.sampled_from([1, 900, 6000]),
        recover_default_chars=st.just(1),
    ),
)
def test_every_run_ends_and_answers_exactly_what_its_last_request_shows(
    how: ReaderSettings, config: ProjectionConfig
) -> None:
    task = make_task(
        {
            "one": (span("pkg/alpha.py", 200), span("pkg/long.py", 1500)),
            "two": (span("pkg/beta.py", 170),),
            "three": (span("pkg/gamma.py", 220, 12, after=("pkg/beta.py",)),),
        }
    )
    done = run(task, in_process(ScriptedApp([task], how)), project=True, cap=60, config=config)
    shown = shown_texts(done.bodies[-1])
    for name, key in task.keys.items():
        seen = all(any(at.text in text for text in shown) for at in key.spans)
        assert done.answer[name] == (key.value if seen else key.guess)


def test_without_tools_it_answers_what_it_knows_by_heart_and_guesses_the_rest() -> None:
    task = make_task()
    for known in range(5):
        view = View((), (), frozenset())
        answer = json.loads(next_turn(view, task, ReaderSettings(memorised=known)).text)
        first = list(SPANS)[:known]
        assert answer == {name: (GOLD if name in first else GUESSES)[name] for name in SPANS}


def test_what_it_knows_by_heart_changes_nothing_where_it_can_read() -> None:
    task = make_task()
    told, untold = (read_by(task, project=True, memorised=known) for known in (0, 3))
    assert told.bodies == untold.bodies
    assert told.answer == untold.answer


def test_it_slips_in_keys_that_the_seed_draws_and_in_no_others() -> None:
    task = make_task()
    assert read_by(task, slips=1).answer == {name: GUESSES[name] for name in SPANS}
    slipped: set[str] = set()
    for seed in range(12):
        answer = read_by(task, slips=3, seed=seed).answer
        assert answer is not None
        assert answer == read_by(task, slips=3, seed=seed, parallel=3).answer
        wrong = {name for name in SPANS if answer[name] != GOLD[name]}
        assert all(answer[name] == GUESSES[name] for name in wrong)
        assert len(wrong) < 3 or seed
        slipped |= wrong
    assert slipped == set(SPANS)


def policy(**changed: int) -> ProjectionConfig:
    return ProjectionConfig.model_validate(changed)
