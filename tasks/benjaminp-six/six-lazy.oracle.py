import importlib
import json

import six

moves = six.moves


def places(name):
    return [name in vars(type(moves)), name in vars(moves)]


targets = [
    [move.mod, move.attr]
    for move in (
        six.MovedAttribute("string", "old", None),
        six.MovedAttribute("size", "old", "new", "width"),
        six.MovedAttribute("size", "old", "new", None, "height"),
    )
]

sources = [moves.urllib_parse.__name__]
sources.append(importlib.import_module("six.moves.urllib.parse").__name__)
sources.append(importlib.import_module("six.moves.urllib_parse").__name__)
sources.append(moves.urllib_parse.__name__)

six.add_move(six.MovedAttribute("mine", "gone", "string", "letters", "digits"))
listed = "mine" in dir(moves)
importlib.import_module("six.moves.urllib_error")
touched = moves.mine, moves.reduce
found = {name: places(name) for name in ("builtins", "mine", "urllib_error", "zip_longest")}

removals = {}
for name in ("mine", "urllib_error", "reduce", "zip_longest"):
    removals[name] = 0
    try:
        while True:
            six.remove_move(name)
            removals[name] += 1
    except AttributeError:
        pass

state = {"listed": listed, "found": found, "removals": removals}
print(json.dumps({"targets": targets, "sources": " ".join(sources), **state}))
