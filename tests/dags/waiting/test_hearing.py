"""Wait for sets, and start DAGs, by messages of a broker in memory: in this process."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest
from airflow.providers.common.messaging.triggers.msg_queue import MessageQueueTrigger
from airflow.sdk.module_loading import import_string  # type: ignore[attr-defined]

from tests.dags.airflow_home import use_own_airflow
from tests.support.messages.memory_broker import BrokerState, MemoryBroker
from tests.support.policies import PolicyFiles
from tests.support.worlds.fake_world import a_world
from twinhive.core.model.messages.hive_message import EVENT, TableMessage
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.publishing.sets.marking_sets import MarkSet
from twinhive.runtime.settings import load_configuration
from twinhive.surfaces.airflow.operators.set_operators import SetPlace
from twinhive.surfaces.airflow.sensors import set_sensor
from twinhive.surfaces.airflow.sensors.set_sensor import SetDoneSensor, _heard_on
from twinhive.surfaces.airflow.triggers import (
    broker_listener,
    broker_subscriptions,
    message_trigger,
    replica_watch,
    stored_trigger,
)
from twinhive.surfaces.airflow.triggers.message_trigger import StompTrigger
from twinhive.surfaces.airflow.triggers.set_trigger import SetDoneTrigger

EAST = json.dumps({"connection": "east_metastore"})
ORDERS = TableName("sales", "orders")
TOPIC = "twinhive.east.sales.orders"


class Site:
    """A metastore and a broker in memory; nothing is asked without a reason: polls are an hour apart."""

    def __init__(self, world: Any, policies: PolicyFiles, broker: BrokerState) -> None:
        self.source, self.policies, self.broker = world.source, policies, broker
        self.asked = 0
        real = self.source.partitions

        def counted(*given: Any) -> Any:
            self.asked += 1
            return real(*given)

        self.source.partitions = counted

    def mark(self, text: str, token: str = "t") -> None:
        MarkSet(ORDERS, text, token).run(self.source)

    def tell(self, kind: str = "SET_DONE", topic: str = TOPIC, **said: Any) -> None:
        self.broker.take(TableMessage(topic, {EVENT: kind}, json.dumps({"event": kind, **said})))

    def trigger(self, value: str = "a b") -> SetDoneTrigger:
        return SetDoneTrigger(EAST, ("sales", "orders"), [("p", value)], 0, "30d", ("bus", "twinhive.east.sales"))

    def waits(self, value: str = "a b") -> "asyncio.Future[Any]":
        return asyncio.ensure_future(first(self.trigger(value).run()))

    async def is_heard(self, subscriptions: int = 1) -> None:
        """Wait until it is listened, and looked once since."""
        await until(lambda: len(self.broker.subscriptions) == subscriptions)
        await at_rest(lambda: self.asked)


@pytest.fixture
def site(policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> Site:
    use_own_airflow()
    monkeypatch.setenv("AIRFLOW_CONN_EAST_METASTORE", json.dumps({"conn_type": "hms", "host": "east"}))
    world, broker = a_world(), BrokerState()
    monkeypatch.setattr(stored_trigger, "metastore", lambda endpoint: world.source)
    monkeypatch.setattr(replica_watch, "POLL_SECONDS", 3_600.0)
    monkeypatch.setattr(replica_watch, "TOLD_SECONDS", 3_600.0)
    monkeypatch.setattr(replica_watch, "_MOST_SECONDS", 3_600.0)
    monkeypatch.setattr(broker_listener, "_MOST_SECONDS", 0.05)
    for module in (broker_subscriptions, message_trigger):
        monkeypatch.setattr(module, "open_broker", lambda connection, resolve: MemoryBroker(broker))
    # Without a set the metastore is not asked for marks.
    site = Site(world, policies, broker)
    site.mark("p=another")
    return site


async def first(events: AsyncIterator[Any]) -> Any:
    async for event in events:
        return event.payload


async def until(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not happens():
            await asyncio.sleep(0.01)


async def at_rest(count: Callable[[], int]) -> None:
    before = -1
    while before != count() or not before:
        before = count()
        await asyncio.sleep(0.5)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(40):
            await main()

    asyncio.run(limited())
    assert replica_watch._watches == {}


def test_a_message_wakes_who_waits_and_the_metastore_says_whether_it_is_true(site: Site) -> None:
    async def main() -> None:
        waits = site.waits()
        await site.is_heard()
        site.tell(set="p=a b")
        await at_rest(lambda: site.asked)
        assert not waits.done()
        site.mark("*")
        site.tell("ADD_PARTITION")
        await asyncio.sleep(0.3)
        assert not waits.done()
        site.tell(topic="twinhive.east.sales.other")
        assert await waits == {"set": "*", "count": 1}
        await until(lambda: not site.broker.subscriptions)

    run(main)


def test_a_mark_between_the_look_and_the_subscription_is_not_missed(site: Site) -> None:
    """What was told before the subscription was heard by nobody: it is looked when it begins."""
    real = MemoryBroker(site.broker).subscribe

    def late(broker: MemoryBroker, *given: Any) -> Any:
        if not site.broker.subscriptions:
            site.mark("p=a b")
            site.tell(set="p=a b")
        return real(*given)

    async def main() -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(MemoryBroker, "subscribe", late)
            assert await site.waits() == {"set": "p=a b", "count": 1}

    run(main)


def test_a_mark_while_the_broker_is_away_is_found_when_it_is_back(site: Site) -> None:
    async def main() -> None:
        waits = site.waits()
        await site.is_heard()
        site.broker.stop()
        await at_rest(lambda: site.asked)
        site.mark("p=a b")
        await asyncio.sleep(0.3)
        assert not waits.done()
        site.broker.down = False
        assert await waits == {"set": "p=a b", "count": 1}

    run(main)


def test_while_the_broker_is_away_the_metastore_is_asked_every_few_seconds(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_watch, "POLL_SECONDS", 0.05)

    async def main() -> None:
        waits = site.waits()
        await until(lambda: len(site.broker.subscriptions) == 1)
        await at_rest(lambda: site.asked)
        site.broker.stop()
        site.mark("p=a b")
        assert await waits == {"set": "p=a b", "count": 1}

    run(main)


def test_a_thousand_that_wait_share_one_subscription_and_who_is_not_told_is_looked_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_watch, "POLL_SECONDS", 0.05)

    async def main() -> None:
        waiting = [site.waits(str(number)) for number in range(1_000)]
        await site.is_heard()
        before = site.asked
        await asyncio.sleep(1)
        # On a busy machine the last of the thousand may come a little later.
        assert site.asked <= before + 1
        untold = SetDoneTrigger(EAST, ("sales", "orders"), [("p", "alone")], 0, "30d")
        alone = asyncio.ensure_future(first(untold.run()))
        await until(lambda: site.asked > before + 3)
        site.mark("*")
        await asyncio.gather(alone, *waiting)

    run(main)


def test_a_gap_is_a_reason_to_look(site: Site) -> None:
    async def main() -> None:
        waits = site.waits()
        await site.is_heard()
        site.mark("p=a b")
        site.tell("GAP")
        assert await waits == {"set": "p=a b", "count": 1}

    run(main)


def test_the_sensor_listens_where_the_cluster_has_a_broker(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_sensor, "cluster_metastore", lambda configuration, cluster, resolve: site.source)
    directory = site.policies.directory
    clusters = (directory / "clusters.yaml").read_text()

    def heard_on(messages: str) -> tuple[str, ...]:
        text = clusters.replace("  east:", f"  east:\n    messages: {messages}", 1)
        (directory / "clusters.yaml").write_text(text)
        place = SetPlace.of(load_configuration(directory), "east", None, "sales.orders")
        return _heard_on(place, site.source)

    assert heard_on("{}") == ()
    assert heard_on("{broker: bus}") == ("bus", "twinhive.east.sales")
    assert heard_on("{broker: bus, reader: bus_reader}") == ("bus_reader", "twinhive.east.sales")
    assert heard_on("{broker: bus, databases: [stock]}") == ()
    table: Table = site.source.table(ORDERS)
    named = {**table.parameters, "hcat.msgbus.topic.name": "twinhive.of.its.own"}
    site.source.alter_table(ORDERS, table.with_parameters(named))
    assert heard_on("{broker: bus}") == ("bus", "twinhive.of.its.own")
    assert SetDoneSensor(task_id="x", cluster="east", table="sales.orders", set="*").template_fields


def test_airflows_own_trigger_for_queues_knows_stomp(site: Site) -> None:
    queue = MessageQueueTrigger(scheme="stomp", connection="bus", topics="twinhive.east.sales", kinds=["SET_DONE"])
    path, kwargs = queue.serialize()
    again = import_string(path)(**json.loads(json.dumps(kwargs)))
    assert type(again) is StompTrigger and again.serialize() == (path, kwargs)
    assert again.shared_stream_key() == queue.trigger.shared_stream_key()

    async def main() -> None:
        async with aclosing(queue.run()) as events:  # type: ignore[type-var]
            listening = {"listening": ["twinhive.east.sales"]}
            assert (await anext(events)).payload == listening
            site.tell("ADD_PARTITION")
            site.tell(set="*")
            assert (await anext(events)).payload == {"topic": TOPIC, "event": "SET_DONE", "set": "*"}
            site.broker.stop()
            site.broker.down = False
            # What was told meanwhile was not heard.
            assert (await anext(events)).payload == listening

    run(main)


def test_who_looks_by_himself_need_not_be_greeted(site: Site) -> None:
    async def main() -> None:
        waits = asyncio.ensure_future(first(StompTrigger("bus", [TOPIC], greets=False).run()))
        await until(lambda: len(site.broker.subscriptions) == 1)
        site.broker.take(TableMessage(TOPIC, {}, "no json"))
        assert await waits == {"topic": TOPIC, "text": "no json"}

    run(main)
