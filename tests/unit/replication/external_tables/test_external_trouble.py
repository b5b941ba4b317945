"""What is wrong with one directory is told with its table, place and way out, and the others are synced."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from tests.support.hive.hidden_objects import hide
from tests.support.worlds.external_world import BASE, ExternalWorld, a_world_with_files
from twinhive.core.model.errors import ActNow, Missing, TryAgain, Unreachable, UnreadableObject
from twinhive.core.model.objects import Table
from twinhive.replication.external_tables.external_status import last_pass


def failed(world: ExternalWorld) -> str:
    with pytest.raises(ActNow) as error:
        world.cycle()
    assert "next:" in str(error.value)
    return str(error.value)


def test_a_missing_source_directory_is_an_error_that_names_table_place_and_option() -> None:
    world = a_world_with_files()
    world.cycle()
    before = world.record("/data/events")
    assert before is not None
    world.world.source_files.delete("hdfs://east/data/events")
    error = failed(world)
    assert "sales.events: its directory hdfs://east/data/events does not exist on the source" in error
    assert "external_tables.missing: empty" in error
    assert world.there("/data/events")
    assert world.record("/data/events") == replace(before, unfinished=True)


def test_a_missing_source_directory_is_an_empty_one_by_choice() -> None:
    world = a_world_with_files(missing="empty")
    world.world.source_files.delete("hdfs://east/data/events")
    world.cycle()
    there = world.world.replica_files.status(f"{BASE}/data/events")
    assert there is not None
    assert there.is_directory
    record = world.record("/data/events")
    assert record is not None
    assert record.files == 0
    world.put("/data/events/f")
    world.cycle()
    world.assert_twin("/data/events")
    world.world.source_files.delete("hdfs://east/data/events")
    world.cycle()
    assert world.there("/data/events") == {}
    assert [path for path in world.world.replica_files.paths() if "/trash/" in path] != []


def test_an_emptied_source_directory_is_not_mirrored_unless_the_policy_says_so() -> None:
    world = a_world_with_files()
    world.cycle()
    for name in ("f", "day=1"):
        world.world.source_files.delete(f"hdfs://east/data/events/{name}")
    with pytest.raises(TryAgain) as raised:
        world.cycle()
    error = str(raised.value)
    assert "sales.events: hdfs://east/data/events is empty, and what the replica has would be deleted" in error
    assert world.there("/data/events")
    world.policy = replace(world.policy, external=replace(world.policy.external, missing="empty"))
    world.cycle()
    assert world.there("/data/events") == {}


def test_a_source_directory_that_was_always_empty_is_fine() -> None:
    world = ExternalWorld()
    world.cycle()
    (synced,) = world.cycle()
    assert synced.unchanged == 1
    assert world.there("/data/events") == {}


def test_a_source_directory_that_cannot_be_read_is_an_error_that_names_the_table() -> None:
    world = a_world_with_files()
    world.cycle()
    world.world.source_files.unreadable.add("hdfs://east/data/events/day=1")
    error = failed(world)
    assert "sales.events: " in error
    assert "cannot be listed" in error
    assert world.there("/data/events")


def test_one_directory_that_fails_keeps_no_other_from_being_synced() -> None:
    world = a_world_with_files()
    for number in range(7):
        world.add_table(f"gone{number}", f"hdfs://east/data/gone{number}")
        world.world.source_files.delete(f"hdfs://east/data/gone{number}")
    error = failed(world)
    assert "7 of 8 directories of external tables were not synced" in error
    assert "2 more" in error
    world.assert_twin("/data/events")
    assert world.record("/data/events") is not None
    assert world.record("/data/gone0") is None


def test_what_may_pass_by_itself_is_tried_again() -> None:
    world = a_world_with_files()
    listed = world.listed()
    statuses = world.world.source_files.status

    def down(path: str) -> object:
        if path == "hdfs://east/data/events":
            raise Unreachable("the NameNode does not answer")
        return statuses(path)

    world.world.source_files.status = down  # type: ignore[method-assign, assignment]
    with pytest.raises(TryAgain, match="does not answer"):
        world.sync(listed)
    world.add_table("gone", "hdfs://east/data/gone")
    world.world.source_files.delete("hdfs://east/data/gone")
    with pytest.raises(ActNow):
        world.cycle()


def test_a_missing_directory_between_listing_and_copy_is_told_as_missing() -> None:
    world = a_world_with_files()
    listed = world.listed()
    world.world.source_files.delete("hdfs://east/data/events")
    with pytest.raises(ActNow, match=r"sales.events: its directory") as error:
        world.sync(listed)
    assert isinstance(error.value, Missing)


def test_a_table_in_a_snapshot_is_named_until_its_location_is_a_directory_and_the_others_go_on() -> None:
    world = ExternalWorld()
    table, _ = world.add_table("one", "hdfs://east/data/one"), world.add_table("two", "hdfs://east/data/two")
    place = "hdfs://east/data/kept/.snapshot/s1"
    world.put("/data/kept/.snapshot/s1/rows.csv", b"1,2")
    world.put("/data/one/rows.csv", b"1,2")
    world.put("/data/two/rows.csv", b"3,4")
    world.world.source.alter_table(table.name, table.at(table.name, place))
    with pytest.raises(ActNow, match=rf"sales\.one: its place {place} lies in a snapshot") as raised:
        world.cycle()
    assert "set its location to a directory" in str(raised.value.next_step)
    world.assert_twin("/data/two")
    world.world.source.alter_table(table.name, table)
    world.cycle()
    world.assert_twin("/data/one")


def test_a_file_in_place_of_a_directory_is_named_until_the_location_is_its_directory() -> None:
    """Spark lets its own tables name a single file."""
    world = ExternalWorld()
    table = world.add_table("one", "hdfs://east/data/one")
    world.put("/data/one/rows.csv", b"1,2")
    world.world.source.alter_table(table.name, table.at(table.name, "hdfs://east/data/one/rows.csv"))
    with pytest.raises(ActNow, match=r"sales\.one: its place hdfs://east/data/one/rows\.csv is a file") as raised:
        world.cycle()
    assert "exclude the table" in str(raised.value.next_step)
    world.world.source.alter_table(table.name, table)
    world.cycle()
    world.assert_twin("/data/one")


def with_two_tables() -> ExternalWorld:
    world = a_world_with_files()
    world.add_table("others", "hdfs://east/data/others")
    world.put("/data/others/f")
    return world


def quarantining(world: ExternalWorld) -> ExternalWorld:
    world.policy = replace(world.policy, options=replace(world.policy.options, on_object_error="quarantine"))
    return world


@pytest.mark.parametrize("hidden", ["the table", "its partitions"])
def test_one_that_cannot_be_read_is_named_when_all_others_are_copied(
    hidden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = with_two_tables()
    parted = world.add_table("parted", "hdfs://east/data/parted", ("p",))
    world.add_partition(parted, "1")
    world.put("/data/parted/p=1/f")
    world.check()
    with monkeypatch.context() as meanwhile:
        if hidden == "the table":
            hide(meanwhile, world.world.source, "sales.parted")
        else:
            meanwhile.setattr(world.world.source, "partition_locations", unreadable_partitions)
        world.check()
        with pytest.raises(ActNow, match=r"sales\.parted"):
            world.cycle()
        assert "1 tables could not be read, first parted" in str(last_pass(world.ports(), world.policy))
        world.assert_twin("/data/events")
        world.assert_twin("/data/others")
        assert not world.there("/data/parted")
    world.cycle()
    world.assert_twin("/data/parted")


def unreadable_partitions(table: Table) -> list[tuple[str, str]]:
    raise UnreadableObject(f"reading partitions of {table.name}: what the metastore answered cannot be read")


def test_where_nothing_else_is_to_be_copied_the_list_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world_with_files()
    hide(monkeypatch, world.world.source, "sales.events")
    with pytest.raises(ActNow, match=r"sales\.events"):
        world.listed()


def test_where_the_policy_goes_on_it_is_said_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    world = quarantining(with_two_tables())
    hide(monkeypatch, world.world.source, "sales.others")
    world.cycle()
    world.assert_twin("/data/events")
    assert any("left out: sales.others" in str(line) for line in world.log)


@pytest.mark.parametrize("policy", ["stop", "quarantine"])
def test_nothing_is_deleted_while_a_table_cannot_be_read(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = with_two_tables() if policy == "stop" else quarantining(with_two_tables())
    world.cycle()
    world.follow_up_to(5)
    # It was dropped with its data, and made again over the same directory.
    note = world.note_purge("/data/others")
    with monkeypatch.context() as meanwhile:
        hide(meanwhile, world.world.source, "sales.others")
        with pytest.raises(ActNow) if policy == "stop" else nullcontext():
            world.cycle()
    assert world.there("/data/others") == {"f": b"x"}
    assert world.record("/data/others") is not None
    assert world.world.replica_files.status(note) is not None
    world.cycle()
    world.assert_twin("/data/others")
    assert world.world.replica_files.status(note) is None
