import json

from tabulate import SEPARATING_LINE, simple_separated_format, tabulate

BAR = simple_separated_format("|")

first = tabulate(
    [{"a": "A", "b": "B"}, {"b": 1, "c": 2}, {"a": 3}],
    headers="firstrow",
    tablefmt=BAR,
    missingval="-",
)
renamed = tabulate([{"a": 1}, {"z": "q", "a": 20}], headers={"a": "left"}, tablefmt=BAR)
short = tabulate({"k": [1, 2], "l": "x"}, headers=["only"], tablefmt=BAR, showindex="always")
piped = tabulate([["x", 1.25]], headers="keys", tablefmt="pipe")

divided = [["a", 1], SEPARATING_LINE, ["b", 2]]
ruled = tabulate(divided, showindex="always", tablefmt="simple").split("\n")

complaints = []
for data, options in (
    (divided, {"showindex": ["p", "q"]}),
    ([[1], [2]], {"showindex": iter([7])}),
    ([{"a": 1}], {"headers": ["a"]}),
    ({"a": 1}, {}),
    ([], {"headers": "firstrow"}),
):
    try:
        complaints.append(tabulate(data, **options))
    except (TypeError, ValueError, StopIteration) as error:
        last = str(error).strip().split("\n")[-1]
        complaints.append(f"{type(error).__name__}: {last}")

texts = {"first": first, "renamed": renamed, "short": short, "piped": piped}
lines = {name: text.split("\n") for name, text in texts.items()}
print(
    json.dumps(
        {
            "tables": {name: lines[name] for name in ("first", "renamed", "short")},
            "piped": piped,
            "ruled": "/".join(ruled),
            "complaints": complaints,
        }
    )
)
