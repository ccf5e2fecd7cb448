"""Text from models, servers, configs and tasks is printed as text, never acted on."""

import json
import shutil
import unicodedata
from pathlib import Path

import pytest

from revereval.report.plain import shown
from tests.cli.hostile import HOSTILE, SAYABLE, SHOWN, hostile_replies, replies, scripted_app
from tests.cli.process import Scene, unsafe
from tests.loopback import Done, Loopback, error, run_here

TASK = "h11-framing"


def config_for(scene: Scene, url: str, model: str = SAYABLE.replace("\0", "")) -> str:
    return scene.config(
        f"[provider]\nkind = 'openai-chat'\nbase_url = '{url}'\nmodel = {json.dumps(model)}\n"
    )


@pytest.fixture(autouse=True)
def _here(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scene.folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(scene.cache))


def joined(done: Done) -> str:
    """Both outputs without white space: tables fold long cells."""
    return "".join((done.out + done.err).split())


def assert_text_only(done: Done) -> None:
    assert not unsafe(done.out)
    assert not unsafe(done.err)


def test_a_hostile_model_is_recorded_and_shown_as_text(scene: Scene) -> None:
    with Loopback(hostile_replies(scripted_app(TASK))) as server:
        done = run_here("run-pair", TASK, "--config", config_for(scene, server.url))
    assert done.code == 0
    assert_text_only(done)
    assert "In this one pair " in done.said
    listed = run_here("ledger", "show")
    full = run_here("ledger", "show", "1")
    for command in (listed, full):
        assert command.code == 0
        assert_text_only(command)
    for part in SHOWN:
        assert "".join(part.split()) in joined(full), f"{part} is not shown as it was said"
    machine = run_here("ledger", "show", "1", "--json")
    assert not unsafe(machine.out)
    trajectory = machine.json["trajectory"]
    tools = {seen["tool"] for sent in trajectory["F"] for seen in sent["led_to"]}
    assert any(HOSTILE[:40] in tool for tool in tools), "machines get the exact text"
    audit = run_here("ledger", "audit")
    assert audit.code == 0, audit.out


def test_a_nul_in_a_setting_is_no_disagreement_of_the_ledger(scene: Scene) -> None:
    with Loopback(replies(scripted_app(TASK))) as server:
        done = run_here("capture", TASK, "--config", config_for(scene, server.url, "a\0b"))
    assert done.code == 0
    audit = run_here("ledger", "audit")
    assert audit.code == 0, audit.out


def test_a_hostile_error_of_a_server_is_one_line_of_text(scene: Scene) -> None:
    code = "\x1b[2J[/done]\x1b]8;;http://x\x07 [red]\u202e\x00\r"
    with Loopback(lambda *_: error(400, code)) as server:
        done = run_here("run-pair", TASK, "--config", config_for(scene, server.url))
    assert done.code == 3
    for command in (done, run_here("ledger", "show", "1")):
        assert_text_only(command)
        assert "\\x1b[2J[/done]\\x1b]8;;http://x\\x07[red]\\u202e\\x00\\r" in joined(command)


def test_a_hostile_task_is_shown_as_text(scene: Scene) -> None:
    tasks = scene.folder / "own"
    shutil.copytree(scene.folder / "tasks", tasks)
    file = tasks / "python-hyper-h11" / f"{TASK}.toml"
    text = file.read_text(encoding="utf-8")
    text = text.replace('python = "CPython 3.11 or later"', f"python = {json.dumps(SAYABLE)}")
    start = text.index('prompt = """')
    end = text.index('"""\n', start + 12)
    prompt = json.dumps(SAYABLE + " \n{oracle}")
    file.write_text(f"prompt = {prompt}\n{text[end + 4 :]}", encoding="utf-8")
    done = run_here("tasks", "show", TASK, "--tasks", str(tasks), "--gold")
    assert done.code == 0, done.err
    assert_text_only(done)
    for part in SHOWN:
        assert joined(done).count("".join(part.split())) == 2, "as premise and in the prompt"
    assert not unsafe(run_here("tasks", "show", TASK, "--tasks", str(tasks), "--json").out)


@pytest.mark.parametrize("kind", ["--config", "--ledger", "--tasks", "task"])
def test_a_hostile_argument_is_one_line_of_text(kind: str) -> None:
    name = SAYABLE.replace("\0", "").replace("/", "")[:120]
    arguments = ["run-pair", name] if kind == "task" else ["run-pair", TASK, kind, name]
    if kind == "--ledger":
        Path(name).mkdir()
    done = run_here(*arguments)
    assert done.code == 2
    assert_text_only(done)
    assert done.err.count("\n") == 1
    assert "\\x1b[2J" in done.err


# Bidi_Control of the Unicode Character Database (PropList.txt)
BIDI_CONTROLS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
INVISIBLE = [0x00AD, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xFFF9, 0xFFFB, 0xE0001,
             0xE0041, 0xE007F]  # fmt: skip
"""Soft hyphen, separators and joiners, annotation marks, and tags, which spell hidden ASCII."""


@pytest.mark.parametrize(
    "code_point", [*CONTROLS, *BIDI_CONTROLS, *INVISIBLE, 0xD800, 0xDFFF], ids=hex
)
def test_what_moves_reorders_or_hides_text_is_escaped(code_point: int) -> None:
    text = shown(f"a{chr(code_point)}b")
    assert text == f"a{ascii(chr(code_point))[1:-1]}b"
    assert text.isascii()


def test_letters_of_every_script_symbols_and_emoji_are_left_alone() -> None:
    text = "café 語 עברית العربية हिन्दी → ± “quoted” \U0001f600 [red] \\n \\x1b"
    assert shown(text) == text
    assert all(unicodedata.category(character) != "Cf" for character in text)
