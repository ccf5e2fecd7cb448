import enum
import json

from traitlets import (
    CaselessStrEnum, CRegExp, Enum, Float, FuzzyEnum, Int, TCPAddress, Tuple, Unicode,
    Union, UseEnum,
)  # fmt: skip

Choice = enum.Enum("Choice", "a b")
traits = {
    "exact": Enum(["None", "x"], allow_none=True),
    "other": Enum(["y", "x"], allow_none=True),
    "caseless": CaselessStrEnum(["NONE", "x"], allow_none=True),
    "fuzzy": FuzzyEnum(["x", "nonesuch"], allow_none=True),
    "member": UseEnum(Choice, allow_none=True),
    "either": Union([Int(), Unicode()], allow_none=True),
    "number": Union([Int(), Float()], allow_none=True),
    "pattern": CRegExp(allow_none=True),
    "pair": Tuple(allow_none=True),
    "address": TCPAddress(allow_none=True),
}


def swallows(trait):
    try:
        return trait.from_string("oops") is None
    except ValueError:
        return False


kept = {name: trait.from_string("None") for name, trait in traits.items()}
kept = {name: value for name, value in kept.items() if value is not None}
breaking = sorted({traits[name].from_string.__qualname__ for name in kept})
(swallowing,) = {t.from_string.__qualname__ for t in traits.values() if swallows(t)}
print(json.dumps({"kept": kept, "breaking": breaking, "swallowing": swallowing}))
