import json

from urllib3 import HTTPResponse, Retry
from urllib3.exceptions import ConnectTimeoutError, HTTPError, ProtocolError, ProxyError


def after(retry, *steps, method="GET"):
    try:
        for step in steps:
            kind = "error" if isinstance(step, Exception) else "response"
            retry = retry.increment(method, "/x", **{kind: step})
    except HTTPError as exc:
        return f"{type(exc).__name__} {exc}"
    return f"{retry} {retry.raise_on_redirect}"


def respond(status):
    return HTTPResponse(status=status, headers={"Location": "/y"})


shorthand = [str(Retry.from_int(value)) for value in (None, 0, False)]
shorthand += [str(Retry.from_int(2, redirect=False))]

proxy = ProxyError("proxy", ConnectTimeoutError())
errors = [
    after(Retry(None, connect=1, other=0), proxy),
    after(Retry(None, connect=1, other=0), proxy, proxy),
    after(Retry(2, read=1), ProtocolError("broken"), method="POST"),
    after(Retry(0, read=False, other=3), HTTPError("odd")),
]
responses = [
    after(Retry(2, redirect=1, status=1), respond(304), respond(303)),
    after(Retry(False), respond(302)),
    after(Retry(5, redirect=False), respond(503)),
]

retry = Retry(10, backoff_factor=0.5, backoff_max=3)
backoff = []
for status in (503, 500, 307, 300, 503, 502, 503):
    retry = retry.increment("GET", "/x", response=respond(status))
    backoff.append(retry.get_backoff_time())

cases = (Retry(0), "GET", 503), (Retry(1), "put", 429), (Retry(1), "POST", 413)
votes = [retry.is_retry(method, status, True) for retry, method, status in cases]
votes += [Retry(0, status_forcelist=[500], allowed_methods=None).is_retry("POST", 500)]
votes = " ".join(map(str, votes))
results = {"shorthand": shorthand, "errors": errors, "responses": responses}
print(json.dumps({**results, "backoff": backoff, "votes": votes}))
