import json

from lark import Lark
from lark.exceptions import GrammarError, LexError


def problem(grammar):
    try:
        return len(Lark(grammar, parser="lalr").rules)
    except (GrammarError, LexError) as exc:
        return str(exc).splitlines()[0]


lark = Lark(
    r"""
    start: item*
    item: "if" | "IF"i | "+" | (OR "<=" | "1x") | "key" | "end" | NAME | /[0-9]/ | MIX
    PLUS: "plus"
    OR.2: "or"
    END: "end"
    KEY.-1: "key"
    UNUSED: "unused"
    NAME: /[a-z]+/
    MIX: "#" | "#ab" | "!"~2..3 | /\?/i
    _SPACE: " "+ "\n"? | "\n"
    %ignore _SPACE
    """,
    parser="lalr",
)
named = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
patterns = {t.name: t.pattern.to_regexp() for t in lark.terminals if t.name in ("MIX", "_SPACE")}
tokens = list(lark.lex("if iffy end ends IF key or order +\n !!! 1x 11 #abc"))
types = [f"{token.type}:{token}" for token in tokens]
last = [tokens[-1].line, tokens[-1].column]
problems = [
    problem("start: A"),
    problem('start: "a" -> x | "a" -> y'),
    problem('start: "a"\n_b: "c" -> d'),
    problem('start: A\nA: "x" A'),
    problem('start: a{"x"}\na{b, c}: b c'),
    problem("start: /a*/"),
    problem('start: B\nA: "x"\n%ignore A\n%extend B: "y"'),
]
lexed = {"types": types, "last": last}
print(json.dumps({"named": named, "patterns": patterns, "lexed": lexed, "problems": problems}))
