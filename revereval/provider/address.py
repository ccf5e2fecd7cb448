"""URLs whose host could be looked up: what can never be is told before anything is sent."""

import re
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

import httpx

_LABEL: Final = re.compile(r"[A-Za-z0-9_-]{1,63}")
_NAME_LIMIT: Final = 253
"""Bytes of a name, its last dot left out (RFC 1035, 2.3.4)."""


def checked_url(text: str) -> httpx.URL:
    """The URL as the client reads it.

    Raises ValueError, in words without the URL's own, for one that is no URL, and for a host that
    is no address and that no resolver could find: an empty or overlong label, a character that
    no name has, an IPv4 address out of range.
    """
    try:
        url = httpx.URL(text)
        host = url.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError):
        raise ValueError("not a URL with a host name, an IPv4 or an [IPv6] address") from None
    if problem := _host_fault(host):
        raise ValueError(problem)
    return url


def _host_fault(host: str) -> str | None:
    if not host:
        return "no host in the URL"
    with suppress(ValueError):
        ip_address(host)
        return None
    labels = host.removesuffix(".").split(".")
    if not all(map(_LABEL.fullmatch, labels)) or len(".".join(labels)) > _NAME_LIMIT:
        return (
            "no host can have that name: letters, digits, - and _ between dots, 1 to 63 in each "
            f"part, {_NAME_LIMIT} in all"
        )
    if labels[-1].isdigit():
        try:
            socket.inet_aton(host)  # 127.1 is an address too
        except OSError:
            return "the host is no IPv4 address"
    return None
