"""What an earlier try has asked for may come into being after this one has looked: the next try takes it up."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.worlds.fake_world import World, a_world, tuned
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import AlreadyThere, ChangedMeanwhile
from twinhive.runtime.pipeline.runner import run_bootstrap

CREATIONS = ("create_database", "create_table", "add_partitions")
POLICY = tuned()


def late_once(create: Callable[..., None]) -> Callable[..., None]:
    """Let an earlier call of the same be carried out just before the first one."""
    done: list[Any] = []

    def creating(*args: Any) -> None:
        create(*args)
        if not done:
            done.append(args)
            raise AlreadyThere("creating it: refused by the metastore", found="it exists already")

    return creating


def bootstrap(world: World) -> None:
    run_bootstrap(POLICY, world.ports(), {}, lambda line: None)


@pytest.mark.parametrize("name", CREATIONS)
def test_a_load_that_is_tried_again_takes_it_up(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    monkeypatch.setattr(world.replica, name, late_once(getattr(world.replica, name)))
    with pytest.raises(ChangedMeanwhile, match="not there just before"):
        bootstrap(world)
    bootstrap(world)
    assert_twin(world)


@pytest.mark.parametrize("name", CREATIONS[1:])
def test_an_apply_that_is_tried_again_takes_it_up(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    followed.users.create_table("made", files=[b"a"])
    followed.users.add_partitions("orders", {("late",): [b"b"]})
    monkeypatch.setattr(followed.world.replica, name, late_once(getattr(followed.world.replica, name)))
    with pytest.raises(ChangedMeanwhile, match="not there just before"):
        followed.follow()
    followed.follow()
    followed.assert_twin()
