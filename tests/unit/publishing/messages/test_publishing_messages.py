"""What the log tells is sent at least once, in order, with the same ids, by one publisher at a time."""

import json
import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.hive.hidden_objects import hide
from tests.support.messages.memory_broker import BrokerState, MemoryBroker
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.errors import ActNow, Refused, TryAgain, Unreachable
from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.placement.copy_marks import mark_name as mark_name_of_copy
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.sets.set_mark import mark_name, sets_table
from twinhive.core.model.thrift_objects import new_partition
from twinhive.core.ports.own_table_lookup import make_own_table
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.positions import POSITION_TABLE, PositionStore
from twinhive.publishing.messages.publishing_messages import Publisher, PublisherRules, PublisherStanding, run_publisher
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, SetStanding
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet

LOGS = TableName("sales", "logs")
ACTIVE, STANDBY = PublisherStanding.ACTIVE, PublisherStanding.STANDBY


class Killed(BaseException):
    """The process is gone."""


class Desk:
    """A source with a table of two keys, a broker, and publishers that share a clock."""

    def __init__(self) -> None:
        self.world: World = a_world()
        self.metastore: Any = self.world.source
        self.broker = BrokerState()
        self.now = 100.0
        self.world.add_table(a_table("sales.logs", partition_keys=("day", "region")))

    def publisher(self, holder: str = "one", databases: tuple[str, ...] = (".*",)) -> Publisher:
        rules = PublisherRules(TopicRules("east"), AnnouncedDatabases(databases), holder)
        return Publisher(self.metastore, MemoryBroker(self.broker), rules, lambda: self.now)

    def started(self, holder: str = "one") -> Publisher:
        publisher = self.publisher(holder)
        assert publisher.round() is ACTIVE
        return publisher

    def add(self, *days: str, table: TableName = LOGS, region: str = "us") -> None:
        owner = self.metastore.table(table)
        self.metastore.add_partitions([new_partition(owner, (day, region), {}) for day in days])

    def told(self) -> list[str]:
        """What was sent, each in one text, repetitions included."""
        return [self._text(one) for one in self.broker.taken]

    def told_once(self) -> list[str]:
        """The same without repetitions, which must be the same messages."""
        by_id: dict[str, Any] = {}
        for one in self.broker.taken:
            assert by_id.setdefault(one.id, one) == one
        return [self._text(one) for one in by_id.values()]

    @staticmethod
    def _text(message: Any) -> str:
        body = json.loads(message.body)
        return f"{message.kind} {body['table']} {body.get('partition') or body.get('set') or ''}".strip()

    def kept_event(self) -> int:
        kept = PositionStore(self.metastore).read()
        assert kept is not None
        return kept.position.event_id

    def expire_log(self, keep: int) -> None:
        self.metastore.events[:] = self.metastore.events[-keep:] if keep else []


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_what_happens_after_the_first_start_is_told_in_its_order(desk: Desk) -> None:
    desk.add("0")
    publisher = desk.started()
    assert desk.told() == []
    desk.add("1", "2")
    MarkSet(LOGS, "region=us/day=1", "t", "ann").run(desk.metastore)
    MarkSet(LOGS, "day=1/region=us", "u", "bob").run(desk.metastore)
    UnmarkSet(LOGS, "day=1/region=us").run(desk.metastore)
    publisher.round()
    assert desk.told() == [
        "ADD_PARTITION logs day=1/region=us",
        "ADD_PARTITION logs day=2/region=us",
        "SET_DONE logs day=1/region=us",
        "SET_DONE logs day=1/region=us",
        "SET_OPEN logs day=1/region=us",
    ]
    assert {message.topic for message in desk.broker.taken} == {"twinhive.east.sales.logs"}
    again = json.loads(desk.broker.taken[3].body)
    assert (again["count"], again["by"], again["partition_count"]) == (2, "bob", 1)
    publisher.round()
    assert len(desk.told()) == 5


