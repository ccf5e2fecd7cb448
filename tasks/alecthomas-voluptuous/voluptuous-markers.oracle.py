import json

import voluptuous as vol
from voluptuous.humanize import humanize_error


def check(schema, data, **kwargs):
    try:
        return vol.Schema(schema, **kwargs)(data)
    except vol.MultipleInvalid as exc:
        return [str(error) for error in exc.errors]


login = {vol.Exclusive("a", "one"): int, vol.Exclusive("b", "one"): int}
login |= {vol.Inclusive("c", "all"): int, vol.Inclusive("d", "all"): int}
groups = [
    check({"in": login}, {"in": {"a": "?", "b": 1, "c": 2}}),
    check({"in": login}, {"in": {"a": "?", "c": 2}}),
    check({"in": login}, {"in": {"a": "?"}}),
]

required = check({vol.Required(vol.Any("x", "y")): int, vol.Required("z", "no z"): int}, {"z": 1})
removed = [
    check({str: int, vol.Remove("k"): int}, {"k": 5}),
    check({int: int, vol.Remove("k"): int}, {"k": 5}),
    check({str: int, vol.Remove("k"): int}, {"k": "five"}),
    check({int: int, vol.Remove("k"): int}, {"k": "five"}, extra=vol.ALLOW_EXTRA),
]
order = {
    "extra": check({int: str, vol.Extra: object}, {1: 2}),
    "marker": check({str: int, vol.Optional("k"): str}, {"k": 1}),
    "coerce": check({int: str, vol.Coerce(int): float}, {1: "a"}),
    "failed": check({vol.Coerce(int): str}, {"k": "v"}),
}

schema = vol.Schema({vol.Optional("port", default="80"): int, "tags": [str], "host": {"name": str}})
data = {"tags": ["a", 1], "host": {"name": None}}
try:
    schema(data)
except vol.MultipleInvalid as exc:
    human = humanize_error(data, exc)
same = vol.Schema({vol.Required("a"): int}) == vol.Schema({vol.Optional("a"): int})

results = {"groups": groups, "required": required, "removed": removed, "order": order}
print(json.dumps({**results, "human": human, "same": same}))
