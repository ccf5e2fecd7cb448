"""The key is sent and nowhere else: not in the ledger, not in an export, not in any output."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.loopback import ROOT, Done, Response, error, ok, run_here
from tests.wire.lab import RIGHT, Lab

KEY = "sk-made-up/777+abc=="
READ = {"path": "tiny/small.py"}


@pytest.fixture
def keyed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("MADE_UP_KEY", KEY)
    lab.configure(provider={"api_key_env": "MADE_UP_KEY"})
    return lab


def left_behind(lab: Lab, *commands: Done) -> Iterator[tuple[str, str]]:
    """(where, text) of all that a run leaves behind: files, blobs, rows, outputs."""
    for path in lab.folder.glob("ledger.sqlite*"):
        yield path.name, path.read_bytes().decode("latin-1")
    for row in lab.rows("blob"):
        yield f"blob {row['id']}", lab.blob(row["id"]).decode("latin-1")
    for table in ("plan", "run", "arm", "request", "attempt", "observation"):
        yield table, str(lab.rows(table))
    for number, done in enumerate(commands):
        yield f"command {number}", done.out + done.err


def told(lab: Lab) -> Iterator[tuple[str, str]]:
    """(where, text) of all that the ledger's commands say afterwards."""
    for table in ("boundaries", "arms", "requests", "observations", "plans"):
        yield f"export {table}", json.dumps(lab.exported(table))
    for command in (["show", "1"], ["show", "1", "--json"], ["audit"]):
        done = run_here("ledger", *command, "--ledger", str(lab.ledger))
        yield " ".join(command), done.out + done.err


def holding(secret: str, places: Iterable[tuple[str, str]]) -> list[str]:
    return [where for where, text in places if secret in text]


def test_the_key_is_sent_with_every_request_and_kept_nowhere(keyed: Lab) -> None:
    keyed.serve(*keyed.prefix, keyed.right, keyed.reply("found marker-4711"))
    done = keyed.run_pair()
    assert done.code == 0
    assert {hit.headers["authorization"] for hit in keyed.server.hits} == {f"Bearer {KEY}"}
    assert not any(KEY.encode() in hit.data for hit in keyed.server.hits)
    assert holding(KEY, [*left_behind(keyed, done), *told(keyed)]) == []
    # the search does find what is there
    assert holding("marker-4711", told(keyed)) == ["export arms"]
    assert "plan" in holding("MADE_UP_KEY", left_behind(keyed))


ECHOES = {
    "error body": error(401, message=f"Incorrect API key provided: {KEY}."),
    "error code": error(400, KEY),
    "plain error body": Response(f"bad key {KEY}\n".encode(), 500),
    "error 200": error(200, KEY, message=KEY),
    "content": ok({"choices": [{"message": {"role": "assistant", "content": f"{KEY} {RIGHT}"}}]}),
    "html": Response(f"<html>{KEY}</html>".encode(), headers={"Content-Type": "text/html"}),
    "header": error(429, headers={"Retry-After": KEY, "X-Acme-Token": KEY}),
    "reason phrase": Response(
        f"HTTP/1.1 500 {KEY}\r\nContent-Length: 0\r\n\r\n".encode(), raw=True, hang_up=True
    ),
    "not HTTP": Response(f"{KEY}\r\n\r\n".encode(), raw=True, hang_up=True),
    "escaped slashes": Response(
        error(401, message=f"bad key {KEY}").data.replace(b"/", b"\\/"), 401
    ),
}


@pytest.mark.parametrize("place", ECHOES)
def test_a_server_that_echoes_the_key_does_not_get_it_recorded(keyed: Lab, place: str) -> None:
    keyed.configure(provider={"api_key_env": "MADE_UP_KEY", "retry": {"attempts": 1}})
    keyed.serve(ECHOES[place])
    done = keyed.capture()
    assert holding(KEY, left_behind(keyed, done)) == []
    assert holding(KEY.replace("/", "\\/"), left_behind(keyed, done)) == []


@pytest.mark.parametrize("escape", ["/", "+", "s"])
def test_a_key_that_the_model_says_in_escapes_is_neither_kept_nor_sent_on(
    keyed: Lab, escape: str
) -> None:
    """The same text as JSON: `\\/` or `\\u002b` in the reply is the key after parsing."""
    spelled = "\\/" if escape == "/" else f"\\u{ord(escape):04x}"
    body = keyed.wire.body("SAID", [("c", "read", READ)])
    data = json.dumps(body).replace("SAID", "key " + KEY.replace(escape, spelled))
    keyed.serve(Response(data.encode()), keyed.right)
    done = keyed.capture()
    assert holding(KEY, left_behind(keyed, done)) == []
    assert not any(KEY.encode() in hit.data for hit in keyed.server.hits)


