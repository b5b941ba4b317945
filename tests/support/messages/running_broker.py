"""Run a real broker for tests that need no cluster: started, killed, frozen."""

import sys
from pathlib import Path

from sandbox.brokers.broker import broker_environment
from sandbox.jvm.jars import BROKER_JAR_LIST, ensure_jars
from sandbox.paths import cache_root
from sandbox.ports import free_ports
from tests.support.messages.running_server import RunningServer


class RunningBroker(RunningServer):
    """An ActiveMQ Classic on a port of its own."""

    def __init__(self, directory: Path, openwire: int | None = None) -> None:
        ensure_jars(cache_root(), BROKER_JAR_LIST)
        (port,) = free_ports(1)
        more = ["--openwire", str(openwire)] if openwire else []
        command = [sys.executable, "-m", "sandbox.brokers.broker_process", str(port), *more]
        super().__init__("stomp", directory, port, command, broker_environment(cache_root()))
