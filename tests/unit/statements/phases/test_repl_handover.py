"""Take a replica over from Hive, and hand it back, killed at any change."""

import pytest

from tests.support.builders import a_table
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.repl_world import ReplWorld
from twinhive.core.model.errors import Foreign, TryAgain
from twinhive.core.model.files import Attributes
from twinhive.core.model.marks import DIRECTORY_MARK, own_marks
from twinhive.core.model.objects import Database
from twinhive.statements.steps.repl_dump_options import Dumped
from twinhive.statements.steps.take_over import is_of_hive


def assert_equal(repl: ReplWorld) -> None:
    assert contents(repl.world.replica, repl.world.replica_files) == contents(
        repl.world.source, repl.world.source_files
    )


def as_hive_left_it(repl: ReplWorld) -> int:
    """Load a replica, and take away all that Hive would not have written; return its event."""
    dumped = repl.dump()
    repl.load(dumped)
    as_hive_left_it_there(repl)
    return dumped.last_event


def as_hive_left_it_there(repl: ReplWorld) -> None:
    """Take away all that Hive would not have written from a replica that is there."""
    replica = repl.world.replica

    def strip(thing):
        return {key: value for key, value in thing.parameters.items() if "twinhive" not in key}

    for table in replica.tables("sales", replica.table_names("sales")):
        partitions = replica.partitions(table.name, replica.partition_names(table.name))
        if partitions:
            replica.alter_partitions([one.with_parameters(strip(one)) for one in partitions])
        replica.alter_table(table.name, table.with_parameters(strip(table)))
    replica.set_database_parameters("sales", strip(replica.database("sales")))


def go_on(repl: ReplWorld, event_id: int) -> Dumped:
    repl.users.insert("plain", None, [b"more"])
    repl.users.overwrite("orders", ("a b",), {"f1": b"other"})
    repl.users.drop_table("empty")
    repl.users.create_table("made", files=[b"one"])
    return repl.dump(event_id)


@pytest.mark.thorough
@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
def test_a_replica_of_hive_is_taken_over_killed_at_any_change(after_effect: bool) -> None:
    first = ReplWorld()
    event_id = as_hive_left_it(first)
    assert is_of_hive(first.world.replica.database("sales"))
    assert first.status() == event_id
    dumped = go_on(first, event_id)
    copy, at = copies_of(first), 1
    while True:
        repl = copy()
        switch = KillSwitch(at, after_effect=after_effect)
        try:
            repl.load(dumped, ports=killable(repl.world.ports(), switch))
        except Killed:
            repl.load(dumped)
        assert_equal(repl)
        assert repl.status() == dumped.last_event
        if switch.count < at:
            return
        at += 1


def test_a_replica_that_hive_brought_further_is_taken_over_again() -> None:
    repl = ReplWorld()
    repl.load(repl.dump())
    repl.users.create_table("made", files=[b"one"])
    replica = repl.world.replica
    parameters = replica.database("sales").parameters
    replica.set_database_parameters("sales", {**parameters, "repl.last.id": str(repl.status() + 1)})
    (there,) = replica.tables("sales", ["plain"])
    made = there.at(type(there.name)("sales", "made"), "hdfs://west/warehouse/managed/sales.db/made")
    replica.create_table(made.with_parameters({"repl.last.id": "0"}))
    repl.world.replica_files.put(f"{made.location}/{file_of(repl, 'made')}", b"one")
    repl.users.insert("made", None, [b"two"])
    repl.load(repl.dump(repl.status()))
    assert_equal(repl)


def file_of(repl: ReplWorld, table: str) -> str:
    location = repl.users.location(table)
    (path,) = [path for path in repl.world.source_files.paths() if path.startswith(f"{location}/")]
    return path.removeprefix(f"{location}/")


@pytest.mark.thorough
@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
def test_a_replica_is_brought_to_hives_places_killed_at_any_change(after_effect: bool) -> None:
    first = ReplWorld()
    first.load(first.dump())
    dumped = go_on(first, first.status())
    copy, at = copies_of(first), 1
    while True:
        repl = copy()
        switch = KillSwitch(at, after_effect=after_effect)
        try:
            repl.load(dumped, ports=killable(repl.world.ports(), switch), hive_places=True)
        except Killed:
            repl.load(dumped, hive_places=True)
        assert_equal(repl)
        assert_in_hives_places(repl)
        if switch.count < at:
            return
        at += 1


MANAGED = "hdfs://west/warehouse/managed/sales.db"


@pytest.mark.parametrize("place", ["plain/somebody-elses-file", "orders/somebody-elses-file", "orders/p=a b/f"])
def test_what_somebody_else_has_in_hives_places_is_not_touched(place: str) -> None:
    repl = ReplWorld()
    repl.load(repl.dump())
    files = repl.world.replica_files
    files.put(f"{MANAGED}/{place}", b"precious")
    dumped = go_on(repl, repl.status())
    with pytest.raises(Foreign, match="something is in the way"):
        repl.load(dumped, hive_places=True)
    assert files.read(f"{MANAGED}/{place}") == b"precious"
    assert_equal(repl)


