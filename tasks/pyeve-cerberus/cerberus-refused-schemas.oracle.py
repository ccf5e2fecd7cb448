import json

from cerberus import SchemaError, Validator
from cerberus.schema import DefinitionSchema

definitions = {
    "a": {"required": 1},
    "b": {"purge unknown": True},
    "c": {"min": None},
    "d": {"max": "ten"},
    "e": {"allowed": "abc"},
    "f": {"allowed": {"x": 1}},
    "g": {"contains": []},
    "h": {"contains": 0},
    "i": {"excludes": ["x", ["y"]]},
    "j": {"type": ["string", "text"]},
    "k": {"maxlength": 2.5},
    "l": {"items": {"type": "string"}},
    "m": {"items": [{"coerce": int}]},
    "n": {"anyof": [{"coerce": float}]},
    "o": {"anyof": [{"coerce": int}]},
    "p": {"anyof_type": ["string", "integer"]},
    "q": {"coerce": "int"},
    "r": {"dependencies": {"x": 1}},
    "s": {"keyschema": {"type": "string"}, "keysrules": {"type": "string"}},
    "t": None,
    "u": "f",
}
schema_errors, others = [], {}
for letter, definition in definitions.items():
    validator = Validator()
    try:
        DefinitionSchema(validator, {"f": definition})
    except SchemaError:
        schema_errors.append(letter)
    except Exception as exc:
        others[letter] = type(exc).__name__
print(json.dumps({"schema_errors": sorted(schema_errors), "others": others}))
