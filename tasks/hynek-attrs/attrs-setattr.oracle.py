import json

import attr
import attrs

trace = []


def double(value):
    trace.append("convert")
    return value * 2


def check(instance, attribute, value):
    trace.append(f"check {attribute.name} {value}")


def bump(instance, attribute, value):
    trace.append("bump")
    return value + 1


def build(decorator, base):
    try:
        return type(decorator(type("Heir", (base,), {}))(7)).__name__
    except ValueError as exc:
        return str(exc)


@attrs.define(slots=False)
class Base:
    a: int = attrs.field(default=1, converter=double, validator=check)
    b: int = attrs.field(default=5, validator=check, on_setattr=[bump, attrs.setters.validate])
    c: int = attrs.field(default=3, converter=double, on_setattr=attrs.setters.NO_OP)


Cold = attrs.make_class("Cold", ["x"], frozen=True)
base = Base()
start = [base.a, base.b, base.c]
base.a, base.b, base.c = 4, 7, 9
with attrs.validators.disabled():
    base.a = base.b = 20
heir = attr.s(type("Heir", (Base,), {}))()
heir.a, heir.b, heir.c = 4, 7, 9
heirs = {
    "frozen": build(attrs.frozen, Base),
    "hooked": build(attrs.define(on_setattr=attrs.setters.convert), Cold),
    "no_op": build(attrs.define(on_setattr=attrs.setters.NO_OP), Cold),
}
report = {"start": start, "trace": " ".join(trace), "heirs": heirs}
print(json.dumps({**report, "heir": [heir.a, heir.b, heir.c]}))
