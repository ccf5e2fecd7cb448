import json
import re

import markdown
from markdown.extensions.tables import TableExtension

TABLE = r"""
left | mid `a|b` | \| right \\
:--- | :-: | ---:
x | y
1 | 2 | 3 | 4
\`p|q\` | `r | s `t
``u|`v`|w``| ` \| ` | "&amp;" & &nope
"""


def cells(text, **options):
    html = markdown.markdown(text, extensions=[TableExtension(**options)])
    return re.findall(r"<(t[dh]\b.*?)</t[dh]>", html)


whole = cells(TABLE)
head, body = whole[:3], whole[3:]
borders = {
    "bars": cells("|a|b\\|\n|-|-\n|c|d|"),
    "slashes": cells("|a|b\\\\|\n|-|-|\n"),
    "single": cells("|a|\n:-:|\n|b", use_align_attribute=True),
    "empty": len(cells("a|b\n-|-")),
    "short": len(cells("|a|b|\n|-|\n|c|d|")),
}
loose = markdown.markdown("|a\n-\nb\\|c\\d", extensions=[TableExtension()])
plain = markdown.markdown(r"b\|c\_")
print(json.dumps({"head": head, "body": body, "borders": borders, "loose": loose, "plain": plain}))
