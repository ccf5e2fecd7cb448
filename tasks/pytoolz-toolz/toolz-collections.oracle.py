import json

import toolz
from toolz import get, get_in, pluck, reduceby, tail


def gather(total, row):
    return total + row[1]


left = ["a1", "b2", "a3", "d4"]
right = ["c5", "a6", "e7"]
pairs = toolz.join(0, left, 0, right, left_default=None, right_default="-")
joined = [f"{one} {two}" for one, two in pairs]

piles = ["b1", "d1"], ["a2", "b2"], ["B3", "c3"], ["B4"]
merged = " ".join(toolz.merge_sorted(*piles, key=lambda item: item[0].lower()))

picked = [
    get([1], "xyz"),
    get([0, 9], "xyz", None),
    get("k", "xyz", 0),
    list(tail(0, [1, 2])),
    list(tail(0, iter([1, 2]))),
    toolz.last(iter("pq")),
    list(pluck([2, 0], ["abc", "d"], "?")),
]

grouped = [
    list(toolz.countby([0], left)),
    reduceby(0, gather, left),
    reduceby(0, gather, left, str),
    list(map("".join, toolz.partitionby(str.isdigit, "a12b"))),
]

tree = {"a": {"b": 1, "c": {}}, "d": {}}
grown = toolz.assoc_in(toolz.update_in(tree, ["a", "b"], str), "xy", None)
nested = [grown, toolz.update_in({}, "k", list, "mn")]
nested += [get_in(keys, grown, "none") for keys in (["a", "b", "c"], "xy", [], ["z"])]
shared = grown["a"]["c"] is tree["a"]["c"] and grown["a"] is not tree["a"]

results = {"joined": joined, "merged": merged, "picked": picked}
print(json.dumps({**results, "grouped": grouped, "nested": nested, "shared": shared}))
