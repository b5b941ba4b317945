"""A pass asks the metastore only for tables that events have named since the pass before it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.worlds.external_world import ExternalWorld
from tests.unit.replication.external_tables.test_external_pass import a_world_with_partitions
from twinhive.core.model.names import TableName
from twinhive.replication.dump.passes.external_passes import locations_of_pass

EVENTS, PARTS = TableName("sales", "events"), TableName("sales", "parts")


def keys(world: ExternalWorld, dump: str) -> list[str]:
    return [entry.key for entry in locations_of_pass(world.world.source_files, world.policy, dump)]


def asked_for(world: ExternalWorld) -> list[str]:
    """Return the list that collects whose partitions the metastore is asked for from now on."""
    asked: list[str] = []
    source = world.world.source
    ask = source.partition_locations
    source.partition_locations = lambda table: asked.append(table.name.table) or ask(table)  # type: ignore
    return asked


def test_without_an_event_nothing_is_asked_again() -> None:
    world = a_world_with_partitions()
    first = world.listed()
    asked = asked_for(world)
    assert keys(world, world.listed().dump) == keys(world, first.dump)
    assert asked == []


def add_partition(world: ExternalWorld) -> None:
    world.add_partition(world.world.source.table(PARTS), "4", "hdfs://east/old/4")


def move_partition(world: ExternalWorld) -> None:
    source = world.world.source
    (found,) = source.partitions(PARTS, ["day=1"])
    source.alter_partitions([found.at(PARTS, "hdfs://east/old/1")])


def drop_partition(world: ExternalWorld) -> None:
    world.world.source.drop_partitions(PARTS, ["day=3"], delete_data=False)


def rename(world: ExternalWorld) -> None:
    source = world.world.source
    found = source.table(PARTS)
    source.alter_table(PARTS, found.at(TableName("sales", "renamed"), found.location))


@pytest.mark.parametrize("change", [add_partition, move_partition, drop_partition, rename])
def test_a_table_that_an_event_names_is_read_again(change: Callable[[ExternalWorld], None]) -> None:
    world = a_world_with_partitions()
    world.listed()
    change(world)
    asked = asked_for(world)
    after = keys(world, world.listed().dump)
    assert len(asked) == 1
    afresh = a_world_with_partitions()
    change(afresh)
    assert after == keys(afresh, afresh.listed().dump)


def test_a_log_with_a_gap_another_text_of_the_policy_and_a_day_have_all_read_again() -> None:
    world = a_world_with_partitions()
    world.listed()
    world.policy = replace(world.policy, fingerprint="another")
    asked = asked_for(world)
    world.listed()
    assert asked == ["parts"]
    add_partition(world)
    world.add_table("last", "hdfs://east/data/last")
    world.world.source.expire_events(world.world.source.current_event_id() - 1)
    world.listed()
    assert asked == ["parts", "parts"]
