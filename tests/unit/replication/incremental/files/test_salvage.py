"""What staging holds is applied without the source: killed anywhere, a replica that takes over is as of one event."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import killable, tuned
from tests.support.worlds.memory_comparison import contents
from tests.unit.operations.failover.test_failover import HOLDER, position, promotion, ready, silent
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Refused, Unexplained
from twinhive.core.model.files import join
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_ownership import discard_dump
from twinhive.replication.dump.dump_store import dumps_of, open_dump
from twinhive.replication.incremental import staged_windows
from twinhive.replication.incremental.kept_windows import DIRECTORY, kept_windows
from twinhive.runtime.pipeline.phases import INCREMENTAL

UP_TO_COPY = INCREMENTAL[:2]


def named_by_plan(followed: Followed) -> int:
    order = UnplannedFailover(followed.policy, 0, "a rehearsal", HOLDER)
    lines = "\n".join(order.plan(followed.world.ports()))
    event_id = order.event_now(followed.world.ports())
    assert f"--at {event_id} " in lines
    return event_id


def take_over(followed: Followed, event_id: int | None = None, ports: Any = None) -> list[str]:
    at = named_by_plan(followed) if event_id is None else event_id
    return UnplannedFailover(followed.policy, at, "east is gone", HOLDER).run(ports or followed.world.ports())


def changed(followed: Followed) -> None:
    """Let users do what is applied in several changes, appends of several files before all."""
    users = followed.users
    users.insert("plain", None, [b"one", b"two", b"three"])
    users.insert("orders", ("a b",), [b"four", b"five"])
    users.overwrite("orders", ("50%=#:ü",), {"f": b"other", "g": b"rows"})
    users.create_table("made", files=[b"x", b"y"])
    users.rename_table("made", "named")
    users.drop_partitions("orders", [("no files",)])
    users.insert("plain", None, [b"six", b"seven"])
    users.rename_partition("orders", ("a b",), ("c d",))


@pytest.fixture(params=["every_event", "window_end"])
def followed(request: pytest.FixtureRequest) -> Followed:
    return ready(Followed(tuned(consistency=request.param)))


def at_source(followed: Followed) -> dict[str, Any]:
    return contents(followed.world.source, followed.world.source_files)


def at_replica(followed: Followed) -> dict[str, Any]:
    return contents(followed.world.replica, followed.world.replica_files)


def states(followed: Followed, steps: list[Callable[[], object]]) -> dict[int, dict[str, Any]]:
    """Return what the source holds after each event that ends a step, by the event."""
    seen = {followed.world.source.current_event_id(): at_source(followed)}
    for step in steps:
        step()
        seen[followed.world.source.current_event_id()] = at_source(followed)
    return seen


def test_a_window_that_is_copied_is_applied_without_its_source(followed: Followed) -> None:
    changed(followed)
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    before = position(followed)
    silent(followed)
    plan = UnplannedFailover(followed.policy, 0, "why", HOLDER).plan(followed.world.ports())
    assert any(f"would apply what is staged: events {before + 1} to {newest}" in line for line in plan)
    assert position(followed) == before
    take_over(followed)
    assert promotion(followed).position.event_id == newest
    assert at_replica(followed) == held


def test_for_an_answer_that_nobody_knows_nothing_that_is_staged_is_passed_over(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_oddly(*args: object) -> None:
        raise Unexplained("reading what was copied: refused")

    changed(followed)
    newest = followed.world.source.current_event_id()
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(staged_windows, "check_window", answer_oddly)
        with pytest.raises(Unexplained, match="reading what was copied"):
            UnplannedFailover(followed.policy, 0, "why", HOLDER).plan(followed.world.ports())
    take_over(followed)
    assert promotion(followed).position.event_id == newest


def test_killed_at_any_change_of_an_apply_the_replica_is_as_of_the_windows_end(followed: Followed) -> None:
    """Some files of an insert are seen already, of `window_end` even tables of different events."""
    changed(followed)
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)

    def act(world: Followed, switch: Any) -> None:
        world.run_with(killable(world.world.ports(), switch), INCREMENTAL[2:])

    for left in left_by_kills(lambda: followed, act):
        silent(left)
        take_over(left)
        assert promotion(left).position.event_id == newest
        assert at_replica(left) == held


def test_killed_at_any_change_of_a_salvage_a_rerun_ends_it(followed: Followed) -> None:
    changed(followed)
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)

    def act(world: Followed, switch: Any) -> None:
        take_over(world, newest, killable(world.world.ports(), switch))

    for left in left_by_kills(lambda: followed, act):
        take_over(left, newest)
        assert promotion(left).position.event_id == newest
        assert at_replica(left) == held


def test_of_a_window_that_is_copied_in_part_the_events_before_the_first_hole_are_applied() -> None:
    followed = ready(Followed(tuned(batch_objects=1)))
    users = followed.users
    seen = states(
        followed,
        [
            lambda: users.insert("plain", None, [b"one", b"two"]),
            lambda: users.set_parameters("plain", {"colour": "blue"}),
            lambda: users.insert("orders", ("a b",), [b"three", b"four"]),
            lambda: users.insert("plain", None, [b"five"]),
        ],
    )
    files, begin = followed.world.replica_files, position(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    staging = followed.policy.staging
    staged = sorted(path for path in files.paths() if f"{staging}/events/" in path)
    staged = [path for path in staged if not files.status(path).is_directory]
    assert len(staged) == 5
    for path in [path for path in files.paths() if f"{staging}/results/" in path and path.endswith(".json")]:
        files.delete_file(path)
    files.delete_file(staged[3])
    silent(followed)
    at = named_by_plan(followed)
    assert at in seen and begin < at < max(seen)
    take_over(followed)
    assert promotion(followed).position.event_id == at
    assert at_replica(followed) == seen[at]


def test_a_window_that_was_begun_and_is_planned_again_is_ended_as_it_was() -> None:
    """Files of the half of an event that is seen are not staged a second time."""
    followed = ready(Followed())
    changed(followed)
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)

    def act(world: Followed, switch: Any) -> None:
        world.run_with(killable(world.world.ports(), switch), INCREMENTAL[2:])

    for left in left_by_kills(lambda: followed, act, step=3):
        if position(left) == newest:
            continue
        for layout in dumps_of(left.world.ports().dump_files, left.policy, DumpKind.INCREMENTAL):
            if layout.bounds[1] == newest:
                discard_dump(left.world.ports().dump_files, layout.directory)
        left.run_with(left.world.ports(), INCREMENTAL[:1])
        results = [path for path in left.world.replica_files.paths() if f"{left.policy.staging}/results/" in path]
        newest_key = max(
            dumps_of(left.world.ports().dump_files, left.policy, DumpKind.INCREMENTAL), key=lambda one: one.bounds
        )
        token = open_dump(left.world.ports().dump_files, newest_key).manifest.token[:8]
        for path in [path for path in results if token in path and path.endswith(".json")]:
            left.world.replica_files.delete_file(path)
        assert len(list(kept_windows(left.world.replica_files, left.policy))) == 2
        silent(left)
        take_over(left)
        assert promotion(left).position.event_id == newest
        assert at_replica(left) == held


def test_what_cannot_be_applied_is_taken_back_and_the_event_before_it_is_offered() -> None:
    followed = ready(Followed())
    users = followed.users
    seen = states(
        followed,
        [
            lambda: users.insert("orders", ("a b",), [b"one", b"two"]),
            lambda: users.insert("plain", None, [b"three", b"four"]),
            lambda: users.set_parameters("orders", {"colour": "blue"}),
        ],
    )
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    ports = followed.world.ports()
    original = followed.world.replica.alter_table

    def refused(name: Any, *given: Any, **named: Any) -> Any:
        if name.table == "plain":
            raise Refused("the metastore says no", next_step="ask it why")
        return original(name, *given, **named)

    followed.world.replica.alter_table = refused
    newest, before = max(seen), sorted(seen)[1]
    with pytest.raises(Refused, match=rf"(?s)says no.*--at {before}"):
        take_over(followed, newest, ports)
    assert position(followed) == before
    assert at_replica(followed) == seen[before]
    take_over(followed, before, ports)
    assert promotion(followed).position.event_id == before
    assert at_replica(followed) == seen[before]


def test_an_earlier_event_is_taken_only_where_nothing_is_later_already() -> None:
    followed = ready(Followed())
    changed(followed)
    begin, newest = position(followed), followed.world.source.current_event_id()
    followed.run_with(followed.world.ports(), UP_TO_COPY)

    def act(world: Followed, switch: Any) -> None:
        world.run_with(killable(world.world.ports(), switch), INCREMENTAL[2:])

    refused = 0
    for left in left_by_kills(lambda: followed, act):
        if position(left) != begin:
            continue
        try:
            take_over(left, begin)
        except ActNow as error:
            refused += 1
            assert "in the middle of a window" in str(error)
            take_over(left, newest)
    assert refused


def test_a_kept_window_goes_with_its_staging(followed: Followed) -> None:
    changed(followed)
    followed.follow()
    place = join(followed.policy.staging, DIRECTORY)
    assert not any(place in path for path in followed.world.replica_files.paths())


def test_a_window_of_another_text_of_the_policy_is_left() -> None:
    followed = ready(Followed())
    changed(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    at = position(followed)
    followed.policy = replace(followed.policy, fingerprint="another")
    assert named_by_plan(followed) == at
    plan = UnplannedFailover(followed.policy, 0, "why", HOLDER).plan(followed.world.ports())
    assert any(line.startswith(f"in doubt: events after {at}") for line in plan)
