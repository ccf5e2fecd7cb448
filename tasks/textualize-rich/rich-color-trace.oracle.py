import json
import sys

from rich.color import ColorSystem
from rich.style import Style

slot = Style._ansi
keepers = set()


class Watched:
    """The slot of the codes, which notes the functions that put codes into it."""

    def __get__(self, style, owner=None):
        return slot.__get__(style, owner)

    def __set__(self, style, codes):
        if codes:
            keepers.add(sys._getframe(1).f_code.co_qualname)
        slot.__set__(style, codes)


def codes(style, system):
    return style.render("x", color_system=system).removeprefix("\x1b[").split("m")[0]


Style._ansi = Watched()
first = codes(Style.parse("bold #d75f00 on #444444"), ColorSystem.EIGHT_BIT)
second = codes(Style.parse("bold #d75f00 on #444444"), ColorSystem.STANDARD)
third = codes(Style.parse("#d75f00 on #444444 bold"), ColorSystem.STANDARD)
fourth = codes(Style.parse("bold color(9) on grey30"), ColorSystem.STANDARD)
fifth = codes(Style.parse("bold #d75f00 on #444444") + Style.null(), ColorSystem.TRUECOLOR)
found = {"first": first, "second": second, "third": third, "fourth": fourth, "fifth": fifth}
(keeper,) = keepers
print(json.dumps({"codes": found, "keeper": keeper}))
