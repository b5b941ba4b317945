"""What may be wrong where messages are published and listened to."""

import json
import sys
from collections.abc import Callable

from tests.bad_input.case import TRY_AGAIN, USAGE, Case
from tests.bad_input.desk import Desk
from tests.support.builders import a_table
from tests.support.messages.memory_broker import MemoryBroker
from twinhive.core.model.objects import Database
from twinhive.runtime.wiring.message_wiring import MessagesWiring

_EAST = ("publish", "east", "--once")
_REAL_BROKER = MessagesWiring.broker


def _connection(**fields: object) -> Callable[[Desk], None]:
    """Look the broker up as it is done outside of tests, through this connection."""

    def spoil(desk: Desk) -> None:
        desk.patch.setattr(MessagesWiring, "broker", _REAL_BROKER)
        clusters = desk.policies.directory / "clusters.yaml"
        clusters.write_text(clusters.read_text().replace("  east:", "  east:\n    messages: {broker: bus}", 1))
        if fields:
            desk.patch.setenv("AIRFLOW_CONN_BUS", json.dumps(fields))

    return spoil


def _topics(pattern: str) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        clusters = desk.policies.directory / "clusters.yaml"
        told = f'  east:\n    messages: {{broker: bus, topic: "{pattern}"}}'
        clusters.write_text(clusters.read_text().replace("  east:", told, 1))

    return spoil


def _without(desk: Desk) -> None:
    desk.patch.setattr(MessagesWiring, "broker", _REAL_BROKER)


def _that(**how: bool) -> Callable[[Desk], None]:
    return lambda desk: desk.patch.setattr(
        MessagesWiring, "broker", lambda wiring, reads=False: MemoryBroker(desk.terminal.broker, **how)
    )


def _down(desk: Desk) -> None:
    desk.terminal.type(*_EAST)
    desk.terminal.broker.down = True


def _foreign_position(desk: Desk) -> None:
    source = desk.world.source
    source.create_database(Database("twinhive", None, None, {}, "{}"))
    source.create_table(a_table("twinhive.publisher"))


def _rude(desk: Desk) -> None:
    table = a_table("sales.rude").with_parameters({"hcat.msgbus.topic.name": "payments.>"})
    desk.world.source.create_table(table)


def _without_client(desk: Desk) -> None:
    _connection(conn_type="kafka", host="b1")(desk)
    desk.patch.setitem(sys.modules, "confluent_kafka", None)
    desk.patch.delitem(sys.modules, "twinhive.hive.adapters.brokers.kafka_broker", raising=False)


MESSAGE_CASES: tuple[Case, ...] = (
    Case("messages: a cluster that is not there", ("publish", "north"), ("there is no cluster north",)),
    Case("messages: a cluster without a broker", _EAST, ("cluster east has no broker",), spoil=_without),
    Case("messages: a connection that is not there", _EAST, ("connection bus is not known",), spoil=_connection()),
    Case(
        "messages: a connection of another type",
        _EAST,
        ("connection bus is of no type that brokers have", "found:    hdfs"),
        spoil=_connection(conn_type="hdfs", host="b1"),
    ),
    Case(
        "messages: a connection without a host",
        _EAST,
        ("connection bus names no broker",),
        spoil=_connection(conn_type="stomp"),
    ),
    Case(
        "messages: a port that is none",
        _EAST,
        ("b1:stomp is no address of a broker",),
        spoil=_connection(conn_type="stomp", host="b1:stomp"),
    ),
    Case("messages: a wrong password", _EAST, ("broker memory refuses us",), spoil=_that(knows_us=False)),
    Case(
        "messages: Kafka without its client",
        _EAST,
        ("connection bus is of type kafka, and its client is not installed", "pip install confluent-kafka"),
        spoil=_without_client,
    ),
    Case(
        "messages: Kafka told to lose messages",
        _EAST,
        ("connection bus sets what decides whether messages are lost", "found:    acks"),
        spoil=_connection(conn_type="kafka", host="127.0.0.1", port=1, extra={"acks": "0"}),
    ),
    Case(
        "messages: a property that Kafka's client does not know",
        _EAST,
        ("connection bus cannot be used for Kafka", 'No such configuration property: "ssl.ca.locatoin"'),
        spoil=_connection(conn_type="kafka", host="127.0.0.1", port=1, extra={"ssl.ca.locatoin": "/x"}),
    ),
    Case("messages: a broker that is down", _EAST, ("broker memory does not answer",), spoil=_down, code=TRY_AGAIN),
    Case(
        "messages: a reader without a broker",
        ("listen", "east", "sales"),
        ("broker memory does not answer",),
        spoil=_down,
        code=TRY_AGAIN,
    ),
    Case(
        "messages: nothing comes",
        ("listen", "east", "sales.orders", "--timeout", "0.1"),
        ("nothing was sent on twinhive.east.sales.orders",),
        code=TRY_AGAIN,
    ),
    Case(
        "messages: topics that have nothing in common",
        ("topic", "east", "sales"),
        ("no topic is above those of all tables of sales", "the pattern {table}.{cluster}"),
        spoil=_topics("{table}.{cluster}"),
    ),
    Case("messages: a position of somebody else", _EAST, ("keeps no position",), spoil=_foreign_position),
    Case("messages: no table", ("topic", "east", "sales."), ("'sales.' is no table",)),
    Case("messages: a topic of others", ("topic", "east", "sales.rude"), ("is not obeyed", "payments.>"), spoil=_rude),
    Case("messages: a kind that there is not", ("listen", "east", "s.t", "--kind", "X"), ("'X' is not",), code=USAGE),
)
