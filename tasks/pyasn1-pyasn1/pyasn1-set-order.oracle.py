import json

from pyasn1.codec.cer.encoder import encode as cer_encode
from pyasn1.codec.der.encoder import encode as der_encode
from pyasn1.type.namedtype import NamedType, NamedTypes
from pyasn1.type.tag import Tag, tagClassContext, tagFormatConstructed
from pyasn1.type.univ import BitString, Boolean, Choice, Integer, Null, OctetString, Set


def choice(**types):
    return Choice(componentType=NamedTypes(*(NamedType(name, t) for name, t in types.items())))


def value(pick, *path):
    """A SET with level 5, and in `pick` the alternative at the end of the path."""
    fields = NamedTypes(NamedType("level", Integer()), NamedType("pick", pick))
    whole = Set(componentType=fields)
    whole["level"] = 5
    at = whole["pick"]
    for name in path[:-2]:
        at = at[name]
    at[path[-2]] = path[-1]
    return whole


flat = choice(flag=Boolean(), text=OctetString())
outer = Tag(tagClassContext, tagFormatConstructed, 0)
values = {
    "bool": value(flat, "flag", True),
    "octets": value(flat, "text", b"abc"),
    "deep": value(
        choice(none=Null(), more=choice(bits=BitString(), text=OctetString())),
        "more", "text", b"abc",
    ),
    "late": value(choice(flag=Boolean(), none=Null()), "none", ""),
    "far": value(choice(none=Null(), text=OctetString()), "text", b"abc"),
    "tagged": value(flat.subtype(explicitTag=outer), "flag", True),
}  # fmt: skip


def first(encoded):
    """Which component the octets of a SET begin with; both forms have a header of two octets."""
    return "level" if encoded[2:5] == b"\x02\x01\x05" else "pick"


cer = {name: first(cer_encode(whole)) for name, whole in values.items()}
der = {name: first(der_encode(whole)) for name, whole in values.items()}
differ = sorted(name for name in values if cer[name] != der[name])
print(json.dumps({"cer": cer, "der": der, "differ": differ}))
