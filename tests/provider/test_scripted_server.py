"""The scripted provider over HTTP: both wire formats, errors, estimated usage, a clean end."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from revereval.agent.prompt import opening
from revereval.errors import InputError
from revereval.pair.annotations import reader_task
from revereval.provider.reader import ReaderSettings, ReaderTask
from revereval.provider.scripted import ScriptedApp, ScriptedTransport
from revereval.provider.scripted_server import serve
from revereval.provider.usage import read_usage
from revereval.provider.wire import WIRES
from revereval.tasks.spec import load_task, task_ids
from revereval.terms import UsageConvention

from . import GOLD, SPANS, in_process, make_task, run, running

RIGHT = {name: GOLD[name] for name in SPANS}


def new_app(**settings: Any) -> ScriptedApp:
    return ScriptedApp([make_task()], ReaderSettings(**settings))


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A client of a served app; `post` of httpx raises for no status."""
    with running(new_app(parallel=2)) as url, httpx.Client(base_url=url) as http:
        yield http


def recorded(wire: str, **settings: Any) -> list[bytes]:
    """The request bodies of one conversation."""
    return run(make_task(), in_process(new_app(**settings)), wire=wire).bodies


@pytest.mark.parametrize("wire", ["chat", "responses"])
@pytest.mark.parametrize("project", [False, True])
def test_a_conversation_over_http_reaches_the_right_answer(
    client: httpx.Client, wire: str, project: bool
) -> None:
    def post(path: str, body: bytes) -> bytes:
        response = client.post(path, content=body)
        assert response.status_code == 200
        assert response.http_version == "HTTP/1.1"
        assert response.headers["connection"] == "keep-alive"
        assert response.headers["content-length"] == str(len(response.content))
        return response.content

    done = run(make_task(), post, wire=wire, project=project)
    assert done.answer == RIGHT
    ids = [call.id for reply in done.replies for call in reply.calls]
    assert len(ids) == len(set(ids)) > len(done.replies)


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_equal_bytes_get_equal_bytes_from_any_fresh_app(wire: str) -> None:
    for body in recorded(wire, notes=True):
        path = f"/v1/{WIRES[wire].path}"
        first = new_app(notes=True).respond(path, body)
        assert first == new_app(notes=True).respond(path, body)
        with running(new_app(notes=True)) as url:
            assert httpx.post(url + path, content=body).content == first[1]
        with httpx.Client(transport=ScriptedTransport(new_app(notes=True))) as http:
            reply = http.post("http://scripted.invalid" + path, content=body)
            assert (reply.status_code, reply.content) == first


def test_it_needs_no_earlier_request_of_a_conversation(client: httpx.Client) -> None:
    last = recorded("chat")[-1]
    reply = client.post("/v1/chat/completions", content=last).json()
    assert json.loads(reply["choices"][0]["message"]["content"]) == RIGHT
    assert reply["choices"][0]["finish_reason"] == "stop"


def test_a_chat_reply_has_the_fields_of_the_api(client: httpx.Client) -> None:
    reply = client.post("/v1/chat/completions", content=recorded("chat")[0]).json()
    message = reply["choices"][0]["message"]
    assert (reply["object"], reply["model"]) == ("chat.completion", "scripted")
    assert reply["choices"][0]["finish_reason"] == "tool_calls"
    assert message["content"] is None
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["read", "read"]
    assert all("path" in json.loads(c["function"]["arguments"]) for c in message["tool_calls"])


