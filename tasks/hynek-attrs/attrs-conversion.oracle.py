import json
from collections import namedtuple

import attr
import attrs

Pair, Single = namedtuple("Pair", "left right"), namedtuple("Single", "only")


@attrs.define
class Point:
    x: int
    _label: str = "p"


@attrs.define
class Box:
    pair: Pair
    single: Single
    inner: list
    index: dict


def outcome(convert, box):
    try:
        return repr(list(convert(box)["index"]))
    except TypeError:
        return "refused"


fields_seen = []


def tag(instance, field, value):
    fields_seen.append(field)
    return value + 10 if type(value) is int else value


box = Box(Pair(Point(1), 2), Single("s"), [[Point(3)], Point(True)], {"k": Point(4)})
box.index[5] = (6, Point(7))
row = attrs.astuple(box, filter=attrs.filters.exclude(int, "single"))
deep = Box(Pair(1, 2), Single(3), [], {("a", ("b", "c")): 0})
report = {
    "tagged": attr.asdict(box, value_serializer=tag),
    "hooked": len(fields_seen),
    "kept": "{pair} {single} {index}".format(**attrs.asdict(box)),
    "row": repr(row),
    "keys": [outcome(attr.asdict, deep), outcome(attrs.asdict, deep)],
}
print(json.dumps(report))
