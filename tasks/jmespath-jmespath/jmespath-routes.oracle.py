import json
import sys

import jmespath
from jmespath import functions


class Own(dict):
    pass


class Mine(functions.Functions):
    @functions.signature({"types": ["number"]})
    def _func_twice(self, value):
        frame, hops = sys._getframe(1), []
        while frame.f_code is not jmespath.search.__code__:
            hops.insert(0, frame.f_code.co_qualname)
            frame = frame.f_back
        routes.append(hops)
        return 2 * value


data = {"a": None, "n": 3, "items": [{"n": 3}, {"n": 1}, {"n": 2}]}
options = jmespath.Options(dict_cls=Own, custom_functions=Mine())
routes = []


def routes_of(expression):
    routes.clear()
    jmespath.search(expression, data, options)
    return list(routes)


def kind(expression):
    try:
        return type(jmespath.search(expression, data, options)).__name__
    except Exception as error:
        return type(error).__name__


sorting = routes_of("sort_by(items, &twice(n))")
report = {"direct": routes_of("twice(n)")[0], "first": sorting[0], "last": sorting[-1]}
calls = ["n || twice(n)", "a || twice(n)", "a && twice(n)", "[twice(n), twice(n)]"]
calls += ["twice(twice(n))", "map(&twice(n), items)", "max_by(items, &twice(n))"]
calls += ["sort_by(items, &twice(n))", "items | [0].twice(n)"]
report["calls"] = {expression: len(routes_of(expression)) for expression in calls}
kinds = ["{x: n}", "merge(@, @)", "merge({x: n}, {x: n})", "not_null({x: n})", "length({x: n})"]
kinds += ["to_array({x: n})", "[{x: n}] | [0]", "a.{x: n}", "a.twice(n)"]
kinds += ["max_by(items, &{x: n})", "map(&{x: n}, items) | [0]"]
report["kinds"] = {expression: kind(expression) for expression in kinds}
print(json.dumps(report))
