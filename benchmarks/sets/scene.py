"""What is measured on: a database of this run, a broker, and how figures are printed."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox import Sandbox
from sandbox.brokers.broker_users import PUBLISHER, READER
from tests.support.messages.running_broker import RunningBroker
from tests.support.policies import PolicyFiles
from tests.support.users.thrift_source import ThriftSource
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.thrift_objects import new_partition, text_table
from twinhive.hive.adapters.brokers.stomp_broker import StompBroker, StompSubscription
from twinhive.publishing.messages.positions import PositionStore
from twinhive.publishing.sets.marking_sets import MarkSet

SECONDS = 120.0
"""So long a message, or a publisher, is waited for."""


@dataclass
class Scene:
    """A table of a real metastore, a real broker, and the files of a configuration that names both."""

    metastore: ThriftSource
    broker: RunningBroker
    files: PolicyFiles
    table: TableName

    @classmethod
    def of(cls, metastore: ThriftSource, broker: RunningBroker, directory: Path, database: str) -> "Scene":
        """Make the database and its table, with one set that is marked."""
        table = TableName(database, "logs")
        metastore.create_database(Database(database, None, None, {}, "{}"))
        metastore.create_table(text_table(table, (("id", "int"),), ("day",)))
        MarkSet(table, "day=first", "first", "benchmark").run(metastore)
        return cls(metastore, broker, PolicyFiles(directory / "config"), table)

    def start_publisher(self) -> "subprocess.Popen[bytes]":
        """Start one, and wait until it sends."""
        end = self.broker.endpoint(PUBLISHER)
        connection = {"conn_type": "stomp", "host": "127.0.0.1", "port": self.broker.port, "login": end.user}
        os.environ["AIRFLOW_CONN_BUS"] = json.dumps({**connection, "password": end.password})
        clusters = (self.files.directory / "clusters.yaml").read_text(encoding="utf-8")
        settings = f"  east:\n    messages: {{broker: bus, databases: ['{self.table.database}']}}"
        self.files.write("clusters.yaml", clusters.replace("  east:", settings, 1))
        command = [sys.executable, "-m", "twinhive.surfaces.cli.app", "publish", "east", "--name", str(os.getpid())]
        command += ["--patience", "6", "--config", str(self.files.directory)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + SECONDS
        while not ((kept := PositionStore(self.metastore).read()) and kept.holder == str(os.getpid())):
            if time.monotonic() > until:
                raise SystemExit("the publisher does not start")
            time.sleep(0.1)
        return process

    def listen(self) -> StompSubscription:
        """Hear all topics of the database."""
        return StompBroker(self.broker.endpoint(READER)).subscribe([f"twinhive.east.{self.table.database}"])

    def mark(self, name: str) -> None:
        """Mark the set of a day."""
        MarkSet(self.table, f"day={name}", name, "benchmark").run(self.metastore)

    def mark_whole(self, token: str) -> None:
        """Mark the whole table: whoever waits for a day is content with that."""
        MarkSet(self.table, "*", token, "benchmark").run(self.metastore)

    def add(self, names: Sequence[str], table: TableName | None = None) -> None:
        """Add partitions by one call."""
        owner = self.metastore.table(table or self.table)
        assert owner is not None
        self.metastore.add_partitions([new_partition(owner, (name,), {}) for name in names])

    def adding(self, name: str, count: int) -> list[float]:
        """Return what each of so many calls took, on a table of their own: the more partitions, the longer."""
        table = TableName(self.table.database, name)
        self.metastore.create_table(text_table(table, (("id", "int"),), ("day",)))
        taken = []
        for number in range(count):
            began = time.monotonic()
            self.add([f"{name}{number}"], table)
            taken.append(time.monotonic() - began)
        return taken


def metastore_of(box: Sandbox) -> ThriftSource:
    """Return a client of the metastore of `east`."""
    east = box.clusters["east"]
    return ThriftSource([(east.metastore_host, east.metastore_port)], 60.0, east.user, file_system=east.hdfs_uri)


def said(heard: StompSubscription) -> str:
    """Return which set or partition the next message is about."""
    message = heard.receive(SECONDS)
    if message is None:
        raise SystemExit("a message did not come")
    body = json.loads(message.body)
    return str(body.get("set") or body.get("partition") or body.get("partitions"))


def peak_mb(process: "subprocess.Popen[bytes]") -> float:
    """Return the most memory that a process has held, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) * 1024 / 1e6


def p95(seconds: Sequence[float]) -> float:
    """Return what 95 of 100 are below."""
    return sorted(seconds)[max(0, round(len(seconds) * 0.95) - 1)]


def show(what: str, seconds: Sequence[float], most: float | None = None) -> None:
    """Print the median and the p95 of times, and whether the second keeps below a limit."""
    kept = "" if most is None else f" (below {most * 1e3:,.0f}: {'kept' if p95(seconds) < most else 'NOT KEPT'})"
    middle = statistics.median(seconds) * 1e3
    print(f"{what}: median {middle:,.1f} ms, p95 {p95(seconds) * 1e3:,.1f} ms{kept}", flush=True)
