import json

from more_itertools import islice_extended, iter_index, replace, unique_in_window, windowed


def joined(text, pred, **kwargs):
    return "".join(replace(text, pred, "-+", **kwargs))


def starts_with_a(*window):
    return window[0] == "a"


def sizes(*window):
    seen.append(len(window))
    return False


seen = []
replaced = [
    joined("xaaab", starts_with_a, window_size=2),
    joined("xaaab", starts_with_a, window_size=2, count=1),
    joined("ab", sizes, window_size=4),
]

numbers = iter(range(10))
slices = [list(islice_extended(numbers, 4, 1, -1)), next(numbers)]
slices += [
    list(islice_extended(range(10), *args)) for args in ((-3, None, 2), (7, -8, -2), (6, 9, -1))
]

indexes = [
    list(iter_index("aaaba", "aa")),
    list(iter_index([1, True, 1.0, "1"], 1, 0, -2)),
    list(iter_index(iter([1, True, 1.0, "1"]), 1, 1)),
    list(iter_index("abcabc", "b", -2)),
]

answer = {
    "replaced": " ".join(replaced),
    "seen": seen,
    "slices": slices,
    "indexes": indexes,
    "edges": {
        "recent": "".join(unique_in_window("abAaca", 2, key=str.lower)),
        "six": list(windowed([1, 2, 3, 4, 5, 6], 2, fillvalue=0, step=4)),
        "seven": list(windowed([1, 2, 3, 4, 5, 6, 7], 2, fillvalue=0, step=3)),
    },
}
print(json.dumps(answer))
