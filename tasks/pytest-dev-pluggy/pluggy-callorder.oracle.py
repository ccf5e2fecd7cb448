import json
from types import SimpleNamespace as Plugin

import pluggy

spec, impl = pluggy.HookspecMarker("demo"), pluggy.HookimplMarker("demo")


class Specs:
    order = spec(lambda self, log: None)
    pick = spec(lambda self, word, size=3: None, firstresult=True)


def ordered(label, **options):
    return Plugin(order=impl(lambda log: log.append(label), **options))


def whole(size, mode="plain", word="unset"):
    return [word, size, mode] if size else None


def small(size=9):
    return size if size > 3 else None


def extend(word):
    found = yield
    if isinstance(found, list):
        return [*found, word.upper()]
    raise LookupError(found, word)


def calm():
    outcome = yield
    if outcome.exception is not None:
        outcome.force_result(repr(outcome.exception))


manager, log = pluggy.PluginManager("demo"), []
manager.add_hookspecs(Specs)
order, pick = manager.hook.order, manager.hook.pick
torn, first, last = {"tryfirst": True, "trylast": True}, {"tryfirst": True}, {"trylast": True}
for label, options in zip("abcdef", [torn, {}, first, {}, last, first], strict=True):
    manager.register(ordered(label, **options))
order.call_extra([lambda log: log.append("x"), lambda log: log.append("y")], {"log": log})

whole, small = impl(whole, specname="pick"), impl(small, specname="pick", tryfirst=True)
manager.register(Plugin(a=small, b=whole))
defaults = [pick(word="w"), pick(word="w", mode="fancy", size=4), pick(mode="fancy")]
calm = impl(calm, hookwrapper=True, tryfirst=True)
manager.register(Plugin(pick=calm, extend=impl(extend, wrapper=True, specname="pick")))
names = [hookimpl.function.__name__ for hookimpl in pick.get_hookimpls()]
mended = {"found": pick(word="up"), "size": pick(word="up", size=8)}
mended |= {"nothing": pick(word="cut", size=0), "no word": pick()}
print(json.dumps({"order": "".join(log), "defaults": defaults, "names": names, "mended": mended}))
