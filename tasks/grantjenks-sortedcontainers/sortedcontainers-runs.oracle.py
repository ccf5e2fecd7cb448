import json
from operator import neg

from sortedcontainers import SortedKeyList, SortedList, SortedSet

shelf = SortedList(range(0, 40, 2))
shelf._reset(4)
for _ in range(5):
    shelf.add(1)
del shelf[-1]
shelf.remove(36)
shelf.update([3, 5])
sizes = [len(part) for part in shelf._lists]

found = []
for bounds in ((3,), (-20, 40), (0, 1), (-90, 2), (6, 9)):
    try:
        found.append(shelf.index(1, *bounds))
    except ValueError:
        found.append(None)

words = SortedKeyList(["pear", "fig", "apple", "kiwi", "date"], key=len)
words.add("plum")
ranges = [
    words.irange("kiwi", None, (False, True)),
    words.irange_key(3, 4, (False, True), reverse=True),
    words.irange("lime", "lime"),
]
keyed = " / ".join(" ".join(part) for part in ranges)

few = SortedSet([5, 1, 4], key=neg)
sets = [list(few | [9, 2]), list({9, 2} | few), list({1, 2, 9} - few), list(few ^ [1, 7])]

equal = {
    "key list": SortedKeyList([1, 2], key=neg) == [2, 1],
    "set": SortedSet([1, 2]) == [1, 2],
    "list and set": SortedSet([1, 2]) == SortedList([1, 2]),
    "less": SortedSet([1]) < SortedSet([2, 3]),
    "longer": SortedList([1, 2]) < (1, 2, 0),
}

print(json.dumps({"sizes": sizes, "found": found, "keyed": keyed, "sets": sets, "equal": equal}))