def test_a_set_marked_by_plain_sql_is_told(desk: Desk) -> None:
    MarkSet(LOGS, "*", "t", "ann").run(desk.metastore)
    publisher = desk.started()
    sets = desk.metastore.table(sets_table("sales"))
    names = [("logs", "day=7"), ("LOGS", "day=8"), ("logs", "region=us/day=8"), ("logs", "Day=8"), ("logs", "x")]
    for name in names:
        desk.metastore.add_partitions([new_partition(sets, name, {})])
    publisher.round()
    # What is written otherwise than sets are is found by nobody, so nobody hears of it; `list` says how it is written.
    assert desk.told() == ["SET_DONE logs day=7"]
    listed = SetsOfDatabase(desk.metastore, "sales", keep="forever").read()
    standings = {(one.mark.spec, one.standing, one.trouble) for one in listed if one.mark.spec != "*"}
    assert standings == {
        ("day=7", SetStanding.DONE, None),
        ("day=8", SetStanding.UNREADABLE, "written otherwise its table is logs"),
        ("region=us/day=8", SetStanding.UNREADABLE, "written otherwise it is day=8/region=us"),
        ("Day=8", SetStanding.UNREADABLE, "written otherwise it is day=8"),
        ("x", SetStanding.UNREADABLE, "'x' is no set"),
    }
    desk.metastore.drop_partitions(sets_table("sales"), [mark_name(*name) for name in names], delete_data=True)
    publisher.round()
    assert desk.told()[1:] == ["SET_OPEN logs day=7"]


def test_marks_of_copies_are_told_to_nobody(desk: Desk) -> None:
    publisher = desk.started()
    own = make_own_table(desk.metastore, COPY_MARKS, "sales", None)
    desk.metastore.add_partitions([new_partition(own, ("logs", "north", "1"), {})])
    desk.metastore.drop_partitions(own.name, [mark_name_of_copy("logs", "north", "1")], delete_data=False)
    publisher.round()
    assert desk.told() == []


def test_databases_that_are_not_wanted_and_our_own_are_silent(desk: Desk) -> None:
    publisher = desk.publisher(databases=("STO.*", "twinhive"))
    publisher.round()
    desk.add("1")
    publisher.round()
    assert desk.told() == []


def test_a_table_may_name_its_topic_as_far_as_the_cluster_allows(desk: Desk) -> None:
    publisher = desk.started()
    for name, topic in (("mine", "twinhive.shared"), ("rude", "payments.orders"), ("wild", "twinhive.>")):
        table = a_table(f"sales.{name}", partition_keys=("day", "region"))
        desk.world.add_table(table.with_parameters({"hcat.msgbus.topic.name": topic}))
        desk.add("1", table=table.name)
        MarkSet(table.name, "*", "t", "ann").run(desk.metastore)
    publisher.round()
    topics = [message.topic for message in desk.broker.taken]
    rest = ["twinhive.east.sales.rude"] * 2 + ["twinhive.east.sales.wild"] * 2
    assert topics == ["twinhive.shared"] * 2 + rest


@pytest.mark.parametrize("sent", range(1, 8))
def test_a_broker_that_dies_after_any_message_is_told_again_with_the_same_ids(desk: Desk, sent: int) -> None:
    publisher = desk.started()
    desk.add("1", "2", "3")
    desk.add("4")
    MarkSet(LOGS, "*", "t", "ann").run(desk.metastore)
    desk.broker.loses_after = sent
    expected = [f"ADD_PARTITION logs day={day}/region=us" for day in "1234"] + ["SET_DONE logs *"]
    if sent <= len(expected):
        with pytest.raises(Unreachable):
            publisher.round()
        desk.broker.loses_after = None
    publisher.round()
    assert desk.told_once() == expected


