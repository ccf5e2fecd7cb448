import json

import parso

grammar = parso.load_grammar(version="3.12")


def issues(code, positions=False):
    found = grammar.iter_errors(grammar.parse(code))
    if positions:
        return [[issue.code, *issue.start_pos, issue.message.split(": ", 1)[1]] for issue in found]
    return {issue.start_pos[0]: issue.message.split(": ", 1)[1] for issue in found}


targets = """f()[0], f() = x
{**b}, f() = x
f() = 2; 1 = 3
*a, *b = *c
del a, *b
"""
scopes = """def f(x, y):
    global x
    nonlocal y, v
    q = 1
    global q
    global p
    p: int
class C:
    nonlocal v
"""
blocks = """for a in b:
    def f():
        break
    class C: continue; return
    [(yield) for b in c]
while a:
    pass
else:
    break
from b import *; from __future__ import braces
async def f(): lambda: (yield); return 2
async def g(): yield; return 2
"""
indents = """if a:
    b
  c
if d:
e
h ? i
f = (1
 g
"""
values = {"targets": issues(targets), "scopes": issues(scopes, positions=True)}
print(json.dumps({**values, "blocks": issues(blocks), "indents": issues(indents, positions=True)}))
