import json
from collections import OrderedDict

import jmespath
from jmespath import exceptions, functions


class Extended(functions.Functions):
    @functions.signature({"types": ["array-string"]}, {"types": [], "variadic": True})
    def _func_tally(self, first, *others):
        return [first, len(others)]

    def _func_hidden(self, value):
        return value


def run(expression, data=None):
    options = jmespath.Options(dict_cls=OrderedDict, custom_functions=Extended())
    try:
        return jmespath.search(expression, data, options)
    except exceptions.ArityError as error:
        return str(error)
    except exceptions.ParseError as error:
        return [type(error).__name__, error.lex_position, error.token_type]
    except exceptions.JMESPathError as error:
        return str(error).partition("value: ")[2] or type(error).__name__


numbers = [run(f"to_number('{text}')") for text in (" 12 ", "1e3", "0x10", "1_0")]
loose = [
    run("contains(`[true]`, `1`)"),
    run("`[true]` == `[1]`"),
    run("`true` == `1`"),
    run("type(&a)"),
    run("map(&b, @)", [{"b": 1}, {}]),
    run("[*].b", [{"b": 1}, {}]),
    run("to_string({b: @, a: `[1]`})", "x"),
]
refusals = {
    "top": run("sum('12')"),
    "inside": run("sum(@)", [1, True]),
    "either": run("max(@)", ["b", 2]),
    "custom": run("tally(@, @)", ["b", 2]),
    "tuple": run("length(@)", (1, 2)),
    "order": run("sort_by(@, &n)", [{"n": 2}, {"n": "1"}]),
}
calls = [run("not_null()"), run("hidden(@)", 1), run("tally(`[]` 'x', 'y',)")]
syntax = [run("a[?b"), run("a == -"), run('"a"(@)'), run("a b"), run("")]
answers = {"numbers": numbers, "loose": loose, "refusals": refusals}
print(json.dumps(answers | {"calls": calls, "syntax": syntax}))
