"""Consolidate tables of many batches by the partitions that events name; the rest goes through as it is."""

from collections.abc import Callable

import pytest

from tests.support.builders import a_table
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.names import TableName
from twinhive.hive.events.decoder import decode_event
from twinhive.replication.bootstrap.folded_tables import Folding
from twinhive.replication.bootstrap.multi_batch_tables import partitions_concerned
from twinhive.replication.dump.dump_store import current_dump
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase, run_rounds

POLICY = tuned(batch_objects=2)
WIDE = "wide"


def wide_world() -> World:
    world = a_world()
    days = [((f"{day:02d}",), {"f": b"day %d" % day}) for day in range(7)]
    world.add_table(a_table(f"sales.{WIDE}", partition_keys=("p",)), *days)
    return world


def add(users: SourceWriter) -> None:
    users.add_partitions(WIDE, {("new",): [b"new"], ("empty",): [], ("newer",): [b"a", b"b"]})


def change_rows(users: SourceWriter) -> None:
    users.insert(WIDE, ("01",), [b"more"])
    users.overwrite(WIDE, ("04",), {"f": b"other"})
    users.truncate(WIDE, [("05",)])


def drop_and_add_again(users: SourceWriter) -> None:
    users.drop_partitions(WIDE, [("00",), ("01",), ("03",)])
    users.add_partitions(WIDE, {("03",): {"g": b"again"}})


def drop_all(users: SourceWriter) -> None:
    users.drop_partitions(WIDE, [(f"{day:02d}",) for day in range(7)])


def rename(users: SourceWriter) -> None:
    users.rename_partition(WIDE, ("02",), ("renamed",))
    users.rename_partition(WIDE, ("06",), ("02",))


def alter(users: SourceWriter) -> None:
    users.alter_partition(WIDE, ("02",), {"k": "v"})
    users.alter_partitions(WIDE, [("00",), ("06",)], {"k": "w"})
    users.update_statistics(WIDE, ("00",))


def say_more_of_the_table(users: SourceWriter) -> None:
    users.set_parameters(WIDE, {"k": "v"})
    users.insert(WIDE, ("01",), [b"more"])
    users.set_owner(WIDE, "eve")


def change_the_table_too(users: SourceWriter) -> None:
    users.insert(WIDE, ("01",), [b"more"])
    users.add_columns(WIDE, [("more", "int")], cascade=True)
    users.drop_partitions(WIDE, [("05",)])


def rename_the_table(users: SourceWriter) -> None:
    users.drop_partitions(WIDE, [("05",)])
    users.rename_table(WIDE, "wider")
    users.add_partitions("wider", {("new",): [b"new"]})


def make_it_anew(users: SourceWriter) -> None:
    users.insert(WIDE, ("01",), [b"more"])
    users.drop_table(WIDE)
    users.create_table(WIDE, keys=("p",))
    users.add_partitions(WIDE, {("01",): [b"one"]})


OF_PARTITIONS = [add, change_rows, drop_and_add_again, drop_all, rename, alter, say_more_of_the_table]
CHANGES = [*OF_PARTITIONS, change_the_table_too, rename_the_table, make_it_anew]
LATER = [add, drop_and_add_again, alter, say_more_of_the_table, change_the_table_too, rename_the_table]


def bootstrapped(world: World, change: Callable[[SourceWriter], None]) -> SourceWriter:
    """Run the bootstrap, let users change the table, and load."""
    users = SourceWriter(world.source, world.source_files, "sales")
    run_phase(BOOTSTRAP, POLICY, world.ports(), {}, lambda line: None)
    change(users)
    return users


@pytest.mark.parametrize("change", CHANGES)
def test_the_replica_is_the_source_after_the_change(change: Callable[[SourceWriter], None]) -> None:
    world = wide_world()
    bootstrapped(world, change)
    run_rounds(POLICY, world.ports(), {}, lambda line: None)
    assert_twin(world)


