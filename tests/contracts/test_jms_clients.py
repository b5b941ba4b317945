"""A client of JMS gets a text, may select by header, and Hive's own deserializer reads it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.brokers.broker import broker_environment
from sandbox.brokers.broker_users import PUBLISHER
from sandbox.jvm.jars import ensure_jars
from sandbox.paths import cache_root
from sandbox.ports import is_free
from tests.support.messages.running_broker import RunningBroker
from twinhive.core.model.messages.hive_message import Announcement, AnnouncementKind, Origin
from twinhive.core.model.names import TableName
from twinhive.hive.adapters.brokers.stomp_broker import StompBroker

pytestmark = pytest.mark.sandbox
_HIVE = ("hive-exec-", "hcatalog", "jackson-", "hive-metastore", "libthrift", "slf4j-api", "commons-lang")


def test_a_client_of_jms_hears_what_hive_itself_can_read(tmp_path: Path) -> None:
    port = next(port for port in range(20_500, 20_600) if is_free(port))
    broker = RunningBroker(tmp_path, openwire=port)
    broker.start()
    try:
        hive = [str(jar) for jar in ensure_jars(cache_root()) if any(part in jar.name for part in _HIVE)]
        topic, table = "twinhive.east.sales.orders", TableName("sales", "orders")
        selector = "HCAT_EVENT = 'ADD_PARTITION'"
        command = [
            sys.executable,
            "-m",
            "tests.support.messages.jms_client",
            str(port),
            topic,
            selector,
            ":".join(hive),
        ]
        log = (tmp_path / "client.log").open("wb")
        client = subprocess.Popen(
            command, env=broker_environment(cache_root()), stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert client.stdout is not None
        assert client.stdout.readline().strip() == "listening", (tmp_path / "client.log").read_text()
        origin = Origin("east", "thrift://m1:9083", "log")
        values = {"datestamp": "2011é", "region": "us"}
        said = {"tableType": "MANAGED_TABLE", "partitions": [values], "partition": "datestamp=2011é/region=us"}
        told = [
            Announcement(AnnouncementKind.SET_DONE, table, "7", 0, 1, {"set": "*"}),
            Announcement(AnnouncementKind.PARTITION, table, "8", 0, 1, said),
        ]
        StompBroker(broker.endpoint(PUBLISHER)).publish([one.message(origin, topic) for one in told])
        heard = client.stdout.readline()
        assert heard, (tmp_path / "client.log").read_text()
        assert json.loads(heard) == {
            "class": "ActiveMQTextMessage",
            "id": "log:8:1:0",
            "db": "sales",
            "table": "orders",
            "type": "ADD_PARTITION",
            "partitions": [values],
        }
        client.wait(60)
    finally:
        broker.kill()
