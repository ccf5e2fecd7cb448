import json

from cachetools import TLRUCache, TTLCache


class Clock:
    now = asked = 0

    def __call__(self):
        self.asked += 1
        return self.now

    def count(self, action):
        before = self.asked
        action()
        return self.asked - before


def failure(action):
    try:
        action()
    except KeyError as exc:
        return str(exc)


clock = Clock()
cache = TTLCache(3, ttl=10, timer=clock)
cache["a"] = 1
clock.now = 4
cache["b"] = cache["c"] = 2
cache["a"] = cache["b"] + 1
clock.now = 9
cache["d"] = 4
clock.now = 14
shown = ["".join(key for key in cache), "a" in cache, "d" in cache]
asked = {"iterate": clock.count(lambda: "".join(key for key in cache))}
late = [cache.get("a"), failure(lambda: cache.__delitem__("b")), cache.expire()]
asked["pop"] = clock.count(lambda: cache.pop("d"))
late = f"{late} {failure(cache.popitem)}"
timed = TLRUCache(14, lambda key, value, now: now + value, timer=clock, getsizeof=abs)
timed.update(x=5, y=3, z=6, q=-1)
timed["x"] = 0
size = timed.currsize
clock.now += 2
timed["z"] = 2
timed["v"] = 8
clock.now += 2
expired = [timed.expire(), "".join(key for key in timed), timed.expire()]
results = {"shown": shown, "asked": asked, "late": late}
print(json.dumps({**results, "expired": expired, "size": size}))
