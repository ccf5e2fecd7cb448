import json

from more_itertools import bucket, peekable, seekable

source = iter(range(12))
view = seekable(source, maxlen=3)
trail = [next(view) for _ in range(4)]
view.relative_seek(-2)
trail += [view.peek(), next(view), next(view)]
view.seek(5)
elements = view.elements()
trail += [next(view), list(elements)]
view.seek(1)
trail += [view.peek(), view[0], next(source)]

empty = seekable("ab", maxlen=0)
blind = [empty.peek(), next(empty), len(empty.elements())]
empty.seek(0)
blind += [next(empty), empty.peek("end"), bool(empty)]

letters = iter("abcdefgh")
ahead = peekable(letters)
ahead.prepend("x", "y")
looks = [ahead[1:3], next(letters), ahead[3], ahead[:0], next(letters), ahead[2:-1], "".join(ahead)]

words = iter(["a1", "b1", "a2", "c1", "b2", "d1", "a3"])
groups = bucket(words, key=lambda word: word[0], validator=lambda letter: letter < "d")
found = {"d": "d" in groups, "b": "b" in groups, "c": next(groups["c"]), "next": next(words)}
found["a"] = list(groups["a"])
found["keys"] = list(groups)

answer = {
    "trail": trail,
    "blind": blind,
    "looks": looks,
    "found": found,
    "left": len(list(view)),
}
print(json.dumps(answer))
