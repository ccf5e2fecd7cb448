"""Every end of a dispatch: what the ledger calls it, what the command says, what goes on."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.loopback import CLOSED, Loopback, Response, error, ok, script
from tests.wire.lab import Lab

HTML = {"Content-Type": "text/html"}
NGINX = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad"
    b" Gateway</h1></center>\r\n<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>\r\n"
)
VLLM = (
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 "
    "in the messages, 1000 in the completion). Please reduce the length of the messages."
)
VLLM_LONG = (
    "The decoder prompt (length 9001) is longer than the maximum model length of 8192. Make sure "
    "that `max_model_len` is no smaller than the number of text tokens."
)
LLAMA = {
    "code": 400,
    "message": "the request exceeds the available context size, try increasing it",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 9000,
    "n_ctx": 8192,
}
LLAMA_500 = {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}


@dataclass(frozen=True)
class End:
    """An answer to F's first request, and all that follows from it."""

    response: Response
    attempt: str
    endpoint: str
    """`reason`, or `pause:reason`."""
    code: int = 3
    hits: int = 1
    """Requests of F that reached the server."""
    said: str = ""
    """The server's own words, as the ledger has them."""


def vllm(message: str, *, top: bool) -> Response:
    said: Mapping[str, Any] = {
        "object": "error", "message": message, "type": "BadRequestError", "param": None,
        "code": 400,
    }  # fmt: skip
    return ok(said if top else {"error": said}, status=400)


