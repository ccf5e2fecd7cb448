import json
from operator import neg

from sortedcontainers import SortedDict, SortedSet

ranks = SortedDict(neg, {1: "a", 2: "b", 3: "c", 4: "d"})
merged = {2: "z", 9: "y"} | ranks
picked = ranks.keys() & [3, 1, 7]
del ranks.values()[1:3]

ways = {
    "setitem": lambda sizes: sizes.__setitem__("x", 1),
    "setdefault": lambda sizes: sizes.setdefault("x", 1),
    "update": lambda sizes: sizes.update({"x": 1}),
}
broken = {}
for name, way in ways.items():
    for count in (9, 10):
        sizes = SortedDict.fromkeys(range(count))
        try:
            way(sizes)
        except TypeError:
            broken[f"{name} {count}"] = [len(sizes), len(list(sizes)), "x" in sizes]

complaints = []
for action in (
    SortedDict().popitem,
    SortedDict().peekitem,
    SortedSet().pop,
    lambda: SortedDict({1: 2}).popitem(1),
    lambda: SortedSet([1]).remove(2),
    lambda: ranks.index(2),
):
    try:
        complaints.append(action())
    except (LookupError, ValueError) as error:
        complaints.append("/".join(map(str, error.args)))

print(
    json.dumps(
        {
            "merged": [list(merged), "".join(merged.values())],
            "picked": repr(picked),
            "left": ranks.peekitem(0)[1] + ranks.peekitem()[1],
            "broken": broken,
            "complaints": complaints,
        }
    )
)
