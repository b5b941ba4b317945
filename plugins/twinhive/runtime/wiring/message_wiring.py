"""Build publishers and listeners from settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from twinhive.core.model.endpoints import BrokerEndpoint
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.ports import MessageBroker, MetastoreWriter
from twinhive.hive.adapters.brokers.stomp_broker import StompBroker
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.runtime.settings import Configuration, Resolve
from twinhive.runtime.wiring.resolved_endpoints import host_and_port, metastore_endpoint

_KAFKA = "kafka"
_PORTS: Mapping[str, int] = {"stomp": 61_613, _KAFKA: 9_092}
"""Schemes of brokers, which are types of connections, and their usual ports."""


@dataclass(frozen=True)
class MessagesWiring:
    """One cluster's metastore, its broker, and the rules of its topics."""

    configuration: Configuration
    cluster: str
    resolve: Resolve

    @property
    def topics(self) -> TopicRules:
        """How its topics are named."""
        settings = self.configuration.clusters[self.cluster].messages
        return TopicRules(self.cluster, settings.topic, settings.table_topics)

    @property
    def databases(self) -> AnnouncedDatabases:
        """What is told about."""
        return AnnouncedDatabases(self.configuration.clusters[self.cluster].messages.databases)

    @property
    def reads_by(self) -> str | None:
        """The connection by which it is listened; None where nobody tells."""
        settings = self.configuration.clusters[self.cluster].messages
        return settings.reader or settings.broker

    def metastore(self) -> MetastoreWriter:
        """Return the metastore whose log is told."""
        at = metastore_endpoint(self.configuration.clusters[self.cluster].metastore, self.resolve, self.cluster)
        return ThriftMetastore(at.addresses, at.timeout_seconds, at.user, at.cluster)

    def broker(self, *, reads: bool = False) -> MessageBroker:
        """Return the broker that messages are sent to, or read from. Raises InvalidSettings."""
        settings = self.configuration.clusters[self.cluster].messages
        connection_id = self.reads_by if reads else settings.broker
        if connection_id is None:
            raise InvalidSettings(
                f"cluster {self.cluster} has no broker",
                found=f"no clusters.{self.cluster}.messages.broker in clusters.yaml",
                expected="the id of a connection of type stomp or kafka",
                next_step="add it: docs/messages.md",
            )
        return open_broker(connection_id, self.resolve)


def open_broker(connection_id: str, resolve: Resolve) -> MessageBroker:
    """Return a broker by the id of its connection. Raises InvalidSettings."""
    return broker_at(broker_endpoint(connection_id, resolve))


def broker_at(endpoint: BrokerEndpoint) -> MessageBroker:
    """Return a broker as it is spoken to. Raises InvalidSettings where Kafka's client is not installed."""
    if endpoint.scheme != _KAFKA:
        return StompBroker(endpoint)
    try:
        # Five megabytes that few need: `twinhive[kafka]`.
        from twinhive.hive.adapters.brokers.kafka_broker import KafkaBroker
    except ModuleNotFoundError as error:
        raise InvalidSettings(
            f"connection {endpoint.name} is of type kafka, and its client is not installed",
            found=str(error),
            expected="the Python package confluent-kafka",
            next_step="pip install confluent-kafka, where this command runs",
        ) from error
    return KafkaBroker(endpoint)


def broker_endpoint(connection_id: str, resolve: Resolve) -> BrokerEndpoint:
    """Resolve a broker; a connection may name several hosts, separated by commas. Raises InvalidSettings."""
    connection = resolve(connection_id)
    if connection.kind not in _PORTS:
        raise InvalidSettings(
            f"connection {connection_id} is of no type that brokers have",
            found=connection.kind or "no type",
            expected=", ".join(_PORTS),
            next_step=f"correct connection {connection_id}",
        )
    port = connection.port or _PORTS[connection.kind]
    addresses = [_address(host.strip(), port) for host in connection.host.split(",") if host.strip()]
    if not addresses:
        raise InvalidSettings(
            f"connection {connection_id} names no broker",
            found="no host",
            expected="the host of a broker, or several separated by commas",
            next_step=f"correct connection {connection_id}",
        )
    more = connection.extra if connection.kind == _KAFKA else {}
    login, password = connection.login, connection.password
    return BrokerEndpoint(connection_id, connection.kind, tuple(addresses), login, password, more)


def _address(text: str, port: int) -> tuple[str, int]:
    found = host_and_port(text, port)
    if found is None:
        raise InvalidSettings(
            f"{text} is no address of a broker",
            found=text,
            expected="host, or host:port",
            next_step="correct the connection",
        )
    return found
