import json

import sqlparse

blocks = {
    "plain": "begin; select 1; commit;",
    "work": "begin /* x */ work; select 1; end; select 2",
    "declare": "declare x int; begin y; end; select 1",
    "create": "create function f() declare x int; begin y; end; select 1",
    "case": "begin case when a then b; end case; end; select 1",
    "spaces": "begin if a then b; end  if; c; end; select 1",
    "for": "begin for r in q; loop x; end loop; end; select 1",
    "crossed": "select ) (1; 2); (3; 4)",
}
counts = {name: len(sqlparse.split(script)) for name, script in blocks.items()}

notes = sqlparse.split("select 1; -- one\n/* two */ select 2 ; ;\n-- three", strip_semicolon=True)
batches = sqlparse.split("select 1\nGO 2\nselect 2\ngo\nselect 3\nGo; select 4")
blank = sqlparse.split(" ; \n ; \n ")

sizes = [len(batch) for batch in batches]
print(json.dumps({"counts": counts, "notes": notes, "batches": sizes, "blank": len(blank)}))
