import json
from collections import defaultdict

import funcy

stock = {"fruit": [{"name": "fig", "left": 3}, {"name": "plum"}], "tea": {"green": 0}}
grown = funcy.update_in(stock, ["tea", "black"], lambda left: left + 1, default=4)
grown = funcy.update_in(grown, ["nuts", "cashew"], lambda left: left, default=7)
nested = {
    "nuts": grown["nuts"],
    "tea": grown["tea"],
    "lax": funcy.get_lax(stock, ["tea", "green", "x"], "none"),
    "letter": funcy.get_in(stock, ["fruit", 1, "name", -1], "none"),
    "shared": funcy.set_in(stock, ["tea", "green"], 9)["fruit"] is stock["fruit"],
    "kept": funcy.del_in(stock, ["fruit", 5, "name"]) == stock,
}

counts = defaultdict(int, {"fig": 2, "plum": 0})
shapes = [
    funcy.walk(lambda letter: letter * 2, "abc"),
    funcy.walk_values(lambda left: left - 5, counts)["kiwi"],
    funcy.walk_keys(str.upper, counts)["kiwi"],
    funcy.compact(counts),
    funcy.join(iter([(1, 2), [3], {4}])),
    funcy.join_with(sum, [{"a": [1, 2]}]),
    funcy.join_with(len, [{"a": "xyz"}, [("a", "w"), ("b", "v")]]),
]

letters = "abcdefg"
cuts = {
    "text": funcy.lchunks(3, 2, letters),
    "stream": funcy.lchunks(3, 2, iter(letters)),
    "gaps": funcy.lpartition(2, 3, iter(letters)),
    "runs": [list(run) for run in list(funcy.partition_by(str.isupper, "aBBc"))],
    "listed": [len(run) for run in funcy.lpartition_by(str.isupper, "aBBc")],
}
rolling = funcy.lsums([1, 2, 3], 10) + funcy.lreductions(max, [2, 1, 5])
tail = [funcy.last({5: "five", -1: "minus"}), funcy.nth(1, {7}), funcy.last("")]
print(
    json.dumps({"nested": nested, "shapes": shapes, "cuts": cuts, "rolling": rolling, "tail": tail})
)
