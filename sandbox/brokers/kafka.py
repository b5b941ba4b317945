"""Run a Kafka server: KRaft, one node, SASL/PLAIN, and rights by ACLs. Only tests of the nightly run start it."""

import os
import subprocess
import uuid
from pathlib import Path

from sandbox.brokers.broker import WORDS
from sandbox.brokers.broker_users import PUBLISHER, READER
from sandbox.configuration import LOOPBACK
from sandbox.errors import SandboxError
from sandbox.jvm.jars import ensure_jars
from sandbox.jvm.java import server_java_home
from sandbox.running.processes import server_environment

KAFKA_JAR_LIST = Path(__file__).with_name("kafka-jars.txt")
ADMIN, ADMIN_WORD = "admin", "administering"
TOPICS = "twinhive."
_FLAGS = (
    "-Djava.net.preferIPv4Stack=true",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xmx256m",
    "-Xss512k",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def properties(port: int, controller: int, directory: Path) -> str:
    """Return the server's configuration: who gives no name, or has no right, may do nothing."""
    users = {ADMIN: ADMIN_WORD, **WORDS}
    known = " ".join(f'user_{name}="{word}"' for name, word in users.items())
    login = f'{_LOGIN} username="{ADMIN}" password="{ADMIN_WORD}" {known};'
    said = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
        "listeners": f"CLIENTS://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller}",
        "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "inter.broker.listener.name": "CLIENTS",
        "controller.listener.names": "CONTROLLER",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.clients.plain.sasl.jaas.config": login,
        "listener.name.controller.plain.sasl.jaas.config": login,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ADMIN}",
        "allow.everyone.if.no.acl.found": "false",
        "auto.create.topics.enable": "false",
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.replication.factor": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "log.dirs": directory / "data",
        "num.network.threads": 2,
        "num.io.threads": 2,
        "log.cleaner.dedupe.buffer.size": 4_194_304,
    }
    return "".join(f"{key}={value}\n" for key, value in said.items())


def prepare(cache: Path, directory: Path, port: int, controller: int) -> list[str]:
    """Format a data directory; return the command that runs the server there."""
    jars = ":".join(map(str, ensure_jars(cache, KAFKA_JAR_LIST)))
    configuration = directory / "server.properties"
    configuration.write_text(properties(port, controller, directory))
    java = [str(server_java_home() / "bin" / "java"), *_FLAGS, "-cp", jars]
    tool = [*java, "kafka.tools.StorageTool", "format", "--config", str(configuration)]
    done = subprocess.run(
        [*tool, "--cluster-id", uuid.uuid4().hex[:22], "--ignore-formatted"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SandboxError(f"Kafka's directory {directory} could not be formatted: {done.stdout}{done.stderr}")
    return [*java, "kafka.Kafka", str(configuration)]


def environment() -> dict[str, str]:
    """Return the environment of its processes."""
    return server_environment({"PATH": os.environ["PATH"]})


def grant(port: int, seconds: float = 60.0) -> None:
    """Give publishers the right to write and make topics, readers that to read; wait until the server answers."""
    from confluent_kafka.admin import (  # type: ignore[attr-defined]
        AclBinding,
        AclOperation,
        AclPermissionType,
        AdminClient,
        ResourcePatternType,
        ResourceType,
    )

    admin = AdminClient(
        {
            "bootstrap.servers": f"{LOOPBACK}:{port}",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": ADMIN,
            "sasl.password": ADMIN_WORD,
            "log_level": 0,
        }
    )
    rights = {
        PUBLISHER: (AclOperation.WRITE, AclOperation.CREATE, AclOperation.DESCRIBE),
        READER: (AclOperation.READ, AclOperation.DESCRIBE),
    }
    bindings = [
        AclBinding(
            ResourceType.TOPIC,
            TOPICS,
            ResourcePatternType.PREFIXED,
            f"User:{user}",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )
        for user, operations in rights.items()
        for operation in operations
    ]
    for granted in admin.create_acls(bindings, request_timeout=seconds).values():
        granted.result(seconds)
