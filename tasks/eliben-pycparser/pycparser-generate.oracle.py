import json

from pycparser.c_generator import CGenerator
from pycparser.c_parser import CParser


def written(text, **options):
    return CGenerator(**options).visit(CParser().parse(text))


def flat(text, **options):
    return " ".join(written(text, **options).split())


sums = "int x = a - (b - c) - -d * (e + f) + (g << 1 & h), *y = (int *) &z[i, j], w = sizeof u++;"
parentheses = [flat(sums), flat(sums, reduce_parentheses=True)]

declarators = [
    flat("const int *const (*f[3])(char (*)[2], ...), g;"),
    flat("_Atomic(int *) p, q; const _Atomic(char) r;"),
    flat("static struct S { int a, : 2; } s, *t; struct S { int a; } u; struct S v, *w;"),
    flat("typedef enum { A, B = 2 } *E, F;"),
    flat("int (k)(int a[static const 3], int b[*]), l(void);"),
]

body = """void f(void) {
  if (a) if (b) c; else d; else { }
  for (int i = 0, *p; ; i++, p++) ;
  do x = y = 1; while (n);
  l: ;
}"""
statements = written(body).split("\n")
members = "enum { X, Y = 1, } e; union { int i; } u[2], *v;"
structure = written("struct P { " + members + " } p = { .e = X, .u[1].i = 2, { (1, 2), } }, q;")
values = {"parentheses": parentheses, "declarators": declarators, "statements": statements}
print(json.dumps({**values, "structure": structure}))
