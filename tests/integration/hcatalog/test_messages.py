"""A publisher tells what a real metastore's log says through a real broker: killed, fenced, alone, with a gap."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.brokers.broker import WORDS
from sandbox.brokers.broker_users import PUBLISHER, READER
from tests.integration.damage import Databases
from tests.support.hive.contract_metastores import a_database_on
from tests.support.messages.running_broker import RunningBroker
from tests.support.messages.running_kafka import RunningKafka
from tests.support.policies import PolicyFiles
from tests.support.users.thrift_source import ThriftSource
from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import new_partition, text_table
from twinhive.hive.adapters.brokers.stomp_broker import StompBroker
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.positions import POSITION_TABLE, PositionStore
from twinhive.publishing.messages.publishing_messages import Publisher, PublisherRules, PublisherStanding
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet

pytestmark = pytest.mark.sandbox
SECONDS = 60.0


class Scene:
    """A table on a real metastore, a real broker, and who listens to it."""

    def __init__(self, metastore: Any, broker: RunningBroker, files: PolicyFiles, database: str) -> None:
        self.metastore, self.broker, self.files = metastore, broker, files
        self.table = TableName(database, "logs")
        metastore.create_table(text_table(self.table, (("id", "int"),), ("day", "region")))
        self.reader = StompBroker(broker.endpoint(READER))
        self.processes: list[subprocess.Popen[bytes]] = []
        self.seen: dict[str, str] = {}
        self.heard = self.reader.subscribe([f"twinhive.east.{database}"])

    def add(self, *days: str) -> None:
        owner = self.metastore.table(self.table)
        self.metastore.add_partitions([new_partition(owner, (day, "us"), {}) for day in days])

    def publisher(self, holder: str, patience: float = 15.0) -> Publisher:
        rules = PublisherRules(TopicRules("east"), AnnouncedDatabases((self.table.database,)), holder, patience)
        return Publisher(self.metastore, StompBroker(self.broker.endpoint(PUBLISHER)), rules)

    def process(self, name: str, *more: str) -> "subprocess.Popen[bytes]":
        command = [
            sys.executable,
            "-m",
            "twinhive.surfaces.cli.app",
            "publish",
            "east",
            "--name",
            name,
            "--poll",
            "0.2",
            *more,
        ]
        log = (self.files.directory / f"{name}.log").open("ab")
        environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
        arguments = [*command, "--config", str(self.files.directory)]
        process = subprocess.Popen(arguments, stderr=log, stdout=log, env=environment)
        self.processes.append(process)
        return process

    def ends(self, process: "subprocess.Popen[bytes]", number: signal.Signals) -> int:
        """Return its exit code. A failure shows where each thread of it was, and its log."""
        process.send_signal(number)
        try:
            return process.wait(SECONDS)
        except subprocess.TimeoutExpired as error:
            process.send_signal(signal.SIGABRT)
            process.wait(SECONDS)
            logs = [path.read_text() for path in sorted(self.files.directory.glob("*.log"))]
            raise AssertionError("\n".join(logs)) from error

    def wait_until_active(self, name: str) -> None:
        until = time.monotonic() + SECONDS
        while not ((kept := PositionStore(self.metastore).read()) and kept.holder == name):
            assert time.monotonic() < until, (self.files.directory / f"{name}.log").read_text()
            time.sleep(0.05)

    def texts(self, count: int, of: Any = None) -> list[str]:
        """Return so many messages that were not heard before."""
        found: list[str] = []
        while len(found) < count:
            message = (of or self.heard).receive(SECONDS)
            assert message is not None, found
            body = json.loads(message.body)
            text = f"{message.kind} {body.get('partition') or body.get('set') or body.get('first')}"
            if message.id not in self.seen:
                found.append(text)
            self.seen[message.id] = text
        return found


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    running = RunningBroker(tmp_path_factory.mktemp("broker"))
    running.start()
    yield running
    running.kill()


@pytest.fixture
def scene(sandbox: Sandbox, broker: RunningBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    files = PolicyFiles(tmp_path / "config")
    east = sandbox.clusters["east"]
    metastore = ThriftSource([(east.metastore_host, east.metastore_port)], 60.0, east.user, file_system=east.hdfs_uri)
    at = {"conn_type": "stomp", "host": "127.0.0.1", "port": broker.port, "login": PUBLISHER, "password": "publishing"}
    monkeypatch.setenv("AIRFLOW_CONN_BUS", json.dumps(at))
    with a_database_on(metastore) as database:
        clusters = (files.directory / "clusters.yaml").read_text()
        settings = f"  east:\n    messages: {{broker: bus, databases: ['{database}']}}"
        (files.directory / "clusters.yaml").write_text(clusters.replace("  east:", settings, 1))
        metastore.drop_table(POSITION_TABLE, delete_data=True)
        scene = Scene(metastore, broker, files, database)
        yield scene
        for process in scene.processes:
            process.kill()
            process.wait()
        scene.heard.close()
        metastore.drop_table(POSITION_TABLE, delete_data=True)


def test_partitions_and_sets_are_told_in_the_order_of_the_log(scene: Scene) -> None:
    publisher = scene.publisher("one")
    assert publisher.round() is PublisherStanding.ACTIVE
    scene.add("1", "2")
    MarkSet(scene.table, "day=1", "t", "ann").run(scene.metastore)
    MarkSet(scene.table, "day=1", "u", "ann").run(scene.metastore)
    UnmarkSet(scene.table, "day=1").run(scene.metastore)
    publisher.round()
    added = [f"ADD_PARTITION day={day}/region=us" for day in "12"]
    assert scene.texts(5) == [*added, "SET_DONE day=1", "SET_DONE day=1", "SET_OPEN day=1"]
    publisher.leave()


@pytest.mark.thorough
def test_a_process_that_is_killed_again_and_again_tells_everything_and_two_of_them_follow_each_other(
    scene: Scene,
) -> None:
    """By kill, by a freeze, in order; below 60 MB."""
    expected = []
    one = scene.process("one")
    scene.wait_until_active("one")
    for number in range(3):
        scene.add(str(number))
        expected.append(f"ADD_PARTITION day={number}/region=us")
        scene.ends(one, signal.SIGKILL)
        one = scene.process("one")
    two = scene.process("two", "--patience", "6")
    assert scene.texts(3) == expected
    os.kill(one.pid, signal.SIGSTOP)
    scene.add("frozen")
    assert scene.texts(1)[-1:] == ["ADD_PARTITION day=frozen/region=us"]
    scene.wait_until_active("two")
    os.kill(one.pid, signal.SIGCONT)
    peak = max(
        int(line.split()[1]) for line in Path(f"/proc/{two.pid}/status").read_text().splitlines() if "VmHWM" in line
    )
    assert peak < 60 * 1024, f"{peak} kB"
    assert scene.ends(two, signal.SIGTERM) == 0
    scene.wait_until_active("one")
    scene.add("again")
    scene.texts(1)
    assert scene.ends(one, signal.SIGTERM) == 0


@pytest.mark.thorough
def test_a_broker_that_is_killed_or_frozen_delays_what_is_told_and_nothing_else(scene: Scene) -> None:
    process = scene.process("one")
    scene.wait_until_active("one")
    scene.broker.kill()
    for number in range(200):
        scene.add(str(number))
    assert process.poll() is None
    scene.broker.start()
    again = scene.reader.subscribe([f"twinhive.east.{scene.table.database}"])
    assert scene.texts(200, again) == [f"ADD_PARTITION day={number}/region=us" for number in range(200)]
    scene.broker.freeze()
    scene.add("frozen")
    time.sleep(1)  # it sends, and waits for a receipt
    scene.broker.thaw()
    assert scene.texts(1, again) == ["ADD_PARTITION day=frozen/region=us"]
    assert scene.ends(process, signal.SIGTERM) == 0
    again.close()


@pytest.mark.thorough
def test_the_second_broker_of_a_pair_takes_over_when_the_first_is_killed(scene: Scene, tmp_path: Path) -> None:
    """A slave accepts nobody while its master lives; both who publish and who listen know both addresses."""
    slave = RunningBroker(tmp_path)
    both = (*scene.broker.endpoint(PUBLISHER).addresses, *slave.endpoint(PUBLISHER).addresses)
    publisher_end, reader_end = (replace(scene.broker.endpoint(user), addresses=both) for user in (PUBLISHER, READER))
    rules = PublisherRules(TopicRules("east"), AnnouncedDatabases((scene.table.database,)), "one", 15.0)
    publisher = Publisher(scene.metastore, StompBroker(publisher_end), rules)
    reader = StompBroker(reader_end)
    publisher.round()
    scene.add("1")
    publisher.round()
    assert scene.texts(1) == ["ADD_PARTITION day=1/region=us"]
    scene.broker.kill()
    slave.start()
    try:
        heard = reader.subscribe([f"twinhive.east.{scene.table.database}"])
        scene.add("2")
        until = time.monotonic() + SECONDS
        while publisher.round() is not PublisherStanding.ACTIVE:
            assert time.monotonic() < until
        assert scene.texts(1, heard) == ["ADD_PARTITION day=2/region=us"]
        heard.close()
        publisher.leave()
    finally:
        slave.kill()
        scene.broker.start()


@pytest.mark.nightly(
    "tests/integration/hcatalog/test_messages.py::test_partitions_and_sets_are_told_in_the_order_of_the_log",
    "tests/contracts/test_broker_contract.py",
)
def test_the_commands_speak_to_kafka_too(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`publish` as who may write, `listen` as who may read, both against a real server with rights."""
    kafka = RunningKafka(tmp_path)
    kafka.start()
    for name, user in (("BUS", PUBLISHER), ("BUS_READER", READER)):
        at = {"conn_type": "kafka", "host": "127.0.0.1", "port": kafka.port, "login": user, "password": WORDS[user]}
        monkeypatch.setenv(f"AIRFLOW_CONN_{name}", json.dumps(at))
    clusters = (scene.files.directory / "clusters.yaml").read_text()
    scene.files.write("clusters.yaml", clusters.replace("{broker: bus,", "{broker: bus, reader: bus_reader,"))
    twinhive, config = [sys.executable, "-m", "twinhive.surfaces.cli.app"], ["--config", str(scene.files.directory)]
    table = str(scene.table)
    topic = subprocess.run([*twinhive, "topic", "east", table, *config], capture_output=True, text=True, check=True)
    assert topic.stdout.strip() == f"twinhive.east.{table}"
    try:
        publisher = scene.process("one")
        scene.wait_until_active("one")
        listen = [*twinhive, "listen", "east", table, "--count", "2", "--timeout", "60", *config]
        with subprocess.Popen(listen, stdout=subprocess.PIPE, text=True) as listener:
            assert listener.stdout is not None
            assert json.loads(listener.stdout.readline()) == {"listening": [f"twinhive.east.{table}"]}
            scene.add("1")
            MarkSet(scene.table, "day=1", "t").run(scene.metastore)
            heard = [json.loads(line) for line in listener.stdout]
        assert listener.returncode == 0
        assert [(one["event"], one.get("partition") or one["set"]) for one in heard] == [
            ("ADD_PARTITION", "day=1/region=us"),
            ("SET_DONE", "day=1"),
        ]
        assert scene.ends(publisher, signal.SIGTERM) == 0
    finally:
        kafka.kill()


def test_events_that_were_cleaned_are_told_as_a_gap(scene: Scene, sandbox: Sandbox) -> None:
    publisher = scene.publisher("one")
    publisher.round()
    before = scene.metastore.current_event_id()
    scene.add("1")
    first = scene.metastore.current_event_id()
    scene.add("2")
    with Databases(sandbox).lost_events(before + 1, first):
        publisher.round()
        publisher.round()
    found = scene.texts(2)
    assert found[0].startswith("GAP") and found[1] == "ADD_PARTITION day=2/region=us"
    publisher.leave()
