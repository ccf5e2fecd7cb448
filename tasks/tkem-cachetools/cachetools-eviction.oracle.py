import copy
import json

from cachetools import FIFOCache, LFUCache, LRUCache, RRCache


def drain(cache):
    twin = copy.copy(cache)
    return "".join(twin.popitem()[0] for _ in range(len(twin)))


class Shouting(LRUCache):
    def __missing__(self, key):
        return key.upper()


orders = {}
for kind in (FIFOCache, LRUCache, LFUCache):
    cache = kind(3)
    cache.update(a=1, b=2, c=3)
    cache["a"] = 4
    cache.setdefault(cache.get("e", "b"), 5)
    assert "c" in cache
    cache["d"] = cache["b"]
    orders[kind.__name__] = drain(cache)

first = RRCache(4, choice=lambda keys: keys[0])
for key in "abcdef":
    first[key] = None
random = "".join(first) + " " + drain(first)

sized = LRUCache(10, getsizeof=len)
sized.update(x="1234", y="123", z="12")
sized["x"] = "12345678"
sized["w"] = ""
try:
    sized["z"] = "x" * 11
except ValueError:
    kept = sized.get("z") == "12" and "y" not in sized

shouting = Shouting(2)
missing = [shouting["q"], shouting.get("q"), shouting.pop("q", 0), len(shouting)]
results = {"orders": orders, "random": random, "sized": repr(sized)}
print(json.dumps({**results, "missing": missing, "kept": kept}))
