import json

import jmespath

data = {
    "a": [{"b": [1, 2]}, {"b": [3], "c": 0}, {"c": None}],
    "o": {"x": {"n": 4}, "y": {"n": None}, "z": 5},
    "zero": 0,
    "no": False,
    "list": [[0, [1]], 2, [[3]]],
}


def pick(*expressions):
    return [jmespath.search(expression, data) for expression in expressions]


projected = pick(
    "a[].b[0]", "a[].b | [0]", "(a[].b)[0]", "a[*].b[]", "a[?c == `0`].b[0]", "a[::2].b[1]"
)
values = pick("o.*.n", "o.* | [2]", "list[]", "list[][]", "list[0][]", "zero[]")
truths = {
    "not field": pick("!o.x")[0],
    "not group": pick("!(o.w)")[0],
    "not zero": pick("!zero")[0],
    "and": pick("zero && no")[0],
    "or": pick("o.w || no || zero")[0],
    "mixed": pick("zero || no && o")[0],
    "same": pick("zero == no", "[zero] == [no]"),
    "chain": pick("zero == zero == `true`")[0],
    "order": pick("zero < no", "'b' > 'a'", "zero >= `-1`"),
}
shapes = pick("o.{n: x.n m: z}", "w.[a]", "o.[w, z]", "a[1].[b, c][0]", "a[0:1].{k: b[1]}")
try:
    clash = pick("zero < 'a'")[0]
except Exception as error:
    clash = type(error).__name__
tree = jmespath.compile("a[1:].b || !c.d").parsed
kinds = [tree["type"], *(child["type"] for child in tree["children"])]
print(
    json.dumps(
        {
            "projected": projected,
            "values": values,
            "truths": truths,
            "shapes": shapes,
            "kinds": "/".join([*kinds, clash]),
        }
    )
)