class Dying:
    """A metastore whose caller is killed before, or after, its n-th call."""

    def __init__(self, inner: Any, calls: int, *, after: bool) -> None:
        self._inner, self._left, self._after = inner, calls, after

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._inner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left == 0 and not self._after:
                raise Killed
            result = call(*args, **kwargs)
            if self._left == 0:
                raise Killed
            return result

        return counted


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("calls", range(1, 30))
def test_a_publisher_killed_at_any_call_goes_on_where_it_was(desk: Desk, calls: int, after: bool) -> None:
    desk.started().leave()
    desk.add("1", "2")
    MarkSet(LOGS, "day=1", "t", "ann").run(desk.metastore)
    real = desk.metastore
    desk.metastore = Dying(real, calls, after=after)
    try:
        publisher = desk.publisher()
        publisher.round()
        desk.now += 10
        publisher.round()
        publisher.leave()
    except Killed:
        pass
    desk.metastore = real
    desk.publisher().round()
    assert desk.told_once() == [
        "ADD_PARTITION logs day=1/region=us",
        "ADD_PARTITION logs day=2/region=us",
        "SET_DONE logs day=1",
    ]


def test_the_position_is_written_at_most_every_five_seconds_and_not_while_nothing_happens(desk: Desk) -> None:
    publisher = desk.started()
    for day in range(20):
        desk.add(str(day))
        publisher.round()
    first = desk.kept_event()
    desk.now += 6
    publisher.round()
    assert desk.kept_event() > first
    newest = desk.metastore.current_event_id()
    for _ in range(100):
        desk.now += 400
        publisher.round()
    # One more for what we have written ourselves at most: our own event is nothing that happens.
    assert desk.metastore.current_event_id() == newest


def test_the_position_of_a_source_without_messages_moves_as_well(desk: Desk) -> None:
    publisher = desk.started()
    desk.world.add_table(a_table("sales.other"))
    publisher.round()
    before = desk.kept_event()
    desk.now += 301
    publisher.round()
    assert desk.kept_event() > before


def test_of_two_publishers_one_stands_by_and_takes_over_when_the_other_is_silent(desk: Desk) -> None:
    one, two = desk.started("one"), desk.publisher("two")
    assert two.round() is STANDBY
    for day in range(5):
        desk.add(str(day))
        assert one.round() is ACTIVE
        desk.now += 6
        assert one.round() is ACTIVE
        assert two.round() is STANDBY
    desk.add("last")
    for _ in range(3):
        assert two.round() is STANDBY
        desk.now += 6
    assert two.round() is ACTIVE
    assert desk.told()[-1] == "ADD_PARTITION logs day=last/region=us"
    # The first one was only frozen.
    desk.add("more")
    desk.now += 6
    assert one.round() is STANDBY
    two.round()
    assert len(desk.told_once()) == 7
    assert one.counts.fenced == 1


def test_a_publisher_that_was_silent_because_nothing_happened_is_not_taken_over_from(desk: Desk) -> None:
    one, two = desk.started("one"), desk.publisher("two")
    two.round()
    desk.now += 10_000
    desk.add("1")
    assert two.round() is STANDBY
    assert one.round() is ACTIVE
    desk.now += 20
    assert one.round() is ACTIVE
    assert two.round() is STANDBY
    assert len(desk.told()) == 1


def test_one_that_leaves_in_order_is_followed_at_once(desk: Desk) -> None:
    one, two = desk.started("one"), desk.publisher("two")
    assert two.round() is STANDBY
    one.leave()
    assert two.round() is ACTIVE


def test_while_the_broker_is_away_nobody_takes_over(desk: Desk) -> None:
    one, two = desk.started("one"), desk.publisher("two")
    two.round()
    desk.broker.down = True
    desk.add("1")
    tokens = set()
    for _ in range(10):
        desk.now += 10
        for publisher in (one, two):
            with suppress(TryAgain):
                publisher.round()
        kept = PositionStore(desk.metastore).read()
        assert kept is not None
        tokens.add(kept.token)
    assert len(tokens) == 1
    desk.broker.down = False
    assert one.round() is ACTIVE
    assert desk.told() == ["ADD_PARTITION logs day=1/region=us"]


