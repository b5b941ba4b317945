"""What is a gap, and what is none: a restored metastore, a log that has expired, and events of our own."""

from dataclasses import replace

import pytest

from tests.support.worlds.fake_world import backup
from tests.unit.operations.monitoring.test_publishers import Site
from tests.unit.publishing.messages.test_publishing_messages import ACTIVE, LOGS, STANDBY, Desk
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.messages.publisher_position import ToldGap
from twinhive.core.model.names import TableName
from twinhive.publishing.messages.positions import PositionStore
from twinhive.publishing.messages.publishing_messages import Publisher


@pytest.fixture
def desk() -> Desk:
    return Desk()


def rounds(desk: Desk, publisher: Publisher, number: int = 4, seconds: float = 6.0) -> None:
    for _ in range(number):
        publisher.round()
        desk.now += seconds


def gap_of(desk: Desk) -> ToldGap | None:
    kept = PositionStore(desk.metastore).read()
    return kept.gap if kept else None


@pytest.mark.parametrize("tables", [1, 150], ids=["few topics", "more topics than are sent at once"])
def test_a_publisher_that_sees_its_metastore_restored_tells_a_gap_on_all_topics_and_keeps_it(
    desk: Desk, tables: int
) -> None:
    """The position is restored with the log, so that it is another one than ours, and fits."""
    for number in range(tables):
        desk.world.add_table(replace(desk.metastore.table(LOGS), name=TableName("sales", f"t{number}")))
    publisher = desk.started()
    desk.add("1")
    rounds(desk, publisher)
    restore = backup(desk.metastore)
    desk.add("2", "2b", "2c")
    rounds(desk, publisher)
    restore()
    desk.add("3")
    count = len(desk.told())
    rounds(desk, publisher, 8)
    gaps = {one.topic for one in desk.broker.taken[count:] if one.kind == "GAP"}
    assert len(gaps) > tables
    assert publisher.counts.gaps == 1
    assert gap_of(desk) is not None


def test_events_of_a_restored_metastore_are_no_repetitions_of_those_that_had_their_numbers(desk: Desk) -> None:
    publisher = desk.started()
    desk.add("1")
    rounds(desk, publisher)
    restore = backup(desk.metastore)
    desk.add("2")
    rounds(desk, publisher)
    publisher.leave()
    restore()
    desk.add("3")
    desk.metastore.events[-1] = replace(desk.metastore.events[-1], time=desk.metastore.events[-1].time + 60)
    rounds(desk, desk.started())
    assert desk.told_once() == [f"ADD_PARTITION logs day={day}/region=us" for day in ("1", "2", "3")]


@pytest.mark.parametrize("ends", ["in order", "killed"])
def test_a_quiet_cluster_whose_log_has_expired_has_no_gap(desk: Desk, ends: str) -> None:
    """Only the event of the position's own writing is gone."""
    publisher = desk.started()
    desk.add("1")
    rounds(desk, publisher)
    rounds(desk, publisher, seconds=301.0)
    if ends == "in order":
        publisher.leave()
    desk.expire_log(0)
    again = desk.started()
    desk.add("2")
    rounds(desk, again)
    assert [text.split()[0] for text in desk.told()] == ["ADD_PARTITION", "ADD_PARTITION"]
    assert (again.counts.gaps, gap_of(desk)) == (0, None)


def test_one_event_that_is_gone_besides_our_own_is_a_gap(desk: Desk) -> None:
    publisher = desk.started()
    desk.add("1")
    rounds(desk, publisher)
    publisher.leave()
    desk.add("2")
    desk.expire_log(0)
    assert desk.publisher().round() is ACTIVE
    assert "GAP logs" in desk.told()


def test_an_event_that_was_gone_while_we_ran_is_a_gap_though_it_is_alone(desk: Desk) -> None:
    """What was reached is not what was kept: the event behind it is none of ours."""
    publisher = desk.started()
    desk.add("1")
    rounds(desk, publisher)
    rounds(desk, publisher, seconds=301.0)
    desk.add("2")
    desk.expire_log(0)
    publisher.round()
    assert "GAP logs" in desk.told()


def test_a_position_is_written_once_behind_what_is_our_own_and_not_again_and_again(desk: Desk) -> None:
    publisher = desk.started()
    rounds(desk, publisher, 10, seconds=301.0)
    newest = desk.metastore.current_event_id()
    assert desk.kept_event() == newest - 1
    rounds(desk, publisher, 10, seconds=301.0)
    assert desk.metastore.current_event_id() == newest


def test_the_monitor_is_well_while_the_log_of_a_quiet_cluster_is_empty_and_when_something_happens_again() -> None:
    site = Site()
    publisher = site.publisher()
    publisher.round()
    site.add("1")
    publisher.round()
    publisher.leave()
    site.metastore.events.clear()
    assert site.alerts(1e12) == []
    site.add("2")
    assert site.look(1e12).behind.lost is None


def test_a_gap_is_kept_though_the_first_try_to_write_it_fails(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher = desk.started()
    desk.add("1")
    rounds(desk, publisher)
    for day in ("2", "3", "4"):
        desk.add(day)
    desk.expire_log(1)
    publisher._written = desk.now  # nothing is written amid the gap

    def lost(store: PositionStore, before: object, after: object) -> None:
        raise Unreachable("the metastore is gone for a moment", found="nothing", expected="an answer", next_step="-")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(PositionStore, "move", lost)
        with pytest.raises(Unreachable):
            publisher.round()
    rounds(desk, publisher)
    assert gap_of(desk) is not None


def test_a_gap_is_kept_though_nothing_is_to_be_sent_after_the_restore(desk: Desk) -> None:
    publisher = desk.started()
    desk.add("1")
    rounds(desk, publisher)
    rounds(desk, publisher, seconds=301.0)
    restore = backup(desk.metastore)
    desk.add("2", "2b", "2c")
    rounds(desk, publisher)
    restore()
    rounds(desk, publisher, 20)
    assert "GAP logs" in desk.told()
    assert gap_of(desk) is not None


def test_who_stands_by_on_a_quiet_cluster_leaves_the_other_alone_when_the_log_has_expired(desk: Desk) -> None:
    active = desk.started("one")
    desk.add("1")
    rounds(desk, active)
    rounds(desk, active, seconds=301.0)
    desk.expire_log(0)
    other = desk.publisher("two")
    for _ in range(20):
        active.round()
        assert other.round() is STANDBY
        desk.now += 1.0


def test_one_event_after_a_quiet_time_is_told_once_and_its_position_kept(desk: Desk) -> None:
    active, other = desk.started("one"), desk.publisher("two")
    rounds(desk, active, seconds=301.0)
    desk.add("1")
    for _ in range(30):
        active.round()
        assert other.round() is STANDBY
        desk.now += 1.0
    assert desk.told() == ["ADD_PARTITION logs day=1/region=us"]
    assert desk.metastore.current_event_id() - desk.kept_event() <= 2


def test_an_event_of_another_catalog_is_not_told(desk: Desk) -> None:
    publisher = desk.started()
    desk.add("1")
    desk.metastore.events[-1] = replace(desk.metastore.events[-1], catalog="spark")
    rounds(desk, publisher)
    assert desk.told() == []
