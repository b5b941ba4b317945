"""What a killed run has staged needs no room a second time."""

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import Space
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import CopiesListed, ListCopies

QUOTA = 150


def list_copies(world: CopiesWorld) -> CopiesListed:
    """List what is to be copied, where so many bytes of files have room."""
    there = [status for path in world.north.paths() if (status := world.north.status(path)) is not None]
    used = sum(one.length for one in there if not one.is_directory and not one.path.endswith(("json", "gz")))
    world.north.quotas["hdfs://north/twinhive"] = Space(QUOTA - used)
    return ListCopies(Work(world.placement)).run(world.ports())


def test_a_run_goes_on_after_a_kill_where_its_own_files_fill_the_quota() -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"x" * 60, "g": b"y" * 60})
    listed = list_copies(world)
    for batch in listed.batches:
        CopyObjects(Work(world.placement, batch=batch.name, dump=listed.dump)).run(world.ports())
    assert list_copies(world).needed == 1
    world.settle()
    world.assert_complete("plain")


def test_what_is_left_to_copy_needs_room() -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"x" * 60, "g": b"y" * 60})
    listed = list_copies(world)
    for batch in listed.batches:
        CopyObjects(Work(world.placement, batch=batch.name, dump=listed.dump)).run(world.ports())
    world.users.create_table("other", files={"o": b"z" * 40})
    with pytest.raises(Refused) as raised:
        list_copies(world)
    assert "30 bytes free" in str(raised.value) and "40 bytes, 1 names" in str(raised.value)
