"""Publish and subscribe by Kafka. Topics have one partition each where we make them, so that they keep their order.

Nobody joins a group: each subscription reads by itself, from the end of the topics that there are, and from the
beginning of those that are made later.
"""

import logging
import re
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from twinhive.core.model.endpoints import BrokerEndpoint
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.messages.hive_message import TableMessage
from twinhive.hive.adapters.brokers.kafka_errors import (
    OF_GROUPS,
    WITHOUT_LEADER,
    is_refusal,
    refused,
    trouble_of,
    unusable,
)

_LOOK_SECONDS = 1.0
"""How often a subscription looks for topics that were made since."""
_STEP = 0.25
_ASK_SECONDS = 1.0
_HUNG_UP_TIMES = 3
_PARTITIONS = 1
_FENCES = ("acks", "enable.idempotence", "group.id", "enable.auto.commit", "auto.offset.reset")
"""Properties that decide what is promised: no connection may set them."""

# It writes some forty lines a second while a broker is down.
_silent = logging.getLogger("twinhive.kafka")
_silent.setLevel(logging.CRITICAL + 1)


Client = TypeVar("Client", Consumer, Producer, AdminClient)


class _Said:
    """Keep what librdkafka's threads say of one client."""

    def __init__(self) -> None:
        self.refusal: KafkaError | None = None
        self.down: KafkaError | None = None

    def note(self, error: KafkaError) -> None:
        """Be its error callback."""
        if is_refusal(error):
            self.refusal = self.refusal or error
        elif error.code() == KafkaError._ALL_BROKERS_DOWN:
            self.down = error


class KafkaBroker:
    """One producer for what is published, one consumer for each subscription. One thread at a time may publish."""

    def __init__(self, endpoint: BrokerEndpoint, seconds: float = 10.0) -> None:
        self._endpoint, self._seconds = endpoint, seconds
        self._name = str(endpoint)
        self._publishing: tuple[Producer, _Said] | None = None
        self._topics: set[str] = set()

    def publish(self, messages: Sequence[TableMessage]) -> None:
        """Send messages, and wait until the brokers have all of them, in their order within each topic."""
        if not messages:
            return
        producer, said = self._connected()
        failed: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                failed.append(error)

        try:
            self._make({one.topic for one in messages} - self._topics)
            for one in messages:
                headers = [(key, value.encode()) for key, value in one.headers.items()]
                key, body = one.topic.encode(), one.body.encode()
                self._produce(producer, one.topic, value=body, key=key, headers=headers, on_delivery=delivered)
            left = producer.flush(self._seconds)
        except KafkaException as error:
            self.close()
            raise self._trouble(error, said) from error
        except BaseException:
            self.close()
            raise
        if failed or left:
            self.close()
            worst = next(filter(is_refusal, failed), failed[0] if failed else KafkaError(KafkaError._TIMED_OUT))
            raise trouble_of(self._name, said.refusal or worst)

    def subscribe(self, topics: Collection[str], kinds: Collection[str] = ()) -> "KafkaSubscription":
        """Read what comes to these topics and those below them."""
        said = _Said()
        consumer = self._client(
            Consumer,
            self._properties(said)
            | {"group.id": "twinhive-listen", "enable.auto.commit": False, "auto.offset.reset": "earliest"},
        )
        try:
            self._reach(consumer.list_topics, said, consumer.poll)
            return KafkaSubscription(self._name, consumer, said, topics, kinds, self._seconds)
        except KafkaException as error:
            _leave(consumer)
            raise self._trouble(error, said) from error
        except BaseException:
            _leave(consumer)
            raise

    def probe(self) -> None:
        """See that it answers now, and lets us in."""
        self._reached()

    def close(self) -> None:
        """Leave; a later call connects again, and asks again which topics there are."""
        there, self._publishing = self._publishing, None
        self._topics.clear()
        if there is not None:
            with suppress(KafkaException):
                there[0].purge()

    def _produce(self, producer: Producer, topic: str, **message: Any) -> None:
        """Hand a message to the client; wait where its queue is full."""
        until = time.monotonic() + self._seconds
        while True:
            try:
                producer.produce(topic, **message)
                return
            except BufferError:
                if time.monotonic() > until:
                    raise KafkaException(KafkaError(KafkaError._TIMED_OUT_QUEUE)) from None
                producer.poll(_STEP)

    def _make(self, topics: Collection[str]) -> None:
        """Make the topics that are missing."""
        if not topics:
            return
        admin = self._client(AdminClient, self._properties(_Said()))
        there = admin.list_topics(timeout=self._seconds).topics
        missing = [topic for topic in sorted(topics) if topic not in there]
        new = [NewTopic(topic, num_partitions=_PARTITIONS, replication_factor=-1) for topic in missing]
        for made in admin.create_topics(new).values() if new else ():
            try:
                made.result(self._seconds)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
        self._topics |= set(topics)

    def _connected(self) -> tuple[Producer, _Said]:
        if self._publishing is None:
            self._publishing = self._reached()
        return self._publishing

    def _reached(self) -> tuple[Producer, _Said]:
        said = _Said()
        milliseconds = int(self._seconds * 1_000)
        more = {"acks": "all", "enable.idempotence": True, "linger.ms": 2, "message.timeout.ms": milliseconds}
        producer = self._client(Producer, self._properties(said) | more)
        self._reach(producer.list_topics, said, producer.poll)
        return producer, said

    def _reach(self, ask: Callable[..., object], said: _Said, poll: Callable[[float], object]) -> None:
        """Ask until there is an answer, or a refusal. Raises Unreachable, Refused."""
        until = time.monotonic() + self._seconds
        hung_up = 0
        while True:
            began = time.monotonic()
            try:
                ask(timeout=_ASK_SECONDS)
                return
            except KafkaException as error:
                last: KafkaError = error.args[0]
            is_quick = time.monotonic() - began < _ASK_SECONDS
            poll(_STEP)
            if said.refusal is not None or is_refusal(last):
                raise trouble_of(self._name, said.refusal or last)
            if not self._listens() or time.monotonic() > until:
                raise trouble_of(self._name, said.down or last)
            # A broker that wants a name hangs up on who gives none, and says nothing.
            hung_up += is_quick and self._endpoint.user is None
            if hung_up >= _HUNG_UP_TIMES:
                raise refused(self._name, "it takes connections, and hangs up on who gives no name")
            said.down = None
            time.sleep(_STEP)

    def _listens(self) -> bool:
        for address in self._endpoint.addresses:
            with suppress(OSError), socket.create_connection(address, timeout=self._seconds):
                return True
        return False

    def _client(self, kind: Callable[..., Client], properties: dict[str, Any]) -> Client:
        """Make a client of the library. Raises InvalidSettings for properties that it does not take."""
        try:
            return kind(properties, logger=_silent)
        except KafkaException as error:
            raise unusable(self._endpoint.name, error) from error

    def _properties(self, said: _Said) -> dict[str, Any]:
        endpoint = self._endpoint
        given = {
            "bootstrap.servers": ",".join(f"{host}:{port}" for host, port in endpoint.addresses),
            "socket.timeout.ms": int(self._seconds * 1_000),
            "socket.keepalive.enable": True,
            "reconnect.backoff.ms": 100,
            "reconnect.backoff.max.ms": 2_000,
            "error_cb": said.note,
        }
        if endpoint.user is not None:
            given |= {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.username": endpoint.user,
                # The library refuses an empty one by itself, in words of its own.
                "sasl.password": endpoint.password or " ",
            }
        return given | self._own(endpoint.properties)

    def _own(self, properties: Mapping[str, str]) -> dict[str, str]:
        fenced = sorted(set(properties) & set(_FENCES))
        if fenced:
            raise InvalidSettings(
                f"connection {self._endpoint.name} sets what decides whether messages are lost",
                found=", ".join(fenced),
                expected="properties of librdkafka that say how the broker is reached",
                next_step="take them out of the connection's extra",
            )
        return {key: str(value) for key, value in properties.items()}

    def _trouble(self, error: KafkaException, said: _Said) -> Exception:
        return trouble_of(self._name, said.refusal or error.args[0])