ENDS: dict[str, End] = {
    "400": End(error(400), "failed", "provider_error", said="made up"),
    "404": End(error(404, "model_not_found"), "failed", "provider_error"),
    "413 of a proxy": End(
        Response(b"<h1>413 Request Entity Too Large</h1>", 413, HTML), "failed", "provider_error",
        said="413 Request Entity Too Large",
    ),
    "400 of FastAPI": End(
        ok({"detail": "no such field"}, status=422), "failed", "provider_error",
        said="no such field",
    ),
    "500 by the API": End(error(500, "server_error"), "failed", "provider_error"),
    "500 by nobody": End(
        Response(b"Internal Server Error", 500), "ambiguous", "ambiguous_dispatch",
        said="Internal Server Error",
    ),
    "502 nginx": End(
        Response(NGINX, 502, HTML), "ambiguous", "ambiguous_dispatch",
        said="502 Bad Gateway 502 Bad Gateway nginx/1.25.3",
    ),
    "504": End(Response(b"", 504), "ambiguous", "ambiguous_dispatch"),
    "504 in JSON": End(
        ok({"error": {"code": 504, "message": "upstream timed out"}}, status=504), "ambiguous",
        "ambiguous_dispatch", said="upstream timed out",
    ),
    "524": End(Response(b"error code: 524", 524), "ambiguous", "ambiguous_dispatch"),
    "408": End(Response(b"", 408), "ambiguous", "ambiguous_dispatch"),
    "202": End(Response(b"", 202), "ambiguous", "ambiguous_dispatch"),
    "302": End(Response(b"", 302, {"Location": "/"}), "failed", "pause:redirected"),
    "no answer": End(CLOSED, "ambiguous", "ambiguous_dispatch"),
    "200 html": End(Response(b"<p>Sign in</p>", 200, HTML), "ambiguous", "ambiguous_dispatch"),
    "200 error": End(error(200, "boom"), "failed", "provider_error"),
    "200 error 401": End(error(200, 401), "failed", "pause:access_denied"),
    "200 error 402": End(error(200, 402), "failed", "pause:no_credit", 4),
    "401": End(error(401, "invalid_api_key"), "failed", "pause:access_denied", said="made up"),
    "403": End(Response(b"Forbidden", 403), "failed", "pause:access_denied", said="Forbidden"),
    "407": End(Response(b"", 407), "failed", "pause:access_denied"),
    "402": End(error(402), "failed", "pause:no_credit", 4),
    "OpenAI without credit": End(
        error(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota"),
        "failed", "pause:no_credit", 4, said="You exceeded your current quota",
    ),
    "billing not active": End(
        error(429, "billing_not_active", "billing_not_active"), "failed", "pause:no_credit", 4
    ),
    "Moonshot without credit": End(
        error(429, None, "exceeded_current_quota_error"), "failed", "pause:no_credit", 4
    ),
    "DeepSeek without credit": End(
        error(402, "invalid_request_error", "unknown_error", "Insufficient Balance"), "failed",
        "pause:no_credit", 4, said="Insufficient Balance",
    ),
    "429": End(error(429), "failed", "pause:rate_limited", hits=3),
    "503": End(Response(b"", 503), "failed", "pause:unavailable", hits=3),
    "529": End(error(529, None, "overloaded_error"), "failed", "pause:unavailable", hits=3),
    "a wait of an hour": End(
        error(429, headers={"Retry-After": "3600"}), "failed", "pause:long_wait"
    ),
    "OpenAI overflow": End(
        error(400, "context_length_exceeded", "invalid_request_error"), "failed",
        "context_overflow",
    ),
    "vLLM overflow": End(vllm(VLLM, top=False), "failed", "context_overflow", said=VLLM),
    "vLLM overflow, top level": End(vllm(VLLM, top=True), "failed", "context_overflow", said=VLLM),
    "vLLM prompt too long": End(
        vllm(VLLM_LONG, top=True), "failed", "context_overflow", said=VLLM_LONG
    ),
    "llama.cpp overflow": End(
        ok({"error": LLAMA}, status=400), "failed", "context_overflow", said=str(LLAMA["message"])
    ),
    "llama.cpp overflow, half way": End(
        ok({"error": LLAMA_500}, status=500), "failed", "context_overflow"
    ),
    "vLLM, another 400": End(
        vllm("max_tokens must be at least 1, got 0.", top=True), "failed", "provider_error",
        said="max_tokens must be at least 1, got 0.",
    ),
    "Azure's filter of prompts": End(
        error(400, "content_filter", message="The prompt triggered it"), "failed",
        "content_filter", said="The prompt triggered it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ENDS)
def test_each_end_of_a_dispatch_has_its_one_meaning(lab: Lab, kind: str) -> None:
    end = ENDS[kind]
    pauses, reason = end.endpoint.startswith("pause:"), end.endpoint.removeprefix("pause:")
    lab.serve(*lab.prefix, *[end.response] * end.hits, *[lab.right] * (not pauses))
    done = lab.run_pair("--json")
    assert done.code == end.code
    assert len(lab.server.hits) == 3 + end.hits + (not pauses)
    f = [attempt for attempt in lab.attempts if attempt[0] == 5]
    assert [(number, state) for _, number, state, _ in f] == [
        (number, end.attempt) for number in range(1, end.hits + 1)
    ]
    assert end.said in lab.rows("attempt", "request_id = 5")[-1]["problem"]
    assert end.said in done.json["arms"]["F"]["detail"]
    if pauses:
        assert lab.arm("F") == ("stopped", "interrupted", 0)
        assert lab.arm("P") == ("unexecuted", "not_started", 0)
        (pause,) = lab.rows("pause")
        assert (pause["stage"], pause["reason"], pause["ended_at"]) == ("F", reason, None)
        assert done.json["paused"] == reason
        assert reason in done.err
    else:
        assert lab.arm("F") == ("stopped", reason, 0)
        assert lab.arm("P") == ("correct", None, 1)
        assert lab.rows("pause") == []
        assert (done.json["paused"], done.json["pauses"]) == (None, [])
    assert done.json["arms"]["F"]["unknown_counts"] == (end.attempt == "ambiguous")
    lab.audit()


def test_a_server_that_goes_away_and_comes_back_burns_neither_arm(lab: Lab) -> None:
    with socket.socket() as deaf:  # bound, so nobody else listens there; not listening itself
        deaf.bind(("127.0.0.1", 0))
        port = int(deaf.getsockname()[1])
    with Loopback(script(), port) as up:
        lab.server = up
        lab.configure()
        lab.serve(*lab.prefix)
        assert lab.capture().code == 0
    for pauses in (1, 2):
        done = lab.resume()
        assert (done.code, done.err.count("\n")) == (3, 1)
        assert "run 1 is paused (no_connection)" in done.err
        assert lab.arm("F") == ("stopped", "interrupted", 0)
        assert lab.arm("P") == ("unexecuted", "not_started", 0)
        ended = [row["ended_at"] is not None for row in lab.rows("pause")]
        assert ended == [True] * (pauses - 1) + [False]
        lab.audit()
    with Loopback(script(), port) as back:
        back.hits += up.hits
        lab.server = back
        lab.serve(lab.right, lab.right)
        assert lab.resume().code == 0
    assert (lab.arm("F"), lab.arm("P")) == (("correct", None, 1), ("correct", None, 1))
    assert [number for request, number, *_ in lab.attempts if request == 5] == list(range(1, 8))
    assert None not in [row["ended_at"] for row in lab.rows("pause")]
    lab.audit()
