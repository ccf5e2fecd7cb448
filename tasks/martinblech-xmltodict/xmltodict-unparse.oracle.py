import json

import xmltodict

tree = {
    "r": {
        "@id": True,
        "#text": "t",
        "i": [None, {"@k": 3, "#text": b"<", "j": [[]]}, "x"],
        "e": [],
        "#comment": [" c ", None, ""],
    }
}
pretty = xmltodict.unparse(tree, full_document=False, pretty=True, indent=1, newl="|")

spaced = xmltodict.unparse(
    {"u:a:r": {"@u:b:k": "1", "@zz:key": "2", "@xmlns": {"": "u:a", "n": None}, "zz:c": None}},
    full_document=False,
    namespaces={"u:a": "A", "u:b": "B"},
)

seen = []


def note(key, value):
    seen.append(key)
    return None if value is None else (key.upper(), value)


shouted = xmltodict.unparse(
    {"a": {"@k": 1, "b": [[1, 2], [False, None]], "c": None, "#comment": "m", "d": []}, "z": ()},
    full_document=False,
    expand_iter="n",
    preprocessor=note,
)

faults = []
for content in ({"?b/": 1}, {"@b/=": 1}, {"#comment": "x--"}, {7: 1}, ["u", "v"], [], (None,)):
    try:
        faults.append(xmltodict.unparse({"a": content}).count("<a"))
    except ValueError as error:
        faults.append(str(error))

values = {"pretty": pretty, "spaced": spaced, "shouted": shouted, "faults": faults}
print(json.dumps({**values, "seen": len(seen)}))
