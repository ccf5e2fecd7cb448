"""`revereval serve-scripted`: the scripted provider on a loopback port."""

import signal
from pathlib import Path
from typing import Annotated, NoReturn

import typer


def serve_scripted(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port on 127.0.0.1; 0 takes any free one.")
    ] = 0,
    tasks: Annotated[Path, typer.Option(help="The folder of tasks it can be asked.")] = Path(
        "tasks"
    ),
    config: Annotated[
        Path | None, typer.Option(help="A config; its provider.reader table is used.")
    ] = None,
) -> None:
    """Serve the scripted reader on loopback.

    Serves until interrupted. Prints the base URL for an `openai-chat` or `openai-responses`
    provider.
    """
    from revereval.pair.annotations import reader_task
    from revereval.pair.config import load_config
    from revereval.provider.scripted import ScriptedApp
    from revereval.provider.scripted_server import serve
    from revereval.tasks.spec import load_task, task_ids

    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)
    annotated = [reader_task(load_task(tasks, task_id)) for _, task_id in task_ids(tasks)]
    app = ScriptedApp(annotated, load_config(config).provider.reader)
    with serve(app, "127.0.0.1", port) as server:
        typer.echo(f"http://127.0.0.1:{server.server_port}/v1")
        server.serve_forever()


def _stop(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)
