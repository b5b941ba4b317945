"""A sweep asks and remembers in pieces: a table of any number of partitions takes it a few bytes for each of them."""

import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import cast

import pytest

from tests.support.builders import a_policy, a_table
from tests.support.worlds.fake_world import REPLICA_ADDRESS, Killed, KillSwitch, a_world, killable, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.files import FileStatus, is_below, join, parent
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Table
from twinhive.core.ports import FileReader, MetastoreReader
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.replica.replica_locations import CONTENTS
from twinhive.replication.replica.used_directories import UsedPlaces
from twinhive.replication.scan.unused_directories import unused_directories

ROOT = "hdfs://west/w/sales.db"
POLICY = a_policy()
WIDE = a_table("sales.wide", location=f"{ROOT}/wide.7", partition_keys=("day",))


class WideReplica:
    """Be the metastore of a replica with one table, whose partitions are made up when they are asked for."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def database(self, name: str) -> Database:
        return Database(name, None, ROOT, {}, thrift="{}")

    def table_names(self, database: str) -> list[str]:
        return [WIDE.name.table]

    def tables(self, database: str, names: Sequence[str]) -> list[Table]:
        return [WIDE]

    def partition_locations(self, table: Table) -> Iterator[tuple[str, str]]:
        return ((name, join(str(WIDE.location), name)) for name in self.names)


class WideFiles:
    """Be the file system of that replica: one directory for each partition, and one more that nobody uses."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def attribute(self, path: str, name: str) -> str:
        return f"{POLICY.name}:a dump"

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        for path in paths:
            if path == ROOT:
                yield path, [_directory(path, "wide.7")]
                continue
            for start in range(0, len(self.names), 1000):
                yield path, [_directory(path, name) for name in self.names[start : start + 1000]]
            yield path, [_directory(path, "unused")]


MANAGED = "hdfs://west/warehouse/managed/sales.db"


def _directory(above: str, name: str) -> FileStatus:
    return FileStatus(join(above, name), 0, 1, is_directory=True)


