import json

from boltons.cacheutils import LRI, LRU, cached, cachedmethod


def exercise(cache):
    cache["b"] = 20
    cache.get("a")
    cache.setdefault("d", 4)
    cache.get("b", 0)
    cache.get("e")
    cache.pop("e", None)
    cache.update(f=6, a=7)
    return [cache.hit_count, cache.miss_count, cache.soft_miss_count]


start = [("a", 1), ("b", 2), ("c", 3)]
loading = LRI(max_size=3, values=start, on_miss=str.upper)
plain = LRU(max_size=3, values=start)
counts = [exercise(loading), exercise(plain)]
left = {"loading": " ".join(loading), "plain": " ".join(plain)}
copy = loading.copy()
copied = copy == loading and copy.on_miss is loading.on_miss
store = LRU(max_size=4)
calls = []


@cached(store)
def area(width, height=1):
    calls.append("area")
    return width * height


class Room:
    @cachedmethod(store, scoped=False, typed=True)
    def label(self, *args):
        calls.append("label")
        return "-".join(map(str, args))


area(3), area(3.0), area(3, height=2), area(height=2, width=3)
area(3), Room().label("x"), Room().label("x")
keys = [repr(key) for key in store]
report = {"left": left, "counts": counts, "copied": copied, "calls": len(calls)}
print(json.dumps({**report, "keys": " ".join(keys)}))
