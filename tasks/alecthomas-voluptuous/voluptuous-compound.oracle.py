import json

import voluptuous as vol


def check(validator, value):
    try:
        return vol.Schema({"f": validator})({"f": value})["f"]
    except vol.MultipleInvalid as exc:
        return str(exc)


either = vol.Any({"kind": "a", "n": int}, {"kind": "b", "n": [int]})
errors = [
    check(either, {"kind": "b", "n": ["x"]}),
    check(either, {"kind": "c", "n": 1}),
    check(vol.Maybe(int), "x"),
    check(vol.All(vol.Coerce(int), vol.Range(max=5), msg="too big"), "7"),
    check(vol.Msg([int], "no ints"), ["x"]),
]

some = vol.SomeOf([vol.Coerce(int), vol.Range(min=5), str], min_valid=2)
some = [check(some, value) for value in ("7", "3", 6)]

sequences = [
    check(vol.ExactSequence([vol.Coerce(int), vol.Coerce(str)]), ("1", 2)),
    check(vol.ExactSequence([str, vol.Coerce(int)]), ["1", "x"]),
    check(vol.Unordered([vol.Coerce(int), str]), ["a", "1"]),
    check(vol.Unordered([vol.Coerce(int), str]), ["1", 2]),
]

try:
    vol.Schema({"any": vol.Any({"a": int}), "plain": {"a": int}}, required=True)(
        {"any": {}, "plain": {}}
    )
except vol.MultipleInvalid as exc:
    inherited = f"{len(exc.errors)} {exc}"

base = vol.Schema({vol.Required("a"): int, "n": {"x": int, "y": int}}, extra=vol.ALLOW_EXTRA)
wider = base.extend({vol.Optional("a", default="0"): str, "n": {"y": str}})
extended = wider({"n": {"y": "s", "x": 1}, "z": None})

results = {"any": errors, "some": some, "sequences": sequences}
print(json.dumps({**results, "inherited": inherited, "extended": extended}))