def swept(partitions: int) -> int:
    """Return the most memory (bytes) that looking through a table takes, but for what the metastore answers."""
    names = [f"day={number:06d}" for number in range(partitions)]
    replica = WideReplica(names)
    tracemalloc.start()
    try:
        unused = list(
            unused_directories(cast(MetastoreReader, replica), cast(FileReader, WideFiles(names)), POLICY, position=9)
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert unused == [f"{WIDE.location}/unused"]
    return peak


def test_neither_locations_nor_directories_of_a_wide_table_are_held() -> None:
    few, many = swept(1_000), swept(10_000)
    assert (many - few) / 9_000 < 64


def test_directories_are_asked_for_by_pages_and_found_whatever_their_size() -> None:
    followed = Followed()
    users, files = followed.users, followed.world.replica_files
    users.add_partitions("orders", {(f"n{number}",): [b"1"] for number in range(7)})
    users.overwrite("orders", ("n3",), [b"2"])
    users.overwrite("orders", ("a b",), [b"2"])
    users.overwrite("plain", None, [b"2"])
    users.drop_partitions("orders", [("n5",)])
    followed.follow()
    position = followed.world.source.current_event_id()

    def found() -> set[str]:
        return set(unused_directories(followed.world.replica, files, followed.policy, position))

    whole = found()
    assert len(whole) >= 4
    before = files.calls["list_directories"]
    files.page_size = 1
    assert found() == whole
    assert files.calls["list_directories"] == before


@pytest.mark.parametrize(
    "written",
    ["{path}", "hdfs:{path}", "hdfs://{path}", "hdfs://west:8020{path}", "hdfs://west//{path}/", "/x/..{path}"],
    ids=["no scheme", "no host", "empty host", "with a port", "slashes", "a way around"],
)
def test_a_place_is_used_however_a_writer_names_it(written: str) -> None:
    used = f"{ROOT}/t.7/_tw/7/day=1"
    assert ROOT.startswith("hdfs://west/")
    places = UsedPlaces(ROOT)
    places.add_rows(written.format(path=used.removeprefix("hdfs://west")))
    assert places.holds_rows(used)
    assert places.is_above(parent(used))


@pytest.mark.parametrize("root", ["/w/sales.db", "hdfs:/w/sales.db", "hdfs:///w/sales.db", "hdfs://west//w/sales.db/"])
def test_a_place_is_used_however_the_warehouse_is_named(root: str) -> None:
    places = UsedPlaces(root)
    places.add_rows(f"{ROOT}/t.7/_tw/7/day=1")
    places.add_above(f"{ROOT}/t.8")
    assert places.holds_rows(join(root, "t.7/_tw/7/day=1"))
    assert places.is_above(join(root, "t.7/_tw")) and places.is_above(join(root, "t.8"))
    assert not places.holds_rows(join(root, "t.7/_tw/7/day=2"))


@pytest.mark.parametrize("warehouse", ["/w", "hdfs:/w", "hdfs:///w"])
def test_a_warehouse_that_names_no_host_is_on_the_replicas_file_system(warehouse: str) -> None:
    world = a_world()
    world.replica.create_database(Database(POLICY.replica.database, None, None, {}, thrift="{}"))
    world.replica.configurations[REPLICA_ADDRESS]["metastore.warehouse.dir"] = warehouse
    assert managed_root(world.replica, POLICY) == f"hdfs://west/w/{POLICY.replica.database}.db"


def test_a_partition_whose_location_was_written_without_a_host_keeps_its_directory() -> None:
    followed = Followed()
    position = followed.world.source.current_event_id()
    replica, files, policy = followed.world.replica, followed.world.replica_files, followed.policy
    before = set(unused_directories(replica, files, policy, position))
    bare = 0
    for name in replica.table_names(policy.replica.database):
        table = replica.table(TableName(policy.replica.database, name))
        for partition in replica.partitions(table.name, replica.partition_names(table.name)):
            location = str(partition.location).removeprefix("hdfs://west")
            replica.alter_partitions([partition.at(table.name, location)])
            bare += location.startswith("/")
    assert bare
    assert set(unused_directories(replica, files, policy, position)) == before


@pytest.mark.parametrize("bits", [1, 3, 64])
def test_hashes_that_meet_never_make_a_used_directory_unused(bits: int) -> None:
    used = [f"{ROOT}/t{number % 5}.7/_tw/{number}/day={number}" for number in range(40)]
    places = UsedPlaces(ROOT, lambda path: hash(path) % 2**bits)
    for directory in used:
        places.add_rows(directory)
    for directory in used:
        assert places.holds_rows(directory)
        while is_below(directory := parent(directory), ROOT):
            assert places.is_above(directory)


def test_one_hash_for_two_directories_on_the_way_up_leaves_none_above_unused() -> None:
    table, other = f"{ROOT}/t.7", f"{ROOT}/other.7"
    places = UsedPlaces(ROOT, lambda path: hash(other if path == f"{table}/_tw" else path))
    places.add_above(other)
    places.add_rows(f"{table}/_tw/7")
    assert places.is_above(table)


def test_a_table_that_gets_another_name_while_tables_are_read_keeps_its_directory() -> None:
    followed = Followed()
    position = followed.world.source.current_event_id()
    replica, files, policy = followed.world.replica, followed.world.replica_files, followed.policy
    before = set(unused_directories(replica, files, policy, position))
    names, plain = replica.table_names, TableName("sales", "plain")

    def renaming(database: str) -> list[str]:
        found, there = names(database), replica.table(plain)
        if there is not None:
            renamed = there.at(TableName("sales", "renamed"), there.location)
            replica.alter_table(plain, renamed, expected=there.parameters[STAMP])
        return found

    replica.table_names = renaming
    assert set(unused_directories(replica, files, policy, position)) == before


def test_contents_of_events_to_come_may_be_in_the_making_and_stay() -> None:
    followed = Followed()
    replica, files, policy = followed.world.replica, followed.world.replica_files, followed.policy
    position = followed.world.source.current_event_id()
    before = set(unused_directories(replica, files, policy, position))
    contents = join(replica.table(TableName("sales", "orders")).location, CONTENTS)
    files.put(f"{contents}/{position - 1}/p=x/f")
    files.put(f"{contents}/{position + 1}/p=x/f")
    assert set(unused_directories(replica, files, policy, position)) - before == {f"{contents}/{position - 1}"}


@pytest.mark.parametrize("kills", range(6, 13))
def test_what_was_filled_ahead_for_a_table_that_then_froze_is_known_as_ours(kills: int) -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    followed.users.create_table("made", files=[b"a"])
    followed.users.overwrite("plain", None, [b"2"])
    with suppress(Killed):
        followed.run_with(killable(followed.world.ports(), KillSwitch(kills, after_effect=True)))
    if followed.world.replica.table(TableName("sales", "made")) is None:
        followed.world.replica.create_table(a_table("sales.made"))  # foreign
    followed.follow()
    files, position = followed.world.replica_files, followed.world.source.current_event_id()
    unused = set(unused_directories(followed.world.replica, files, followed.policy, position))
    used = {table.location for table in followed.world.replica.tables("sales", ["made", "plain"])}
    tops = {
        join(MANAGED, path.removeprefix(MANAGED + "/").partition("/")[0]) for path in files.paths() if MANAGED in path
    }
    assert {top for top in tops if "/made." in top or "/plain." in top} == {
        place for place in used | unused if "/made." in place or "/plain." in place
    }
