import json

from cerberus import Validator

inner = {
    "e": {"type": "string", "allof_minlength": [1, 4], "regex": "x+"},
    "n": {"type": "integer", "nullable": True, "anyof": [{"min": 5}]},
}
schema = {
    "a": {"type": "integer", "anyof": [{"min": 3}], "anyof_min": [2], "anyof_max": [3, 1]},
    "b": {"oneof": [{"type": "integer", "min": 0}, {"allowed": [1, 2]}]},
    "c": {"type": "string", "noneof_regex": ["a+", "a+b"]},
    "d": {"type": "dict", "schema": inner},
    "f": {"dependencies": {"^d.e": ["x"], "b": 1}, "max": 1},
    "g": {"excludes": "h", "required": True},
    "h": {"excludes": ["g", "i"], "required": True},
    "m": {"required": True},
}
validator = Validator(schema)
document = {
    "h": 1,
    "g": 2,
    "f": 3,
    "d": {"n": None, "e": "xxy"},
    "c": "aab",
    "b": 1,
    "a": 4,
    "k": 0,
}
validator.validate(document)
rules = dict(validator.schema["a"])
order = " ".join(str(error.field) for error in validator._errors)
codes = [error.code for error in validator._errors]
report = {"rules": rules, "errors": validator.errors, "order": order, "codes": codes}
report["loose"] = Validator({"b": schema["b"]}).validate({"b": True})
print(json.dumps(report))
