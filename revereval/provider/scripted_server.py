"""The scripted provider on a loopback port, for the HTTP providers to be pointed at."""

import ipaddress
import socket
import socketserver
import sys
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from revereval.errors import InputError
from revereval.provider.scripted import ScriptedApp, error_body

MAX_REQUEST_BYTES = 256 * 1024 * 1024


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Server"

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._refuse(411, "length_required", "a request needs its Content-Length")
        elif int(length) > MAX_REQUEST_BYTES:
            self._refuse(413, "too_large", f"a request has at most {MAX_REQUEST_BYTES} bytes")
        elif len(body := self.rfile.read(int(length))) < int(length):
            self.close_connection = True
        else:
            self._send(*self.server.app.respond(self.path, body))

    def do_GET(self) -> None:
        self._refuse(404, "not_found", f"no such endpoint: GET {self.path}")

    def _refuse(self, status: int, code: str, problem: str) -> None:
        """Without reading a body: what follows on this connection could not be told apart."""
        self.close_connection = True
        self._send(status, error_body(code, problem))

    def _send(self, status: int, data: bytes) -> None:
        """Head and body in one write, so that no packet waits for another's acknowledgement."""
        head = [
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            "Content-Type: application/json",
            f"Content-Length: {len(data)}",
            f"Connection: {'close' if self.close_connection else 'keep-alive'}",
        ]
        self.wfile.write("\r\n".join([*head, "", ""]).encode() + data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - overridden as it is
        """Quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], app: ScriptedApp) -> None:
        self.app = app
        self._open: set[Any] = set()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Without the base class's look-up of the host's name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Ends connections that are kept alive too; else their threads would go on answering."""
        super().server_close()
        for connection in tuple(self._open):
            with suppress(OSError):  # it may have ended meanwhile
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of the server."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def serve(app: ScriptedApp, host: str, port: int) -> ThreadingHTTPServer:
    """A server bound to a loopback address, 0 for any free port; the caller runs `serve_forever`.

    Raises InputError for another host and where the port cannot be had.
    """
    try:
        loopback = host == "localhost" or ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise InputError("serve-scripted", "host", f"{host!r} is no IPv4 loopback address")
    try:
        return _Server((host, port), app)
    except OSError as error:
        problem = error.strerror or "cannot be had"
        raise InputError("serve-scripted", "port", f"{port}: {problem}") from None
