import json

import parse


def refusal(format):
    try:
        parse.compile(format)
    except (KeyError, ValueError) as exc:
        return f"{type(exc).__name__}: {exc.args[0]}"


def value(format, text, function=parse.parse):
    found = function(format, text)
    return None if found is None else found[0]


@parse.with_pattern(r"(\d)(\w)", regex_group_count=1)
def pair(text):
    return text.upper()


collide = parse.compile("{a.b} {a_b} {a-b} {x[y]} {x[z]} {a.b} {_low} {7}")
found = collide.parse("1 2 3 4 5 1 six seven")
names = {"groups": collide.named_fields, "fixed": found.fixed, "named": found.named}

refused = [refusal("{n:d} {n:4d}"), refusal("{x_y_} {x[y]}"), refusal("{:*>8.3q}")]

taken = [
    value("{:4}|", "  ab|"),
    value("{:4}|", "   abcd|"),
    value("{:x^3}", "xxax"),
    value("{:x^3}", "xxabcx"),
    value("{:.2}", "abc"),
    value("{:.2}", "abc", parse.search),
    value("{:2.3}", "abcd", parse.search),
    value("WIDTH {:w}", "width 7!"),
]

shifted = parse.parse("{:pair}-{}", "4k-rest", {"pair": pair})
inside = [result[0] for result in parse.findall("<{}>", "<a><B><>c>", pos=1)]
values = {"names": names, "refused": refused, "taken": taken}
print(json.dumps({**values, "shifted": shifted[1], "inside": inside}))