@pytest.mark.parametrize("key", ["x", "EMPTY", "none", "null", "1"])
def test_a_dummy_key_for_a_local_server_changes_no_reply(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Keeping it out of the ledger must not rewrite what the model said; refusing it is fair."""
    monkeypatch.setenv("MADE_UP_KEY", key)
    lab.configure(provider={"api_key_env": "MADE_UP_KEY"})
    lab.serve(lab.right)
    done = lab.capture()
    if done.code == 2:
        assert "MADE_UP_KEY" in done.err
        assert not lab.ledger.exists()
        return
    assert lab.stop == ("finished", None)
    assert lab.run_row["answer_extracted"] == 1
    assert lab.reply_blob(0) == lab.server.answers[0].data


def test_a_missing_key_is_named_and_nothing_is_written(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.configure(provider={"api_key_env": "MADE_UP_KEY"})
    for value in (None, ""):
        if value is None:
            monkeypatch.delenv("MADE_UP_KEY", raising=False)
        else:
            monkeypatch.setenv("MADE_UP_KEY", value)
        done = lab.run_pair()
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            f"revereval: {lab.config}: provider.api_key_env: the variable MADE_UP_KEY is not set\n"
        )
        assert not lab.ledger.exists()


@pytest.mark.parametrize("key", ["made-up-777\n", "made up 777", "made-üp-777", "a\tb"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("MADE_UP_KEY", key)
    lab.configure(provider={"api_key_env": "MADE_UP_KEY"})
    done = lab.run_pair()
    assert (done.code, done.out) == (2, "")
    assert "provider.api_key_env" in done.err
    assert key.strip() not in done.err
    assert not lab.ledger.exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://user:made-up-777@127.0.0.1/v1",
        "http://made-up-777@127.0.0.1/v1",
        "http://127.0.0.1/v1?key=made-up-777",
        "http://127.0.0.1/v1#made-up-777",
    ],
)
def test_a_secret_in_the_url_is_refused_without_showing_it(lab: Lab, url: str) -> None:
    lab.configure(provider={"base_url": url})
    done = lab.run_pair()
    assert (done.code, done.out) == (2, "")
    assert "provider.base_url" in done.err
    assert "api_key_env" in done.err
    assert "made-up-777" not in done.err
    assert not lab.ledger.exists()


@pytest.mark.parametrize("where", ["api_key", "sampling"])
def test_a_key_in_the_config_file_is_refused_or_at_least_not_shown(lab: Lab, where: str) -> None:
    extra: dict[str, Any] = {"api_key": KEY} if where == "api_key" else {"sampling": KEY}
    lab.configure(provider=extra)
    done = lab.run_pair()
    assert (done.code, done.out) == (2, "")
    assert f"provider.{where}" in done.err
    assert KEY not in done.err


def test_a_resumed_run_needs_its_key_again(keyed: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    keyed.serve(*keyed.prefix, error(402))
    assert keyed.run_pair().code == 4
    monkeypatch.delenv("MADE_UP_KEY")
    done = keyed.resume()
    assert done.code == 2
    assert done.err == (
        "revereval: run 1: provider.api_key_env: the variable MADE_UP_KEY is not set\n"
    )
    monkeypatch.setenv("MADE_UP_KEY", KEY)
    keyed.serve(keyed.right, keyed.right)
    assert keyed.resume().code == 0


CRASH = """
import revereval.provider.http as http
def crash(self, body):
    key = self._key
    raise RuntimeError("a made-up bug")
http.Client.dispatch = crash
from revereval.cli.app import main
main()
"""


def test_a_crash_shows_no_key(keyed: Lab) -> None:
    """A fault of ours while the key is in a local variable, in a process of its own."""
    arguments = [
        "capture", "tiny-sum", "--config", str(keyed.config),
        "--ledger", str(keyed.ledger), "--tasks", str(keyed.tasks),
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", CRASH, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "a made-up bug" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert KEY not in keyed.ledger.read_bytes().decode("latin-1")
