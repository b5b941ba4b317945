"""Measure how soon sets and partitions are told, how many messages a second, and what a broker's death costs others.

    python -m benchmarks.sets --marks 30 --partitions 3000

A real metastore, a real broker, a publisher in a process of its own that looks once a second, and a listener. Prints
the time from mark and from added partition to message (median, p95), messages a second while partitions are added, 500
a call, the publisher's memory, and the time of the call that adds a partition to a new table: without a publisher, with
one, and with one whose broker is dead.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import load_average
from benchmarks.sides import Clusters
from sandbox.broker_users import PUBLISHER, READER
from tests.support.policies import PolicyFiles
from tests.support.running_broker import RunningBroker
from twinhive.adapters.brokers.stomp_broker import StompBroker, StompSubscription
from twinhive.messages.positions import PositionStore
from twinhive.model.names import TableName
from twinhive.model.objects import Database
from twinhive.model.thrift_objects import new_partition, text_table
from twinhive.ports import MetastoreWriter
from twinhive.sets.marking import MarkSet
from twinhive.settings import load_configuration, resolve_from_environment
from twinhive.wiring.clusters import cluster_metastore

_SECONDS = 120.0


def main() -> None:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--marks", type=int, default=30)
    parser.add_argument("--partitions", type=int, default=3_000)
    parser.add_argument("--instance", default="sets")
    options = parser.parse_args()
    os.environ.update(Clusters.start(options.instance).box.environment())
    directory = Path(tempfile.mkdtemp(prefix="twinhive-sets-"))
    broker = RunningBroker(directory)
    broker.start()
    try:
        _measure(directory, broker, options.marks, options.partitions)
    finally:
        broker.kill()


def _measure(directory: Path, broker: RunningBroker, marks: int, partitions: int) -> None:
    files = PolicyFiles(directory / "config")
    metastore = cluster_metastore(load_configuration(files.directory), "east", resolve_from_environment)
    table = TableName(f"sets_{os.getpid()}", "logs")
    metastore.create_database(Database(table.database, None, None, {}, "{}"))
    metastore.create_table(text_table(table, (("id", "int"),), ("day",)))
    MarkSet(table, "*", "first", "benchmark").run(metastore)
    alone = _adding(metastore, table, "alone", marks)
    publisher = _publisher(files, broker, table.database)
    try:
        _wait_for_position(metastore, files.directory.name)
        heard = StompBroker(broker.endpoint(READER)).subscribe([f"twinhive.east.{table.database}"])
        print(f"load {load_average()}, {marks} marks, {partitions} partitions, one look a second")
        _print("mark to message", _delays(heard, marks, lambda name: _mark(metastore, table, name)))
        _print("partition to message", _delays(heard, marks, lambda name: _add(metastore, table, [name])))
        began = time.monotonic()
        names = [f"many{number}" for number in range(partitions)]
        for at in range(0, partitions, 500):
            _add(metastore, table, names[at : at + 500])
        for _ in names:
            _next(heard)
        seconds = time.monotonic() - began
        print(f"{partitions} partitions, adding included: {partitions / seconds:,.0f} messages a second")
        watched = _adding(metastore, table, "watched", marks)
        broker.kill()
        dead = _adding(metastore, table, "dead", marks)
        for what, found in (("no publisher", alone), ("a publisher", watched), ("its broker dead", dead)):
            _print(f"add_partitions with {what}", found)
        broker.start()
        began = time.monotonic()
        again = StompBroker(broker.endpoint(READER)).subscribe([f"twinhive.east.{table.database}"])
        while not _next(again).endswith(f"dead{marks - 1}"):
            pass
        print(f"all told again {time.monotonic() - began:.1f} s after the broker was back")
        status = Path(f"/proc/{publisher.pid}/status").read_text(encoding="utf-8")
        peak = next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)
        print(f"the publisher took {peak / 1024:.0f} MB at most")
    finally:
        publisher.terminate()
        publisher.wait(60)


def _publisher(files: PolicyFiles, broker: RunningBroker, database: str) -> "subprocess.Popen[bytes]":
    end = broker.endpoint(PUBLISHER)
    connection = {"conn_type": "stomp", "host": "127.0.0.1", "port": broker.port, "login": end.user}
    os.environ["AIRFLOW_CONN_BUS"] = json.dumps({**connection, "password": end.password})
    clusters = (files.directory / "clusters.yaml").read_text(encoding="utf-8")
    settings = f"  east:\n    messages: {{broker: bus, databases: ['{database}']}}"
    files.write("clusters.yaml", clusters.replace("  east:", settings, 1))
    command = [sys.executable, "-m", "twinhive.cli.app", "publish", "east", "--name", str(os.getpid())]
    return subprocess.Popen([*command, "--patience", "6", "--config", str(files.directory)], stderr=subprocess.DEVNULL)


def _wait_for_position(metastore: MetastoreWriter, name: str) -> None:
    until = time.monotonic() + _SECONDS
    while not ((kept := PositionStore(metastore).read()) and kept.holder == str(os.getpid())):
        if time.monotonic() > until:
            raise SystemExit(f"{name}: the publisher does not start")
        time.sleep(0.1)


def _add(metastore: MetastoreWriter, table: TableName, names: list[str]) -> None:
    owner = metastore.table(table)
    assert owner is not None
    metastore.add_partitions([new_partition(owner, (name,), {}) for name in names])


def _mark(metastore: MetastoreWriter, table: TableName, name: str) -> None:
    MarkSet(table, f"day={name}", name, "benchmark").run(metastore)


def _next(heard: StompSubscription) -> str:
    message = heard.receive(_SECONDS)
    if message is None:
        raise SystemExit("a message did not come")
    body = json.loads(message.body)
    return str(body.get("set") or body.get("partition"))


def _delays(heard: StompSubscription, count: int, happen: Callable[[str], None]) -> list[float]:
    delays = []
    for number in range(count):
        name = f"{happen.__code__.co_firstlineno}x{number}"  # of this series alone
        began = time.monotonic()
        happen(name)
        while _next(heard) != f"day={name}":
            pass
        delays.append(time.monotonic() - began)
        # Looks are made once a second: not always at the same moment after one.
        time.sleep(0.137 * (number % 7))
    return delays


def _adding(metastore: MetastoreWriter, table: TableName, name: str, count: int) -> list[float]:
    """Return what each of so many calls took, on a table of their own: the more partitions there are, the longer."""
    table = TableName(table.database, name)
    metastore.create_table(text_table(table, (("id", "int"),), ("day",)))
    taken = []
    for number in range(count):
        began = time.monotonic()
        _add(metastore, table, [f"{name}{number}"])
        taken.append(time.monotonic() - began)
    return taken


def _print(what: str, seconds: list[float]) -> None:
    p95 = sorted(seconds)[max(0, round(len(seconds) * 0.95) - 1)]
    print(f"{what}: median {statistics.median(seconds) * 1e3:,.0f} ms, p95 {p95 * 1e3:,.0f} ms")


if __name__ == "__main__":
    main()
