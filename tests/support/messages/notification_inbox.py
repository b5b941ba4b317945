"""Receive what is sent to people: a small HTTP server and a small mail server on the loopback."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Hook(HTTPServer):
    """Keep what is posted: path, headers, JSON; answer with `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Post)
        self.posted: list[tuple[str, dict[str, str], Any]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def bodies(self) -> list[Any]:
        return [body for _, _, body in self.posted]


class _Post(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.status == 200:
            self.server.posted.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class MailServer(socketserver.ThreadingTCPServer):
    """Keep the letters that are handed over, and to whom they go; refuse them while `refuses`."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.letters: list[tuple[list[str], EmailMessage]] = []
        self.refuses = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 here")
        to: list[str] = []
        while line := self.rfile.readline().strip():
            word = line.split(b" ")[0].split(b":")[0].upper()
            if word == b"QUIT":
                return self._say("221 bye")
            if word == b"RCPT":
                to.append(line.decode().partition("<")[2].partition(">")[0])
            if word == b"DATA":
                self._say("354 go on")
                self.server.letters.append((to, self._letter()))
                to = []
            self._say("550 not from you" if word == b"MAIL" and self.server.refuses else "250 fine")
        return None

    def _letter(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line)
        letter = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(letter, EmailMessage)
        return letter

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[None]:
    """Serve while the context lasts."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
