"""A pass over external directories that are equal takes few calls for each of them: there may be 100,000."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.worlds.external_world import ExternalWorld
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import short_hash
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.replication.replica.pending_files import PendingFiles
from twinhive.replication.replica.pending_tables import PendingTable, Waiting
from twinhive.replication.replica.sync_records import Synced
from twinhive.transfer.tree.listing.sibling_statuses import SiblingStatuses

_LISTINGS = {"list_directories", "list_pages"}
"""Calls that a hundred directories share."""


def an_unchanged_world(tables: int, **options: object) -> ExternalWorld:
    world = ExternalWorld(options={"copy_threads": 2, **options})
    for number in range(tables):
        world.add_table(f"t{number:03d}", f"hdfs://east/data/t{number:03d}")
        world.put(f"/data/t{number:03d}/f")
    world.check()
    world.cycle()
    world.cycle()
    return world


def calls_of_a_pass(world: ExternalWorld) -> tuple[Counter[str], Counter[str]]:
    """Return the calls of each side that a pass takes in which everything is equal."""
    sides = (world.world.source_files, world.world.replica_files)
    for side in sides:
        side.calls.clear()
    assert all(result.changed == 0 for result in world.cycle())
    return Counter(sides[0].calls), Counter(sides[1].calls)


def calls_a_directory(**options: object) -> tuple[dict[str, float], dict[str, float]]:
    """Return what each of more directories adds, at the source and at the replica."""
    few, many = calls_of_a_pass(an_unchanged_world(5, **options)), calls_of_a_pass(an_unchanged_world(25, **options))
    at_source, at_replica = (
        {name: (many[side][name] - few[side][name]) / 20 for name in many[side]} for side in (0, 1)
    )
    return at_source, at_replica


def test_a_directory_that_is_equal_takes_nothing_but_its_part_in_a_listing_on_each_side() -> None:
    for side in calls_a_directory():
        assert {name for name, count in side.items() if count} <= _LISTINGS
        assert side["list_pages"] == 1


def calls_for(world: ExternalWorld, table: str) -> Counter[str]:
    """Return the calls at the replica that name something of one table, in a pass that finds everything equal."""
    files, asked = world.world.replica_files, Counter[str]()
    of_table = (f"/{table}/.twinhive", short_hash(f"hdfs://east/data/{table}"))
    for name in ("read", "set_attribute", "status"):
        call = getattr(files, name)

        def counting(path: str, *rest: Any, name: str = name, call: Any = call) -> Any:
            asked[name] += any(part in path for part in of_table)
            return call(path, *rest)

        files.__dict__[name] = counting
    assert all(result.changed == 0 for result in world.cycle())
    for name in ("read", "set_attribute", "status"):
        del files.__dict__[name]
    return +asked


def test_a_look_is_written_down_where_an_event_may_want_what_it_has_found() -> None:
    world = an_unchanged_world(4)
    (table,) = world.world.source.tables("sales", ["t001"])
    world.world.source.alter_table(table.name, table.with_parameters({**table.parameters, "x": "1"}))
    event_id = world.world.source.current_event_id()
    assert calls_for(world, "t001") == {"set_attribute": 1}
    assert world.record("/data/t001").event_id == event_id
    assert world.record("/data/t002").event_id < event_id
    assert calls_for(world, "t001") == {}


def test_a_table_inside_anothers_directory_counts_for_that() -> None:
    world = an_unchanged_world(2)
    world.add_table("inner", "hdfs://east/data/t001/inner")
    world.cycle()
    (inner,) = world.world.source.tables("sales", ["inner"])
    world.world.source.alter_table(inner.name, inner.with_parameters({**inner.parameters, "x": "1"}))
    world.cycle()
    synced = Synced(world.world.replica_files, world.policy)
    assert synced.covers("hdfs://east/data/t001/inner", world.world.source.current_event_id())


def test_while_anything_waits_for_data_every_look_is_written_down() -> None:
    world = an_unchanged_world(2)
    world.world.source.create_table(a_table("sales.managed"))
    event_id = world.world.source.current_event_id()
    (table,) = world.world.source.tables("sales", ["t001"])
    with world.world.lease.hold("l", {}, LeaseKind.EVENTS) as lease:
        waits = PendingTable(table.name, Waiting(table, event_id, event_id))
        PendingFiles(world.world.replica_files, world.policy, lease).write(waits)
    world.cycle()
    assert world.record("/data/t001").event_id == event_id


def test_what_the_policy_does_not_select_any_more_keeps_no_look_from_being_quiet() -> None:
    world = an_unchanged_world(2)
    waiting = a_table("sales.gone", table_type="EXTERNAL_TABLE", location="hdfs://east/data/gone")
    world.policy = replace(world.policy, exclude=("gone",))
    with world.world.lease.hold("l", {}, LeaseKind.EVENTS) as lease:
        waits = PendingTable(waiting.name, Waiting(waiting, 3, 3))
        PendingFiles(world.world.replica_files, world.policy, lease).write(waits)
    assert calls_for(world, "t001") == {}


def test_what_a_late_task_writes_down_is_known_to_the_pass_that_was_listed_before_it() -> None:
    """Else nobody would empty the trash that it has filled."""
    world = an_unchanged_world(2)
    world.put("/data/t001/more")
    world.cycle()
    late = world.listed()
    world.world.source_files.delete("hdfs://east/data/t001/more")
    listed = world.listed()
    world.sync(late)
    trashed_at = world.record("/data/t001").trashed_at
    assert trashed_at
    world.sync(listed)
    world.cycle()
    assert world.last_look("/data/t001").trashed_at == trashed_at


def test_a_look_that_an_earlier_pass_did_not_keep_is_written_down() -> None:
    world = an_unchanged_world(2)
    world.listed()  # and its tasks never run
    event_id = world.world.source.current_event_id()
    world.cycle()
    assert world.record("/data/t001").event_id == event_id


def test_what_was_equal_and_is_not_known_to_be_so_any_more_is_compared_anew() -> None:
    """A file that was replaced by one of the same length on either side is no file that was found equal."""
    for side, path in (("source", "hdfs://east/data/t001/f"), ("replica", "hdfs://west/ext/data/t001/f")):
        world = an_unchanged_world(2)
        world.cycle()
        files = world.world.source_files if side == "source" else world.world.replica_files
        files.put(path, b"y")
        assert sum(result.changed for result in world.cycle()) == 1
        world.assert_twin("/data/t001")


def test_of_few_wanted_in_a_directory_of_very_many_only_a_page_is_listed() -> None:
    files = InMemoryFiles("hdfs://east")
    files.page_size = 10
    for number in range(100):
        files.make_directories(f"hdfs://east/d/{number:03d}")
    wanted = [f"hdfs://east/d/{number:03d}" for number in (1, 2, 99)]
    statuses = SiblingStatuses.of(files, [*wanted, "hdfs://east/d/none", "hdfs://east/d"], 2)
    assert files.calls["list_pages"] == 1
    assert statuses.known.keys() == set(wanted[:2])
    assert [statuses.status(path) for path in wanted] == [files.status(path) for path in wanted]
    assert statuses.status("hdfs://east/d/none") is None


def test_directories_in_one_that_may_not_be_listed_are_asked_for_one_by_one() -> None:
    files = InMemoryFiles("hdfs://east")
    paths = [f"hdfs://east/top{number}" for number in range(5)]
    for path in paths:
        files.make_directories(path)
    assert SiblingStatuses.of(files, paths, 2).known.keys() == set(paths)

    def refused(some: Iterable[str]) -> Any:
        raise Refused("no", found="x", expected="rights to list", next_step="none")

    files.__dict__["list_pages"] = refused
    statuses = SiblingStatuses.of(files, paths, 2)
    assert statuses.known == {}
    assert statuses.status(paths[0]) == files.status(paths[0])


def test_no_task_lists_the_records_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    world = an_unchanged_world(12)
    listed = world.listed()
    records = f"{world.policy.staging}/external/synced"
    asked: list[str] = []
    list_directories = world.world.replica_files.list_directories

    def listing(paths: Iterable[str]) -> Any:
        asked.extend(paths := list(paths))
        return list_directories(paths)

    monkeypatch.setattr(world.world.replica_files, "list_directories", listing)
    world.sync(listed)
    assert not [path for path in asked if path.startswith(records)]


def test_what_the_pass_before_has_found_is_known_without_being_read() -> None:
    world = an_unchanged_world(3)
    world.put("/data/t001/more", b"12345")
    world.cycle()
    listed = world.listed()
    assert listed.sizes["t001"].length == 6
    assert listed.sizes["t001"].files == 2


def test_a_copy_that_was_cut_off_after_its_task_had_ended_once_is_cleaned_up() -> None:
    """A task that is cleared begins anew, and what it said before of a directory that it changes does not count."""
    world = an_unchanged_world(3)
    listed = world.listed()
    world.sync(listed)
    world.put("/data/t001/more")
    switch = KillSwitch(at=8, after_effect=True)
    with pytest.raises(Killed):
        world.sync(listed, killable(world.ports(), switch))
    world.world.lease.known_dead.update(world.world.lease._kept)
    record = world.record("/data/t001")
    assert record and record.unfinished
    world.cycle()
    assert not world.record("/data/t001").unfinished
    world.assert_twin("/data/t001")


@pytest.mark.parametrize("at", range(1, 30, 4))
def test_whatever_is_killed_the_next_pass_leaves_nothing_unfinished(at: int) -> None:
    world = an_unchanged_world(2)
    world.put("/data/t000/more")
    with suppress(Killed):
        world.cycle(killable(world.ports(), KillSwitch(at, after_effect=True)))
    world.world.lease.known_dead.update(world.world.lease._kept)
    for _ in range(2):
        world.cycle()
    for name in ("t000", "t001"):
        record = world.record(f"/data/{name}")
        assert record and not record.unfinished
        world.assert_twin(f"/data/{name}")
