import json
import time
from unittest.mock import patch

from urllib3 import HTTPConnectionPool, PoolManager
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

answers = {
    "root": (302, {"Location": "/b"}),
    "other": (303, {"Location": "/b"}),
    "sibling": (302, {"Location": "next"}),
    "full": (307, {"Location": "http://a.test:80/b#top"}),
    "host": (302, {"Location": "http://b.test/b"}),
    "port": (301, {"Location": "http://a.test:8080/b"}),
    "wait": (302, {"Location": "/b", "Retry-After": "7"}),
}
sent, slept = [], []


def respond(self, conn, method, url, *, headers, retries, **ignored):
    """Stands for `_make_request`: the planned answer first, then a plain 200."""
    sent.append([method, url, "Authorization" in headers])
    status, fields = answer if len(sent) == 1 else (200, {})
    response = HTTPResponse(b"", headers=fields, status=status)
    response.retries = retries
    return response


def follow(client, url):
    sent.clear()
    slept.clear()
    headers = {"Authorization": "t", "Content-Type": "text/plain"}
    try:
        client.urlopen("POST", url, body=b"x", headers=headers)
    except HTTPError as exc:
        return type(exc).__name__
    return [*sent[-1], sum(slept)]


manager, pool = {}, {}
with (
    patch.object(HTTPConnectionPool, "_make_request", respond),
    patch.object(time, "sleep", slept.append),
):
    for name, answer in answers.items():
        manager[name] = follow(PoolManager(), "http://a.test/dir/start")
        pool[name] = follow(HTTPConnectionPool("a.test"), "/dir/start")
differ = sorted(name for name in answers if manager[name] != pool[name])
print(json.dumps({"manager": manager, "pool": pool, "differ": differ}))
