"""What was dropped with its data at the source is deleted on the replica, when nobody uses it any more."""

import pytest

from tests.support.hdfs.fake_trash import TRASH
from tests.support.worlds.external_world import BASE, ExternalWorld
from twinhive.transfer.tree.snapshots.snapshot_rotation import delete_snapshots
from twinhive.transfer.tree.work_directories import CLAIM


def a_world_with_a_dropped_table(**external: object) -> ExternalWorld:
    world = ExternalWorld(**external)
    gone = world.add_table("gone", "hdfs://east/data/gone")
    world.put("/data/gone/f")
    world.check()
    world.cycle()
    assert world.there("/data/gone") == {"f": b"x"}
    world.world.source.drop_table(gone.name, delete_data=False)
    delete_snapshots(world.world.source_files, "hdfs://east/data/gone")
    world.world.source_files.delete("hdfs://east/data/gone")
    return world


@pytest.mark.parametrize("snapshots", [False, True])
def test_what_was_dropped_with_its_data_is_deleted_when_the_replica_has_dropped_it(snapshots: bool) -> None:
    world = a_world_with_a_dropped_table(snapshots=snapshots)
    place = world.note_purge("/data/gone")
    world.follow_up_to(4)
    world.listed()
    assert world.there("/data/gone")
    world.follow_up_to(5)
    world.listed()
    assert world.world.replica_files.status(f"{BASE}/data/gone") is None
    assert world.world.replica_files.status(place) is None
    assert world.record("/data/gone") is None
    assert world.world.replica_files.status(f"{BASE}/data/events") is not None


def test_nothing_is_deleted_for_a_note_whose_place_is_another_than_it_says() -> None:
    world = a_world_with_a_dropped_table()
    note = world.note_purge("/data/gone/../../finance.db")
    world.follow_up_to(5)
    world.listed()
    assert world.there("/data/gone")
    assert world.world.replica_files.status(note) is None


def test_below_a_base_that_another_policy_has_claimed_nothing_is_deleted_and_the_note_stays() -> None:
    world = a_world_with_a_dropped_table()
    place = world.note_purge("/data/gone")
    files = world.world.replica_files
    files.write(f"{BASE}/{CLAIM}", files.read(f"{BASE}/{CLAIM}").replace(b'"sales"', b'"another"'))
    world.follow_up_to(5)
    world.listed()
    assert world.there("/data/gone") == {"f": b"x"} and files.status(place)


def test_what_was_dropped_with_its_data_goes_to_the_trash() -> None:
    world = a_world_with_a_dropped_table()
    world.world.replica_files.keeps_trash = True
    world.note_purge("/data/gone")
    world.follow_up_to(5)
    world.listed()
    assert world.world.replica_files.read(f"hdfs://west{TRASH}/Current/ext/data/gone/f") == b"x"


def test_it_is_not_deleted_while_another_table_uses_the_directory() -> None:
    world = a_world_with_a_dropped_table()
    place = world.note_purge("/data/gone")
    world.follow_up_to(5)
    inner = world.add_table("inner", "hdfs://east/data/gone/inner")
    world.listed()
    assert world.there("/data/gone")
    assert world.world.replica_files.status(place) is not None
    world.world.source.drop_table(inner.name, delete_data=False)
    again = world.add_table("again", "hdfs://east/data/gone")
    world.listed()
    assert world.there("/data/gone")
    assert world.world.replica_files.status(place) is None
    world.world.source.drop_table(again.name, delete_data=False)
    world.note_purge("/data/gone")
    world.add_table("around", "hdfs://east/data")
    world.listed()
    assert world.there("/data/gone")


def test_what_this_policy_has_never_copied_is_not_deleted() -> None:
    world = ExternalWorld()
    world.world.replica_files.put(f"{BASE}/data/theirs/f", b"x")
    place = world.note_purge("/data/theirs")
    world.follow_up_to(5)
    world.listed()
    assert world.there("/data/theirs")
    assert world.world.replica_files.status(place) is None
