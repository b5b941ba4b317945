"""Run the message broker: ActiveMQ Classic, which nothing starts by default."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from sandbox.brokers.broker_users import JARS, PASSWORDS, PUBLISHER, READER
from sandbox.configuration import LOOPBACK
from sandbox.jvm.jars import BROKER_JAR_LIST, ensure_jars, jar_files
from sandbox.layout import Layout
from sandbox.paths import CHECKOUT
from sandbox.ports import PortBlock, accepts
from sandbox.running.processes import server_environment
from sandbox.server import Launch, Server

NAME = "activemq"
WORDS: Mapping[str, str] = {PUBLISHER: "publishing", READER: "reading"}
"""Passwords of a broker that nobody reaches but this machine; each user's is written where its connection is."""


class ActiveMq(Server):
    """Be the broker."""

    name = NAME
    # It keeps nothing.
    stop_seconds = 2.0

    def __init__(self, layout: Layout, block: PortBlock, cache: Path) -> None:
        self._layout, self._cache, self._port = layout, cache, block.broker
        self.ports = {"stomp": block.broker}

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Fetch its jars."""
        ensure_jars(self._cache, BROKER_JAR_LIST)
        self._layout.storage(NAME).mkdir(parents=True, exist_ok=True)

    def launch(self) -> Launch:
        """Return the command to run."""
        command = [sys.executable, "-m", "sandbox.brokers.broker_process", str(self._port)]
        return Launch(command, broker_environment(self._cache), directory=self._layout.storage(NAME))

    def is_ready(self) -> bool:
        """Tell whether it listens: it does so last."""
        return accepts(self._port)


def broker_environment(cache: Path) -> dict[str, str]:
    """Return what a broker's process needs to know."""
    jars = ":".join(map(str, jar_files(cache, BROKER_JAR_LIST)))
    own = {JARS: jars, PASSWORDS: " ".join(WORDS.values()), "PYTHONPATH": str(CHECKOUT), "PATH": os.environ["PATH"]}
    return server_environment(own)


def broker_connections(port: int) -> dict[str, str]:
    """Return the connections of both users."""
    users = {"BROKER": PUBLISHER, "BROKER_READER": READER}
    at = {"conn_type": "stomp", "host": LOOPBACK, "port": port}
    return {
        f"AIRFLOW_CONN_{name}": json.dumps({**at, "login": user, "password": WORDS[user]})
        for name, user in users.items()
    }
