import json

from parso.python.prefix import split_prefix
from parso.python.tokenize import tokenize
from parso.python.tree import EndMarker, Name
from parso.tree import BaseNode
from parso.utils import split_lines


def pieces(code, version=(3, 12)):
    return [token.string for token in tokenize(code, version_info=version) if token.string]


def outline(code):
    found = tokenize(code, version_info=(3, 12))
    return [f"{token.type.name} {token.prefix + token.string!r}" for token in found]


old = pieces("0777 0xfor 1_0.e5j 1__0 x:=a²b 1.__0", (3, 7))
strings = outline("f'{x!r:>{w:=3}}}}' f'a\n")
indented = outline("if a:\n  (b,\n c\n d;\n pass\n")
lines = split_lines("a\fb\r\nc\v\nd\r", keepends=True) + split_lines("e\f\r\r\n")

name = Name("x", (4, 3), prefix="\ufeff\f# c \r\n\t\\\n \t ")
end = EndMarker("", (5, 0), prefix="\n#")
root = BaseNode([name, end])
parts = [
    [part.type, *part.start_pos, *part.end_pos]
    for part in split_prefix(name, name.get_start_pos_of_prefix())
]
ends = [part.start_pos for part in split_prefix(end, end.get_start_pos_of_prefix())]
print(
    json.dumps(
        {
            "old": old,
            "strings": strings,
            "indented": indented,
            "lines": lines,
            "prefix": {"parts": parts, "ends": ends, "code": root.get_code(False)},
        }
    )
)
