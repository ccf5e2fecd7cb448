"""What HTTP itself asks of a client: encodings, cookies, and the same headers each time."""

import gzip
from dataclasses import replace

from tests.loopback import Response
from tests.wire.lab import Lab

MIB = 2**20


def gzipped(response: Response) -> Response:
    encoding = {"Content-Encoding": "gzip"}
    return replace(response, data=gzip.compress(response.data), headers=encoding)


def test_a_reply_that_is_encoded_unasked_is_recorded_decoded(lab: Lab) -> None:
    lab.serve(gzipped(lab.right))
    assert lab.capture().code == 0
    assert lab.reply_blob(0) == lab.right.data
    assert lab.server.hits[0].headers["accept-encoding"] == "identity"


def test_the_limit_counts_decoded_bytes(lab: Lab) -> None:
    lab.configure(provider={"max_reply_bytes": MIB})
    lab.serve(gzipped(Response(b" " * 8 * MIB)))
    assert lab.capture().code == 3
    assert f"longer than {MIB} bytes" in lab.rows("attempt")[-1]["problem"]


def test_a_cookie_goes_back_and_nothing_else_differs_between_requests(lab: Lab) -> None:
    marked = replace(lab.read("small.py"), headers={"Set-Cookie": "balancer=seven; Path=/"})
    lab.serve(marked, lab.right)
    assert lab.capture().code == 0
    first, second = (dict(hit.headers) for hit in lab.server.hits)
    assert second.pop("cookie") == "balancer=seven"
    assert first.pop("content-length") != second.pop("content-length")
    assert first == second
    assert first["host"] == lab.server.url.split("/")[2]
    assert first["content-type"] == "application/json"
