"""Seed 001's bound: what copies of external tables take of a pass is not there for events; passes make rounds."""

from contextlib import suppress
from dataclasses import replace

from tests.support.builders import a_policy, a_table
from tests.support.worlds.external_world import ExternalWorld
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.changes.events import NOWHERE
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import with_position
from twinhive.core.model.policy import Options, Policy
from twinhive.hive.events.reader import position_at
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import dumps_of
from twinhive.replication.incremental.window_stage import WindowCut
from twinhive.replication.notification_log.event_stream import event_range_after, saved_events_path, window_after
from twinhive.runtime.pipeline.phases import WINDOW

BOUND = {"approx_max_load_tasks": 200, "parallelism": 8, "external_weight": 1}


def a_world_with(tables: int, events: int, **options: int) -> ExternalWorld:
    """Return a replica that follows external tables with a file each, and events that came after."""
    world = ExternalWorld(options=options)
    for number in range(1, tables):
        world.add_table(f"t{number}", f"hdfs://east/data/t{number}")
        world.put(f"/data/t{number}/f")
    world.put("/data/events/f")
    follow_up_to_now(world.world)
    create_tables(world.world, events)
    return world


def follow_up_to_now(world: World) -> None:
    said = world.replica.database("sales").parameters
    newest = position_at(world.source, world.source.current_event_id())
    world.replica.set_database_parameters("sales", with_position(said, newest))


def create_tables(world: World, count: int) -> None:
    for number in range(count):
        world.source.create_table(a_table(f"sales.new{number}"))


def cut(world: ExternalWorld) -> WindowCut:
    """Cut the window that comes next, and forget it again."""
    made = WINDOW(world.work()).run(world.ports())
    files = world.ports().dump_files
    [window] = dumps_of(files, world.policy, DumpKind.INCREMENTAL)
    files.delete(window.directory)
    return made


def test_of_100_copies_and_many_events_the_first_pass_takes_7_and_193() -> None:
    world = a_world_with(100, 300, **BOUND)
    listed = world.listed()
    assert (len(listed.batches), listed.remaining) == (7, 93)
    assert cut(world).events == 193


def test_copies_that_have_ended_leave_their_room_to_the_events() -> None:
    world = a_world_with(100, 300, **BOUND)
    listed = world.listed()
    world.sync(replace(listed, batches=listed.batches[:3]))
    assert cut(world).events == 196
    world.sync(replace(listed, batches=listed.batches[3:]))
    assert cut(world).events == 200


def test_without_a_bound_copies_and_events_take_all_there_is() -> None:
    world = a_world_with(20, 30, parallelism=8, external_weight=1)
    assert len(world.listed().batches) == 20
    assert cut(world).events == 30


def test_events_that_were_saved_in_one_piece_are_cut_as_well_and_none_is_lost() -> None:
    world = a_world()
    create_tables(world, 7)
    policy = a_policy()
    ports = world.ports()
    whole = event_range_after(ports.source, policy, NOWHERE).event_range
    ports.dump_files.write(saved_events_path(policy, whole), whole.pack())

    bounded: Policy = replace(policy, options=Options(window_events=3))
    begin, windows = NOWHERE, []
    while (window := window_after(ports, bounded, begin, ()).event_range).rows:
        windows.append(window)
        begin = window.end
    assert [row for window in windows for row in window.rows] == list(whole.rows)
    assert {len(window.rows) for window in windows[:-1]} == {3}
    assert windows[-1].end == whole.end


def test_what_was_saved_and_is_to_be_skipped_is_in_no_window() -> None:
    world = a_world()
    create_tables(world, 3)
    policy, ports = a_policy(), world.ports()
    whole = event_range_after(ports.source, policy, NOWHERE).event_range
    ports.dump_files.write(saved_events_path(policy, whole), whole.pack())
    skipped = whole.rows[1]
    window = window_after(ports, policy, NOWHERE, {skipped.event_id}).event_range
    assert list(window.rows) == [row for row in whole.rows if row != skipped]
    assert window.end == whole.end


def test_a_round_of_passes_tries_each_directory_once_and_then_ends() -> None:
    world = a_world_with(16, 0, **BOUND)
    left = []
    while not left or left[-1]:
        listed = world.listed()
        world.sync(listed)
        left.append(listed.remaining)
    assert left == [9, 2, 0]
    assert all(world.record(f"/data/t{number}") for number in range(1, 16))
    # The next round begins with those of the first pass again.
    assert world.listed().remaining == 9


def test_directories_that_fail_keep_none_of_the_others_waiting() -> None:
    world = a_world_with(1, 0, **BOUND)
    for number in range(1, 16):
        world.add_table(f"t{number:02d}", f"hdfs://east/data/t{number:02d}")
    for number in range(1, 8):
        world.world.source_files.delete(f"hdfs://east/data/t{number:02d}")
    remaining = 1
    while remaining:
        listed = world.listed()
        remaining = listed.remaining
        for batch in listed.batches:
            with suppress(ActNow):
                world.sync(replace(listed, batches=(batch,)))
    assert [world.record(f"/data/t{n:02d}") is None for n in range(1, 16)] == [True] * 7 + [False] * 8


def test_a_task_that_never_ended_is_tried_by_the_next_pass_of_the_round() -> None:
    world = a_world_with(16, 0, **BOUND)
    first = world.listed()
    world.sync(replace(first, batches=first.batches[1:]))
    second = world.listed()
    assert second.batches[0].label == first.batches[0].label
    assert second.remaining == 3
