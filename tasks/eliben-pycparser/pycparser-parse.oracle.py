import json

from pycparser.c_parser import CParser, ParseError


def parse(text):
    return CParser().parse(text, "a.c").ext


def problem(text):
    try:
        return len(parse(text))
    except (ParseError, ValueError) as exc:
        return str(exc)


def names(block):
    return [type(item).__name__ for item in block.block_items]


numbers = parse("int x[] = {10ull, 'lu', 'L', 0x1F, 1.5F, 0x1p3L, 07LU};")[0].init.exprs
text = parse('char *s = "\\x1" "b" "g" "\\12" L"8" "" "3" u"\\\\1" "2";')[0].init.value
constants = {"types": [number.type for number in numbers], "text": text}

cases = "void f(int n) { switch (n) { int k; case 1: case 2: k = n; n = k; default: ; case 3: } }"
switch = parse(cases)[0].body.block_items[0]
grouped = [
    [type(item).__name__, len(item.stmts) if hasattr(item, "stmts") else None]
    for item in switch.stmt.block_items
]

scoped = parse("""typedef char T;
void g(int T) { T * a; }
void h(T x) { T * a; { int T; T * a; } T * b; for (int T = 0; T; T--) T * a; T * c; }""")
body = scoped[2].body
scopes = {"g": names(scoped[1].body), "h": names(body)}
scopes["block"] = names(body.block_items[1])
scopes["for"] = type(body.block_items[3].stmt).__name__

located = [
    str(node.coord) for node in parse('# 40 "b.h"\n  int x;\n#line 7\nint *y, z[2];') if node.name
]
problems = [
    problem("typedef int T;\nint T;"),
    problem("typedef int T;\nvoid f(void) { int T; typedef T U; }"),
    problem('# 3 "b.h" 1\nint x = 5'),
    problem("int x = '';"),
    problem("x = 3;"),
    problem("f() { return 1wb; }"),
    problem("int T; ; f(T) int T; { T: ; }"),
]
values = {"constants": constants, "grouped": grouped, "scopes": scopes}
print(json.dumps({**values, "located": located, "problems": problems}))
