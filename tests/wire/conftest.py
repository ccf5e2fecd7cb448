"""The lab of each test; when a test ends, attempts and server hits must be the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loopback import Loopback, script
from tests.wire.lab import Lab

_PROXIES = [f"{kind}_proxy" for kind in ("http", "https", "all", "no")]


@pytest.fixture
def lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Lab]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in _PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with Loopback(script()) as server:
        made = Lab(tmp_path, getattr(request, "param", "chat"), server)
        yield made
    made.check_hits()
