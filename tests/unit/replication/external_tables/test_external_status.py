"""What `twinhive status` says of the newest pass: nothing that failed counts as copied."""

import pytest

from tests.support.worlds.external_world import ExternalWorld, a_world_with_files
from twinhive.core.model.errors import TwinhiveError
from twinhive.replication.external_tables.external_status import last_pass


def said(world: ExternalWorld) -> str:
    return (last_pass(world.ports(), world.policy) or "").partition("; ")[2]


def test_directories_that_failed_are_counted_until_a_pass_has_brought_them() -> None:
    world = a_world_with_files()
    for name in ("one", "two"):
        world.add_table(name, f"hdfs://east/elsewhere/{name}")
        world.world.source_files.delete(f"hdfs://east/elsewhere/{name}")
    listed = world.listed()
    assert said(world) == f"{len(listed.batches)} copies of it are not done"
    with pytest.raises(TwinhiveError):
        world.sync(listed)
    assert said(world) == "2 of its directories failed: its tasks say why, the next pass tries them again"
    for name in ("one", "two"):
        world.world.source_files.make_directories(f"hdfs://east/elsewhere/{name}")
    world.cycle()
    assert said(world) == "all of it copied"
