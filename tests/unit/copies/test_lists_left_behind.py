"""A list that a killed run has left takes nothing from the list of the run after it."""

from collections.abc import Callable

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from twinhive.copies.list_copies import ListCopies
from twinhive.step.base import Work

Change = Callable[[CopiesWorld], object]
CHANGES: dict[str, Change] = {
    "an event comes later than its files": lambda world: world.users.set_parameters("plain", {"told": "late"}),
    # The lists are of one event then: any of their names may come first.
    **{
        f"another file without an event, {name}": lambda world, name=name: world.files.put(
            f"{world.users.location('plain')}/{name}", b"most"
        )
        for name in "hijklm"
    },
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_newest_list_gets_the_files_that_are_copied(name: str) -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.settle()
    world.files.put(f"{world.users.location('plain')}/g", b"more")
    assert ListCopies(Work(world.placement)).run(world.ports()).needed == 1
    CHANGES[name](world)
    done = world.run()["publish"]
    assert (done.published, done.changed) == (1, 0)
    world.assert_complete("plain")