def test_what_a_table_of_another_database_lies_in_is_not_taken_aside() -> None:
    repl = ReplWorld()
    repl.load(repl.dump(), hive_places=True)
    repl.load(go_on(repl, repl.status()))
    replica, files = repl.world.replica, repl.world.replica_files
    replica.create_database(Database("other", None, None, {}, thrift="{}"))
    replica.create_table(a_table("other.t", table_type="EXTERNAL_TABLE", location=f"{MANAGED}/orders/p=a b"))
    with pytest.raises(Foreign, match="something is in the way") as raised:
        repl.load(repl.dump(repl.status()), hive_places=True)
    assert raised.value.found == "the data of table other.t"
    assert files.status(f"{MANAGED}/orders/p=a b/f1")


def test_what_our_own_contents_have_replaced_is_taken_aside_and_swept() -> None:
    repl = ReplWorld()
    repl.load(repl.dump(), hive_places=True)
    repl.load(go_on(repl, repl.status()))
    repl.load(repl.dump(repl.status()), hive_places=True)
    assert_equal(repl)
    assert_in_hives_places(repl)
    ((_, children),) = repl.world.replica_files.list_directories([MANAGED])
    aside = [child.path for child in children or () if child.path.startswith(f"{MANAGED}/p")]
    aside = [path for path in aside if not path.startswith(f"{MANAGED}/plain")]
    assert len(aside) == 1 and repl.world.replica_files.attribute(aside[0], DIRECTORY_MARK) == "repl.sales:events"


def test_what_a_replica_of_hive_has_left_in_its_places_is_taken_aside_too() -> None:
    repl = ReplWorld()
    repl.load(repl.dump(), hive_places=True)
    files, replica = repl.world.replica_files, repl.world.replica
    for table in replica.tables("sales", replica.table_names("sales")):
        if table.location:
            files.set_attributes(table.location, Attributes(extended={}))
    as_hive_left_it_there(repl)
    repl.load(go_on(repl, repl.status()))
    repl.users.overwrite("plain", None, {"f": b"new"})
    repl.load(repl.dump(repl.status()), hive_places=True)
    assert_equal(repl)
    assert_in_hives_places(repl)


def test_a_place_that_is_taken_while_it_is_moved_to_is_an_error_and_nobody_is_shown_what_lies_there() -> None:
    repl = ReplWorld()
    repl.load(repl.dump())
    files = repl.world.replica_files
    rename = files.rename

    def beneath_another(source: str, target: str) -> bool:
        if target == f"{MANAGED}/plain":
            files.put(f"{target}/theirs", b"theirs")
        return rename(source, target)

    files.rename = beneath_another
    with pytest.raises(TryAgain, match="was not moved to where Hive looks for it"):
        repl.load(repl.dump(repl.status()), hive_places=True)
    files.rename = rename
    (plain,) = repl.world.replica.tables("sales", ["plain"])
    assert plain.location != f"{MANAGED}/plain"
    assert files.read(f"{MANAGED}/plain/theirs") == b"theirs"


def test_partitions_are_switched_some_at_a_time() -> None:
    repl = ReplWorld()
    repl.users.create_table("wide", keys=("p",))
    repl.users.add_partitions("wide", {(str(number),): [b"x"] for number in range(45)})
    repl.load(repl.dump())
    replica, switched = repl.world.replica, []
    alter = replica.alter_partitions
    replica.alter_partitions = lambda some: (switched.append(len(some)), alter(some))[1]
    repl.load(repl.dump(repl.status()), hive_places=True)
    assert [count for count in switched if count > 3] == [20, 20, 5]
    assert_equal(repl)


def assert_in_hives_places(repl: ReplWorld) -> None:
    replica, root = repl.world.replica, "hdfs://west/warehouse/managed/sales.db"
    for table in replica.tables("sales", replica.table_names("sales")):
        if table.location is None:
            continue
        assert table.location == f"{root}/{table.name.table}"
        for partition in replica.partitions(table.name, replica.partition_names(table.name)):
            assert partition.location == f"{table.location}/{partition.name(table.partition_keys)}"


def test_a_replica_in_hives_places_goes_on_by_twinhive_too() -> None:
    repl = ReplWorld()
    repl.load(repl.dump())
    repl.load(go_on(repl, repl.status()), hive_places=True)
    repl.users.rename_table("plain", "plainer")
    repl.users.insert("plainer", None, [b"again"])
    repl.users.rename_partition("orders", ("a b",), ("c",))
    repl.users.overwrite("made", None, {"f": b"new"})
    repl.load(repl.dump(repl.status()))
    assert_equal(repl)
    assert own_marks(repl.world.replica.database("sales").parameters)
