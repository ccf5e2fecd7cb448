import json
import sys

from tinydb import TinyDB, where
from tinydb.storages import MemoryStorage


class Watched(MemoryStorage):
    def __init__(self):
        super().__init__()
        self.writers = []

    def write(self, data):
        self.writers.append(sys._getframe(1).f_code.co_qualname)
        super().write(data)


def start(q):
    db = TinyDB(storage=Watched)
    pets = db.table("pets")
    pets.insert_multiple([{"n": [1]}, {"n": [2]}])
    pets.search(q)
    return db, pets


def drop_and_insert_anew(db, pets):
    db.drop_table("pets")
    return db.table("pets").insert({"n": [3]})


def drop_and_insert(db, pets):
    db.drop_table("pets")
    return pets.insert({"n": [3]})


query = where("n") == [1]
operations = [
    lambda db, pets: pets.truncate(),
    lambda db, pets: db.truncate(),
    lambda db, pets: db.table("pets").remove(query),
    lambda db, pets: db.drop_table("pets"),
    lambda db, pets: db.drop_tables(),
    drop_and_insert_anew,
    drop_and_insert,
]
stale, culprits, ids = [], set(), []
for number, operation in enumerate(operations, 1):
    db, pets = start(query)
    result = operation(db, pets)
    if number >= 6:
        ids.append(result)
    if pets.search(query) != [doc for doc in pets.all() if query(doc)]:
        stale.append(number)
        culprits.add(db.storage.writers[-2 if number == 6 else -1])

queries = {
    "a": where("n") == [1],
    "b": where("n") <= [1],
    "c": where("n").any([1]),
    "d": where("n").test(lambda value, want: value == want, [1]),
    "e": where("n").map(len) == 1,
    "f": ~(where("n") == [2]),
    "g": (where("n") == [1]) & (where("n") <= [1]),
    "h": where("n") != {"a": 0, 1: 0},
    "i": where("n").one_of([[1], [3]]),
    "j": where("n").one_of([{1}, [1]]),
    "k": lambda doc: doc["n"] == [1],
}
fresh = []
for letter, q in queries.items():
    db, pets = start(q)
    db.drop_tables()
    if not pets.search(q):
        fresh.append(letter)
print(json.dumps({"stale": stale, "culprits": sorted(culprits), "ids": ids, "fresh": fresh}))
