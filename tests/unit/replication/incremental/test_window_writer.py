"""What a window's dump holds, for a replica that is known and for those that are not."""

from dataclasses import replace

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world, tuned
from twinhive.core.model.changes.events import Position
from twinhive.core.model.policy import Policy
from twinhive.hive.events.reader import position_at
from twinhive.replication.dump.batch_records import listed_batch
from twinhive.replication.incremental.window_writer import WindowWriter
from twinhive.replication.notification_log.event_stream import EventStream, event_range_after


@pytest.fixture
def world() -> World:
    return a_world()


@pytest.fixture
def users(world: World) -> SourceWriter:
    return SourceWriter(world.source, world.source_files, "sales")


def now(world: World) -> Position:
    return position_at(world.source, world.source.current_event_id())


def written(world: World, policy: Policy, begin: Position, *, known: bool, has_files: bool = True) -> WindowWriter:
    event_range = event_range_after(world.source, policy, begin).event_range
    replica = world.replica if known else None
    window = WindowWriter.begin(EventStream(world.ports(), policy), event_range, replica, has_files=has_files)
    found = window.write_events()
    assert (found.untold, found.away) == ({}, {})
    return window.with_files()


def listed(world: World, window: WindowWriter) -> int:
    found = [listed_batch(world.source_files, window.attempt, batch.name) for batch in window.batches]
    return sum(one.files for one in found if one)


@pytest.mark.parametrize(("known", "files"), [(True, 1), (False, 2)])
def test_files_of_cancelled_events_are_left_out_only_where_the_replica_is_known(
    world: World, users: SourceWriter, known: bool, files: int
) -> None:
    begin = now(world)
    users.create_table("passing", files=[b"one"])
    users.drop_table("passing")
    users.insert("plain", None, [b"more"])
    window = written(world, tuned(consistency="window_end"), begin, known=known)
    assert window.files == listed(world, window) == files


def test_without_files_nothing_is_listed_or_looked_for(world: World, users: SourceWriter) -> None:
    begin = now(world)
    users.create_table("made", files={"f": b"one", "1/f": b"two"})
    whole, bare = (written(world, tuned(), begin, known=False, has_files=one) for one in (True, False))
    assert (whole.files, bare.files, bare.batches) == (2, 0, ())
    assert world.source_files.status(whole.attempt.unnamed) is not None
    assert world.source_files.status(bare.attempt.unnamed) is None


@pytest.mark.parametrize("known", [True, False])
def test_changes_of_columns_are_remembered_only_beside_the_windows_of_a_known_replica(
    world: World, users: SourceWriter, known: bool
) -> None:
    begin, policy = now(world), tuned(window_events=1)
    for name in ("a", "b"):
        users.add_columns("orders", [(name, "string")], cascade=True)
    window = written(world, policy, begin, known=known)
    assert len(window.event_range.rows) == 1
    assert (world.source_files.status(f"{policy.dumps}/cascades.json") is not None) == known


def test_tables_that_come_whole_are_passed_over_by_its_events(world: World, users: SourceWriter) -> None:
    begin = now(world)
    users.insert("plain", None, [b"more"])
    window = written(world, tuned(), begin, known=True)
    window = replace(window, batches=(), files=0).with_whole_tables(("plain",))
    assert (window.read, window.passed_over) == (("plain",), {"plain"})
    assert window.with_files().files == 0
