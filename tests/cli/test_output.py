"""What machines and cron see: whole JSON, no escapes, no width, no encoding error."""

import json
from typing import Any

import pytest

from tests.cli.process import NOISY, Scene, unsafe

MACHINE = [
    ["tasks", "list"],
    ["tasks", "show", "markdown-it-typography", "--gold"],
    ["tasks", "fetch", "h11-framing"],
    ["tasks", "verify", "h11-framing"],
    ["ledger", "show"],
    ["ledger", "show", "1"],
    ["ledger", "audit"],
]
"""Commands that read."""


@pytest.mark.parametrize("arguments", MACHINE, ids=" ".join)
def test_json_parses_through_a_pipe_whatever_width_and_colour_are_asked_for(
    arguments: list[str], recorded: Scene
) -> None:
    done = recorded.run(*arguments, "--json", env=NOISY)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)
    assert done.stdout.endswith(b"\n")
    assert done.stdout.isascii()


@pytest.mark.parametrize("command", ["capture", "run-pair"])
def test_runners_print_one_json_document_too(command: str, scene: Scene) -> None:
    done = scene.run(command, "h11-framing", "--json", env=NOISY)
    assert (done.returncode, done.stderr) == (0, b"")
    printed: dict[str, Any] = json.loads(done.stdout)
    assert (printed["run"], printed["task"], printed["capture"]) == (1, "h11-framing", "boundary")
    assert printed["first_arm"] == "F"
    if command == "run-pair":
        assert {name: arm["endpoint"] for name, arm in printed["arms"].items()} == {
            "F": "correct",
            "P": "correct",
        }
        assert printed["p_minus_f"] == [0, 0]
        assert printed["usage_estimated"] is True


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["tasks", "show", "markdown-it-typography", "--gold"],
     ["ledger", "show", "2"], ["ledger", "export", "--table", "plans"]],
    ids=" ".join,
)  # fmt: skip
def test_piped_output_is_plain_text_in_every_environment(
    arguments: list[str], recorded: Scene
) -> None:
    noisy = recorded.run(*arguments, env=NOISY)
    assert (noisy.returncode, noisy.stderr) == (0, b"")
    assert b"\x1b" not in noisy.stdout
    assert noisy.stdout.strip()
    assert not unsafe(noisy.stdout.decode().replace("\r\n", "\n"))


def test_no_environment_changes_a_table_in_a_pipe(recorded: Scene) -> None:
    plain = recorded.run("ledger", "show", "1")
    assert plain.stdout == recorded.run("ledger", "show", "1", env=NOISY).stdout
    assert max(map(len, plain.stdout.decode().splitlines())) > 40


@pytest.mark.parametrize(
    "arguments",
    [["tasks", "show", "markdown-it-typography", "--gold"], ["ledger", "show", "1"]],
    ids=" ".join,
)  # fmt: skip
def test_a_bare_cron_environment_without_utf8_loses_nothing_but_the_glyphs(
    arguments: list[str], recorded: Scene
) -> None:
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = recorded.run(*arguments, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    if "--gold" in arguments:
        assert b"It\\u2019s" in done.stdout.replace(b"\n", b"")


def test_a_pair_runs_from_a_bare_cron_environment(scene: Scene) -> None:
    done = scene.shell(
        "env -i PYTHONIOENCODING=ascii XDG_CACHE_HOME=$XDG_CACHE_HOME "
        "$(command -v revereval) run-pair h11-framing"
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert b"P and F come out equal" in done.stdout.replace(b"\n", b" ")


def test_an_encoding_that_cannot_spell_an_error_line_does_not_hide_it(scene: Scene) -> None:
    done = scene.run("run-pair", "café→", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert done.stderr.isascii()
    assert b"caf\\xe9\\u2192: no such task" in done.stderr
