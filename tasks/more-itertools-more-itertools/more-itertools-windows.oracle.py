import json

from more_itertools import sliding_window, stagger, windowed, windowed_complete

INPUTS = [[0, 0], [0, 1], [0, 2], [1, 1], [2, 3], [3, -1], [3, 0], [3, 3], [5, 2], [22, 21]]
WAYS = {
    "W": windowed,
    "S": sliding_window,
    "C": windowed_complete,
    "Z": lambda it, n: stagger(it, offsets=range(n)),
}


def windows(letter, m, n):
    made = list(WAYS[letter](iter(range(m)), n))
    return [middle for _, middle, _ in made] if letter == "C" else made


def counting(m, taken):
    for item in range(m):
        taken.append(item)
        yield item


raises = {letter: [] for letter in WAYS}
same, early = [], set()
for m, n in INPUTS:
    given = []
    for letter, way in WAYS.items():
        try:
            given.append(windows(letter, m, n))
        except ValueError:
            raises[letter].append([m, n])
        try:
            way(iter(range(m)), n)
        except ValueError:
            early.add(letter)
    if len(given) == 4 and all(one == given[0] for one in given):
        same.append([m, n])

taken = {}
for name in ("W4", "S4", "C4", "Z4", "S1", "S2", "S21"):
    items = []
    iterator = WAYS[name[0]](counting(30, items), int(name[1:]))
    at_call = len(items)
    next(iterator)
    taken[name] = [at_call, len(items)]

every = list(sliding_window(range(7), 3))
steps = [s for s in range(1, 9) if list(windowed(range(7), 3, step=s)) != every[::s]]
report = {"same": same, "raises": raises, "early": sorted(early), "taken": taken, "steps": steps}
print(json.dumps(report))
