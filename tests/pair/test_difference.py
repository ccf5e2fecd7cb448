"""Where two bodies first differ: the path is right, the first, and the same in every process."""

import copy
import json
import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.pair.difference import first_difference

ROOT = Path(__file__).parents[2]

BY_HAND = [
    (1, 2, "$"),
    (1, True, "$"),
    (1, 1.0, "$"),
    (None, {}, "$"),
    ("a", "b", "$"),
    ({"a": 1}, {"a": 2}, "$.a"),
    ({"a": 1}, {}, "$.a"),
    ({}, {"a": 1}, "$.a"),
    ([1, 2], [1, 3], "$[1]"),
    ([1, 2], [1], "$[1]"),
    ([1], [1, 2], "$[1]"),
    ([1, 2], [0], "$[0]"),
    ([], [None], "$[0]"),
    ({"messages": [{"content": "x"}, {"content": "y", "role": "tool"}]},
     {"messages": [{"content": "x"}, {"content": "z", "role": "tool"}]}, "$.messages[1].content"),
    ({"a": [{"b": 1}, {"c": 2}], "z": 0}, {"a": [{"b": 1}, {"c": 3}], "z": 1}, "$.a[1].c"),
    ({"a": 1, "z": 1}, {"a": 2}, "$.a"),
    ({"a": [1], "b": 1}, {"a": [2], "c": 1}, "$.a[0]"),
    ({"b": 1, "d": 2}, {"a": 1, "b": 2, "c": 3}, "$.a"),
]  # fmt: skip


@pytest.mark.parametrize(("recorded", "mine", "path"), BY_HAND)
def test_the_first_difference_in_document_order_is_named(
    recorded: Any, mine: Any, path: str
) -> None:
    assert first_difference(recorded, mine) == path


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
Place = tuple[str | int, ...]


def places(value: Any, here: Place = ()) -> list[tuple[Place, Any]]:
    """Every place of a value in document order (sorted keys), containers before their parts."""
    container = isinstance(value, dict | list)
    found = [(here, type(value) if container else (type(value), value))]
    if container:
        parts = sorted(value.items()) if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            found += places(part, (*here, key))
    return found


def path_of(place: Place) -> str:
    return "$" + "".join(f".{key}" if isinstance(key, str) else f"[{key}]" for key in place)


def naive_difference(recorded: Any, mine: Any) -> str | None:
    """Both documents read side by side until they part."""
    for one, other in zip_longest(places(recorded), places(mine)):
        if one != other:
            # siblings, or one document has ended: a place is never compared with one inside it
            return path_of(min(place for place, _ in filter(None, (one, other))))
    return None


@settings(deadline=None, max_examples=300)
@given(VALUES, VALUES)
def test_it_is_where_two_documents_read_side_by_side_part(recorded: Any, mine: Any) -> None:
    expected = naive_difference(recorded, mine)
    if expected is not None:
        assert first_difference(recorded, mine) == expected
        return
    with pytest.raises(ValueError, match="equal"):
        first_difference(recorded, mine)


def test_the_same_difference_is_named_in_every_process() -> None:
    recorded = dict.fromkeys("abcdefgh", 1)
    mine = copy.deepcopy(recorded) | {"i": 1}
    for name in "bdf":
        del mine[name]
    program = (
        "import json, sys; from revereval.pair.difference import first_difference; "
        "print(first_difference(*json.loads(sys.argv[1])))"
    )
    named = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps([recorded, mine])],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout.strip()
        for seed in range(4)
    }
    assert named == {"$.b"}
