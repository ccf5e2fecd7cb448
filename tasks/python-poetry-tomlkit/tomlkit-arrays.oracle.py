import json

import tomlkit


def edit(text, *edits):
    array = tomlkit.array(text)
    for edit_array in edits:
        edit_array(array)
    return array.as_string()


def refuse(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except ValueError as exc:
        return str(exc)


grown = [
    edit("[1, 2, # two\n 3]", lambda array: array.insert(1, 9)),
    edit("[\n  1,\n  2,\n]", lambda array: array.append(3)),
    edit("[\n  1,\n  2\n]", lambda array: array.append(3)),
    edit("[ 1,2 ]", lambda array: array.insert(-5, {"k": "v"})),
]
shrunk = [
    edit("[1, 2, 3]", lambda array: array.pop(0)),
    edit("[\n  1,\n  2,\n]", lambda array: array.pop()),
    edit("[\n  1, 2,\n  3\n]", lambda array: array.pop(0)),
]

lines = tomlkit.array()
lines.add_line(1, 2, comment="two")
lines.insert(0, "x")
lines.add_line(3)
lines.add_line(indent="")
built = lines.as_string()

document = tomlkit.parse("[[top]]\nn = 1\n[x.y]\nz = 2\n")
document["top"].pop()
document["x"]["y"]["inner"] = tomlkit.aot()
document["x"]["y"]["rows"] = tomlkit.array("[1,2]").multiline(True)
moved = document.as_string()
same = tomlkit.parse(moved).unwrap() == document.unwrap()

refused = [refuse(tomlkit.array, text) for text in ("[1 2]", "'s'", "[1] ")]
refused += [refuse(lines.add_line, 1, comment="a\rb"), refuse(lines.__setitem__, slice(1), [])]
results = {"grown": grown, "shrunk": shrunk, "built": built, "moved": moved}
print(json.dumps({**results, "same": same, "refused": refused}))
