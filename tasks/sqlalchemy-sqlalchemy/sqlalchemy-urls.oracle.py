import json

from sqlalchemy.dialects.sqlite.pysqlite import dialect
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.url import URL, make_url

url = make_url("x+y://us+er:p%40s@[::1]/d%2Fb?k=1&j=&k=2+3")
url = url.update_query_pairs([("k", "4"), ("z", ["5", "6"])], append=True)
text = url.render_as_string(hide_password=False)
ports = [URL.create("x", port="05").port, URL.create("x").set(port="05").port, url.set(port=7).port]

translated = DefaultDialect().create_connect_args(make_url("x://u@h:0/d?host=other&k=1&k=2"))[1]

opened = {}
for query in (
    "",
    "/:memory:?check_same_thread=off",
    "//tmp/f.db?isolation_level=&cached_statements=7",
    "/file:x?mode=memory&uri=true&timeout=5&b=1",
    "/file::memory:?uri=1",
):
    opened[query] = dialect().create_connect_args(make_url("sqlite://" + query))

complaints = []
for action in (
    lambda: dialect().create_connect_args(make_url("sqlite://h/f.db")),
    lambda: dialect().create_connect_args(make_url("sqlite:///f.db?uri=maybe&timeout=x")),
    lambda: URL.create("x", port=[1], database=2),
    lambda: url.set(query={"k": ["1", 2]}),
    lambda: make_url("x.y://h"),
):
    try:
        complaints.append(action())
    except Exception as error:
        complaints.append(f"{type(error).__name__}: {error}".split("\n")[0])

values = {"text": text, "ports": ports, "translated": translated, "opened": opened}
print(json.dumps({**values, "complaints": complaints}))
