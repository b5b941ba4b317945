"""A pass is the list of external directories and the tasks that sync them; what was purged at the source is deleted."""

from dataclasses import replace

import pytest

from tests.support.worlds.external_world import BASE, ExternalWorld
from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.core.ports import ReadPorts
from twinhive.replication.dump.dump_layout import DumpKind, DumpLayout
from twinhive.replication.dump.dump_ownership import claim_dumps
from twinhive.replication.dump.dump_store import newest_pass
from twinhive.replication.dump.passes.external_passes import entries_of_task, locations_of_pass
from twinhive.replication.external_tables.list_external import copies_under_way
from twinhive.replication.external_tables.sync_external import SyncExternal
from twinhive.replication.operator_requests.request_files import begin_forgetting, pause


def a_world_with_partitions() -> ExternalWorld:
    """Return a world with a table of three partitions, one outside, and one table in the directory of another."""
    world = ExternalWorld()
    parts = world.add_table("parts", "hdfs://east/data/parts", keys=("day",))
    world.add_partition(parts, "1")
    world.add_partition(parts, "2", "hdfs://east/data/parts/elsewhere")
    world.add_partition(parts, "3", "hdfs://east/old/3")
    world.add_table("nested", "hdfs://east/data/parts/nested")
    world.add_table("same", "hdfs://east/data/events")
    return world


def test_the_list_has_a_line_for_each_table_and_each_partition_outside() -> None:
    world = a_world_with_partitions()
    listed = world.listed()
    assert (listed.tables, listed.partitions, listed.entries, listed.copies) == (4, 3, 5, 3)
    keys = [entry.key for entry in locations_of_pass(world.world.source_files, world.policy, listed.dump)]
    assert keys == ["sales.events", "sales.nested", "sales.parts", "sales.parts/day=3", "sales.same"]
    (batch,) = listed.batches
    copied = entries_of_task(world.world.source_files, world.policy, listed.dump, batch.name)
    assert {entry.location for entry in copied} == {
        "hdfs://east/data/events",
        "hdfs://east/data/parts",
        "hdfs://east/old/3",
    }
    assert batch.label == "sales.events +1 table"


def test_the_event_of_a_pass_is_read_before_its_list() -> None:
    world = ExternalWorld()
    source, before = world.world.source, world.world.source.current_event_id()
    read = source.table_names

    def writing(database: str) -> list[str]:
        world.add_table(f"t{source.current_event_id()}", "hdfs://east/data/late")
        return read(database)

    source.table_names = writing  # type: ignore[method-assign]
    listed = world.listed()
    written = newest_pass(world.world.source_files, world.policy)
    assert written is not None
    assert (written.name, written.manifest.event_id) == (listed.dump, before)
    assert listed.tables == 2


def test_tables_of_other_kinds_and_out_of_scope_are_no_part_of_it() -> None:
    world = ExternalWorld()
    world.add_table("handled", "hdfs://east/data/h", parameters={"storage_handler": "x"})
    world.add_table("excluded", "hdfs://east/data/x")
    world.policy = replace(world.policy, exclude=("excluded",))
    assert world.listed().entries == 1


@pytest.mark.parametrize(
    ("external", "why"), [({"included": False}, "leaves external tables out"), ({"data": "metadata_only"}, "metadata")]
)
def test_nothing_to_copy(external: dict, why: str) -> None:
    world = ExternalWorld(**external)
    assert why in str(world.listed().idle)
    assert world.world.source_files.paths() == []


def test_idle_while_paused_or_forgotten_and_before_there_is_anything_to_follow() -> None:
    world = ExternalWorld()
    pause(world.world.replica_files, world.policy, "maintenance", "ann")
    assert "maintenance" in str(world.listed().idle)
    world = ExternalWorld()
    begin_forgetting(world.world.replica_files, world.policy)
    assert "forgotten" in str(world.listed().idle)
    world = ExternalWorld(follows=False)
    assert "bootstrap" in str(world.listed().idle)
    claim_dumps(world.world.source_files, world.policy)
    dump = DumpLayout.of(world.policy.dumps, DumpKind.BOOTSTRAP, 1, 1)
    world.world.source_files.put(dump.manifest, b'{"token": "1", "policy": "sales"}')
    assert world.listed().idle is None


def test_a_task_that_is_begun_after_a_pause_copies_nothing() -> None:
    world = ExternalWorld()
    listed = world.listed()
    pause(world.world.replica_files, world.policy, "maintenance", "ann")
    (synced,) = world.sync(listed)
    assert "maintenance" in str(synced.idle)
    assert world.record("/data/events") is None


