"""A model that answers like the scripted reader and says hostile things at every opportunity."""

import json
from collections.abc import Callable
from typing import Any

from revereval.pair.annotations import reader_task
from revereval.provider.reader import ReaderSettings
from revereval.provider.scripted import ScriptedApp
from revereval.tasks.spec import load_task
from tests.cli.process import ROOT
from tests.loopback import Response, ok

SAYABLE = (
    "[red]bold[/red] [/done] :warning: {braces} \x1b]8;;http://x.invalid\x1b\\link\x1b]8;;\x1b\\ "
    "\x1b[2J\x1b[31m\x9b2J \u202egnp.exe\u202c \u200f\u200b\ufeff\u2028\u2029 "
    "\r over \x08\x07 \x00 src/[slug].ts"
)
"""What a TOML file and a JSON text can hold: markup, terminal controls, marks that reorder."""
HOSTILE = SAYABLE + " \ud83d lone"
SHOWN = ("[red]bold[/red]", "[/done]", ":warning:", "\\x1b]8;;http://x.invalid", "\\x1b[2J",
         "\\x9b2J", "\\u202egnp.exe", "\\x00", "src/[slug].ts")  # fmt: skip
"""How parts of it must appear."""


def scripted_app(task_id: str, **reader: Any) -> ScriptedApp:
    task = load_task(ROOT / "tasks", task_id)
    return ScriptedApp([reader_task(task)], ReaderSettings.model_validate(reader))


def replies(app: ScriptedApp, delay_s: float = 0.0) -> Callable[[int, Any], Response]:
    """The scripted reader's own replies, each after a while."""

    def reply(_: int, body: Any) -> Response:
        status, data = app.respond("/v1/chat/completions", json.dumps(body).encode())
        return Response(data, status=status, delay_s=delay_s)

    return reply


def hostile_replies(app: ScriptedApp) -> Callable[[int, Any], Response]:
    """The same, with hostile text beside every call, a hostile call, and a hostile model name."""

    def reply(_: int, body: Any) -> Response:
        status, data = app.respond("/v1/chat/completions", json.dumps(body).encode())
        assert status == 200, data
        spoken = json.loads(data)
        spoken["model"] = HOSTILE
        message = spoken["choices"][0]["message"]
        message["reasoning_content"] = HOSTILE
        if message.get("tool_calls"):
            message["content"] = HOSTILE
            calls = (("[red]" + HOSTILE, "{}"), ("read", json.dumps({"path": HOSTILE})),
                     ("search_evidence", HOSTILE))  # fmt: skip
            message["tool_calls"] += [
                {"id": "", "type": "function", "function": {"name": name, "arguments": text}}
                for name, text in calls
            ]
        else:
            message["content"] = message["content"] + HOSTILE
        return ok(spoken)

    return reply
