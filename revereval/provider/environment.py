"""What a client takes from the environment: its proxy, what goes around it, its certificates."""

import importlib.util
import os
import re
import ssl
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import Final, NamedTuple

import certifi
import httpx

from revereval.errors import InputError
from revereval.provider.address import checked_url

_PROXIES: Final = ("http", "https")
_SOCKS: Final = ("socks5", "socks5h")
_BRACKETED: Final = re.compile(r"^\[([^\]]*)\](/[0-9]+)?$")


class Variable(NamedTuple):
    name: str
    """As it is spelled in the environment."""
    value: str


class ProxyUsed(NamedTuple):
    variable: str
    """That names it; its value may hold a password."""
    url: httpx.URL


def proxy_for(url: httpx.URL, environ: Mapping[str, str]) -> ProxyUsed | None:
    """The proxy of `HTTP_PROXY`, `HTTPS_PROXY` or `ALL_PROXY`, unless `NO_PROXY` has the host.

    Raises InputError naming the variable: a proxy that cannot be spoken to, or an entry that is
    none of a name, an address, a network, `*`, with a port or a scheme where one is given.
    """
    found = _variable(f"{url.scheme}_proxy", environ) or _variable("all_proxy", environ)
    if found is None or _goes_around(url, environ):
        return None
    text = found.value if "://" in found.value else f"http://{found.value}"
    try:
        proxy = checked_url(text)
    except ValueError as error:
        hint = "; in user and password @ : / # ? are written with %" if "@" in text else ""
        raise InputError(found.name, "", f"{error}{hint}") from None
    if proxy.scheme in _SOCKS and importlib.util.find_spec("socksio") is None:
        problem = f"{proxy.scheme} needs the socks extra of httpx: pip install 'httpx[socks]'"
        raise InputError(found.name, "", problem)
    if proxy.scheme not in (*_PROXIES, *_SOCKS):
        problem = f"{proxy.scheme} is no scheme of a proxy: {', '.join((*_PROXIES, *_SOCKS))}"
        raise InputError(found.name, "", problem)
    return ProxyUsed(found.name, proxy)


def _variable(name: str, environ: Mapping[str, str]) -> Variable | None:
    """The lower-case name hides the other, also when empty (as curl and urllib have it)."""
    spelled = name if name in environ else name.upper()
    if spelled == "HTTP_PROXY" and "REQUEST_METHOD" in environ:
        return None  # in CGI it is a header that anyone can send
    value = environ.get(spelled, "").strip()
    return Variable(spelled, value) if value else None


def _goes_around(url: httpx.URL, environ: Mapping[str, str]) -> bool:
    listed = _variable("no_proxy", environ)
    if listed is None:
        return False
    entries = [stripped for entry in listed.value.split(",") if (stripped := entry.strip())]
    covers = [_covers(entry, url) for entry in entries]
    if True not in covers and None in covers:
        problem = "not a name, an address, a network or *; several are separated by commas"
        raise InputError(listed.name, entries[covers.index(None)], problem)
    return True in covers


def _covers(entry: str, url: httpx.URL) -> bool | None:
    """Whether an entry of NO_PROXY means the URL's host; None for an entry that says nothing."""
    if entry == "*":
        return True
    scheme, _, rest = entry.rpartition("://")
    host = url.raw_host.decode("ascii").removesuffix(".")
    try:
        network = ip_network(_BRACKETED.sub(r"\1\2", rest), strict=False)
    except ValueError:
        pass
    else:
        return scheme in ("", "all", url.scheme) and _is_in(host, str(network))
    below = rest.startswith((".", "*."))
    try:
        named = checked_url(f"http://{rest.removeprefix('*').removeprefix('.')}")
        if named.path != "/" or named.userinfo or named.query or named.fragment:
            return None
    except ValueError:
        return None
    name = named.raw_host.decode("ascii").removesuffix(".")
    port = named.port or (80 if rest.endswith(":80") else None)
    if scheme not in ("", "all", url.scheme) or port not in (None, _port(url)):
        return False
    if _is_in(host, name):
        return True
    return host.endswith(f".{name}") or (host == name and not below)


def _is_in(host: str, network: str) -> bool:
    try:
        return ip_address(host) in ip_network(network)
    except ValueError:
        return False


def _port(url: httpx.URL) -> int:
    return url.port or {"http": 80, "https": 443}[url.scheme]


def tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Certificates of `SSL_CERT_FILE`, else `SSL_CERT_DIR`, else of the package certifi.

    `SSLKEYLOGFILE` is not followed: what opens a connection's secrets goes into no file. Raises
    InputError naming the variable whose certificates cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    file, folders = _given("SSL_CERT_FILE", environ), _given("SSL_CERT_DIR", environ)
    if file is not None:
        try:
            context.load_verify_locations(cafile=file)
        except ssl.SSLError:
            raise InputError("SSL_CERT_FILE", file, "holds no certificates in PEM form") from None
        except OSError as error:
            problem = error.strerror or "cannot be read"
            raise InputError("SSL_CERT_FILE", file, problem) from None
    elif folders is not None:
        if not any(map(os.path.isdir, folders.split(os.pathsep))):
            raise InputError("SSL_CERT_DIR", folders, "no such folder")
        context.load_verify_locations(capath=folders)
    else:
        context.load_verify_locations(cafile=certifi.where())
    return context


def _given(name: str, environ: Mapping[str, str]) -> str | None:
    return environ.get(name) or None
