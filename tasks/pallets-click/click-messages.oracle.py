import json

import click

shape = click.Choice(["Round", "Square"], case_sensitive=False)
settings = {"token_normalize_func": str.lower, "help_option_names": ["-h", "--help"]}


@click.command(context_settings=settings)
@click.option("-v", "--verbose", count=True)
@click.option("-n", "--Name", required=True)
@click.option("--shape", type=shape, envvar=["SHAPE", "FORM"], show_envvar=True)
@click.option("-xy", "pair", nargs=2, type=click.IntRange(1, 5, max_open=True))
@click.argument("src", nargs=2)
@click.argument("dst", type=shape)
def cli(**params):
    """Never called."""


near = []


def message(line):
    try:
        cli.make_context("app", line.split())
    except click.NoSuchOption as exc:
        near.extend(exc.possibilities or [])
        return exc.format_message()
    except click.UsageError as exc:
        return exc.format_message()


unknown = [message(line) for line in ("--nam x", "-vzn", "-xq", "-VN=1 a b oval")]
rest = " -n 1 a b round"
lines = ("--verbose=3", "-xy 1", "--shape OVAL" + rest, rest + " d", "-xy 5 1" + rest)
values = [message(line) for line in lines]
missing = [message(line) for line in ("a b round", "-nBob a", "-nBob a b")]
context = cli.make_context("app", ["--NAME=Bob=2", "-vVv", "A", "--", "-v", "ROUND"])
parsed = context.params
report = {"unknown": unknown, "values": values, "missing": missing, "parsed": parsed}
print(json.dumps({**report, "near": len(near)}))
