"""Which proxy the environment names for a URL, what goes around it, and which hosts can be."""

import ssl
from pathlib import Path

import certifi
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from revereval.errors import InputError
from revereval.provider.address import checked_url
from revereval.provider.environment import proxy_for, tls_context


def used(url: str, **environ: str) -> tuple[str, str] | None:
    """(variable, URL without the password) of the proxy."""
    found = proxy_for(httpx.URL(url), environ)
    return found and (found.variable, str(found.url.copy_with(userinfo=b"")))


def test_the_scheme_s_own_variable_comes_first_and_a_lower_case_one_hides_the_other() -> None:
    every = {"ALL_PROXY": "http://all:1", "HTTP_PROXY": "http://up:2", "HTTPS_PROXY": "tls:3"}
    assert used("http://h/v1", **every) == ("HTTP_PROXY", "http://up:2")
    assert used("https://h/v1", **every) == ("HTTPS_PROXY", "http://tls:3")
    assert used("https://h/v1", ALL_PROXY="http://all:1") == ("ALL_PROXY", "http://all:1")
    assert used("http://h/v1", **every, http_proxy="http://low:4") == ("http_proxy", "http://low:4")
    assert used("http://h/v1", HTTP_PROXY="http://up:2", http_proxy="") is None
    assert used("http://h/v1", HTTP_PROXY="http://up:2", REQUEST_METHOD="POST") is None
    assert used("http://h/v1", HTTPS_PROXY="http://up:2") is None
    assert used("http://h/v1") is None


AROUND = [
    ("http://[::1]:8080/v1", "[::1]"),
    ("http://[::1]:8080/v1", "::1"),
    ("http://[::1]:8080/v1", "[::1]:8080"),
    ("http://[fd00::7]/v1", "fd00::/8"),
    ("http://[fd00:0::7]/v1", "[fd00::]/8"),
    ("http://[FD00::7]/v1", "http://[fd00::0007]"),
    ("http://10.1.2.3/v1", "10.0.0.0/8"),
    ("http://10.1.2.3/v1", "10.1.2.3"),
    ("http://10.1.2.3/v1", "10.1.2.3:80"),
    ("http://10.1.2.3/v1", "10.9.9.9/8"),
    ("http://localhost:1/v1", "localhost"),
    ("http://h/v1", "*"),
    ("http://h/v1", "10.*, *"),
    ("http://h/v1", "10.*,h"),
    ("http://api.example.com/v1", "example.com"),
    ("http://api.example.com/v1", " other.org , .example.com,"),
    ("http://api.example.com/v1", "*.example.com"),
    ("http://API.Example.com./v1", "EXAMPLE.com"),
    ("http://api.example.com/v1", "http://example.com"),
    ("http://api.example.com/v1", "all://example.com"),
    ("http://bücher.example/v1", "bücher.example"),
]
THROUGH = [
    ("http://[::1]:8080/v1", "[::1]:80"),
    ("http://[::1]:8080/v1", "127.0.0.1"),
    ("http://[fe80::1]/v1", "fd00::/8"),
    ("http://10.1.2.3/v1", "10.1.2.3:81"),
    ("http://10.1.2.3/v1", "10.1.3.0/24"),
    ("http://example.com/v1", ".example.com"),
    ("http://bad-example.com/v1", "example.com"),
    ("http://api.example.com/v1", "https://example.com"),
    ("http://api.example.com/v1", "com.example"),
    ("http://h/v1", ""),
    ("http://h/v1", ",,"),
]


@pytest.mark.parametrize(("url", "entries"), AROUND)
def test_what_no_proxy_covers_goes_around(url: str, entries: str) -> None:
    assert used(url, ALL_PROXY="http://p:1", NO_PROXY=entries) is None


@pytest.mark.parametrize(("url", "entries"), THROUGH)
def test_what_no_proxy_does_not_cover_goes_through(url: str, entries: str) -> None:
    assert used(url, ALL_PROXY="http://p:1", NO_PROXY=entries) == ("ALL_PROXY", "http://p:1")


