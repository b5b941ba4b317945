"""Run a real broker for tests that need no cluster: started, killed, frozen."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sandbox.brokers.broker import WORDS, broker_environment
from sandbox.jvm.jars import BROKER_JAR_LIST, ensure_jars
from sandbox.paths import cache_root
from sandbox.ports import accepts, free_ports
from twinhive.model.endpoints import BrokerEndpoint


class RunningBroker:
    """An ActiveMQ Classic on a port of its own."""

    def __init__(self, directory: Path, openwire: int | None = None) -> None:
        ensure_jars(cache_root(), BROKER_JAR_LIST)
        (self.port,) = free_ports(1)
        self._directory, self._openwire = directory, openwire
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        more = ["--openwire", str(self._openwire)] if self._openwire else []
        command = [sys.executable, "-m", "sandbox.brokers.broker_process", str(self.port), *more]
        with (self._directory / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env=broker_environment(cache_root()), cwd=self._directory, stdout=log, stderr=log
            )
        until = time.monotonic() + 60
        while not accepts(self.port):
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError((self._directory / "broker.log").read_text())
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
        return BrokerEndpoint("broker", "stomp", (("127.0.0.1", self.port),), user, word)
