"""A broker takes what publishers send, gives it to who listens, and lets nobody do what he may not."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from sandbox.brokers.broker_users import PUBLISHER, READER
from tests.support.messages.memory_broker import BrokerState, MemoryBroker
from tests.support.messages.running_broker import RunningBroker
from tests.support.messages.running_kafka import RunningKafka
from twinhive.core.model.errors import Refused, Unreachable
from twinhive.core.model.messages.hive_message import AnnouncementKind, TableMessage
from twinhive.runtime.wiring.message_wiring import broker_at

SECONDS = 20.0


class MemorySide:
    """The broker in memory, as tests see it."""

    def __init__(self) -> None:
        self.state = BrokerState()

    def connect(self, user: str | None, password: str | None = None) -> Any:
        knows = user in (PUBLISHER, READER) and password is None
        return MemoryBroker(self.state, may_write=user == PUBLISHER, knows_us=knows)

    def stop(self) -> None:
        self.state.stop()

    def start(self) -> None:
        self.state.down = False


class RealSide:
    """A real broker, as tests see it."""

    def __init__(self, running: RunningBroker | RunningKafka) -> None:
        self._running = running
        self._open: list[Any] = []

    def connect(self, user: str | None, password: str | None = None) -> Any:
        self._open.append(broker_at(self._running.endpoint(user, password)))
        return self._open[-1]

    def stop(self) -> None:
        self._running.kill()

    def start(self) -> None:
        self._running.start()

    def close(self) -> None:
        for one in self._open:
            one.close()


@pytest.fixture(scope="module")
def running_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningKafka]:
    broker = RunningKafka(tmp_path_factory.mktemp("kafka"))
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture(
    params=[
        "memory",
        pytest.param("stomp", marks=pytest.mark.sandbox),
        pytest.param("kafka", marks=[pytest.mark.sandbox, pytest.mark.nightly]),
    ]
)
def side(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "memory":
        yield MemorySide()
        return
    real = RealSide(request.getfixturevalue("running" if request.param == "stomp" else "running_kafka"))
    yield real
    real.close()


@pytest.fixture
def topic() -> str:
    return f"twinhive.t{uuid.uuid4().hex}"


def a_message(topic: str, text: str, kind: str = AnnouncementKind.PARTITION) -> TableMessage:
    return TableMessage(topic, {"HCAT_EVENT": kind, "twinhive_id": f"log:{text}:0"}, text)


def texts(subscription: Any, count: int) -> list[str]:
    found = [subscription.receive(SECONDS) for _ in range(count)]
    assert all(found), found
    return [one.body for one in found]


def test_who_listens_gets_what_is_sent_afterwards_in_its_order(side: Any, topic: str) -> None:
    publisher, reader = side.connect(PUBLISHER), side.connect(READER)
    publisher.publish([a_message(topic, "before")])
    subscription = reader.subscribe([topic])
    publisher.publish([a_message(topic, str(number)) for number in range(1_200)])
    assert texts(subscription, 1_200) == [str(number) for number in range(1_200)]
    subscription.close()


def test_a_topic_and_those_below_it_are_heard_and_no_others(side: Any, topic: str) -> None:
    publisher, reader = side.connect(PUBLISHER), side.connect(READER)
    subscription = reader.subscribe([f"{topic}.sales", f"{topic}.stock.items"])
    topics = [f"{topic}.sales", f"{topic}.sales.orders", f"{topic}.sales2", f"{topic}.stock", f"{topic}.stock.items"]
    publisher.publish([a_message(one, one.removeprefix(topic)) for one in topics])
    # Kafka keeps the order within a topic.
    assert sorted(texts(subscription, 3)) == [".sales", ".sales.orders", ".stock.items"]
    subscription.close()


def test_a_reader_may_ask_for_some_kinds_alone(side: Any, topic: str) -> None:
    publisher, reader = side.connect(PUBLISHER), side.connect(READER)
    subscription = reader.subscribe([topic], [AnnouncementKind.SET_DONE, AnnouncementKind.GAP])
    publisher.publish([a_message(topic, kind.value, kind) for kind in AnnouncementKind])
    assert texts(subscription, 2) == ["SET_DONE", "GAP"]
    subscription.close()


@pytest.mark.parametrize("text", ["", "é ß 日本 \U0001f41d", 'a "b" \\ c', "line\nline\r\n:x", "x" * 200_000])
def test_texts_come_as_they_were_sent(side: Any, topic: str, text: str) -> None:
    publisher, reader = side.connect(PUBLISHER), side.connect(READER)
    subscription = reader.subscribe([topic])
    headers = {"HCAT_EVENT": "GAP", "twinhive_id": "a:b\\c\né:0"}
    publisher.publish([TableMessage(topic, headers, text), a_message(topic, "end")])
    found = subscription.receive(SECONDS)
    assert (found.topic, found.body, found.id, found.kind) == (topic, text, headers["twinhive_id"], "GAP")
    assert texts(subscription, 1) == ["end"]
    subscription.close()


def test_nothing_is_received_where_nothing_is_sent(side: Any, topic: str) -> None:
    subscription = side.connect(READER).subscribe([topic])
    assert subscription.receive(0.01) is None
    subscription.close()


def test_nothing_to_publish_is_fine(side: Any) -> None:
    side.connect(PUBLISHER).publish([])


@pytest.mark.parametrize(("user", "password"), [(None, None), (PUBLISHER, "wrong"), (READER, ""), ("ann", "wrong")])
def test_who_is_not_known_is_refused(side: Any, topic: str, user: str | None, password: str | None) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda broker: broker.probe(),
        lambda broker: broker.publish([a_message(topic, "forged")]),
        lambda broker: broker.subscribe([topic]),
    ]
    for call in calls:
        with pytest.raises(Refused, match="refuses us"):
            # A broker that hangs up at once may take its words along; who tries again hears them.
            for _ in range(10):
                with suppress(Unreachable):
                    call(side.connect(user, password))


def test_a_reader_that_writes_is_refused_and_nothing_is_delivered(side: Any, topic: str) -> None:
    publisher, reader = side.connect(PUBLISHER), side.connect(READER)
    subscription = reader.subscribe([topic])
    with pytest.raises(Refused, match="refuses us"):
        side.connect(READER).publish([a_message(topic, "forged")])
    publisher.publish([a_message(topic, "real")])
    assert texts(subscription, 1) == ["real"]
    subscription.close()


def test_a_broker_that_is_gone_may_come_back(side: Any, topic: str) -> None:
    publisher, reader = side.connect(PUBLISHER), side.connect(READER)
    publisher.publish([a_message(topic, "1")])
    subscription = reader.subscribe([topic])
    side.stop()
    try:
        with pytest.raises(Unreachable):
            while subscription.receive(SECONDS) is not None:
                pass
        for call in (publisher.probe, lambda: reader.subscribe([topic])):
            with pytest.raises(Unreachable):
                call()
        with pytest.raises(Unreachable):
            publisher.publish([a_message(topic, "lost")])
    finally:
        side.start()
    again = reader.subscribe([topic])
    publisher.publish([a_message(topic, "2")])
    assert texts(again, 1) == ["2"]
    again.close()
