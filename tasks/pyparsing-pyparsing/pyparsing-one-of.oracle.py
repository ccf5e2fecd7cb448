import json

from pyparsing import one_of
from pyparsing.util import _collapse_string_to_ranges, make_compressed_re

order = one_of("< <= <> > >= = <")
marks = one_of("] - ^ a \\ ] +")
words = one_of(["Select", "sel", "SELECT", "in", "Inner join"], caseless=True, as_keyword=True)
plain = one_of("in int in. IN", use_regex=False)

try:
    make_compressed_re(["", "a"])
except ValueError as exc:
    refusal = str(exc)

answer = {
    "patterns": [order.pattern, marks.pattern, words.pattern],
    "names": {
        "words": str(words),
        "plain": str(plain),
        "blank": type(one_of("  ")).__name__,
    },
    "alternatives": len(plain.exprs),
    "found": words.search_string("SELECT INN inner  join iN SEL").as_list(),
    "compressed": [
        make_compressed_re("ball bat bat b car cat+ do".split()),
        make_compressed_re("ball bat bee a+".split(), max_level=1, non_capturing_groups=False),
        make_compressed_re("x yy z".split(), max_level=0),
        _collapse_string_to_ranges("x^cab]-"),
        refusal,
    ],
}
print(json.dumps(answer))
