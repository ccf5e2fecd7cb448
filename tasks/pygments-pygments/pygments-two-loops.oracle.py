import json

from pygments.lexer import ExtendedRegexLexer, RegexLexer, bygroups, default, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

def first_digit(lexer, match, ctx=None):
    yield match.start(), Number, match.group()[0]
    if ctx:
        ctx.pos = match.start() + 1


RULES = {
    "root": [
        (r"#", Comment, "note"),
        (r"\{", Punctuation, "block"),
        (words(("in", "int"), suffix=r"\b"), Keyword),
        (r"(\w+)(=)", bygroups(Name, Operator)),
        (r"[0-9]+", first_digit),
        (r" ", Text),
        (r"[a-z]", Name),
    ],
    "note": [(r"[a-z]", Comment)],
    "block": [
        (r"\}", Punctuation, "#pop"),
        (r"\{", Punctuation, "#push"),
        (r"[a-z]", String),
        default("#pop"),
    ],
}


class Plain(RegexLexer):
    tokens = RULES


class Extended(ExtendedRegexLexer):
    tokens = RULES


texts = {
    "words": "in int inter",
    "pair": "ab=x",
    "number": "a=123",
    "notes": "#a\n#b",
    "block": "{x{y}z}in",
    "open": "{x{y 7",
    "lines": "a \nb\n",
    "stray": "}#!a",
}


def tokens(lexer, text):
    made = lexer(ensurenl="off", stripnl="no", filters="tokenmerge")
    return [[str(kind), value] for kind, value in made.get_tokens(text)]


plain = {name: tokens(Plain, text) for name, text in texts.items()}
extended = {name: tokens(Extended, text) for name, text in texts.items()}
differ = sorted(name for name in texts if plain[name] != extended[name])
print(json.dumps({"plain": plain, "extended": extended, "differ": differ}))
