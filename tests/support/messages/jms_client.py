"""Hear one message as a Java client does, by JMS, and let Hive's own deserializer read it; prints JSON.

python -m tests.support.messages.jms_client PORT TOPIC SELECTOR HIVE_JAR[:HIVE_JAR...]
"""

import json
import os
import sys
from typing import Any

import jpype

from sandbox.brokers.broker import WORDS
from sandbox.brokers.broker_users import JARS, READER
from sandbox.jvm.java import server_java_home


def main(port: str, topic: str, selector: str, hive: str) -> None:
    """Print that it listens, then what came."""
    java = server_java_home() / "lib" / "server" / "libjvm.so"
    classes = [*os.environ[JARS].split(":"), *hive.split(":")]
    jpype.startJVM(str(java), "-Xmx256m", "-XX:TieredStopAtLevel=1", classpath=classes, convertStrings=True)
    factory = jpype.JClass("org.apache.activemq.ActiveMQConnectionFactory")(f"tcp://127.0.0.1:{port}")
    factory.setWatchTopicAdvisories(False)
    connection = factory.createConnection(READER, WORDS[READER])
    connection.start()
    session = connection.createSession(False, 1)
    consumer = session.createConsumer(session.createTopic(f"{topic}.>"), selector)
    print("listening", flush=True)
    message: Any = consumer.receive(60_000)
    text = message.getText()
    read = jpype.JClass("org.apache.hive.hcatalog.messaging.json.JSONMessageDeserializer")().getAddPartitionMessage(
        text
    )
    partitions = [{str(key): str(one[key]) for key in one} for one in read.getPartitions()]
    said = {
        "class": str(message.getClass().getSimpleName()),
        "id": str(message.getStringProperty("twinhive_id")),
        "db": str(read.getDB()),
        "table": str(read.getTable()),
        "type": str(read.getEventType()),
        "partitions": partitions,
    }
    print(json.dumps(said), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
