import json
from io import StringIO

from pygments.formatters.html import HtmlFormatter
from pygments.style import Style
from pygments.token import Name, Operator, String, Text


class Tiny(Style):
    highlight_color = None
    styles = {
        Operator: "bold #AABBCC",
        Operator.Word: "noinherit ansibrightred bg:#102030",
        Name.Function: "nobold underline border:#abc",
        Name.Function.Magic: "nounderline italic",
    }


def render(tokens, **options):
    out = StringIO()
    HtmlFormatter(style=Tiny, **options).format(tokens, out)
    return out.getvalue()


local = Name.Function.Local.Deep
code = [(Operator, "="), (Operator, "="), (Text, ' "a"\n\n'), (local, "f\n<g"), (String, "")]
code += [(local, ">\n"), (Operator.Word, "in")]
rules = HtmlFormatter(style=Tiny, classprefix="p-").get_token_style_defs(["pre", ""])
numbered = render(
    code,
    linenos="inline",
    linenostart=-9,
    linenospecial=5,
    linenostep=2,
    cssclass="",
    hl_lines=[2, "x"],
)

answer = {
    "rules": rules,
    "plain": render(code, nowrap=True),
    "inline": render(code[3:], nowrap=True, noclasses=True, hl_lines=[2]).split("\n"),
    "numbered": numbered.split("\n"),
    "known": {"deep": Tiny.styles_token(local), "text": Tiny.styles_token(Text)},
}
print(json.dumps(answer))
