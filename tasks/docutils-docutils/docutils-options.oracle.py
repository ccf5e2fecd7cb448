import json
from functools import partial

from docutils import DataError
from docutils.parsers.rst import directives
from docutils.utils import assemble_option_dict, column_width, extract_name_value

size = partial(directives.length_or_percentage_or_unitless, default="px")
spec = {
    "align": partial(directives.choice, values=("left", "center", "right")),
    "size": size,
    "scale": directives.percentage,
    "uri": directives.uri,
    "delim": directives.single_char_or_whitespace_or_unicode,
    "lines": directives.positive_int_list,
    "open": directives.flag,
    "class": directives.class_option,
    "off": None,
}
good = [("size", "1.50"), ("scale", "40 %%"), ("uri", "a b\\ c\n d"), ("delim", "U+3b")]
bad = [
    [("align", "Top")],
    [("size", "-1 em")],
    [("delim", "x20y")],
    [("open", None), ("open", "now")],
    [("class", "a 9_")],
    [("lines", "4, 0")],
    [("off", "1")],
]


def complaint(convert, *args):
    try:
        return convert(*args)
    except (ValueError, KeyError, DataError) as exc:
        return f"{type(exc).__name__}: {exc}"


report = {"options": assemble_option_dict(good, spec)}
report["problems"] = [complaint(assemble_option_dict, pairs, spec) for pairs in bad]
report["classes"] = directives.class_option("3_Stra\u00dfe \u00d8re--x_ .\u00e9Cl\u00e6.")
lines = ("A = 1 b='c d'", "a='b'c", "a= ")
report["pairs"] = [complaint(extract_name_value, line) for line in lines]
report["column"] = column_width("\u3042e\u0301\uff71")
print(json.dumps(report))