def test_places_that_the_policy_says_nothing_of_are_named_together_and_nothing_is_written() -> None:
    world = ExternalWorld()
    world.add_table("lake", "s3a://lake/t")
    parts = world.add_table("parts", "hdfs://east/data/parts", keys=("day",))
    world.add_partition(parts, "1", "hdfs://other/p")
    with pytest.raises(InvalidSettings, match="2 external tables") as refused:
        world.listed()
    assert "table sales.lake" in str(refused.value)
    assert "partition day=1 of sales.parts" in str(refused.value)
    assert world.world.source_files.paths() == []
    world.policy = replace(
        world.policy, external=replace(world.policy.external, stay=("s3a://lake/.*", "hdfs://other/.*"))
    )
    assert world.listed().entries == 2


def test_data_that_stays_in_the_place_of_a_copy_is_refused() -> None:
    world = ExternalWorld(stay=("hdfs://west/.*",))
    world.add_table("shared", f"{BASE}/data/events")
    with pytest.raises(InvalidSettings, match=r"sales.events and sales.shared"):
        world.listed()


def test_with_the_root_as_base_a_partition_in_the_warehouse_is_refused() -> None:
    world = ExternalWorld(base_directory="hdfs://west/")
    parts = world.add_table("parts", "hdfs://east/data/parts", keys=("day",))
    world.add_partition(parts, "1", "hdfs://east/warehouse/managed/p")
    with pytest.raises(InvalidSettings, match=r"sales.parts/day=1"):
        world.listed()


def test_a_bounded_pass_takes_turns_until_everything_was_synced() -> None:
    world = ExternalWorld(options={"parallelism": 3, "approx_max_load_tasks": 10, "external_weight": 1})
    for number in range(4):
        world.add_table(f"t{number}", f"hdfs://east/data/t{number}")
        world.put(f"/data/t{number}/f")
    world.put("/data/events/f")
    first = world.listed()
    assert (len(first.batches), first.remaining) == (2, 3)
    assert copies_under_way(world.ports(), world.policy) == 2
    world.sync(first)
    assert copies_under_way(world.ports(), world.policy) == 0
    world.cycle()
    last = world.listed()
    world.sync(last)
    synced = [path for path in ("events", "t0", "t1", "t2", "t3") if world.record(f"/data/{path}")]
    assert len(synced) == 5
    assert last.batches[0].label == "sales.t3"


def test_a_pass_of_another_event_lane_is_counted_until_its_tasks_have_ended() -> None:
    world = ExternalWorld()
    assert copies_under_way(world.ports(), world.policy) == 0
    listed = world.listed()
    assert copies_under_way(world.ports(), world.policy) == 1
    world.world.source_files.delete("hdfs://east/data/events")
    with pytest.raises(ActNow):
        world.sync(listed)
    assert copies_under_way(world.ports(), world.policy) == 0


def test_only_the_two_newest_passes_are_kept_with_their_results() -> None:
    world = ExternalWorld()
    names = []
    for _ in range(4):
        listed = world.listed()
        world.sync(listed)
        names.append(listed.dump)
    assert len(set(names)) == 4
    found = newest_pass(world.world.source_files, world.policy)
    assert found is not None
    assert found.name == names[-1]
    kept = {path.split("/")[7] for path in world.world.source_files.paths() if "/external/pass-" in path}
    assert kept == set(names[-2:])
    results = {path.split("/")[8] for path in world.world.replica_files.paths() if "/results/" in path}
    assert results == set(names[-2:])


def test_a_task_of_a_pass_that_is_gone_or_of_another_policy_text_says_what_to_clear() -> None:
    world = ExternalWorld()
    listed = world.listed()
    world.policy = replace(world.policy, fingerprint="f2")
    with pytest.raises(ActNow, match="does not count") as changed:
        world.sync(listed)
    assert "list_external" in str(changed.value)
    with pytest.raises(ActNow, match="no complete pass"):
        SyncExternal(world.work("e0001", "pass-000000000000-00000000")).run(world.ports())


def test_listing_writes_only_the_pass() -> None:
    world = a_world_with_partitions()
    ports: ReadPorts = world.ports()
    before = dict(world.world.replica_files._nodes)
    world.listed()
    assert world.world.replica_files._nodes.keys() == before.keys()
    assert ports.source.current_event_id() == world.world.source.current_event_id()
