"""Where two JSON values first differ, as a path a person can follow."""

from typing import Any


def first_difference(recorded: Any, mine: Any, path: str = "$") -> str:
    """Path of the first difference in canonical order, such as `$.messages[3].content`.

    Raises ValueError when there is none.
    """
    found = _search(recorded, mine, path)
    if found is None:
        raise ValueError("the values are equal")
    return found


_ABSENT = object()


def _search(recorded: Any, mine: Any, path: str) -> str | None:
    if type(recorded) is not type(mine):
        return path
    if isinstance(recorded, dict):
        keys = sorted(recorded.keys() | mine.keys())
        children = (
            (f"{path}.{key}", recorded.get(key, _ABSENT), mine.get(key, _ABSENT)) for key in keys
        )
    elif isinstance(recorded, list):
        if len(recorded) != len(mine):
            shorter = min(len(recorded), len(mine))
            return _search(recorded[:shorter], mine[:shorter], path) or f"{path}[{shorter}]"
        pairs = enumerate(zip(recorded, mine, strict=True))
        children = ((f"{path}[{index}]", one, other) for index, (one, other) in pairs)
    else:
        return None if recorded == mine else path
    return next((hit for at, a, b in children if (hit := _search(a, b, at))), None)
