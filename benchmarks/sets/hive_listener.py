"""Hive's own NotificationListener on the same broker: messages a second, and what its metastore's users notice.

It sends from inside of the metastore, in the request that adds a partition. It is written against JMS as Java EE had
it, so the metastore gets ActiveMQ's client of that time, which talks to the same broker.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.sets.scene import SECONDS, Scene, metastore_of, said, show
from sandbox import Sandbox
from sandbox.brokers.broker import WORDS
from sandbox.brokers.broker_users import PUBLISHER, READER
from sandbox.jvm.jars import ensure_jars
from sandbox.paths import cache_root
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import text_table
from twinhive.hive.adapters.brokers.stomp_broker import StompBroker

JMS_JAR_LIST = Path(__file__).with_name("jms-jars.txt")
_METASTORE = "east-metastore"
_PREFIX = "twinhive.hive"
_FIRST_SECONDS, _FROZEN_SECONDS = 20.0, 20.0
_A_CALL = 500


def measure_hive(box: Sandbox, scene: Scene, openwire: int, marks: int, partitions: int) -> None:
    """Print Hive's figures; its metastore is as it was afterwards."""
    with _listening_metastore(box, scene, openwire):
        here = Scene(metastore_of(box), scene.broker, scene.files, scene.table)
        # The listener names a table's topic when the table is created.
        table = TableName(scene.table.database, "hives")
        here.metastore.create_table(text_table(table, (("id", "int"),), ("day",)))
        heard = StompBroker(here.broker.endpoint(READER)).subscribe([f"{_PREFIX}.{table.database}"])
        here.add(["first"], table)
        if (message := heard.receive(_FIRST_SECONDS)) is None or "first" not in message.body:
            raise SystemExit("Hive's listener sends nothing: look at the metastore's log")
        single = min(partitions, 500)
        began = time.monotonic()
        for number in range(single):
            here.add([f"one{number}"], table)
        for _ in range(single):
            said(heard)
        seconds = time.monotonic() - began
        print(f"Hive's listener, one partition a call, adding included: {single / seconds:,.0f} messages a second")
        began = time.monotonic()
        calls = range(0, partitions, _A_CALL)
        for at in calls:
            here.add([f"many{number}" for number in range(at, min(at + _A_CALL, partitions))], table)
        for _ in calls:
            said(heard)
        seconds = time.monotonic() - began
        told = f"{len(calls)} messages, one a call, {partitions / seconds:,.0f} partitions a second"
        print(f"Hive's listener, {_A_CALL} partitions a call, adding included: {told}")
        heard.close()
        watched = here.adding("hive_watched", marks)
        here.broker.kill()
        dead = here.adding("hive_dead", marks)
        here.broker.start()
        show("add_partitions with Hive's listener", watched)
        show("add_partitions with Hive's listener, broker dead", dead)
        _lost(here, "hive_dead", marks)
        print(f"add_partitions with Hive's listener, broker frozen: {_frozen(here, box)}", flush=True)


def _lost(scene: Scene, name: str, marks: int) -> None:
    """Tell what comes of what was added while the broker was dead."""
    again = StompBroker(scene.broker.endpoint(READER)).subscribe([f"{_PREFIX}.{scene.table.database}.{name}"])
    scene.add(["after"], TableName(scene.table.database, name))
    found = 0
    while (message := again.receive(5.0)) is not None:
        found += f"{name}" in str(message.body) and '"after"' not in message.body
    again.close()
    print(f"of {marks} partitions added while the broker was dead Hive's listener told {found}", flush=True)


def _frozen(scene: Scene, box: Sandbox) -> str:
    """Tell how long one call took whose broker answers nothing, thawed after a while."""
    table = TableName(scene.table.database, "hive_frozen")
    scene.metastore.create_table(text_table(table, (("id", "int"),), ("day",)))
    scene.add(["0"], table)
    other = Scene(metastore_of(box), scene.broker, scene.files, scene.table)
    scene.broker.freeze()
    began = time.monotonic()
    caller = threading.Thread(target=lambda: other.add(["1"], table), daemon=True)
    caller.start()
    caller.join(_FROZEN_SECONDS)
    hung = caller.is_alive()
    scene.broker.thaw()
    caller.join(SECONDS)
    taken = time.monotonic() - began
    return f"{taken:.1f} s, " + ("it went on when the broker did" if hung else "it did not wait for the broker")


@contextmanager
def _listening_metastore(box: Sandbox, scene: Scene, openwire: int) -> Iterator[None]:
    """Start the metastore of `east` again, with Hive's listener in it."""
    jars = ensure_jars(cache_root(), JMS_JAR_LIST)
    names = scene.files.directory / "jndi"
    names.mkdir(exist_ok=True)
    (names / "jndi.properties").write_text(
        "java.naming.factory.initial=org.apache.activemq.jndi.ActiveMQInitialContextFactory\n"
        f"java.naming.provider.url=tcp://127.0.0.1:{openwire}\n"
        "connectionFactoryNames=ConnectionFactory\n"
        f"userName={PUBLISHER}\npassword={WORDS[PUBLISHER]}\n",
        encoding="utf-8",
    )
    listener = "org.apache.hive.hcatalog.listener.NotificationListener"
    settings = {"hive.metastore.event.listeners": listener, "metastore.event.listeners": listener}
    classes = [str(names), box.servers[_METASTORE].launch().environment["CLASSPATH"], *map(str, jars)]
    box.stop(_METASTORE)
    try:
        box.start(
            _METASTORE,
            {**settings, "hcat.msgbus.topic.prefix": _PREFIX},
            {"CLASSPATH": os.pathsep.join(classes)},
        )
        yield
    finally:
        scene.broker.thaw()
        box.stop(_METASTORE)
        box.start(_METASTORE)
