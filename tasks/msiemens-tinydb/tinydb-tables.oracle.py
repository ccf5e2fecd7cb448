import json

from tinydb import TinyDB, where
from tinydb.operations import delete, increment
from tinydb.storages import MemoryStorage
from tinydb.table import Document


def outcome(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except (KeyError, ValueError) as exc:
        return f"{type(exc).__name__}: {exc.args[0]}"


db = TinyDB(storage=MemoryStorage)
pets = db.table("pets")
ids = [
    pets.insert({"n": 1}),
    pets.insert_multiple([Document({"n": 2}, 2)]),
    outcome(pets.insert, {"n": 3}),
    outcome(pets.insert_multiple, [{"n": 4}, "five"]),
    pets.insert({"n": 6}),
    pets.upsert(Document({"n": 7}, 9), where("n") == 1),
    pets.insert({"n": 8}),
]

changes = [(increment("n"), where("n") == 1), ({"tag": "b"}, where("n") == 2)]
updated = [pets.update_multiple(changes), pets.update_multiple(iter(changes[1:]))]
updated += [pets.remove(doc_ids=[9, 77]), outcome(pets.remove, doc_ids=[1, 1])]
tagged = where("tag").exists()
counts = [pets.count(tagged), outcome(pets.update, delete("tag"))]
counts += [pets.count(tagged), pets.contains(tagged), len(pets)]
pets.clear_cache()
counts.append(pets.count(tagged))

db.insert(Document({}, 30))
db.drop_table("pets")
new = db.table("pets", persist_empty=True)
db.table("toys")
handed = [pets.insert({}), new.insert({}), outcome(pets.insert, {}), pets.insert({}), len(new)]
tables = {name: [doc.doc_id for doc in db.table(name)] for name in sorted(db.tables())}
print(
    json.dumps(
        {"ids": ids, "updated": updated, "counts": counts, "handed": handed, "tables": tables}
    )
)
