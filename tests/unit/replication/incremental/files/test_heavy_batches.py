"""What cannot be cut into batches is copied by more tasks: whoever submits the copy knows what a batch was to weigh."""

from tests.support.builders import a_table
from tests.support.worlds.fake_world import World, a_world, tuned
from twinhive.core.model.policy import Policy
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.replication.dump.dump_store import Dump, current_dump
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_phase, run_rounds
from twinhive.transfer.staged.job import CopyJob

POLICY = tuned(batch_bytes=4_000_000)
FLAT = 24


def a_world_with_a_flat_table() -> World:
    world = a_world()
    flat = world.add_table(a_table("sales.flat"))
    for number in range(FLAT):
        world.source_files.put(f"{flat.location}/f{number:02d}", b"x")
    return world


def job_of(world: World, policy: Policy, dump: Dump, table: str) -> CopyJob:
    batch = next(each for each in dump.manifest.batches if each.slices[0].table.table == table)
    job = CopyBatch(Work(policy, batch.name, dump.key)).job(world.ports())
    assert job is not None
    return job


def test_a_flat_table_is_one_batch_that_gets_tasks_by_its_weight_and_no_other_does() -> None:
    world = a_world_with_a_flat_table()
    run_phase(BOOTSTRAP, POLICY, world.ports(), {}, lambda line: None)
    dump, options = current_dump(world.source_files, POLICY), POLICY.options
    heavy, light = (job_of(world, POLICY, dump, table) for table in ("flat", "plain"))
    assert options.spark_tasks_for(heavy.files, heavy.bytes, heavy.batch_weight) == options.large_spark_tasks
    assert options.spark_tasks_for(light.files, light.bytes, light.batch_weight) == options.spark_tasks


def test_later_rounds_know_it_too() -> None:
    world = a_world_with_a_flat_table()
    run_phase(BOOTSTRAP, POLICY, world.ports(), {}, lambda line: None)
    first = current_dump(world.source_files, POLICY).manifest
    world.source_files.put("hdfs://east/warehouse/sales.db/plain/another", b"x")
    run_rounds(POLICY, world.ports(), {}, lambda line: None)
    assert current_dump(world.source_files, POLICY).manifest.batch_weight == first.batch_weight == 4_000_000
