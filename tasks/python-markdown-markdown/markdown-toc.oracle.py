import json
import re

import markdown
from markdown.extensions.attr_list import AttrListExtension
from markdown.extensions.toc import TocExtension

TEXT = r"""
# Plan {#top .lead lang=en hidden}

### Plan

## Plan_1 & *more* #

##### Déjà `<vu>` \*x\* {data-toc-label="A &amp; <b>B</b>"}

## Plan

## !?! {: #q }x}

## Plan

# Plan {}
"""


def outline(tokens):
    return [[token["level"], token["id"], *outline(token["children"])] for token in tokens]


def names(tokens):
    for token in tokens:
        yield token["name"]
        yield from names(token["children"])


toc = TocExtension(baselevel=2, toc_depth="3-6", permalink="$", permalink_leading=True)
md = markdown.Markdown(extensions=[toc, AttrListExtension()])
html = md.convert(TEXT)
first = re.match(r"<h.*", html).group()
deep = re.search(r"<h6.*", html).group()
last = re.findall(r' id="([^"]*)"', html)[-1]
bare = markdown.Markdown(extensions=[TocExtension(slugify=lambda value, sep: sep + value[-2:])])
bare.convert("# One\n# Alone {#x}\n# Clone")
entries = {
    "outline": outline(md.toc_tokens),
    "names": list(names(md.toc_tokens)),
    "ids": {"last": last, "bare": [token["id"] for token in bare.toc_tokens]},
}
print(json.dumps(entries | {"first": first, "deep": deep}))
