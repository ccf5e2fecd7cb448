import json

from cerberus import Validator


class Loader(Validator):
    def _normalize_coerce_strip(self, value):
        return value.strip()

    def _normalize_default_setter_total(self, document):
        return document["price"] * document["number"]


schema = {
    "name": {"rename": "title"},
    "title": {"coerce": ["strip", str.upper], "maxlength": 3},
    "number": {"type": "integer", "default": "2", "coerce": int},
    "price": {"type": "integer"},
    "total": {"default_setter": "total", "type": "integer"},
    "rank": {"coerce": [int, str.upper]},
    "fixed": {"readonly": True, "default": 1, "type": "integer"},
    "stamp": {"readonly": True, "type": "list"},
    "tags": {"coerce": list, "schema": {"coerce": int}},
    "empty": {"nullable": True, "default": 9, "coerce": int},
}
document = {
    "title": "old",
    "Junk": 7,
    "name": " abcd ",
    "price": 3,
    "rank": "x",
    "stamp": 0,
    "tags": ("1", "b"),
    "empty": None,
}
unknown = {"rename_handler": str.lower, "coerce": str}
loader = Loader(schema, allow_unknown=unknown, purge_unknown=True)
loader.validate(document)
report = {"document": loader.document, "errors": loader.errors, "count": len(loader._errors)}
report["kept"] = loader.normalized(document) is not None

loop = {name: {"default_setter": lambda doc: doc["x"] + doc["y"]} for name in "xy"}
circular = Loader(loop)
circular.validate({})
report["stuck"] = f"{circular.errors['x'][0]} {list(circular.errors)} {circular.document}"
print(json.dumps(report))
