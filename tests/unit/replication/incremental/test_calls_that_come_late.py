"""What an earlier try has asked for may come into being after this one has looked: the next try takes it up."""

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.worlds.fake_world import World, a_world, tuned
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import AlreadyThere, ChangedMeanwhile, Promoted, TryAgain, TwinhiveError
from twinhive.core.model.marks import PHASE
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.step.step_base import Work
from twinhive.operations.failover.promotion import How, Promotion
from twinhive.replication.incremental.window_requests import freeze_requested
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


def promoted(parameters: dict[str, str]) -> dict[str, str]:
    return Promotion("log-east", Position(8), "log-west", Position(9), How.PLANNED, "sales").written(parameters)


def loading(parameters: dict[str, str]) -> dict[str, str]:
    return {**parameters, PHASE: "loading"}


def as_it_is(parameters: dict[str, str]) -> dict[str, str]:
    return {**parameters, "by users": "meanwhile"}


@pytest.mark.parametrize(("become", "error"), [(promoted, Promoted), (loading, TryAgain), (as_it_is, None)])
def test_tables_are_frozen_as_the_replica_is_under_the_lease(become: Any, error: type[TwinhiveError] | None) -> None:
    followed = Followed()
    world = followed.world
    hold = world.lease.hold

    @contextmanager
    def held(*given: Any) -> Any:
        with hold(*given) as lease:
            world.replica.set_database_parameters("sales", become(dict(world.replica.database("sales").parameters)))
            yield lease

    world.lease.hold = held
    work = Work(followed.policy, holder={"run": "i"})
    if error is None:
        assert freeze_requested(world.ports(), work, ["plain"]) == {"plain"}
        said = world.replica.database("sales").parameters
        assert frozen_tables(said).keys() == {"plain"} and said["by users"] == "meanwhile"
        return
    with pytest.raises(error):
        freeze_requested(world.ports(), work, ["plain"])
    assert not frozen_tables(world.replica.database("sales").parameters)
