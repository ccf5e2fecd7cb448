import json

from tabulate import simple_separated_format, tabulate

BAR = simple_separated_format("|")


def column(*cells, **options):
    return tabulate([[cell] for cell in cells], tablefmt=BAR, **options).split("\n")


floats = column("1,234", 5.5, None, "-.5e1", missingval="?")
integers = column("1,234", 56789, True, intfmt=",")

kinds = {
    "bool": column(True, "False", None, missingval="-"),
    "mixed": column(True, 2, intfmt="d"),
    "overflow": column("1e999", "7.50"),
    "exponent": column("1e5", "7.50"),
    "bytes": column(b"12", 3.5),
    "text": column("1e5", " 7", disable_numparse=True),
    "kept": column("1e5", " x", preserve_whitespace=True),
}

aligned = tabulate(
    [[1.5, "ab", 2], [10, "c", None]],
    headers=["k", "wide", "n"],
    tablefmt=BAR,
    colglobalalign="center",
    colalign=("global", "right"),
    headersglobalalign="left",
    headersalign=("global", "same", "right"),
    floatfmt=(".2f",),
    missingval=("a", "b", "none"),
)

pretty = tabulate([["1.50", "x"], [2, "yy"]], headers=["long", "h"], tablefmt="pretty")
answer = {"floats": floats, "integers": integers, "kinds": kinds, "aligned": aligned}
print(json.dumps({**answer, "pretty": pretty.split("\n")[1:4:2]}))
