import json

import six

prepared, made = [], []


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        prepared.append([name, *map(str, bases)])
        return {"origin": name}

    def __init__(cls, name, bases, namespace):
        made.append(name)


class Rows(six.with_metaclass(Meta, list[int])): ...


class Keys(six.with_metaclass(Meta, dict, object)): ...


@six.add_metaclass(Meta)
class Twice(Rows): ...


def build(slots, decorate):
    @decorate
    class Slotted:
        __slots__ = slots

    return Slotted


rebuilt = build("size", six.add_metaclass(Meta))
slotted = [rebuilt.__qualname__, hasattr(rebuilt, "origin"), hasattr(rebuilt(), "__dict__")]
kept = ["__orig_bases__" in vars(cls) for cls in (Rows, Keys, Twice)]
troubles = []
for slots in ("__size", ("__dict__", "__weakref__")):
    for decorate in (six.add_metaclass(Meta), six.python_2_unicode_compatible):
        try:
            troubles.append(type(build(slots, decorate)).__name__)
        except (KeyError, ValueError) as error:
            troubles.append(repr(error))

values = {"prepared": prepared, "made": " ".join(made), "kept": kept, "slotted": slotted}
print(json.dumps({**values, "troubles": troubles}))
