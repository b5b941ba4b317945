"""Be a server of messages in a process of its own: started, killed, frozen."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandbox.brokers.broker import WORDS
from sandbox.ports import accepts
from twinhive.core.model.endpoints import BrokerEndpoint


class RunningServer:
    """A server of a kind (`stomp`, `kafka`) on a port of its own; what it keeps in its directory survives a kill."""

    def __init__(
        self, kind: str, directory: Path, port: int, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self.port = port
        self._kind, self._directory = kind, directory
        self._command, self._environment = command, environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        said = self._directory / f"{self._kind}.log"
        with said.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=self._environment, cwd=self._directory, stdout=log, stderr=log
            )
        until = time.monotonic() + 120
        while not accepts(self.port):
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError(said.read_text())
            time.sleep(0.05)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Let it accept connections and say nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def endpoint(self, user: str | None, password: str | None = None) -> BrokerEndpoint:
        """Return how a user reaches it; without a password that of the user."""
        word = password if password is not None else WORDS.get(user or "")
        return BrokerEndpoint("broker", self._kind, (("127.0.0.1", self.port),), user, word)
