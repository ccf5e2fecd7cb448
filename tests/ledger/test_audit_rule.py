"""The audit's own reading of the rule, against the controller's code and the plain one."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.canonical import text_digest
from revereval.ledger import audit_rule
from revereval.ledger.audit_rule import Seen, projected_form, reason_for, serve, settings_of
from revereval.projection.archive import Archive
from revereval.projection.excerpt import projected_text
from revereval.projection.policy import Observation, ProjectionConfig, decide
from tests.projection import naive
from tests.projection.naive import TEXTS


def document(config: ProjectionConfig) -> dict[str, Any]:
    parts = {"archive": {"version": 2}}
    return {"projection": config.model_dump(), "implementation": parts}


@settings(deadline=None, max_examples=150)
@given(TEXTS, st.integers(0, 3000))
def test_the_projected_form_is_the_projected_text(text: str, limit: int) -> None:
    form = projected_form(Seen(text, "read", False, False), limit)
    assert form == projected_text(text, "read", limit) == naive.projected(text, "read", limit)


OBSERVATIONS = st.lists(
    st.builds(Observation, st.just("read"), TEXTS, st.booleans(), st.booleans()), max_size=5
)
CONFIGS = st.builds(
    ProjectionConfig,
    min_observation_bytes=st.sampled_from([1, 40, 600]),
    full_exposures=st.integers(1, 3),
    keep_recent=st.integers(0, 3),
    excerpt_bytes=st.sampled_from([0, 40, 1024]),
)


@settings(deadline=None, max_examples=150)
@given(OBSERVATIONS, st.lists(st.integers(0, 4), min_size=5, max_size=5), CONFIGS)
def test_the_reasons_are_those_of_the_policy(
    seen: list[Observation], exposures: list[int], config: ProjectionConfig
) -> None:
    mine = [Seen(one.text, one.tool, one.is_error, one.from_archive) for one in seen]
    expected = [decision.reason for decision in decide(seen, exposures, {}, config)]
    chosen = settings_of(document(config))
    assert [
        reason_for(mine, position, exposures[position], chosen) for position in range(len(mine))
    ] == expected


VALUES = st.one_of(
    st.integers(-1, 1100), st.booleans(), st.none(), st.just("5"), st.just(6000), st.just(2.0)
)
LETTERS = st.text(st.sampled_from("aAbB\u212aKkİı\n-\U0001f600\ud800"), min_size=1, max_size=400)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_what_the_archive_serves_is_what_it_should(data: st.DataObject) -> None:
    config = data.draw(
        st.builds(
            ProjectionConfig,
            archive_calls=st.integers(0, 3),
            search_matches=st.sampled_from([1, 5]),
            search_match_chars=st.sampled_from([3, 200]),
        )
    )
    texts = data.draw(st.lists(LETTERS, max_size=7))
    archive = Archive(config)
    handles = [archive.add(text) for text in texts]
    left = config.archive_calls
    for number in range(data.draw(st.integers(1, 5))):
        name = data.draw(st.sampled_from(["search_evidence", "recover_evidence"]))
        known = st.sampled_from([*handles, text_digest("?")])
        fields = {
            "query": LETTERS.map(lambda text: text[:3]) | st.just("a" * 257) | VALUES,
            "handle": known | VALUES,
            "chars": VALUES,
            "start": VALUES,
            "of": VALUES,
        }
        chosen = ("query", "chars") if name == "search_evidence" else ("handle", "start", "chars")
        drawn = st.fixed_dictionaries({}, optional={key: fields[key] for key in (*chosen, "of")})
        arguments = data.draw(drawn | st.fixed_dictionaries({chosen[0]: fields[chosen[0]]}))
        real = archive.call(str(number), name, arguments)
        served = serve(
            name, json.dumps(arguments), texts, left, settings_of(document(config)),
            audit_rule.ARCHIVE_VERSION,
        )  # fmt: skip
        assert served.outcome == real.outcome
        if served.outcome == "ok":
            left -= 1
            assert served.text == real.text
        assert real.remaining == left
