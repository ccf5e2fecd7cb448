"""A task as the scripted reader knows it: its opening, its evidence, and what it answers."""

import json

from revereval.agent.prompt import opening
from revereval.provider.reader import ReaderKey, ReaderSpan, ReaderTask, wrong_guess
from revereval.tasks.spec import Task, json_text


def reader_task(task: Task) -> ReaderTask:
    """The annotated task; gold numbers become doubles, as in any model's reply."""
    source = task.source
    gold = json.loads(json_text(task.gold))
    keys = {
        name: ReaderKey(
            gold[name],
            wrong_guess(kind, gold[name]),
            tuple(ReaderSpan(at.file, at.line, at.span, at.after) for at in task.evidence[name]),
        )
        for name, kind in task.keys.items()
    }
    package = f"{source.package} {source.version}"
    shown, closed = (
        opening(task.prompt, package, files, task.premises, task.keys)
        for files in (source.files, ())
    )
    return ReaderTask(shown, tuple(source.files), keys, closed)
