"""Run a real Kafka server for tests that need no cluster: started, killed, frozen."""

from pathlib import Path

from sandbox.brokers.kafka import environment, grant, prepare
from sandbox.paths import cache_root
from sandbox.ports import free_ports
from tests.support.messages.running_server import RunningServer


class RunningKafka(RunningServer):
    """One KRaft node on ports of its own."""

    def __init__(self, directory: Path) -> None:
        port, controller = free_ports(2)
        command = prepare(cache_root(), directory, port, controller)
        super().__init__("kafka", directory, port, command, environment())

    def start(self) -> None:
        """Start it, and wait until it answers, and knows who may do what."""
        super().start()
        grant(self.port)
