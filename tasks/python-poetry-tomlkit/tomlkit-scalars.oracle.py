import json
from datetime import UTC, datetime, time

import tomlkit
from tomlkit.exceptions import ParseError


def refuse(function, text):
    try:
        return function(text).as_string()
    except ValueError as exc:
        return f"{type(exc).__name__}: {exc}"


doc = tomlkit.parse('a = +7 # seven\nb = -0.5\nc = 1_000\nd = 0xFF\ne = "x"\nf = +8\n')
doc["a"] -= 7
doc["b"] *= -1
doc["c"] += 1
doc["d"] //= 2
doc["e"] += '\t"q"'
doc["f"] /= 16
edited = tomlkit.dumps(doc)

texts = [("\x1b\x7f\b", {}), ('a"""b\\', {"multiline": True})]
texts += [("\n\\x", {"multiline": True, "literal": True}), ("\\u00e9", {"escape": False})]
quoted = [tomlkit.string(text, **how).as_string() for text, how in texts]

moment = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
built = [
    tomlkit.key(["a b", "é", "c-1", ""]).as_string(),
    tomlkit.item(moment).as_string(),
    tomlkit.item(moment).replace(minute=0).as_string(),
    tomlkit.item(time(7, 32, 0, 500000, UTC)).as_string(),
]

refused = [refuse(tomlkit.integer, text) for text in ("0x_1", "-1_0", "+0b1")]
refused += [refuse(tomlkit.value, text) for text in ("1__0", "0XA", "+.5", "1_0.e1", "1_0e1")]
try:
    tomlkit.parse("x = 1\r\nlong = 1_ # wrong\n")
except ParseError as exc:
    column = 100 * exc.line + exc.col
results = {"edited": edited, "quoted": quoted, "built": built}
print(json.dumps({**results, "refused": refused, "column": column}))
