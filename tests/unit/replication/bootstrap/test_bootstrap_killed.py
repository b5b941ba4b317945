"""Kill a bootstrap at every single change it makes, rerun it, and compare the twin."""

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import World, a_world, killable, tuned
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.model.policy import Policy
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, Stage
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

POLICY = tuned(batch_objects=2, partitions_per_call=1)


def bootstrap(world: World, ports=None, policy: Policy = POLICY):
    return run_bootstrap(policy, ports or world.ports(), {"run": "r"}, lambda line: None)


def only(world: World, stages: tuple[Stage, ...]) -> None:
    run_phase(stages, POLICY, world.ports(), {"run": "r"}, lambda line: None)


def noticed(world: World, switch) -> None:
    bootstrap(world, killable(world.ports(), switch))


def test_killed_at_any_change_and_rerun_it_converges() -> None:
    for world in left_by_kills(a_world, noticed, least=50):
        bootstrap(world)
        assert_twin(world)


def test_killed_at_any_change_then_the_source_changes_and_a_new_run_converges() -> None:
    for world in left_by_kills(a_world, noticed, least=50):
        if world.replica.database("sales") and "following" in world.replica.database("sales").parameters.values():
            break
        plain = world.source.tables("sales", ["plain"])[0]
        world.source_files.put(f"{plain.location}/data", b"plain, but new")
        world.source.drop_table(world.source.tables("sales", ["orders"])[0].name, delete_data=True)
        bootstrap(world)
        assert_twin(world)


def folded() -> World:
    """Return a world that is about to be loaded, with what its users have done since it was listed."""
    world = a_world()
    only(world, BOOTSTRAP)
    users = SourceWriter(world.source, world.source_files, "sales")
    users.insert("plain", None, [b"more", b"and more"])
    users.add_partitions("orders", {("late",): [b"added"]})
    users.overwrite("orders", ("a b",), [b"over"])
    only(world, CONSOLIDATE[:-1])
    return world


def load(world: World, ports=None) -> None:
    run_phase(CONSOLIDATE[-1:], POLICY, ports or world.ports(), {"run": "r"}, lambda line: None)


def test_a_load_of_folded_events_that_is_killed_at_any_change_is_cleared_alone_and_converges() -> None:
    """What an event has written is known by its checksum, and its length by nobody."""
    for world in left_by_kills(folded, lambda world, switch: load(world, killable(world.ports(), switch)), least=20):
        load(world)
        assert_twin(world)


def test_a_finished_bootstrap_run_again_changes_nothing() -> None:
    world = a_world()
    first = bootstrap(world)["load"]
    events = world.replica.current_event_id()
    again = bootstrap(world)["load"]

    assert again.already.startswith("already applied")
    assert again.event_id == first.event_id
    assert world.replica.current_event_id() == events
    assert_twin(world)


@pytest.mark.parametrize("name", ["list_objects", "round", "gate", "load"])
def test_any_unmapped_task_can_be_cleared_alone_after_the_end(name: str) -> None:
    world = a_world()
    bootstrap(world)
    only(world, tuple(stage for stage in (*BOOTSTRAP, *CONSOLIDATE) if stage.name == name))
    assert_twin(world)