def test_a_responses_reply_has_the_fields_of_the_api(client: httpx.Client) -> None:
    calls, *_, last = recorded("responses")
    reply = client.post("/v1/responses", content=calls).json()
    assert (reply["object"], reply["status"]) == ("response", "completed")
    assert [item["type"] for item in reply["output"]] == ["function_call"] * 2
    final = client.post("/v1/responses", content=last).json()["output"]
    assert [(item["type"], item["role"]) for item in final] == [("message", "assistant")]
    assert json.loads(final[0]["content"][0]["text"]) == RIGHT


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_usage_is_an_estimate_and_says_so(client: httpx.Client, wire: str) -> None:
    body = recorded(wire)[0]
    raw = client.post(f"/v1/{WIRES[wire].path}", content=body).json()["usage"]
    usage = read_usage(raw, UsageConvention.CACHED_IN_INPUT)
    assert raw["estimated"] is True
    assert usage.input_tokens == -(-len(body) // 4)
    assert usage.cached_tokens == 0
    assert usage.output_tokens
    assert usage.flags == ()


def cached_tokens(app: ScriptedApp, body: bytes) -> int:
    reply = json.loads(app.respond("/v1/chat/completions", body)[1])
    return int(reply["usage"]["prompt_tokens_details"]["cached_tokens"])


def test_a_longer_conversation_finds_its_prefix_cached() -> None:
    app, bodies = new_app(), recorded("chat")
    for earlier, body in pairwise(bodies):
        cached_tokens(app, earlier)
        assert cached_tokens(app, body) == pytest.approx(len(earlier) / 4, abs=8)


def test_a_rewritten_observation_loses_the_cache_from_there_on() -> None:
    app, bodies = new_app(), recorded("chat")
    for body in bodies[:-1]:
        cached_tokens(app, body)
    request = json.loads(bodies[-1])
    results = [index for index, m in enumerate(request["messages"]) if m["role"] == "tool"]
    request["messages"][results[1]]["content"] = "shorter"
    rewritten = json.dumps(request).encode()
    kept = len(json.dumps(request["messages"][: results[1]]))
    assert 0 < cached_tokens(app, rewritten) < kept / 4 * 1.2
    assert cached_tokens(app, bodies[-1]) > 2 * kept / 4


def test_another_head_shares_no_cache() -> None:
    app, (body, *_) = new_app(), recorded("chat")
    cached_tokens(app, body)
    assert cached_tokens(app, body) > 0
    assert cached_tokens(app, body.replace(b'"scripted"', b'"other"')) == 0


def test_the_cache_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("revereval.provider.scripted.MAX_PREFIXES", 4)
    app, bodies = new_app(), recorded("chat")
    cached_tokens(app, bodies[0])
    cached_tokens(app, bodies[-1])
    assert cached_tokens(app, bodies[0]) == 0


@pytest.mark.parametrize("path", ["/", "/v1/models", "/chat/completions", "/v1/chat/completions/"])
def test_an_unknown_path_is_404(client: httpx.Client, path: str) -> None:
    for response in (client.post(path, content=b"{}"), client.get(path)):
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "not_found"


def test_an_unknown_task_is_named_so(client: httpx.Client) -> None:
    messages = [{"role": "user", "content": "Who are you?"}]
    response = client.post("/v1/chat/completions", json={"model": "m", "messages": messages})
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "unknown_task"
    assert error.keys() == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff{}",
        b"[" * 100_000,
        b'{"messages": [{"x": %b}]}' % (b"[" * 950 + b"]" * 950),
        b"{}",
        b'{"messages": 3}',
        b'{"messages": [3]}',
        b'{"messages": [], "temperature": NaN}',
        b'{"messages": [], "temperature": 1e999}',
        b'{"messages": [], "stream": true}',
    ],
    ids=lambda body: repr(body[:24]),
)
def test_a_malformed_body_is_400(client: httpx.Client, body: bytes) -> None:
    response = client.post("/v1/chat/completions", content=body)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_odd_but_valid_items_do_not_stop_it(client: httpx.Client) -> None:
    user = {"role": "user", "content": [{"type": "text", "text": make_task().opening}]}
    call = {"id": "", "function": {"name": "read", "arguments": '{"path": '}}
    odd = [
        {"role": "assistant", "content": "\ud83d \0", "tool_calls": [call, 3, {}]},
        {"role": "tool", "content": None},
        {"role": "unheard-of"},
    ]
    tools = [{"type": "function", "function": {"name": "read"}}, 7]
    body = json.dumps({"messages": [user, *odd], "tools": tools})  # the surrogate as an escape
    response = client.post("/v1/chat/completions", content=body)
    assert response.status_code == 200
    assert response.json()["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("head", "status"),
    [(b"", 411), (b"Content-Length: x\r\n", 411), (b"Content-Length: 9999999999\r\n", 413)],
)
def test_a_request_of_unknown_or_absurd_length_is_refused(head: bytes, status: int) -> None:
    with (
        running(new_app()) as url,
        socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1]))) as raw,
    ):
        raw.sendall(b"POST /v1/responses HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n")
        assert raw.makefile("rb").read().startswith(b"HTTP/1.1 %d " % status)


