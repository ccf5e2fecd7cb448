import json

from rich.errors import MarkupError, StyleSyntaxError
from rich.markup import escape, render
from rich.style import Style


def spans(markup):
    return [[span.start, span.end, str(span.style)] for span in render(markup, emoji=False).spans]


nested = spans("[b]one [red On Blue u]two[/bold] three[/]four [I]five [i][link=x]six[@a=b]")
plain = render(r"\[b]x \\[b]y[/b] \\\[b]z \[1] [B]").plain
again = render(r"[b]a \[i][i]b[/b]c[/i] [r]").markup
escaped = escape("[b] [B] [1] \\[/i] end\\")

meta = {}
for tag in ("[@f=app.go(1, 'x')]", "[@f=go(7)]", "[@f=5]", "[@f='a']", "[@f]", "[@f=(1, 2)]"):
    meta[tag] = render(tag + "text[/]").spans[0].style.meta["@f"]

complaints = []
for action, given in (
    (render, "[b]x[ /u ][/u ]"),
    (render, "[b][/b][/]"),
    (Style.parse, "B not B"),
    (Style.parse, "b not"),
    (Style.parse, "i on"),
    (Style.parse, "Link"),
    (Style.parse, "on Puce fast"),
    (Style.parse, "UU Not i link X on RED b"),
):
    try:
        complaints.append(str(action(given)))
    except (MarkupError, StyleSyntaxError) as error:
        complaints.append(str(error))

values = {"nested": nested, "texts": [plain, again, escaped], "meta": meta}
print(json.dumps({**values, "complaints": complaints}))
