"""What brokers say of us, and of our topics: what a person has to mend, and what passes."""

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from twinhive.core.model.endpoints import BrokerEndpoint
from twinhive.core.model.errors import InvalidSettings, Refused, Unwell
from twinhive.hive.adapters.brokers.kafka_broker import KafkaBroker, KafkaSubscription, _Said
from twinhive.hive.adapters.brokers.kafka_errors import trouble_of
from twinhive.hive.adapters.brokers.stomp_frames import refusal_of


@pytest.mark.parametrize(
    "said",
    [
        "AMQ229032: User: reader does not have permission='SEND' on address twinhive.east.sales.orders",
        "AMQ229031: Unable to validate user from /127.0.0.1:50222. Username: ann; SSL certificate subject: none",
        "User reader is not authorized to write to: topic://twinhive.east.sales.orders",
    ],
)
def test_a_broker_that_does_not_let_us_is_a_persons_turn(said: str) -> None:
    assert type(refusal_of("b", said)) is Refused


def test_what_else_a_broker_says_passes() -> None:
    assert type(refusal_of("b", "AMQ229102: Address is full")) is Unwell


def test_a_topic_that_collides_with_another_is_a_persons_turn() -> None:
    said = "Topic 'twinhive.east.sales_eu.orders' collides with existing topic: twinhive.east.sales.eu_orders"
    error = trouble_of("b", KafkaError(KafkaError.TOPIC_EXCEPTION, said))
    assert isinstance(error, Refused)
    assert said in str(error) and "messages.topic" in str(error)


@pytest.mark.parametrize(
    "properties", [{"ssl.ca.locatoin": "/x"}, {"security.protocol": "SASL_SSL", "ssl.ca.location": "/no/such.pem"}]
)
def test_properties_that_the_library_does_not_take_are_said_as_those_of_the_connection(
    properties: dict[str, str],
) -> None:
    broker = KafkaBroker(BrokerEndpoint("news", "kafka", (("127.0.0.1", 1),), None, None, properties))
    for ask in (broker.probe, lambda: broker.subscribe(["t"])):
        with pytest.raises(InvalidSettings, match="connection news cannot be used for Kafka"):
            ask()


class LeaderlessTopic:
    """What librdkafka's consumer answers of one topic, whose partition gets a leader after some questions."""

    def __init__(self, without_leader: int) -> None:
        self.without_leader = without_leader
        self.assigned: list[TopicPartition] = []

    def list_topics(self, timeout: float) -> Any:
        return SimpleNamespace(topics={"t": SimpleNamespace(partitions={0: None})})

    def get_watermark_offsets(self, partition: TopicPartition, timeout: float, cached: bool) -> tuple[int, int]:
        if self.without_leader:
            self.without_leader -= 1
            raise KafkaException(KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION))
        return 0, 7

    def incremental_assign(self, partitions: list[TopicPartition]) -> None:
        self.assigned += partitions


def test_a_subscription_waits_for_the_leader_of_a_broker_that_was_restarted() -> None:
    consumer: Any = LeaderlessTopic(without_leader=2)
    KafkaSubscription("b", consumer, _Said(), ["t"], (), 30)
    assert [one.offset for one in consumer.assigned] == [7]


def test_a_partition_without_a_leader_for_longer_is_told_as_what_may_pass() -> None:
    consumer: Any = LeaderlessTopic(without_leader=1_000)
    with pytest.raises(Unwell, match="NOT_LEADER"):
        KafkaSubscription("b", consumer, _Said(), ["t"], (), 0)
