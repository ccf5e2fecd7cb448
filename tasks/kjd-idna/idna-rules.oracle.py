import json

import idna


def verdict(function, *args, **options):
    try:
        result = function(*args, **options)
    except idna.IDNAError as error:
        return f"{type(error).__name__} {error.code} at {error.position}"
    return result.decode() if isinstance(result, bytes) else result


JOINER, BEH, ALEF, ALEPH = "\u200c", "\u0628", "\u0627", "\u05d0"
labels = {
    "hyphens": "-a--b",
    "marks": "e\u0301-",
    "dot": "l\u00b7l\u00b7a",
    "katakana": "a\u30fbb\u30fb",
    "joined": BEH + JOINER + ALEF,
    "parted": ALEF + JOINER + BEH,
    "clash": ALEF + "\u06f1\u0661",
    "left": "a" + ALEPH + "-\u05f3",
}
checks = {name: verdict(idna.check_label, label) for name, label in labels.items()}
directions = [
    verdict(idna.check_label, ALEF + "1\u0661"),
    verdict(idna.check_label, "7" + ALEPH),
    verdict(idna.check_bidi, "7a"),
    verdict(idna.check_bidi, "7a", check_ltr=True),
    verdict(idna.check_bidi, "a+\u0301", check_ltr=True),
]
domains = [
    verdict(idna.encode, "WWW.Xn--Zca.ORG."),
    verdict(idna.decode, "WWW\u3002A-b.", strict=True),
    verdict(idna.decode, "XN--A-.Ok", display=True),
    verdict(idna.encode, "a..b"),
    verdict(idna.encode, "", uts46=True),
    verdict(idna.encode, "B_c", uts46=True, std3_rules=True),
    verdict(idna.encode, ("x" * 63 + ".") * 3 + "x" * 62),
]
joiners = sum(idna.intranges_contain(code, (0x200C0000200E,)) for code in range(0x200A, 0x2010))
print(
    json.dumps({"checks": checks, "directions": directions, "domains": domains, "joiners": joiners})
)
