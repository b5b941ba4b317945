"""Answer `GET /metrics` (Prometheus) and `GET /status` (JSON) for who watches a publisher."""

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from twinhive.publishing.messages.publisher_status import PublisherWatch

_SECONDS = 5.0
"""A client that has not asked by then is hung up on."""


def serve_status(host: str, port: int, watch: PublisherWatch) -> ThreadingHTTPServer:
    """Listen, in threads of its own; the server is the caller's to close. Raises OSError for a port that is taken."""

    class Status(BaseHTTPRequestHandler):
        timeout = _SECONDS

        def do_GET(self) -> None:
            match self.path:
                case "/metrics":
                    self._answer(HTTPStatus.OK, "text/plain; version=0.0.4", watch.prometheus())
                case "/status":
                    self._answer(HTTPStatus.OK, "application/json", json.dumps(watch.document()))
                case _:
                    self._answer(HTTPStatus.NOT_FOUND, "text/plain", "GET /metrics or /status\n")

        def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing: who asks, asks often."""

    server = ThreadingHTTPServer((host, port), Status)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True, name="status").start()
    return server
