"""Foreign text that would act: as markup, as a link, as a formula, on a terminal, in a reader."""

import json
from collections.abc import Callable
from typing import Any

from revereval.report.plain import shown
from tests.cli.hostile import HOSTILE, scripted_app
from tests.loopback import Response, ok

ACTING = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "</title></style></svg></td></table><iframe src=//x.invalid>",
    "--><!-- ]]> &lt;b&gt; &#60;",
    "\"'><svg/onload=alert(1)>",
    "=1+1",
    "+1|cmd",
    "@SUM(A1)",
    "-2+3",
    "\x1b[2J\x1b]8;;http://x.invalid\x07link",
    "\x9b31m\r\x08\x07",
    "\u202egnp.exe\u202c \u2066x",
    "\u200f\u200b\ufeff\u2028\u2029\u00ad",
    "a\x00b",
    "\ud83d lone",
    "$\\frac{1}{2}$ \\$ _{x}^2",
    "`code` ``two``",
    "a | b | c",
    "[link](http://x.invalid) ![i](//x.invalid/i.png)",
    "https://x.invalid/?q=1 www.x.invalid a@x.invalid @user #12",
    "**bold** _it_ ~~no~~ :warning:",
    "# heading",
    "1. item",
    "- item",
    "line\nbreak\n\n# two",
    "עברית العربية 漢字 😀",
)
SAID = HOSTILE + "".join(ACTING)
"""What a hostile model says, calls itself and asks for."""


def cleaned(text: str) -> str:
    """How it must be seen, white space aside."""
    return "".join(shown(text).split())


def replies(task_id: str) -> Callable[[int, Any], Response]:
    """The scripted reader, with hostile text in every answer, call and name."""
    app = scripted_app(task_id)

    def reply(_: int, body: Any) -> Response:
        _, data = app.respond("/v1/chat/completions", json.dumps(body).encode())
        spoken = json.loads(data)
        spoken["model"] = SAID
        message = spoken["choices"][0]["message"]
        if message.get("tool_calls"):
            message["tool_calls"] += [
                {"id": "", "type": "function", "function": {"name": name, "arguments": text}}
                for name, text in (
                    ("read", json.dumps({"path": SAID})),
                    ("<b>tool</b>", "{}"),
                )
            ]
        else:
            message["content"] += SAID
        return ok(spoken)

    return reply
