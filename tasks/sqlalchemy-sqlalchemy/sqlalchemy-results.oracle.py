import json

from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData
from sqlalchemy.exc import SQLAlchemyError


def result(*rows):
    return IteratorResult(SimpleResultMetaData(["a", "count", "a"]), iter(rows))


ROWS = (1, 2, 3), (4, 2, 3), (4, 5, 6), (7, 5, 6)

picked = [list(row) for row in result(*ROWS).columns(0, "count")]
firsts = result(*ROWS).scalars()
unique = [firsts.unique().fetchmany(2), firsts.fetchmany(1)]
unique.append([row[0] for row in result(*ROWS).unique(lambda row: row.count)])
frozen = result(*ROWS).unique().columns("a").freeze()
unique.append([len(frozen().all()), len(frozen().unique().all())])

row = result(*ROWS).first()
facts = {
    "dict": row._asdict(),
    "fields": list(row._fields),
    "count": row.count,
    "index": row.index(3),
    "in": [1 in row, 1 in row._mapping, "a" in row, "a" in row._mapping],
    "equal": row == (1, 2, 3),
}

closed = []
for method in ("first", "fetchall", "fetchone", "scalar"):
    used = result(*ROWS[:1])
    getattr(used, method)()
    closed.append(used.closed)

complaints = []
for action in (
    lambda: result(*ROWS[:2]).scalars().one_or_none(),
    lambda: result(*ROWS[:2]).scalars().unique().one(),
    lambda: result().unique().one(),
    lambda: row.total,
    lambda: used.all(),
):
    try:
        complaints.append(action())
    except (SQLAlchemyError, AttributeError) as error:
        complaints.append(str(error))

values = {"picked": picked, "unique": unique, "facts": facts, "closed": closed}
print(json.dumps({**values, "complaints": complaints}))
