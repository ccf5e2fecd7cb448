import json

from boltons.dictutils import FrozenDict, OneToOne, OrderedMultiDict
from boltons.iterutils import PathAccessError, get_path, remap, research
from boltons.setutils import IndexedSet

visited = []


def visit(path, key, value):
    visited.append(".".join(str(part) for part in (*path, key)))
    if value == 2:
        return False
    return (key, value.upper()) if isinstance(value, str) else True


def is_list(path, key, value):
    return isinstance(value, list)


twice = [2, "t"]
root = {
    "multi": OrderedMultiDict([("a", "x"), ("b", twice), ("a", 2), ("a", "y")]),
    "set": IndexedSet(["x", "X", "z"]),
    "pair": OneToOne({"p": "q", "r": "Q", "s": "u"}),
    "again": twice,
}
result = remap(root, visit=visit)
copies = {name: repr(value) for name, value in result.items()}
found = research([twice, (root["multi"], twice)], query=is_list)

try:
    remap([FrozenDict(a=1)])
except TypeError as exc:
    reason = str(exc)
try:
    get_path(root, "multi.b.-1.t")
except PathAccessError as exc:
    reason += f" / {exc.seg} / {exc.path}"

report = {
    "copies": copies,
    "shared": result["multi"]["b"] is result["again"],
    "visited": " ".join(visited),
    "found": [list(path) for path, _ in found],
    "reason": reason,
}
print(json.dumps(report))
