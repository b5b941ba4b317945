"""Run a real Kafka server for tests that need no cluster: started, killed, frozen."""

import os
import signal
import subprocess
import time
from pathlib import Path

from sandbox.brokers.broker import WORDS
from sandbox.brokers.kafka import environment, grant, prepare
from sandbox.paths import cache_root
from sandbox.ports import accepts, free_ports
from twinhive.model.endpoints import BrokerEndpoint


class RunningKafka:
    """One KRaft node on ports of its own; what it keeps survives a kill."""

    def __init__(self, directory: Path) -> None:
        self.port, controller = free_ports(2)
        self._directory = directory
        self._command = prepare(cache_root(), directory, self.port, controller)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers, and knows who may do what."""
        with (self._directory / "kafka.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=environment(), cwd=self._directory, stdout=log, stderr=log
            )
        until = time.monotonic() + 120
        while not accepts(self.port):
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError((self._directory / "kafka.log").read_text())
            time.sleep(0.1)
        grant(self.port)

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
        return BrokerEndpoint("broker", "kafka", (("127.0.0.1", self.port),), user, word)
