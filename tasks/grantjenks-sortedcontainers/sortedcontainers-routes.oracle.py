import json
import sys

from sortedcontainers import SortedSet

count = 0
hops = []


def key(value):
    global count
    count += 1
    if not hops:
        frame = sys._getframe(1)
        while frame.f_globals["__name__"].startswith("sortedcontainers"):
            hops.insert(0, frame.f_code.co_qualname)
            frame = frame.f_back
    return -value


def create():
    return SortedSet(range(10), key=key)


def sizes(s):
    return [len(part) for part in s._list._lists]


s = create()
bound = [getattr(s, n).__qualname__ for n in ("bisect", "index", "irange", "islice", "_reset")]

calls = {"create": lambda s: create(), "copy": lambda s: s.copy(), "contains": lambda s: 5 in s}
calls |= {"index": lambda s: s.index(5), "old": lambda s: s.add(5), "new": lambda s: s.add(99)}
calls |= {"discard": lambda s: s.discard(5), "pop": lambda s: s.pop()}
calls |= {"and": lambda s: s & [1, 2], "or": lambda s: s | [99]}
calls |= {"one": lambda s: s.update([99]), "three": lambda s: s.update([97, 98, 99])}
calls |= {"reset": lambda s: s._reset(3)}
for name, operation in calls.items():
    s = create()
    before = count
    operation(s)
    calls[name] = count - before

s = create()
s._reset(3)
trail = [sizes(s)]
for n in (10, 11, 12, 13):
    s.add(n)
trail.append(sizes(s))
s.update([14, 15, 16, 17])
trail.append(sizes(s))
print(json.dumps({"bound": bound, "hops": hops, "calls": calls, "sizes": trail}))
