"""Whether what happens on a cluster is told: found from its metastore and its broker, and who is told of it."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.messages.memory_broker import BrokerState, MemoryBroker
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.errors import ActNow, TryAgain, Unreachable
from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import new_partition
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.monitoring.alert_memory import GRACE_SECONDS
from twinhive.operations.monitoring.lag_alerts import Alert
from twinhive.operations.monitoring.publisher_alerts import (
    cluster_of,
    is_in_trouble,
    is_silent,
    messages_of,
    publisher_alerts,
    standing_line,
)
from twinhive.operations.monitoring.publishers import PublisherSeen, Told, look_at_publishers
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.positions import POSITION_TABLE
from twinhive.publishing.messages.publishing_messages import Publisher, PublisherRules

LOGS = TableName("sales", "logs")


class Site:
    """A metastore and a broker in memory, a publisher, and the monitor's look at them."""

    def __init__(self) -> None:
        self.world: World = a_world()
        self.metastore: Any = self.world.source
        self.broker = BrokerState()
        self.databases = AnnouncedDatabases(("sales",))
        self.world.add_table(a_table("sales.logs", partition_keys=("day",)))
        self.knows_us = True

    def publisher(self) -> Publisher:
        rules = PublisherRules(TopicRules("east"), self.databases, "one")
        return Publisher(self.metastore, MemoryBroker(self.broker), rules)

    def add(self, *days: str) -> int:
        """Add partitions, an event each; return when the log says that the first one was added."""
        owner, before = self.metastore.table(LOGS), self.metastore.current_event_id()
        for day in days:
            self.metastore.add_partitions([new_partition(owner, (day,), {})])
        [first] = self.metastore.events_after(before, 1)
        return int(first.time)

    def look(self, at: float = 0.0, max_silence: float | None = 120.0) -> PublisherSeen:
        probe: Callable[[], None] = MemoryBroker(self.broker, knows_us=self.knows_us).probe
        told = Told("east", lambda: self.metastore, probe, self.databases, max_silence)
        [seen] = look_at_publishers([told], at, 20.0)
        return seen

    def alerts(self, at: float = 0.0) -> list[Alert]:
        return list(publisher_alerts([self.look(at)]))


@pytest.fixture
def site() -> Site:
    return Site()


def test_nothing_is_wrong_while_all_is_told_whatever_else_happens_on_the_metastore(site: Site) -> None:
    site.publisher().round()
    site.metastore.create_table(a_table("sales.another"))
    seen = site.look(1e12)
    assert (seen.events, seen.behind_seconds, standing_line(seen)) == (0, 0.0, "all is told")
    assert site.alerts(1e12) == []


def test_what_waits_to_be_told_is_counted_and_for_how_long(site: Site) -> None:
    site.publisher().round()
    since = site.add("1", "2")
    assert site.alerts(since + 100.0) == []
    seen = site.look(since + 200.0)
    assert (seen.events, seen.behind_seconds) == (2, 200.0)
    [alert] = site.alerts(since + 200.0)
    assert (alert.kind, alert.policy, alert.grace) == (AlertKind.PUBLISHER, "*messages.east", 0.0)
    for said in (
        "2 events wait to be told, the oldest for 3 min",
        "publisher one has sent last",
        "twinhive publish east",
    ):
        assert said in str(alert.error)
    assert list(publisher_alerts([site.look(since + 200.0, max_silence=None)])) == []


def test_a_publisher_that_was_stopped_in_order_is_missed_when_something_happens(site: Site) -> None:
    publisher = site.publisher()
    publisher.round()
    publisher.leave()
    assert site.alerts(1e12) == []
    [alert] = site.alerts(site.add("1") + 500.0)
    assert "the last publisher was stopped" in str(alert.error)


def test_a_broker_that_is_down_is_told_after_two_minutes_and_one_that_refuses_at_once(site: Site) -> None:
    site.publisher().round()
    site.broker.down = True
    [alert] = site.alerts()
    assert (alert.kind, alert.grace) == (AlertKind.PUBLISHER, GRACE_SECONDS)
    assert isinstance(alert.error, Unreachable) and "broker memory does not answer" in str(alert.error)
    site.broker.down, site.knows_us = False, False
    [alert] = site.alerts()
    assert isinstance(alert.error, ActNow) and alert.grace == 0.0 and "a wrong password" in str(alert.error)


def test_a_cluster_whose_publisher_was_never_started_is_told(site: Site) -> None:
    [alert] = site.alerts()
    assert "no publisher of cluster east has ever run" in str(alert.error)


def test_a_broker_that_is_only_named_yet_is_no_trouble_until_a_publisher_is_started(site: Site) -> None:
    site.broker.down = True
    seen = site.look()
    assert site.alerts() == [] and not is_silent(seen)
    assert standing_line(seen) == "no publisher has ever run, and no broker answers: nothing is told yet"
    with suppress(TryAgain):
        site.publisher().round()
    site.add("1")
    [alert] = site.alerts()
    assert "broker memory does not answer" in str(alert.error)


def test_a_metastore_that_is_away_is_told_by_its_policies_and_a_foreign_table_by_this(site: Site) -> None:
    site.metastore.down = True
    assert site.alerts() == []
    assert standing_line(site.look()).startswith("not known: ")
    site.metastore.down = False
    site.publisher().round()
    table = site.metastore.table(POSITION_TABLE)
    site.metastore.alter_table(POSITION_TABLE, table.with_parameters({}))
    [alert] = site.alerts()
    assert "keeps no position of a publisher" in str(alert.error)


def test_events_that_were_gone_are_told_before_the_gap_is_and_for_an_hour_after_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 5_000.0)
    publisher = site.publisher()
    publisher.round()
    first = site.metastore.current_event_id() + 1
    site.add("1", "2", "3")
    site.metastore.events[:] = site.metastore.events[-1:]
    [alert] = site.alerts()
    assert alert.kind is AlertKind.PUBLISHER and "were gone before they were told" in str(alert.error)
    publisher.round()
    assert site.look().events == 1  # the position is after the gap, and the event behind it waits
    publisher.round()
    [alert] = site.alerts(5_060.0)
    assert alert.kind is AlertKind.UNSAID
    assert f"events {first} to {first + 1} of cluster east were never told" in str(alert.error)
    assert "1 min ago" in str(alert.error)
    assert site.alerts(5_000.0 + 3_600.0) == []


def test_another_log_is_a_gap_as_well(site: Site) -> None:
    site.publisher().round()
    site.metastore._log_id = "another"
    assert site.look().events is None
    assert "another one than the publisher's position is of" in str(site.alerts()[0].error)


def test_what_no_limit_tells_is_said_by_itself(site: Site) -> None:
    """Without a position, or with a gap behind it, nobody knows how long something waits."""
    assert is_in_trouble(site.look()) and site.look().behind_seconds is None
    assert not is_in_trouble(site.look(max_silence=None))
    site.broker.down = True
    assert not is_in_trouble(site.look())  # a broker that is only named yet
    site.broker.down = False
    site.publisher().round()
    assert not is_in_trouble(site.look())
    site.metastore.down = True
    assert not is_in_trouble(site.look())  # its policies tell that
    site.metastore.down = False
    site.add("1", "2", "3")
    assert not is_in_trouble(site.look(1e12))  # it waits, and how long is known
    site.metastore.events[:] = site.metastore.events[-1:]
    assert is_in_trouble(site.look()) and site.look().behind_seconds is None
    assert not is_in_trouble(site.look(max_silence=None))


def test_alerts_of_messages_are_of_no_policy() -> None:
    assert cluster_of(messages_of("east")) == "east"
    assert cluster_of("sales") is None