@pytest.mark.parametrize(
    "entry", ["10.*", "<local>", "a b", "::1::", "h/path", "http://", "h:port"]
)
def test_an_entry_that_says_nothing_is_named_where_it_could_matter(entry: str) -> None:
    with pytest.raises(InputError) as error:
        used("http://h.example/v1", ALL_PROXY="http://p:1", no_proxy=f"x.org,{entry}")
    assert str(error.value).startswith(f"no_proxy: {entry}: not a name, an address, a network")
    assert used("http://h.example/v1", no_proxy=entry) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("socks5://h:1080", "socks5 needs the socks extra"),
        ("socks5h://h:1080", "socks5h needs the socks extra"),
        ("ftp://h:21", "ftp is no scheme of a proxy: http, https"),
        ("http://a..b:1", "no host can have that name"),
        ("http://\u2603.example:1", "not a URL"),
        ("http://999.1.1.1:1", "not a URL"),
        ("http://user:made#up@h:1", "are written with %"),
        ("http://user:made-up@h:port", "not a URL"),
        ("http://", "no host"),
    ],
)
def test_a_proxy_that_cannot_be_spoken_to_is_named_without_its_password(
    value: str, said: str
) -> None:
    with pytest.raises(InputError) as error:
        used("https://h/v1", HTTPS_PROXY=value)
    assert str(error.value).startswith("HTTPS_PROXY: ")
    assert said in str(error.value)
    assert "made" not in str(error.value)


@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_the_variables_hold_is_a_proxy_or_one_named_fault(proxy: str, around: str) -> None:
    try:
        found = used("http://h.example/v1", http_proxy=proxy, no_proxy=around)
    except InputError as error:
        assert error.source in ("http_proxy", "no_proxy")
    else:
        assert found is None or found[0] == "http_proxy"


@pytest.mark.parametrize(
    "host",
    ["h", "a-b.c_d", "h.", "127.1", "10.0.0.1", "[::1]", "bücher.example", "a" * 63, "1.example"],
)
def test_a_host_that_could_be_is_taken(host: str) -> None:
    assert str(checked_url(f"http://{host}/v1").path) == "/v1"


@pytest.mark.parametrize(
    "host",
    [
        "", ".", "a..b", ".a", "a..", "a" * 64, f"{'a' * 64}.b", ".".join(["a" * 50] * 6),
        "\u2603.example", "999.1.1.1", "1.2.3.4.5", "300.1", "[::g]", "a%41", "${HOST}", "a*b",
        "{host}", "\u00fc" * 60,
    ],
)  # fmt: skip
def test_a_host_that_can_never_be_looked_up_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r"host"):
        checked_url(f"http://{host}/v1")


def test_certificates_come_from_the_file_the_folder_or_the_package(tmp_path: Path) -> None:
    bundle = len(tls_context({}).get_ca_certs())
    assert bundle > 50
    file = {"SSL_CERT_FILE": certifi.where(), "SSL_CERT_DIR": str(tmp_path / "none")}
    assert len(tls_context(file).get_ca_certs()) == bundle
    assert tls_context({"SSL_CERT_DIR": str(tmp_path)}).get_ca_certs() == []
    for context in (tls_context({}), tls_context(file)):
        assert context.verify_mode == ssl.CERT_REQUIRED
        assert context.check_hostname


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SSL_CERT_FILE", "none.pem", "No such file"),
        ("SSL_CERT_FILE", "empty.pem", "holds no certificates"),
        ("SSL_CERT_FILE", ".", ""),
        ("SSL_CERT_DIR", "none", "no such folder"),
        ("SSL_CERT_DIR", "empty.pem", "no such folder"),
    ],
)
def test_certificates_that_cannot_be_read_are_named(
    name: str, value: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.pem").write_text("")
    with pytest.raises(InputError) as error:
        tls_context({name: value})
    assert str(error.value).startswith(f"{name}: {value}: ")
    assert said in str(error.value)


def test_the_secrets_of_a_connection_go_into_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "none" / "keys"))
    tls_context({})
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    assert tls_context({}).keylog_filename is None
    assert not (tmp_path / "keys").exists()
