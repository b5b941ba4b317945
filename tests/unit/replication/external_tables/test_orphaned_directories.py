"""Where no table uses a copied directory any more the rows stay, and nothing that copies have kept for themselves."""

from dataclasses import replace
from time import time

from tests.support.worlds.external_world import BASE, ExternalWorld
from twinhive.replication.replica.sync_records import write_synced
from twinhive.transfer.tree.work_directories import CLAIM, Places

AFAR = "/other/p=1"
PLACE = f"{BASE}{AFAR}"


def a_dropped_partition(**external: object) -> ExternalWorld:
    """Return a world that has copied a partition outside its table's directory; the source has dropped it since."""
    world = ExternalWorld(**external)
    table = world.add_table("parts", "hdfs://east/data/parts", ("p",))
    world.add_partition(table, "1", f"hdfs://east{AFAR}")
    world.put(f"{AFAR}/f", b"rows")
    world.check()
    world.cycle()
    world.world.source.drop_partitions(table.name, ["p=1"], delete_data=False)
    return world


def kept(world: ExternalWorld) -> bool:
    return world.world.replica_files.status(f"{PLACE}/.twinhive") is not None


def follow(world: ExternalWorld) -> None:
    world.follow_up_to(world.world.source.current_event_id())


def test_what_copies_kept_goes_when_the_replica_has_followed_the_drop_and_the_rows_stay() -> None:
    world = a_dropped_partition()
    assert kept(world)
    world.listed()
    assert kept(world) and world.record(AFAR)
    follow(world)
    world.listed()
    assert not kept(world) and world.record(AFAR) is None
    assert world.there(AFAR) == {"f": b"rows"}
    assert world.record("/data/parts") and world.record("/data/events")
    assert any(f"hdfs://east{AFAR}" in line for line in world.log)


def test_an_event_that_is_still_to_be_applied_may_ask_for_the_data_to_be_deleted() -> None:
    world = a_dropped_partition()
    event_id = world.world.source.current_event_id()
    world.follow_up_to(event_id - 1)
    for _ in range(3):
        world.listed()
    assert world.record(AFAR)
    note = world.note_purge(AFAR, event_id)
    world.follow_up_to(event_id)
    world.listed()
    files = world.world.replica_files
    assert files.status(PLACE) is None and files.status(note) is None and world.record(AFAR) is None


def test_what_waits_for_its_deletion_keeps_its_record() -> None:
    world = a_dropped_partition()
    world.note_purge(AFAR, 1)
    inner = world.add_table("inner", f"hdfs://east{AFAR}/inner")
    follow(world)
    world.listed()
    world.listed()
    assert world.record(AFAR)
    world.world.source.drop_table(inner.name, delete_data=False)
    world.listed()
    assert world.world.replica_files.status(PLACE) is None


def test_a_partition_that_comes_back_is_no_longer_left() -> None:
    world = a_dropped_partition()
    world.listed()
    table = world.world.source.tables("sales", ["parts"])[0]
    world.add_partition(table, "1", f"hdfs://east{AFAR}")
    world.cycle()
    world.world.source.drop_partitions(table.name, ["p=1"], delete_data=False)
    world.follow_up_to(world.world.source.current_event_id() - 1)
    world.listed()
    assert kept(world) and world.record(AFAR)
    follow(world)
    world.listed()
    assert not kept(world)


def test_trash_is_kept_for_its_days() -> None:
    world = a_dropped_partition(trash_days=2)
    record = world.record(AFAR)
    assert record is not None
    write_synced(world.world.replica_files, world.policy, replace(record, trashed_at=time() - 86_400))
    follow(world)
    world.listed()
    assert kept(world)
    write_synced(world.world.replica_files, world.policy, replace(record, trashed_at=time() - 3 * 86_400))
    world.listed()
    assert not kept(world)


def test_below_a_base_of_another_policy_nothing_is_removed() -> None:
    world = a_dropped_partition()
    files = world.world.replica_files
    files.write(f"{BASE}/{CLAIM}", files.read(f"{BASE}/{CLAIM}").replace(b'"sales"', b'"another"'))
    follow(world)
    world.listed()
    assert kept(world)


def test_a_copy_that_may_still_run_keeps_its_work() -> None:
    world = a_dropped_partition()
    follow(world)
    with world.world.lease.hold(f"{PLACE}/.twinhive/lease", {}):
        world.listed()
        assert kept(world)
    world.listed()
    assert not kept(world)


def test_what_may_not_be_removed_is_said_and_stops_no_pass() -> None:
    world = a_dropped_partition()
    follow(world)
    world.world.replica_files.forbidden.add(f"{PLACE}/.twinhive")
    assert world.listed().batches
    assert kept(world) and world.record(AFAR)
    assert any("is still there" in line for line in world.log)


def test_a_first_copy_that_was_never_complete_leaves_nothing_beside_the_directory() -> None:
    world = ExternalWorld()
    table = world.add_table("parts", "hdfs://east/data/parts", ("p",))
    world.add_partition(table, "1", f"hdfs://east{AFAR}")
    world.put(f"{AFAR}/f", b"rows")
    world.check()
    files = world.world.replica_files
    work = Places(PLACE, is_new=True).work
    files.put(f"{work}/files/half", b"ro")
    files.put(f"{work[:-1]}x/theirs", b"x")
    world.listed()
    assert files.status(work)
    world.world.source.drop_partitions(table.name, ["p=1"], delete_data=False)
    world.listed()
    assert files.status(work) is None and files.status(f"{work[:-1]}x/theirs")


def test_the_snapshot_of_a_left_directory_goes_on_both_sides_and_that_of_another_copy_stays() -> None:
    world = a_dropped_partition(snapshots=True)
    sides = ((world.world.source_files, f"hdfs://east{AFAR}"), (world.world.replica_files, PLACE))
    for files, place in sides:
        assert len(files.snapshots(place) or ()) == 1
        files.create_snapshot(place, "twinhive-12345678-of-another-pair")
    follow(world)
    world.listed()
    for files, place in sides:
        assert files.snapshots(place) == ["twinhive-12345678-of-another-pair"]