def test_what_a_publisher_that_may_not_write_did_not_send_is_sent_by_the_next_one(desk: Desk) -> None:
    desk.started().leave()
    desk.add("1")
    rules = PublisherRules(TopicRules("east"), AnnouncedDatabases(), "one")
    with pytest.raises(Refused):
        Publisher(desk.metastore, MemoryBroker(desk.broker, may_write=False), rules, lambda: desk.now).round()
    desk.started()
    assert desk.told() == ["ADD_PARTITION logs day=1/region=us"]


def test_two_of_the_same_name_do_not_fight(desk: Desk) -> None:
    one = desk.started("host")
    two = desk.started("host")
    for day in range(10):
        desk.add(str(day))
        desk.now += 6
        one.round()
        two.round()
    assert one.counts.fenced + two.counts.fenced == 1
    assert len(desk.told_once()) == 10


def test_one_large_event_shows_that_its_publisher_lives(desk: Desk) -> None:
    one, two = desk.started("one"), desk.publisher("two")
    two.round()
    desk.add(*map(str, range(3_000)))

    def slow() -> None:
        desk.now += 10
        assert two.round() is STANDBY

    desk.broker.before_publish = slow
    assert one.round() is ACTIVE
    assert one.counts.fenced == 0
    assert len(desk.told()) == 3_000


def gap_of(message: Any) -> tuple[str, int, int]:
    body = json.loads(message.body)
    return message.topic, body["first"], body["last"]


def test_events_that_were_cleaned_before_they_were_told_are_a_gap_on_every_topic(desk: Desk) -> None:
    publisher = desk.started()
    reached = desk.metastore.current_event_id()
    desk.add("1")
    desk.add("2")
    desk.add("3")
    desk.expire_log(1)
    publisher.round()
    gaps = [gap_of(one) for one in desk.broker.taken if one.kind == "GAP"]
    names = desk.metastore.table_names("sales")
    assert gaps == [(f"twinhive.east.sales.{name}", reached + 1, reached + 2) for name in names]
    publisher.round()
    assert desk.told()[len(gaps) :] == ["ADD_PARTITION logs day=3/region=us"]
    assert publisher.counts.gaps == 1


def test_what_comes_before_a_gap_is_told_before_it_and_once(desk: Desk) -> None:
    publisher = desk.started()
    for day in "1234":
        desk.add(day)
    lost = [row for row in desk.metastore.events if '"2"' in row.message or "day=2" in row.message]
    assert len(lost) == 1
    desk.metastore.events[:] = [row for row in desk.metastore.events if row not in lost]
    for _ in range(3):
        publisher.round()
    before, after = "ADD_PARTITION logs day=1/region=us", "ADD_PARTITION logs day=3/region=us"
    told = desk.told()
    assert told[0] == before and told[-2:] == [after, "ADD_PARTITION logs day=4/region=us"]
    gaps = [json.loads(message.body) for message in desk.broker.taken if message.kind == "GAP"]
    assert gaps and {(gap["first"], gap["last"]) for gap in gaps} == {(lost[0].event_id, lost[0].event_id)}
    assert len({gap["table"] for gap in gaps}) == len(gaps) == len(told) - 3
    assert publisher.counts.gaps == 1


def test_a_log_that_was_emptied_is_a_gap_and_is_gone_on_with(desk: Desk) -> None:
    publisher = desk.started()
    desk.add("1")
    desk.expire_log(0)
    publisher.round()
    assert {one.kind for one in desk.broker.taken} == {"GAP"}
    count = len(desk.told())
    desk.add("2")
    publisher.round()
    assert desk.told()[count:] == ["ADD_PARTITION logs day=2/region=us"]


def test_a_gap_told_by_a_publisher_that_is_killed_is_told_again(desk: Desk) -> None:
    desk.started()
    desk.add("1")
    desk.expire_log(0)
    desk.broker.loses_after = 1
    with pytest.raises(Unreachable):
        desk.publisher().round()
    desk.publisher().round()
    assert "GAP logs" in desk.told_once()