class KafkaSubscription:
    """What one consumer receives."""

    def __init__(
        self,
        broker: str,
        consumer: Consumer,
        said: _Said,
        topics: Collection[str],
        kinds: Collection[str],
        seconds: float,
    ) -> None:
        self._broker, self._consumer, self._said, self._seconds = broker, consumer, said, seconds
        self._wanted = re.compile("|".join(rf"{re.escape(topic)}(\..+)?" for topic in topics) or r"(?!)")
        self._kinds = frozenset(kinds)
        self._assigned: set[tuple[str, int]] = set()
        self._looked = float("-inf")
        self._look(is_first=True)

    def receive(self, seconds: float) -> TableMessage | None:
        """Return the next message, None when there is none for so long. Raises Unreachable, Refused."""
        until = time.monotonic() + seconds
        while True:
            if time.monotonic() - self._looked >= _LOOK_SECONDS:
                self._look()
            left = until - time.monotonic()
            found = self._consumer.poll(max(min(left, _STEP), 0))
            self._raise_trouble()
            error = None if found is None else found.error()
            if error is not None and error.code() not in OF_GROUPS:
                raise trouble_of(self._broker, error)
            message = None if found is None or error is not None else _message(found)
            if message is not None and (not self._kinds or message.kind in self._kinds):
                return message
            if left <= 0 and message is None:
                return None

    def close(self) -> None:
        """End it."""
        _leave(self._consumer)

    def _look(self, *, is_first: bool = False) -> None:
        """Read also from topics that were made since."""
        try:
            there = self._consumer.list_topics(timeout=self._seconds).topics
            new = [
                TopicPartition(topic, number)
                for topic, said in there.items()
                if self._wanted.fullmatch(topic)
                for number in said.partitions
                if (topic, number) not in self._assigned
            ]
            for one in new:
                # What is there before the first look is over was sent before.
                one.offset = self._end(one) if is_first else 0
            if new:
                self._consumer.incremental_assign(new)
        except KafkaException as error:
            self._raise_trouble()
            raise trouble_of(self._broker, error.args[0]) from error
        self._assigned |= {(one.topic, one.partition) for one in new}
        self._looked = time.monotonic()

    def _end(self, partition: TopicPartition) -> int:
        """Return the offset after the last message; wait for a partition that has no leader yet, as after a restart."""
        until = time.monotonic() + self._seconds
        while True:
            try:
                ends = self._consumer.get_watermark_offsets(partition, timeout=self._seconds, cached=False)
                break
            except KafkaException as error:
                if error.args[0].code() not in WITHOUT_LEADER or time.monotonic() > until:
                    raise
            time.sleep(_STEP)
        if ends is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        end: int = ends[1]
        return end

    def _raise_trouble(self) -> None:
        if (error := self._said.refusal or self._said.down) is not None:
            raise trouble_of(self._broker, error)


def _message(found: Message) -> TableMessage:
    headers: Any = found.headers() or ()
    texts = {key: _text(value) for key, value in dict(headers).items()}
    return TableMessage(found.topic() or "", texts, _text(found.value()))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else (value or b"").decode("utf-8", "replace")


def _leave(consumer: Consumer) -> None:
    with suppress(KafkaException, RuntimeError):
        consumer.close()
