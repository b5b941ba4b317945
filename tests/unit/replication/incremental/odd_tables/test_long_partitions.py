"""Partitions whose names are longer than a name on HDFS lie in directories that are not, on every way there."""

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.scan.test_scan import put, same, scan
from twinhive.core.model.file_names import LONGEST, partition_path
from twinhive.core.model.names import TableName
from twinhive.operations.actions.resync import Resync
from twinhive.replication.replica.used_directories import used_by_name

LONG, OTHER = "漢" * 150, "漢" * 149 + "字"
NAME = TableName("sales", "orders")


def add_long(world: World, value: str = LONG) -> None:
    users = SourceWriter(world.source, world.source_files, "sales")
    place = f"{users.location('orders')}/of {value[-1]}"
    world.source_files.put(f"{place}/f", value.encode())
    users.add_at("orders", (value,), place)


@pytest.fixture
def followed() -> Followed:
    world = a_world()
    add_long(world)
    return Followed(world=world)


def assert_fits(followed: Followed) -> None:
    assert same(followed)
    too_long = [
        path
        for path in followed.world.replica_files.paths()
        if any(len(part.encode()) > LONGEST for part in path.split("/"))
    ]
    assert too_long == []


def place_of(followed: Followed, value: str = LONG) -> str:
    (found,) = followed.world.replica.partitions(NAME, [f"p={value}"])
    return found.location


def test_the_first_copy_places_it(followed: Followed) -> None:
    assert_fits(followed)


def test_events_place_it(followed: Followed) -> None:
    followed.users.insert("orders", (LONG,), [b"more"])
    add_long(followed.world, OTHER)
    followed.follow()
    assert_fits(followed)
    followed.users.overwrite("orders", (LONG,), {"g": b"other"})
    followed.users.truncate("orders", [(OTHER,)])
    followed.follow()
    assert_fits(followed)
    assert place_of(followed) != place_of(followed, OTHER)


def test_renames_leave_and_moves_follow_it(followed: Followed) -> None:
    followed.users.rename_partition("orders", (LONG,), ("x",))
    add_long(followed.world, OTHER)
    followed.world.source_files.put("hdfs://east/elsewhere/f", b"moved")
    followed.users.set_partition_location("orders", (OTHER,), "hdfs://east/elsewhere", says_before=False)
    followed.users.rename_table("orders", "sold")
    followed.follow()
    assert_fits(followed)


def test_the_scan_and_a_resync_place_it(followed: Followed) -> None:
    path = put(followed, "orders", "f", b"replaced without an event", (LONG,))
    assert path
    scan(followed)
    assert_fits(followed)
    Resync(followed.policy, "orders", {"by": "test"}).run(followed.world.ports())
    followed.follow()
    assert_fits(followed)


def test_its_directory_is_known_to_be_used(followed: Followed) -> None:
    """The second look before a directory goes asks by its name, which does not say the partition's any more."""
    place = place_of(followed)
    root = "hdfs://west/warehouse/managed/sales.db"
    assert used_by_name(followed.world.replica, "sales", root, place)
    followed.users.drop_partitions("orders", [(LONG,)])
    followed.follow()
    assert not used_by_name(followed.world.replica, "sales", root, place)


def test_names_that_fit_stay_and_long_ones_stay_apart() -> None:
    assert partition_path("p=a%2Fb/q=" + "x" * 253) == "p=a%2Fb/q=" + "x" * 253
    one, other = partition_path(f"p={LONG}/q=1"), partition_path(f"p={OTHER}/q=1")
    assert one != other
    assert one.endswith("/q=1") and len(one.split("/")[0].encode()) <= LONGEST