def test_another_log_is_a_gap(desk: Desk) -> None:
    desk.started().leave()
    desk.metastore._log_id = "restored"
    desk.add("1")
    publisher = desk.started()
    assert {one.kind for one in desk.broker.taken} == {"GAP"}
    count = len(desk.told())
    desk.add("2")
    publisher.round()
    assert desk.told()[count:] == ["ADD_PARTITION logs day=2/region=us"]
    assert desk.broker.taken[-1].id.startswith("restored:")


def test_an_event_that_cannot_be_read_is_a_gap_of_its_table_and_stops_nobody(desk: Desk) -> None:
    publisher = desk.started()
    desk.add("1")
    desk.metastore.events[-1] = replace(desk.metastore.events[-1], message="nonsense")
    desk.add("2")
    publisher.round()
    assert desk.told() == ["GAP logs", "ADD_PARTITION logs day=2/region=us"]


def test_an_event_of_sets_that_cannot_be_read_is_a_gap_of_its_database(desk: Desk) -> None:
    MarkSet(LOGS, "*", "t", "ann").run(desk.metastore)
    publisher = desk.started()
    MarkSet(LOGS, "day=1", "t", "ann").run(desk.metastore)
    desk.metastore.events[-1] = replace(desk.metastore.events[-1], message="nonsense")
    publisher.round()
    assert "GAP logs" in desk.told()


def test_a_table_of_somebody_else_is_not_written(desk: Desk) -> None:
    desk.metastore.create_database(Database("twinhive", None, None, {}, "{}"))
    desk.metastore.create_table(a_table(str(POSITION_TABLE)))
    before = desk.metastore.table(POSITION_TABLE)
    with pytest.raises(ActNow, match="keeps no position"):
        desk.publisher().round()
    assert desk.metastore.table(POSITION_TABLE) == before


def test_a_position_that_was_dropped_is_made_again(desk: Desk) -> None:
    publisher = desk.started()
    desk.metastore.drop_table(POSITION_TABLE, delete_data=True)
    desk.add("1")
    publisher.round()
    desk.now += 6
    desk.add("2")
    publisher.round()
    assert len(desk.told_once()) == 2
    assert desk.kept_event() > 0


def test_what_the_broker_refuses_ends_the_publisher_and_what_may_pass_does_not(desk: Desk) -> None:
    publisher = Publisher(
        desk.metastore,
        MemoryBroker(desk.broker, knows_us=False),
        PublisherRules(TopicRules("east"), AnnouncedDatabases(), "one"),
    )
    with pytest.raises(Refused):
        run_publisher(publisher, threading.Event(), 0.0)
    heard: list[str | None] = []
    stop = threading.Event()

    def hear(trouble: Any) -> None:
        heard.append(None if trouble is None else trouble.found)
        desk.broker.down = False
        if trouble is None:
            stop.set()

    desk.broker.down = True
    run_publisher(desk.publisher(), stop, 0.0, hear)
    assert heard == ["it is down", None]
    kept = PositionStore(desk.metastore).read()
    assert kept is not None and kept.holder == ""


def test_a_set_of_a_table_that_cannot_be_read_is_told_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk()
    desk.world.add_table(a_table("sales.odd", partition_keys=("day",)))
    publisher = desk.started()
    desk.add("1")
    MarkSet(TableName("sales", "odd"), "day=1", "t").run(desk.metastore)
    MarkSet(LOGS, "day=1", "t").run(desk.metastore)
    hide(monkeypatch, desk.metastore, "sales.odd")
    publisher.round()
    assert desk.told() == [
        "ADD_PARTITION logs day=1/region=us",
        "SET_DONE odd day=1",
        "SET_DONE logs day=1",
    ]
    assert [record.message for record in caplog.records if "sales.odd" in record.message]
