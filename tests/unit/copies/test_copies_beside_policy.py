"""A policy of a database whose tables have copies on other clusters: a replica has no copies, and no file moves."""

from dataclasses import replace

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.worlds.copies_world import a_placement
from tests.unit.incremental.test_incremental import Followed
from twinhive.model.copies.marks import PREFIX, TICKET
from twinhive.pipeline.phases import COPIES
from twinhive.pipeline.runner import run_phase


def settled(followed: Followed) -> None:
    while not followed.follow()["window"].idle:
        pass


def test_marks_of_copies_move_no_file_and_do_not_reach_the_replica() -> None:
    followed = Followed()
    settled(followed)
    world, north = followed.world, InMemoryFiles("hdfs://north")
    ports = replace(world.ports(), replica=world.source, replica_files=north, dump_files=north)
    assert run_phase(COPIES, a_placement(), ports, {"run": "c"}, lambda line: None)["publish"].published
    opened, places = world.source_files.calls["open"], world.replica_files.paths()
    settled(followed)
    followed.assert_twin()
    assert (
        world.source_files.calls["open"],
        [path for path in world.replica_files.paths() if "/managed/" in path],
    ) == (
        opened,
        [path for path in places if "/managed/" in path],
    )
    for name in world.replica.table_names("sales"):
        table = world.replica.tables("sales", [name])[0]
        partitions = world.replica.partitions(table.name, world.replica.partition_names(table.name))
        for parameters in (table.parameters, *(one.parameters for one in partitions)):
            assert not [key for key in parameters if key.startswith(PREFIX) or key == TICKET]