def test_conversations_at_the_same_time_do_not_disturb_each_other() -> None:
    tasks = [make_task(opening=f"Question {number}?") for number in range(8)]
    with running(ScriptedApp(tasks, ReaderSettings())) as url, httpx.Client(base_url=url) as http:

        def post(path: str, body: bytes) -> bytes:
            return http.post(path, content=body).content

        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(lambda task: run(task, post), tasks))
    assert [one.answer for one in done] == [RIGHT] * 8
    assert all(one.calls == done[0].calls for one in done)


def test_a_closed_server_answers_no_kept_connection() -> None:
    body = recorded("chat")[0]
    with httpx.Client() as http:
        with running(new_app()) as url:
            assert http.post(f"{url}/v1/chat/completions", content=body).status_code == 200
        with pytest.raises(httpx.TransportError):
            http.post(f"{url}/v1/chat/completions", content=body)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org", "", "::1"])  # noqa: S104 - refused
def test_it_binds_to_loopback_only(host: str) -> None:
    with pytest.raises(InputError, match="loopback"):
        serve(new_app(), host, 0)


def test_a_taken_port_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port: {port}: "):
            serve(new_app(), "127.0.0.1", port)


@pytest.fixture
def tasks_dir(tmp_path: Path) -> Path:
    """One task whose file has one line of evidence."""
    folder = tmp_path / "tasks" / "made-up"
    folder.mkdir(parents=True)
    (folder / "source.toml").write_text(
        'package = "made-up"\nversion = "1.0"\nsplit = "development"\n'
        f'[files]\n"made/up.py" = "{"0" * 64}"\n'
    )
    (folder / "share.toml").write_text(
        'prompt = "What does it print?\\n{oracle}"\nreads = 1\n'
        '[keys]\nshare = "number"\n[premises]\npython = "3.11"\n'
        '[[evidence.share]]\nfile = "made/up.py"\nline = 1\nspan = "half = 1 / 2"\n'
    )
    (folder / "share.oracle.py").write_text("print('{}')\n")
    (folder / "share.gold.json").write_text('{"share": 0.5}')
    return folder.parent


def only_task(tasks_dir: Path) -> ReaderTask:
    ((_, task_id),) = task_ids(tasks_dir)
    return reader_task(load_task(tasks_dir, task_id))


def test_a_task_is_recognised_by_the_agents_own_opening(tasks_dir: Path) -> None:
    task = only_task(tasks_dir)
    assert task.opening == opening(
        "What does it print?\nprint('{}')",
        "made-up 1.0",
        ["made/up.py"],
        {"python": "3.11"},
        {"share": "number"},
    )
    app = ScriptedApp([task], ReaderSettings())
    done = run(task, in_process(app), files={"made/up.py": "half = 1 / 2\n"})
    assert done.answer == {"share": 0.5}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_command_prints_its_url_and_serves_until_a_signal(
    tasks_dir: Path, number: signal.Signals, code: int
) -> None:
    config = tasks_dir / "config.toml"
    config.write_text("[provider.reader]\ndetours = 0\n")
    program = "import typer; from revereval.cli.serve import serve_scripted as s; typer.run(s)"
    options = ["--tasks", str(tasks_dir), "--config", str(config)]
    with subprocess.Popen(
        [sys.executable, "-c", program, *options], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/v1")
        messages = [{"role": "user", "content": only_task(tasks_dir).opening}]
        reply = httpx.post(f"{url}/chat/completions", json={"messages": messages})
        assert reply.json()["choices"][0]["message"]["content"] == '{"share":0}'
        server.send_signal(number)
        assert server.wait(10) == code
        assert server.stdout.read() == ""
