"""A way to an interface that fails as planned: in front of a real one, and otherwise unnoticed."""

from __future__ import annotations

import http.client
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Not for the next hop; the length is written anew.
_OWN_HEADERS = ("connection", "transfer-encoding", "content-length", "host")


@dataclass
class Refusal:
    """What happens to the next requests of a kind.

    Attributes
    ----------
    method, path
        Patterns; the path's is searched for.
    after, times
        How many requests of the kind pass first, and how many it happens to.
    status
        Answered without asking the service; None asks it, and then cuts the connection: what was
        asked for is done, and nobody hears of it.
    meanwhile
        Called before the answer goes, or is cut.
    """

    method: str
    path: str
    times: int = 1
    after: int = 0
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    meanwhile: Callable[[], None] | None = None

    def is_for(self, method: str, path: str) -> bool:
        """Return whether a request is of the kind."""
        return bool(re.fullmatch(self.method, method) and re.search(self.path, path))


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a port of this machine; `refusals` are taken first."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port = port
        self.refusals: list[Refusal] = []
        self.seen: list[str] = []
        self._lock = threading.Lock()

    def take(self, method: str, path: str) -> Refusal | None:
        """Return what is planned for a request, once."""
        with self._lock:
            self.seen.append(f"{method} {path}")
            for one in self.refusals:
                if one.times <= 0 or not one.is_for(method, path):
                    continue
                if one.after == 0:
                    one.times -= 1
                    return one
                one.after -= 1
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        planned = self.server.take(self.command, self.path)
        if planned and planned.status is not None:
            self._answer(planned.status, planned.headers, b'{"error": {"message": "planned"}}')
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        # The name by which it was asked for leads back here in the links of answers.
        sent = {key: value for key, value in self.headers.items() if key.lower() != "connection"}
        connection.request(self.command, self.path, body=body, headers=sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if planned:
            if planned.meanwhile:
                planned.meanwhile()
            self._cut()
            return
        kept = {key: value for key, value in answer.getheaders() if key.lower() not in _OWN_HEADERS}
        self._answer(answer.status, kept, content)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = _pass

    def _answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        if status != http.client.NO_CONTENT:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if status != http.client.NO_CONTENT:
            self.wfile.write(content)

    def _cut(self) -> None:
        """End the connection with a reset, not in order."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        self.connection.close()

    def log_message(self, *args: object) -> None:
        """Report nothing."""


@contextmanager
def proxy(port: int) -> Iterator[Proxy]:
    """Run one in front of a port, in threads of this process."""
    server = Proxy(port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
