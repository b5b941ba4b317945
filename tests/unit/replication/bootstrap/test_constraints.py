"""Constraints of before a first copy come with it, and with every table that is resynced."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.hive.metastore_objects import constraints_in_words
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import World, a_world, killable, tuned
from tests.support.worlds.memory_comparison import assert_twin, contents, files_below
from tests.support.worlds.repl_world import ReplWorld
from tests.unit.replication.external_tables.test_external_incremental import with_tables
from twinhive.core.model.names import TableName
from twinhive.replication.operator_requests.request_files import request_table
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase, run_rounds

POLICY = tuned(batch_objects=2)
EVERY_KIND = ("primary_key", "unique", "not_null", "default", "check")


def users_of(world: World) -> SourceWriter:
    return SourceWriter(world.source, world.source_files, "sales")


def a_constrained_world() -> World:
    """Return a source whose child comes before its parent by name, and a table of several batches."""
    world = a_world()
    for name in ("a_child", "z_parent"):
        world.add_table(a_table(f"sales.{name}"))
    world.add_table(a_table("sales.wide", partition_keys=("p",)), *(((f"{day}",), {"f": b"1"}) for day in range(5)))
    users = users_of(world)
    for kind in EVERY_KIND:
        users.add_constraint("z_parent", kind, f"the_{kind}")
    users.add_constraint("a_child", "foreign_key", "fk", parent="z_parent")
    users.add_constraint("a_child", "not_null", "nn")
    users.add_constraint("wide", "unique", "uk")
    return world


def bootstrap(world: World, change: Callable[[SourceWriter], None] = lambda users: None) -> list[str]:
    """Bring a world over while its users change it; return what the load says."""
    said: list[str] = []
    run_phase(BOOTSTRAP, POLICY, world.ports(), {}, lambda line: None)
    change(users_of(world))
    run_rounds(POLICY, world.ports(), {}, lambda line: said.append(str(line)))
    return said


def on_replica(world: World, table: str) -> list[str]:
    return constraints_in_words(world.replica, TableName("sales", table))


def test_a_first_copy_has_the_constraints_of_every_kind() -> None:
    world = a_constrained_world()
    said = bootstrap(world)
    assert on_replica(world, "z_parent") == [f"{kind} the_{kind} of id" for kind in EVERY_KIND]
    assert on_replica(world, "a_child") == ["not_null nn of id", "foreign_key fk of id in z_parent"]
    assert on_replica(world, "wide") == ["unique uk of id"]
    assert not [line for line in said if "left out: constraint" in line]
    assert_twin(world)


def add(users: SourceWriter) -> None:
    users.add_constraint("a_child", "check", "ck")
    users.add_constraint("wide", "not_null", "nn")


def drop(users: SourceWriter) -> None:
    users.drop_constraint("a_child", "nn")
    users.drop_constraint("wide", "uk")
    users.drop_constraint("a_child", "fk")


def make_again(users: SourceWriter) -> None:
    users.drop_constraint("z_parent", "the_check")
    users.add_constraint("z_parent", "default", "the_check")


def add_columns(users: SourceWriter) -> None:
    users.add_columns("z_parent", [("more", "int")])


def create(users: SourceWriter) -> None:
    users.create_table("made", files=[b"1"])
    users.add_constraint("made", "primary_key", "pk")
    users.create_table("bare", files=[b"1"])


def rename(users: SourceWriter) -> None:
    users.rename_table("a_child", "renamed")
    users.add_constraint("renamed", "unique", "later")


def drop_the_child(users: SourceWriter) -> None:
    users.drop_table("a_child")


def make_the_table_anew(users: SourceWriter) -> None:
    users.drop_table("wide")
    users.create_table("wide", keys=("p",))


def make_the_parent_anew(users: SourceWriter) -> None:
    """The foreign key is gone with the old table, and no event says so."""
    users.drop_table("z_parent")
    users.create_table("z_parent", files=[b"1"])
    users.add_constraint("z_parent", "primary_key", "the_primary_key")


def rename_the_parent(users: SourceWriter) -> None:
    users.rename_table("z_parent", "older")


def swap_parents(users: SourceWriter) -> None:
    users.rename_table("z_parent", "older")
    users.create_table("z_parent", files=[b"1"])
    users.add_constraint("z_parent", "primary_key", "the_primary_key")


def change_the_key_of_the_parent(users: SourceWriter) -> None:
    metastore: Any = users.metastore
    metastore.takes_all_types = True
    users.change_type("z_parent", "bigint")
    users.change_type("z_parent", "int")
    users.add_constraint("z_parent", "primary_key", "the_primary_key")


def refer_otherwise(users: SourceWriter) -> None:
    users.add_constraint("plain", "primary_key", "of_plain")
    users.drop_constraint("a_child", "fk")
    users.add_constraint("a_child", "foreign_key", "fk", parent="plain")
    users.add_constraint("wide", "foreign_key", "fk_of_wide", parent="z_parent")


CHANGES = [add, drop, make_again, add_columns, create, rename, drop_the_child, make_the_table_anew]
CHANGES += [make_the_parent_anew, rename_the_parent, swap_parents, change_the_key_of_the_parent, refer_otherwise]


@pytest.mark.thorough
@pytest.mark.parametrize("change", CHANGES)
def test_what_becomes_of_constraints_during_the_first_copy_is_in_it(change: Callable[[SourceWriter], None]) -> None:
    world = a_constrained_world()
    bootstrap(world, change)
    assert_twin(world)


@pytest.mark.thorough
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("later", [make_the_parent_anew, rename_the_parent, change_the_key_of_the_parent])
def test_a_parent_that_changes_between_two_rounds_takes_its_foreign_keys_along(
    change: Callable[[SourceWriter], None], later: Callable[[SourceWriter], None]
) -> None:
    world = a_constrained_world()
    run_phase(BOOTSTRAP, POLICY, world.ports(), {}, lambda line: None)
    users_of(world).add_constraint("wide", "foreign_key", "wide_to_parent", parent="z_parent")
    change(users_of(world))
    run_phase(CONSOLIDATE[:1], POLICY, world.ports(), {}, lambda line: None)
    there = world.source.table_names("sales")
    if "z_parent" in there and "older" not in there:
        later(users_of(world))
    run_rounds(POLICY, world.ports(), {}, lambda line: None)
    assert_twin(world)


@pytest.mark.thorough
@pytest.mark.parametrize("change", CHANGES)
def test_what_becomes_of_them_later_comes_with_the_events(change: Callable[[SourceWriter], None]) -> None:
    world = a_constrained_world()
    bootstrap(world)
    change(users_of(world))
    run_phase(INCREMENTAL, POLICY, world.ports(), {}, lambda line: None)
    assert_twin(world)


def test_a_constraint_that_comes_while_constraints_are_read_again_is_in_the_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = a_constrained_world()
    users, read = users_of(world), world.source.constraints
    waiting = [lambda: users.add_constraint("wide", "check", "between"), lambda: users.drop_constraint("wide", "nn")]

    def read_and_change(table: TableName) -> object:
        found = read(table)
        if table.table == "wide" and waiting:
            waiting.pop(0)()
        return found

    def begin_to_change(users: SourceWriter) -> None:
        add(users)
        monkeypatch.setattr(world.source, "constraints", read_and_change)

    bootstrap(world, begin_to_change)
    assert not waiting
    assert on_replica(world, "wide") == ["unique uk of id", "check between of id"]
    assert_twin(world)


def test_a_foreign_key_to_what_is_not_replicated_is_left_out_and_said() -> None:
    world = a_constrained_world()
    policy = replace(POLICY, exclude=("z_parent",))
    said: list[str] = []
    run_phase(BOOTSTRAP, policy, world.ports(), {}, lambda line: None)
    run_rounds(policy, world.ports(), {}, lambda line: said.append(str(line)))
    assert on_replica(world, "a_child") == ["not_null nn of id"]
    (left,) = [line for line in said if "left out: constraint" in line]
    assert "constraint fk of sales.a_child: " in left
    assert "sales.z_parent" in left


def test_a_key_whose_parent_has_lost_its_own_is_left_out_and_said() -> None:
    world = a_constrained_world()
    users = users_of(world)
    users.drop_constraint("z_parent", "the_primary_key")
    users.drop_constraint("z_parent", "the_unique")
    said = bootstrap(world)
    assert on_replica(world, "a_child") == ["not_null nn of id"]
    assert [line for line in said if "left out: constraint fk of sales.a_child" in line]


def test_a_load_that_is_killed_and_run_again_has_all_constraints() -> None:
    def begin() -> World:
        world = a_constrained_world()
        run_phase(BOOTSTRAP, POLICY, world.ports(), {}, lambda line: None)
        return world

    def load(world: World, switch: Any) -> None:
        run_rounds(POLICY, killable(world.ports(), switch), {}, lambda line: None)

    for world in left_by_kills(begin, load, 2):
        run_rounds(POLICY, world.ports(), {}, lambda line: None)
        assert_twin(world)


@pytest.mark.parametrize("table", ["z_parent", "a_child", "wide"])
def test_a_table_that_is_brought_over_again_has_its_constraints(table: str) -> None:
    world = a_constrained_world()
    bootstrap(world)
    users_of(world).insert("plain", None, [b"more"])
    request_table(world.replica_files, POLICY, table, "a person asks")
    run_phase(INCREMENTAL, POLICY, world.ports(), {}, lambda line: None)
    assert on_replica(world, table) == constraints_in_words(world.source, TableName("sales", table))


def test_statements_bring_constraints_too() -> None:
    repl = ReplWorld()
    repl.users.add_constraint("plain", "primary_key", "pk")
    repl.users.add_constraint("empty", "foreign_key", "fk", parent="plain")
    repl.load(repl.dump())
    world = repl.world
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)
    assert constraints_in_words(world.replica, TableName("sales", "empty")) == ["foreign_key fk of id in plain"]


def test_a_later_foreign_key_with_nothing_to_refer_to_stops_nothing_and_is_said(followed: FollowedExternals) -> None:
    users = followed.users
    users.create_external("waits")
    users.add_constraint("waits", "primary_key", "pk")
    users.create_table("refers", files=[b"1"])
    users.add_constraint("refers", "foreign_key", "fk", parent="waits")
    users.insert("refers", None, [b"2"])
    applied = followed.follow()["apply"]
    assert followed.on_replica("waits") is None
    assert constraints_in_words(followed.world.replica, TableName("sales", "refers")) == []
    (reason,) = applied.not_replicated
    assert reason.startswith("ADD_FOREIGNKEY: ") and "sales.waits" in reason
    twin = followed.world.replica.table(TableName("sales", "refers"))
    assert sorted(files_below(followed.world.replica_files, twin.location).values()) == [b"1", b"2"]


@pytest.fixture
def followed() -> FollowedExternals:
    return with_tables()


def test_constraints_of_an_external_table_wait_with_it(followed: FollowedExternals) -> None:
    followed.users.create_external("late", ("p",))
    followed.users.add_constraint("late", "primary_key", "pk")
    followed.users.add_constraint("late", "not_null", "gone")
    request_table(followed.world.replica_files, followed.policy, "late", "a person asks")
    followed.follow()
    assert followed.on_replica("late") is None
    followed.users.set_parameters("late", {"k": "v"})
    followed.users.add_columns("late", [("more", "int")])
    followed.users.drop_constraint("late", "gone")
    followed.users.add_constraint("late", "check", "ck")
    followed.users.rename_table("late", "later")
    followed.follow()
    followed.sync("hdfs://east/data")
    followed.follow()
    assert constraints_in_words(followed.world.replica, TableName("sales", "later")) == [
        "primary_key pk of id",
        "check ck of id",
    ]


def test_an_external_table_that_waits_loses_the_constraints_of_a_column_that_changes(
    followed: FollowedExternals,
) -> None:
    followed.users.create_external("late")
    followed.users.add_constraint("late", "primary_key", "pk")
    request_table(followed.world.replica_files, followed.policy, "late", "a person asks")
    followed.follow()
    followed.users.change_type("late", "bigint")
    followed.follow()
    followed.sync("hdfs://east/data")
    followed.follow()
    name = TableName("sales", "late")
    assert followed.on_replica("late").columns == (("id", "bigint"),)
    assert constraints_in_words(followed.world.replica, name) == constraints_in_words(followed.world.source, name) == []
