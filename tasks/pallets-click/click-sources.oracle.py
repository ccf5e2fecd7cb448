import json
import os

import click

os.environ.update(
    {
        "RANK": "",
        "LEVEL": "4",
        "PAIRS": "1 2 3",
        "APP_COLOR": " Yes",
        "APP_QUICK": " Off ",
        "APP_SURE": "never",
    }
)


@click.command()
@click.option("--level", envvar=["RANK", "LEVEL"], type=int, default=3)
@click.option("--pair", "pairs", nargs=2, type=int, envvar="PAIRS", multiple=True)
@click.option("--red", "color", flag_value="red", default=True)
@click.option("--blue", "color", flag_value="blue")
@click.option("--quick/--slow", default=True)
@click.option("--sure", flag_value="certain")
@click.option("--mode", is_flag=False, flag_value="auto", default="plain")
@click.option("--tag", "tags", multiple=True)
@click.argument("files", nargs=-1)
def cli(**params):
    """Never called."""


def parse(args, **settings):
    return cli.make_context("app", args, **settings)


files = {"files": "q r", "level": lambda: "8", "color": "green"}
full = parse(["--mode", "--tag", "x"], auto_envvar_prefix="APP", default_map=files)
names = ["level", "color", "quick", "sure", "mode", "files"]
sources = " ".join(full.get_parameter_source(name).name for name in names)
bare = parse(["--mode", "on"])
try:
    parse([], default_map={"tags": "ab"})
except click.BadParameter as exc:
    refusal = exc.format_message()

params = {name: full.params[name] for name in names}
report = {"params": params, "sources": sources, "refusal": refusal}
report["bare"] = [bare.params[name] for name in ("color", "quick", "pairs", "files")]
report["sure"] = bare.get_parameter_source("sure") == full.get_parameter_source("sure")
print(json.dumps(report))
