import json
from types import SimpleNamespace

from rich._ratio import ratio_distribute, ratio_reduce, ratio_resolve
from rich._wrap import divide_line
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment


def show(lines):
    return ["".join(f"<{segment.text}>" for segment in line) for line in lines]


KANA = "\u3042\u3044\u3046"
sized = [set_cell_size(text, 4) for text in (KANA, "a" + KANA, "ab", "a\u200d" + KANA)]
sized = "|".join(sized).translate({0x3042: "A", 0x3044: "I", 0x200D: "J"})
widths = [
    cell_len("\t" + KANA + "\x1b"),
    cell_len("a\u200d" + KANA),
    len(chop_cells("a" + KANA, 2)),
]

breaks = {
    "fold": divide_line(KANA + " bb cc", 4),
    "long": divide_line("ab abcdefgh c", 3),
    "crop": divide_line("ab abcdefgh c", 3, fold=False),
    "space": divide_line("ab   cd ef", 4),
}

first, second = Segment("abc\nde"), Segment("f\u3042g\n\nh")
lines = show(Segment.split_and_crop_lines([first, second], 3, include_new_lines=False))
parts = show(Segment.divide([Segment("ab"), Segment("\u3042c")], [0, 1, 3, 9]))
lines, parts = [" ".join(pieces).replace("\u3042", "A") for pieces in (lines, parts)]

edges = [(None, 2, 1), (3, 1, 1), (None, 1, 4), (None, 1, 1)]
edges = [SimpleNamespace(size=size, ratio=ratio, minimum_size=low) for size, ratio, low in edges]
shares = [
    ratio_resolve(15, edges),
    ratio_resolve(3, edges),
    ratio_reduce(5, [1, 1, 0, 2], [9, 9, 9, 1], [10, 10, 10, 10]),
    ratio_distribute(10, [1, 1, 1], [0, 5, 1]),
    ratio_distribute(10, [1, 3, 2]),
]

answer = {"sized": sized, "widths": widths, "breaks": breaks, "shares": shares}
print(json.dumps({**answer, "segments": [lines, parts]}))