@pytest.mark.thorough
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("later", LATER)
def test_a_later_change_between_the_readings_joins_in(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[SourceWriter], None], later: Callable[[SourceWriter], None]
) -> None:
    world = wide_world()
    users = bootstrapped(world, change)
    settle = Folding.settle

    def meanwhile(self: Folding, end: object) -> object:
        monkeypatch.setattr(Folding, "settle", settle)
        try:
            later(users)
        except (TwinhiveError, AssertionError, KeyError):
            pytest.skip("the first change has taken away what the second one is about")
        return settle(self, end)

    monkeypatch.setattr(Folding, "settle", meanwhile)
    run_rounds(POLICY, world.ports(), {}, lambda line: None)
    while world.source.current_event_id() > int(world.replica.database("sales").parameters["repl.last.id"]):
        run_phase(INCREMENTAL, POLICY, world.ports(), {}, lambda line: None)
    assert_twin(world)


@pytest.mark.parametrize("change", OF_PARTITIONS)
def test_only_the_partitions_that_events_name_are_held(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[SourceWriter], None]
) -> None:
    world = wide_world()
    bootstrapped(world, change)
    held: list[set[str]] = []
    settle = Folding.settle

    def seen(self: Folding, end: object) -> object:
        held.append(set(self.shard.tables[TableName("sales", WIDE)].partitions))
        return settle(self, end)

    monkeypatch.setattr(Folding, "settle", seen)
    run_rounds(POLICY, world.ports(), {}, lambda line: None)
    untouched = {f"p={day:02d}" for day in range(7)} - _named(world)
    assert not held[0] & untouched


def before_its_copy(world: World, *changes: Callable[[SourceWriter], None]) -> None:
    """List a wide table, replace a file of one batch without an event, copy; then let users change the table."""
    users = SourceWriter(world.source, world.source_files, "sales")
    results = run_phase(BOOTSTRAP[:3], POLICY, world.ports(), {}, lambda line: None)
    location = users.location(WIDE, ("03",))
    world.source_files.delete(f"{location}/f")
    world.source_files.put(f"{location}/silent", b"other rows")
    run_phase(BOOTSTRAP[3:], POLICY, world.ports(), {}, lambda line: None, results)
    for change in changes:
        change(users)


def test_of_files_that_vanished_only_the_batch_is_held_and_listed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = wide_world()
    before_its_copy(world)
    held: list[set[str]] = []
    settle = Folding.settle

    def seen(self: Folding, end: object) -> object:
        state = self.shard.tables[TableName("sales", WIDE)]
        held.append({name for name, one in state.partitions.items() if one.content.unsure})
        held.append(set(state.partitions))
        return settle(self, end)

    monkeypatch.setattr(Folding, "settle", seen)
    run_rounds(POLICY, world.ports(), {}, lambda line: None)
    unsure, everything = held[:2]
    assert unsure == everything == {"p=02", "p=03"}
    assert_twin(world)


@pytest.mark.parametrize("change", CHANGES)
def test_files_that_vanished_are_listed_again_whatever_else_happens(change: Callable[[SourceWriter], None]) -> None:
    world = wide_world()
    before_its_copy(world, change)
    run_rounds(tuned(POLICY, most_rounds=1), world.ports(), {}, lambda line: None)
    assert_twin(world)


def test_a_table_that_says_more_of_itself_says_it_in_all_its_batches() -> None:
    world = wide_world()
    bootstrapped(world, say_more_of_the_table)
    run_phase(CONSOLIDATE[:1], POLICY, world.ports(), {}, lambda line: None)
    dump = current_dump(world.source_files, POLICY)
    records = [one for batch in dump.manifest.batches for one in dump.objects(world.source_files, batch.name)]
    tables = [record.table for record in records if record.table.name.table == WIDE]
    assert len(tables) == 4
    there = world.source.table(TableName("sales", WIDE))
    assert there is not None
    assert set(map(repr, tables)) == {repr(there.with_constraints(()))}


def _named(world: World) -> set[str]:

    begin = next(
        row.event_id for row in world.source._log.rows if row.table == WIDE and row.event_type == "ADD_PARTITION"
    )
    rows = [row for row in world.source._log.rows if row.table == WIDE and row.event_id > begin]
    return set().union(*(partitions_concerned(decode_event(row).change) or set() for row in rows))
