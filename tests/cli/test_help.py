"""Every command explains itself, and every command line of the README does what it says."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.main

from revereval.cli.app import app
from tests.cli.process import REVEREVAL, ROOT, Scene

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group, from the command tree itself."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


EVERY = dict(commands(typer.main.get_command(app)))
LEAVES = [path for path, command in EVERY.items() if not hasattr(command, "commands")]


def test_the_commands_are_the_designs() -> None:
    assert {" ".join(path) for path in LEAVES} == {
        "capture", "run-pair", "serve-scripted",
        "tasks list", "tasks show", "tasks fetch", "tasks verify",
        "tasks lint", "tasks new", "tasks settle",
        "ledger show", "ledger audit", "ledger export", "ledger import",
        "analyze all", "analyze frame", "analyze bounds", "analyze selector", "analyze resources",
        "analyze fit", "analyze censoring", "report",
    }  # fmt: skip


@pytest.mark.parametrize("path", EVERY, ids=lambda path: " ".join(path) or "revereval")
def test_help_names_the_command_and_every_option_with_a_word_about_it(
    path: tuple[str, ...], scene: Scene
) -> None:
    done = scene.run(*path, "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.startswith(f"Usage: {' '.join(('revereval', *path))} ")
    assert all(len(line) <= 80 for line in text.splitlines())
    for parameter in EVERY[path].params:
        if parameter.param_type_name == "option":
            assert parameter.help
            assert re.search(rf"^  .*{parameter.opts[0]}\b", text, re.MULTILINE)
    if path in LEAVES and path != ("serve-scripted",):  # that one prints a URL and nothing else
        assert "--json" in text
    for name in getattr(EVERY[path], "commands", {}):
        assert re.search(rf"^  {name} +\S", text, re.MULTILINE)


def shell_lines() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@contextmanager
def serving(scene: Scene, words: list[str]) -> Iterator[str]:
    """A README server, on a free port instead of the README's; yields its base URL."""
    arguments = words[1 : words.index("--port")] if "--port" in words else words[1:]
    command = [str(REVEREVAL), *arguments, "--port", "0"]
    process = subprocess.Popen(
        command, cwd=scene.folder, env=scene.env(PYTHONUNBUFFERED="1"), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    with process.stdout:
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.terminate()
            assert process.wait(30) == 143


class Reader:
    """Does what the README says, line by line; a line it does not know fails."""

    def __init__(self, scene: Scene, url: str) -> None:
        self.scene, self.url = scene, url
        self.variables: dict[str, str] = {}
        self.ran: list[str] = []

    def follow(self, line: str) -> None:
        words = shlex.split(line, comments=True)
        if words[0] == "revereval" and "serve-scripted" not in words:
            done = self.scene.run(*words[1:], env=self.variables)
            assert done.returncode == 0, (line, done.stderr)
            # the report is a file; only who watches is told that it was written
            assert done.stdout or (words[1] == "report" and done.stderr), line
            self.ran.append(line)
        elif words[0] == "make":
            for target in words[1:]:
                assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), line
        elif words[0] == "cp":
            text = (ROOT / words[1]).read_text(encoding="utf-8")
            assert Path(words[2]).name == words[2]
            pointed, count = re.subn(r'(?m)^base_url = ".*"', f'base_url = "{self.url}"', text)
            assert count == 1, "the config has a base_url to set"
            self.scene.config(pointed, words[2])
        elif words[0] == "export":
            name, _, value = words[1].partition("=")
            self.variables[name] = value
        elif words[0] == ".":
            assert words[1] == ".venv/bin/activate"
            assert "-m venv --clear .venv" in MAKEFILE
        else:
            assert words[:2] == ["revereval", "serve-scripted"], f"unknown line: {line}"


def test_a_newcomer_can_type_every_line_of_the_readme_in_order(scene: Scene) -> None:
    shutil.copytree(ROOT / "configs", scene.folder / "configs")
    (scene.folder / "tasks").unlink()  # a link; the README writes a task
    shutil.copytree(ROOT / "tasks", scene.folder / "tasks")
    lines = shell_lines()
    (server,) = (line for line in lines if line.startswith("revereval serve-scripted"))
    with serving(scene, shlex.split(server)) as url:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", url)
        reader = Reader(scene, url)
        for line in lines:
            reader.follow(line)
    assert {line.split()[1] for line in reader.ran} >= {
        "capture",
        "run-pair",
        "ledger",
        "tasks",
        "analyze",
    }
    assert any("--config" in line for line in reader.ran)


def test_every_file_and_command_that_the_readme_names_exists() -> None:
    table = re.findall(r"^\| `([^`]+)` \|", README, re.MULTILINE)
    assert table
    for path in table:
        named = ROOT / path
        assert named.exists() or named.parent.is_dir(), path
    for name in re.findall(r"`(?:revereval )?((?:tasks|ledger) [a-z-]+)[ `]", README):
        assert tuple(name.split()) in EVERY, name
    options = {opt for command in EVERY.values() for p in command.params for opt in p.opts}
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", README):
        assert option in options | {"--help"}, option


def test_every_shipped_config_is_a_config() -> None:
    from revereval.pair.config import Config, load_config

    configs = sorted((ROOT / "configs").glob("*.toml"))
    assert len(configs) >= 3
    kinds = {load_config(path).provider.kind for path in configs}
    assert kinds == {"scripted", "openai-chat", "openai-responses"}
    # a field that is left out has the value shown there
    assert load_config(ROOT / "configs/scripted.toml") == Config()


def test_no_line_of_the_readme_or_of_help_holds_a_path_of_a_machine() -> None:
    assert not re.search(r"(?<![\w.])/(home|root|work|Users|tmp)/", README)
    assert os.sep == "/"
