import json

from pyparsing import ParseException, ParseResults


def token(value, name, modal=True):
    return ParseResults(value, name, aslist=False, modal=modal)


total = token("id", "key") + token("red", "tag", modal=False) + token("blue", "tag")
total += ParseResults([], "none")
total.append(ParseResults([token("7", "x"), "8"]))
total.insert(0, 5)

nothing = ParseResults([], "none")
popped = total.pop("key")
last = total.pop()
answers = [
    popped,
    "key" in total,
    total.key,
    total.pop("key", "gone"),
    nothing.get_name(),
    "none" in total,
    bool(token("", "blank")),
]
total += last

text = "first = 1\n\tsecond \\ 2"
errors = [
    ParseException(text, 18, "Expected '='"),
    ParseException(text, 9, "Expected item"),
    ParseException(text, len(text), "Expected digit"),
    ParseException("No text"),
]

answer = {
    "answers": answers,
    "dump": total.dump(),
    "named": {**total.as_dict(), "from": last[0].as_dict()},
    "errors": [str(error) for error in errors],
    "marked": errors[0].mark_input_line("^"),
}
print(json.dumps(answer))
