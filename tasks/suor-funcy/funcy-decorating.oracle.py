import json

import funcy


@funcy.decorator
def spy(call, *names):
    found = []
    for name in names:
        try:
            found.append(getattr(call, name))
        except AttributeError as exc:
            found.append(str(exc))
    return found


@spy("item", "scale", "rest", "options", "unit", "total", "price")
def weigh(item, /, scale=2, *rest, unit, **options):
    total = scale
    return total


@funcy.decorator
def tagged(call, *, tag="plain"):
    return f"{tag}: {call('z', sep='+')} from {call}"


@tagged
def glue(*parts, sep="-"):
    return sep.join(parts)


def calls_needed(curried, *steps):
    for count, (args, kwargs) in enumerate(steps, 1):
        curried = curried(*args, **kwargs)
        if not callable(curried):
            return [count, curried]


seen = weigh("tea", 5, 6, 7, item="cup", mode=1)
glued = glue("x", "y", sep="/")
load = funcy.once_per("key", "mode")(lambda key, mode="r", log="": f"{key}{mode}")
loads = [load(1), load(True, mode="r"), load([1]), load(key=[1], log="x"), load(1.0, "w")]
volume = funcy.autocurry(lambda width, height=10, *, depth: width * height * depth)
curried = {
    "by position": calls_needed(volume, ((1,), {}), ((2,), {}), ((), {"depth": 3})),
    "depth first": calls_needed(volume, ((), {"depth": 3}), ((5,), {}), ((1,), {})),
    "reversed": calls_needed(funcy.rcurry(glue), *((part, {}) for part in "wvu")),
}
print(json.dumps({"seen": seen, "glued": glued, "loads": loads, "curried": curried}))
