"""Be an ActiveMQ Classic broker on loopback: one user that publishes, one that reads, nothing else allowed.

Nothing is kept: topics are for who listens. There is no console, no JMX, and no protocol but STOMP, and OpenWire (for
clients of JMS) where it is asked for.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import jpype

from sandbox.brokers.broker_users import JARS, PASSWORDS, PUBLISHER, READER
from sandbox.configuration import LOOPBACK
from sandbox.jvm.java import server_java_home

TOPICS = "twinhive.>"
_FLAGS = (
    "-Djava.net.preferIPv4Stack=true",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xmx128m",
    "-Xss512k",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


def main(arguments: list[str]) -> None:
    """Run until it is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int, help="for STOMP")
    parser.add_argument("--openwire", type=int, help="a port for clients of JMS")
    parser.add_argument("--host", default=LOOPBACK)
    given = parser.parse_args(arguments)
    java = server_java_home() / "lib" / "server" / "libjvm.so"
    jpype.startJVM(str(java), *_FLAGS, classpath=os.environ[JARS].split(":"), convertStrings=False)
    broker = _broker()
    broker.addConnector(f"stomp://{given.host}:{given.port}?transport.hbGracePeriodMultiplier=2")
    if given.openwire:
        broker.addConnector(f"tcp://{given.host}:{given.openwire}")
    broker.start()
    broker.waitUntilStarted()
    print("started", flush=True)
    broker.waitUntilStopped()


def _broker() -> Any:
    broker = jpype.JClass("org.apache.activemq.broker.BrokerService")()
    broker.setBrokerName("twinhive")
    for switch in ("UseJmx", "AdvisorySupport", "UseShutdownHook", "Persistent", "SchedulerSupport"):
        getattr(broker, f"set{switch}")(False)
    broker.setDataDirectory(str(Path.cwd()))
    plugins = [_users(), _rights()]
    broker.setPlugins(jpype.JArray(jpype.JClass("org.apache.activemq.broker.BrokerPlugin"))(plugins))
    return broker


def _users() -> Any:
    user = jpype.JClass("org.apache.activemq.security.AuthenticationUser")
    passwords = os.environ[PASSWORDS].split()
    users = [user(name, word, f"{name}s") for name, word in zip((PUBLISHER, READER), passwords, strict=True)]
    return jpype.JClass("org.apache.activemq.security.SimpleAuthenticationPlugin")(jpype.java.util.ArrayList(users))


def _rights() -> Any:
    """Publishers write, and make topics; readers read; of queues and other topics nobody may do anything."""
    both, publishers, nobody = f"{PUBLISHER}s,{READER}s", f"{PUBLISHER}s", "nobody"
    entries = [
        _entry("Queue", ">", nobody, nobody, nobody),
        _entry("Topic", ">", nobody, nobody, nobody),
        _entry("Topic", TOPICS, both, publishers, publishers),
    ]
    rights = jpype.JClass("org.apache.activemq.security.DefaultAuthorizationMap")(jpype.java.util.ArrayList(entries))
    return jpype.JClass("org.apache.activemq.security.AuthorizationPlugin")(rights)


def _entry(kind: str, name: str, read: str, write: str, admin: str) -> Any:
    entry = jpype.JClass("org.apache.activemq.security.AuthorizationEntry")()
    getattr(entry, f"set{kind}")(name)
    entry.setRead(read)
    entry.setWrite(write)
    entry.setAdmin(admin)
    return entry


if __name__ == "__main__":
    main(sys.argv[1:])
