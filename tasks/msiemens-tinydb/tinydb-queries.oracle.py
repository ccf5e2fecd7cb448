import json
import re

from tinydb import Query, TinyDB
from tinydb.storages import MemoryStorage

q, calls = Query(), []
pairs = {
    "commuted": ((q.a == 1) & (q.b == 2), (q.b == 2) & (q.a == 1)),
    "doubled": ((q.a == 1) & (q.a == 1), q.a == 1),
    "list and set": (q.a == [1], q.a == {1}),
    "list and tuple": (q.a == [1, [2]], q.a == (1, (2,))),
    "flags": (q.a.search("x"), q.a.search("x", re.I)),
    "fragment": (q.a.fragment({"k": 1}), q.b.fragment({"k": 1.0})),
    "any mapped": (q.a.any(q.map(len) == 1), q.a.any(q.map(str) == "2")),
}
cacheable = {
    "mapped": q.a.map(len) == 1,
    "sets": q.a == [{1}, {2}],
    "mixed": q.a == {1: "x", "y": 2},
    "any mapped": q.a.any(q.map(len) == 1),
    "or mapped": (q.a == 1) | (q.map(len) == 1),
}


def note(value):
    calls.append(value)


def ids(query):
    return [document.doc_id for document in table.search(query)]


table = TinyDB(storage=MemoryStorage).table("demo", cache_size=2)
table.insert_multiple([{"n": "Xy", "t": [1, 2]}, {"n": "xy", "t": "12"}, {"n": 3, "t": []}])
plain, ignoring = q.n.search("x"), q.n.search("x", re.I)
flags = [ids(plain), ids(ignoring)]
matched = {"all": [ids(q.t.all([])), ids(q.n.all(["xy"]))], "any": ids(q.t.any([2, "2"]))}
matched["index"] = ids(~(q.t[0] == 1))
flags.append(ids(ignoring))

probe = q.n.test(note)
counted = []
for query in (probe, probe, q.t.exists(), q.n.exists(), probe):
    table.search(query)
    counted.append(len(calls))
counted += [table.count(probe), table.contains(probe), len(calls)]
equal = [name for name, (left, right) in pairs.items() if left == right]
cacheable = [name for name, query in cacheable.items() if query.is_cacheable()]
values = {"equal": equal, "cacheable": cacheable, "flags": flags}
print(json.dumps({**values, "matched": matched, "counted": counted}))
