import json

import parse


def value(format, text):
    try:
        found = parse.parse(format, text)
    except LookupError as exc:
        return repr(exc)
    return None if found is None else found[0]


integers = [
    value("{:d}", "-0b101"),
    value("{:d}", " 0x1f"),
    value("{:x}", "0x1f"),
    value("{:,d}", "7,5,0"),
    value("{:n}", "12,34"),
    value("{:3d}", "  0012"),
    value("{:x=6d}", "-xx12"),
]

numbers = [
    value("{:%}", "-50%"),
    value("{:f}", "12"),
    value("{:.0f}", "12"),
    value("{:.3F}", "-.50"),
    value("{:e}", "-nan"),
    value("{:g}", "-2E2"),
]

times = {
    "ti": value("{:ti}", "2011-02-03t10:20z"),
    "tg": value("{:tg}", "5-6-2011 11:30 pm"),
    "ta": value("{:ta}", "5-6-2011 12:30:09.25 am -930"),
    "tt": value("{:tt}", "12:30 +5:45"),
}

mixed = parse.parse("{:g} {:n} {:tt} {:w}", "1.5e3 1,000 7:05 PM end").fixed
failed = value("{:tg}", "1/feb/2011")
values = {"integers": integers, "numbers": numbers, "times": times}
print(json.dumps({**values, "mixed": mixed, "failed": failed}, default=str))
