"""A reply of hundreds of megabytes: refused at the limit, in bounded memory."""

import os
import subprocess

from tests.loopback import Response, cli, ok
from tests.wire.lab import RIGHT, Lab

MIB = 2**20


def run_measured(lab: Lab) -> tuple[int, int]:
    """Run the capture as a process; its exit code and its peak memory in bytes."""
    command = cli(
        "capture", "tiny-sum", "--config", str(lab.config),
        "--ledger", str(lab.ledger), "--tasks", str(lab.tasks),
    )  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024


def test_hundreds_of_megabytes_end_at_the_limit_in_bounded_memory(lab: Lab) -> None:
    lab.configure(provider={"read_timeout_s": 90.0})
    lab.serve(lab.right)
    code, usual = run_measured(lab)
    assert code == 0
    lab.serve(Response(streamed_bytes=400 * MIB))
    code, peak = run_measured(lab)
    assert code == 3
    assert lab.stop == ("stopped", "ambiguous_dispatch")
    assert "longer than 33554432 bytes" in lab.rows("attempt")[-1]["problem"]
    assert peak - usual < 100 * MIB
    # the client hung up: what it had not read was never sent
    assert lab.server.streamed_bytes < 100 * MIB


def test_an_error_answer_has_the_same_limit(lab: Lab) -> None:
    lab.configure(provider={"max_reply_bytes": MIB, "read_timeout_s": 90.0})
    lab.serve(Response(status=500, streamed_bytes=400 * MIB))
    assert lab.capture().code == 3
    assert lab.attempts == [(1, 1, "ambiguous", 500)]
    assert lab.server.streamed_bytes < 60 * MIB


def test_the_limit_is_a_setting(lab: Lab) -> None:
    long = ok(lab.wire.body("x" * 5000 + RIGHT))
    lab.configure(provider={"max_reply_bytes": len(long.data)})
    lab.serve(long)
    assert lab.capture().code == 0
    lab.configure(provider={"max_reply_bytes": len(long.data) - 1})
    lab.serve(long)
    done = lab.capture()
    assert done.code == 3
    assert f"longer than {len(long.data) - 1} bytes" in done.said
    assert lab.attempts[-1][2:] == ("ambiguous", 200)


def test_a_declared_length_is_no_reason_to_make_room_for_it(lab: Lab) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n{"
    lab.serve(Response(head, raw=True, hang_up=True))
    assert lab.capture().code == 3
    assert lab.stop == ("stopped", "ambiguous_dispatch")


def test_a_large_reply_within_the_limit_is_stored_whole(lab: Lab) -> None:
    text = "é" * (4 * MIB) + RIGHT
    lab.serve(ok(lab.wire.body(text)))
    assert lab.capture().code == 0
    assert lab.blob(lab.run_row["answer_blob_id"]) == text.encode()
    assert lab.reply_blob(0) == lab.server.answers[0].data
    lab.audit()
