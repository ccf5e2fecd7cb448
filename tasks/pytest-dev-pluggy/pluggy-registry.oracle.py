import json

import pluggy

spec, impl = pluggy.HookspecMarker("demo"), pluggy.HookimplMarker("demo")


class Specs:
    outer = spec(lambda self, text, items: None)
    inner = spec(lambda self: None, firstresult=True)


class Kinds:
    alpha = property(impl(lambda self: "a"))
    beta = impl(staticmethod(lambda: "b"))
    gamma = staticmethod(impl(lambda: "c"))
    delta = classmethod(impl(lambda cls: cls.__name__))
    epsilon = impl(lambda self: "e", optionalhook=True, specname="zeta")
    eta = impl(lambda self: "h")


class Outer:
    outer = impl(lambda self, text: text and pm.hook.inner())
    inner = impl(lambda self: {"lines": "one\ntwo", "end": "stop\n"})


class Wrong:
    inner = impl(lambda self, extra=1: extra)
    upper = impl(lambda self, item, text="": text, specname="outer")


def refusal(function, *args):
    try:
        return function(*args)
    except (ValueError, pluggy.PluginValidationError) as exc:
        return str(exc)


pm, kinds, outer, written = pluggy.PluginManager("demo"), Kinds(), Outer(), []
kinds.beta, kinds.eta, kinds.theta = 5, impl(lambda: "instance"), kinds.epsilon
pm.register(kinds, "kinds")
hooks = vars(pm.hook).items()
found = {name: [hookimpl.function() for hookimpl in hook.get_hookimpls()] for name, hook in hooks}

pm.add_hookspecs(Specs)
pm.set_blocked("out")
steps = [pm.register(outer, "out"), pm.unregister(name="out"), pm.has_plugin("out")]
steps += [pm.unblock("out"), pm.unblock("kinds"), pm.register(outer, "out")]
refusals = refusal(pm.register, Wrong(), "wrong").splitlines()[1:]
refusals += [refusal(pm.add_hookspecs, Outer).split(" in ")[0], len(pm.list_name_plugin())]

pm.trace.root.setwriter(written.append)
undo = pm.enable_tracing()
pm.hook.outer(text="a\rb", items=["x", "y\n"])
undo()
pm.hook.outer(text="", items=None)
trace = "".join(written)
print(json.dumps({"found": found, "steps": steps, "refusals": refusals, "trace": trace}))
