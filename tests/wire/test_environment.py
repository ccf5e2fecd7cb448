"""Proxies, certificates, host names and redirects: told in one line, and nothing in doubt."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.process import at
from tests.loopback import Loopback, Response
from tests.wire.lab import Lab
from tests.wire.test_config import refused

KEY = "made-up-key-777"


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


BAD = {
    "socks without its package": ({"ALL_PROXY": "socks5://127.0.0.1:1"}, "ALL_PROXY: socks5 needs"),
    "a proxy of another scheme": ({"HTTP_PROXY": "ftp://127.0.0.1:1"}, "HTTP_PROXY: ftp is no"),
    "a proxy without a host": ({"http_proxy": "http://a..b"}, "http_proxy: no host can have"),
    "an entry of no kind": (
        {"HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "10.*"}, "NO_PROXY: 10.*: not a name",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_a_variable_that_no_client_can_use_is_named_before_anything_is_written(
    kind: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ, said = BAD[kind]
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert said in refused(lab).err


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_certificates_that_are_not_there_are_named_where_they_are_needed(
    name: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(lab.folder / "none"))
    lab.configure(provider={"base_url": "https://127.0.0.1:1/v1"})
    assert f"{name}: {lab.folder / 'none'}: " in refused(lab).err
    lab.configure()
    lab.serve(lab.right)
    assert lab.capture().code == 0


def test_a_resumed_run_is_refused_by_the_same_line_and_stays_as_it_is(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.serve(*lab.prefix)
    assert lab.capture().code == 0
    before = [lab.rows(table) for table in ("run", "arm", "attempt")]
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    done = lab.resume()
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "ALL_PROXY: socks5 needs" in done.err
    assert [lab.rows(table) for table in ("run", "arm", "attempt")] == before


@pytest.mark.parametrize(
    "around", ["127.0.0.1", "[::1],127.0.0.0/8", "fd00::/8,localhost,127.0.0.1"]
)
def test_no_proxy_is_honoured_with_networks_and_brackets(
    lab: Lab, around: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", around)
    lab.serve(lab.right)
    assert lab.capture().code == 0
    assert len(lab.server.hits) == 1


def test_a_proxy_is_used_for_a_name_that_only_it_can_look_up(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = lab.server.url.removesuffix("/v1").replace("//", "//made-up:secret-pw@")
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("NO_PROXY", "[::1],fd00::/8")
    lab.configure(provider={"base_url": "http://provider.invalid/v1"})
    lab.serve(lab.right)
    assert lab.capture().code == 0
    (hit,) = lab.server.hits
    assert hit.path == f"http://provider.invalid{lab.wire.path}"
    assert hit.headers["proxy-authorization"].startswith("Basic ")
    assert b"secret-pw" not in lab.ledger.read_bytes()
    lab.server.hits[:] = [replace(hit, path=lab.wire.path)]  # for the lab's own comparison


def test_a_proxy_that_is_away_is_named_and_nothing_is_in_doubt(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://made-up:secret-pw@127.0.0.1:1")
    done = lab.capture()
    assert done.code == 3
    assert f"cannot connect to {lab.server.url}" in done.said
    assert "through the proxy of http_proxy" in done.said
    assert "secret-pw" not in done.said
    assert {state for _, _, state, _ in lab.attempts} == {"failed"}


def test_a_tunnel_that_the_proxy_refuses_is_a_failed_connection(
    monkeypatch: pytest.MonkeyPatch, lab: Lab
) -> None:
    """The loopback server knows no CONNECT: 501, and no byte of the request has left."""
    monkeypatch.setenv("HTTPS_PROXY", lab.server.url.removesuffix("/v1"))
    lab.configure(provider={"base_url": "https://provider.invalid/v1"})
    done = lab.capture()
    assert done.code == 3
    assert "cannot connect to https://provider.invalid" in done.said
    assert {state for _, _, state, _ in lab.attempts} == {"failed"}


@pytest.mark.parametrize(
    "host", ["a..b", "a" * 64, "\u2603.example", "999.1.1.1", ".example", "${HOST}", "a%41"]
)
def test_a_host_that_can_never_be_looked_up_is_refused_with_its_field(lab: Lab, host: str) -> None:
    lab.configure(provider={"base_url": f"http://{host}:8000/v1"})
    said = refused(lab).err
    assert said.startswith(f"revereval: {lab.config}: provider.base_url: ")
    assert "host" in said


def test_a_name_that_is_not_found_is_a_failed_connection_and_never_in_doubt(lab: Lab) -> None:
    lab.configure(provider={"base_url": "http://no-such-host.invalid/v1"})
    done = lab.capture()
    assert done.code == 3
    assert "cannot connect to http://no-such-host.invalid/v1" in done.said
    assert {state for _, _, state, _ in lab.attempts} == {"failed"}


@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/chat/completions//"])
def test_a_url_that_ends_in_the_path_of_a_protocol_is_refused(lab: Lab, path: str) -> None:
    lab.configure(provider={"base_url": lab.server.url + path})
    said = refused(lab).err
    assert "provider.base_url" in said
    assert f"ends in {path.rstrip('/')}, which is added to it" in said


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_says_where_to_and_is_not_followed(lab: Lab, status: int) -> None:
    with Loopback(lambda *_: lab.right) as other:
        lab.serve(
            Response(b"", status, {"Location": f"{other.url}{lab.wire.path.removeprefix('/v1')}"})
        )
        done = lab.capture()
        assert other.hits == []
    assert done.code == 3
    assert f"HTTP {status} from {lab.server.url}: redirected to {other.url};" in done.said
    assert "provider.base_url" in done.said
    assert lab.attempts == [(1, 1, "failed", status)]


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("/v2/chat/completions", "redirected to http://127.0.0.1:{port}/v2;"),
        (
            f"http://u:{KEY}@h.invalid/{KEY}/v1?token=made-up-token",
            "http://h.invalid/[redacted]/v1;",
        ),
        ("https://h.invalid/v1/chat/completions#x", "redirected to https://h.invalid/v1;"),
        ("/" + "x" * 5000, "redirected to http://127.0.0.1:{port}/xxx"),
    ],
)
def test_a_redirect_s_target_is_shown_without_secrets(
    lab: Lab, location: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADE_UP_KEY", KEY)
    lab.configure(provider={"api_key_env": "MADE_UP_KEY"})
    lab.serve(Response(b"", 307, {"Location": location}))
    done = lab.capture()
    assert done.code == 3
    port = lab.server.url.rpartition(":")[2].removesuffix("/v1")
    assert said.format(port=port) in done.said
    assert len(done.said) < 2000
    for secret in (KEY, "made-up-token"):
        assert secret not in done.said
        assert secret.encode() not in lab.ledger.read_bytes()
    assert lab.attempts == [(1, 1, "failed", 307)]


def test_a_netrc_sends_no_key_that_is_not_ours(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = lab.folder / ".netrc"
    netrc.write_text("machine 127.0.0.1 login made-up password secret-pw\n")
    monkeypatch.setenv("HOME", str(lab.folder))
    monkeypatch.setenv("NETRC", str(netrc))
    lab.serve(lab.right)
    assert lab.capture().code == 0
    assert "authorization" not in lab.server.hits[0].headers


@pytest.mark.parametrize("field", ["connect_timeout_s", "read_timeout_s"])
def test_a_timeout_that_no_socket_takes_is_refused(lab: Lab, field: str) -> None:
    lab.configure(provider={field: 1e7})
    assert f"provider.{field}: Input should be less than or equal to 1000000" in refused(lab).err
    lab.configure(provider={field: 1e6})
    lab.serve(lab.right)
    assert lab.capture().code == 0


def test_a_config_with_a_byte_order_mark_is_read(lab: Lab) -> None:
    lab.config.write_bytes(b"\xef\xbb\xbf" + lab.config.read_bytes())
    lab.serve(lab.right)
    assert lab.capture().code == 0


CONFIG = """
[provider]
kind = "openai-chat"
model = "made-up"
base_url = "{}://127.0.0.1:1/v1"
"""


@pytest.mark.parametrize(
    ("scheme", "environ", "said"),
    [
        ("http", {"ALL_PROXY": "socks5://127.0.0.1:1"}, b"revereval: ALL_PROXY: socks5 needs"),
        ("https", {"SSL_CERT_FILE": "none.pem"}, b"revereval: SSL_CERT_FILE: none.pem: No such"),
    ],
)
def test_the_installed_command_leaves_no_ledger_behind(
    scheme: str, environ: dict[str, str], said: bytes, tmp_path: Path
) -> None:
    scene = at(tmp_path / "scene", tmp_path / "cache")
    config = scene.config(CONFIG.format(scheme))
    done = scene.run("run-pair", "h11-framing", "--config", config, env=environ)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert done.stderr.startswith(said)
    assert not (scene.folder / "runs").exists()
