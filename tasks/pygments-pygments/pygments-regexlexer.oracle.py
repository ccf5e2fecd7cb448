import json

from pygments.lexer import RegexLexer, bygroups, combined, default, include, inherit, words
from pygments.token import Keyword, Name, Number, Punctuation, String, Text

keywords = words(("in", "int", "if", "i", "int"), suffix=r"\b")


class Base(RegexLexer):
    tokens = {
        "root": [
            (r"(\w+)(=)(\d*)", bygroups(Name.Attribute, None, Number)),
            (keywords, Keyword),
            (r"\w+", Name),
            (r"\(", Punctuation, ("#push", "args")),
        ],
        "args": [(r"[ ,]+", Text), (r"\)", Punctuation, "#pop:9"), include("root")],
    }


class Child(Base):
    tokens = {
        "root": [
            (r"i\d", Name.Builtin),
            inherit,
            (r" ", Text),
            (r'"', String, combined("text", "escape")),
        ],
        "text": [(r'[^"\\%]+', String), (r'"', String, "#pop")],
        "escape": [(r"\\.", String.Escape), default("#pop")],
    }


def show(lexer, text, **kwargs):
    return [str(ttype)[6:] + ":" + value for ttype, value in lexer.get_tokens(text, **kwargs)]


lexer = Child(ensurenl="no", tabsize="2", filters="tokenmerge")
lexer.add_filter("keywordcase", case="upper")
lexer.add_filter("gobble", n=1)

answer = {
    "pattern": keywords.get(),
    "nested": show(lexer, "\r\n(k=, i2 in\rx=7)\n\n", unfiltered=True),
    "strings": show(Child(stripall=True), ' "a\\"b%c" '),
    "filtered": show(lexer, "int if(in))\t=\nif i"),
    "states": len(Child._tokens),
}
print(json.dumps(answer))
