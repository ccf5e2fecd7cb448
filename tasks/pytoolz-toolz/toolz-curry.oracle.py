import inspect
import json

from toolz import complement, compose, curry, excepts, juxt, memoize
from toolz.curried import merge, merge_with


@curry
def ratio(top, bottom, scale=1):
    return scale * top / bottom


def attempt(function, *args, **kwargs):
    try:
        result = function(*args, **kwargs)
    except (TypeError, IndexError) as exc:
        return type(exc).__name__
    return "waits" if isinstance(result, curry) else result


attempts = [
    attempt(ratio, "6", 3),
    attempt(ratio(scale=2), 6, 3, scale=5),
    attempt(ratio(bottom=3), 6, 2),
    attempt(ratio, bottom=3),
]
merges = [
    attempt(merge_with(sum), {"a": "b"}),
    attempt(merge_with(sum), {"a": 1}, factor=dict),
    attempt(merge_with(len), {"a": 1}, {"b": 2, "a": 3}),
    attempt(merge(), [{"a": 1}, {"b": 2}]),
]
signatures = f"{inspect.signature(ratio(bottom=2))} {inspect.signature(ratio(6)(scale=3))}"

cache = {}
area = memoize(lambda width, height: width * height, cache=cache)
double = memoize(lambda x: x * 2)
memo = {"area": [area(2, 3), area(width=4, height=5), area(width=1, height=1), len(cache)]}
memo["double"] = [double(1.0), double(True), attempt(double, x=1), attempt(double, [1])]

names = [
    compose(complement(ratio), str.strip).__name__,
    excepts((KeyError, ValueError), ratio(6)).__name__,
    compose(juxt(str), ratio).__name__,
]
results = {"attempts": attempts, "merges": merges, "signatures": signatures}
print(json.dumps({**results, "memo": memo, "names": names}))
