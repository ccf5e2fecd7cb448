import json

from tomlkit.exceptions import ParseError, TOMLKitError
from tomlkit.parser import Parser

texts = {
    "twice": "a = 1\n'a' = 2\n",
    "twice-below": "[t]\na = 1\na = 2\n",
    "twice-inline": "a = {b = 1, b = 2}\n",
    "dotted": "a.b = 1\na.c = 2\n",
    "dotted-over-value": "a = 1\na.b = 2\n",
    "dotted-over-inline": "a = {b = 1}\na.c = 2\n",
    "dotted-below": "[t]\na.b = 1\na = 2\n",
    "implicit-first": "[a.b]\n[a]\nc = 1\n",
    "implicit-key": "[a.b]\n[a]\nb = 1\n",
    "header-over-dotted": "a.b = 1\n[a]\n",
    "header-below-dotted": "[t]\na.b = 1\n[t.a]\n",
    "array-over-table": "[a]\n[[a]]\n",
    "array-over-list": "a = []\n[[a]]\n",
    "array-below": "[t]\na = 1\n[[t.a]]\n",
    "open-inline": "a = {b = 1,\n}\n",
    "escape-e": 'a = "\\e"\n',
    "escape-q": 'a = "\\q"\n',
    "surrogate": 'a = "\\uD800"\n',
    "long-key": '"""a""" = 1\n',
    "zero": "a = -01\n",
}
raised, uncaught = {}, []
for name, text in texts.items():
    try:
        Parser(text).parse()
    except TOMLKitError as exc:
        raised[name] = type(exc).__name__
        if not isinstance(exc, ParseError):
            uncaught.append(name)
print(json.dumps({"raised": raised, "uncaught": sorted(uncaught)}))
