import json

from docutils.parsers.rst.tableparser import GridTableParser, SimpleTableParser, TableMarkupError
from docutils.statemachine import StringList

SIMPLE = """\
===  =====
a    b
===  =====
1      x
     y and more

     z
two
----------
     w
 3
===  ====="""

GRID = """\
+---+-----+
| a |  b  |
+===+ c   |
|x\u0301f |     |
+---+--+--+
| g    | h|
+------+--+"""

BROKEN = (
    "===  ===\n1  2\n===  ===",
    "===  ===\n1\n--  ---\n2\n===  ===",
    "===  ===\n1\n--   ---\n===  ===",
    "=== ===\n=== ===\n1   2\n=== ===\n=== ===",
)


def problem(text):
    try:
        return SimpleTableParser().parse(StringList(text.split("\n"), "table"))
    except TableMarkupError as exc:
        return f"{exc.offset} {exc}"


widths, head, body = SimpleTableParser().parse(StringList(SIMPLE.split("\n"), "table"))
grid = GridTableParser().parse(StringList(GRID.split("\n"), "table"))
report = {"widths": [widths, grid[0]], "simple": [len(head), body], "grid": grid[1:]}
report["problems"] = [problem(text) for text in BROKEN]
report["origin"] = body[0][1][3].offset(1)
print(json.dumps(report, default=list))
