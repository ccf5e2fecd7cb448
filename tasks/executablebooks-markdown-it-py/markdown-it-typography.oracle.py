import json

from markdown_it import MarkdownIt

md = MarkdownIt(
    "js-default",
    {"typographer": True, "alerts": True, "quotes": ["<< ", " >>", "<", ">"]},
)

typeset = md.renderInline("\"It's 6'2\"\" -- *so 'he' said?....* (TM) a---b, --c +-1,,")

ALERTS = """\
> [!Tip] \t
> one
lazy
> - two
outside
"""
alerts = md.render(ALERTS)
raw = md.parse("<div>\n")[0].type == "html_block"

urls = " JavaScript:x", "data:image/PNG;x", "data:image/svg+xml;x", "java script:x", "/file:x"
links = [md.validateLink(url) for url in urls]

print(json.dumps({"typeset": typeset, "alerts": alerts, "raw": raw, "links": links}))
