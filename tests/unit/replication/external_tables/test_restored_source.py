"""A metastore that is restored behind the last pass gives ids that copies have noted to other events."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import World, a_world, backup
from tests.unit.replication.external_tables.test_external_calls import an_unchanged_world
from tests.unit.replication.external_tables.test_external_pass import a_world_with_partitions
from tests.unit.replication.notification_log.test_external_entry_cache import PARTS, keys
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Unexplained
from twinhive.core.model.objects import Database
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.dump_store import newest_pass
from twinhive.replication.dump.log_point import LogPoint
from twinhive.replication.dump.passes.external_passes import locations_of_pass
from twinhive.replication.external_tables.list_external import ListExternal
from twinhive.replication.external_tables.sync_external import SyncExternal
from twinhive.replication.incremental.offline_source import without_source
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.replica.sync_records import Synced, SyncedEntry, write_synced
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import RunOptions, run_phase, run_rounds

DAYS = "hdfs://east/data/days"


def copy(followed: FollowedExternals) -> str:
    """Run a pass of the data lane; return its name."""
    ports = followed.world.ports()
    listed = ListExternal(Work(followed.policy, "", "", {"run": "t"}, followed.say)).run(ports)
    for batch in listed.batches:
        SyncExternal(Work(followed.policy, batch.name, listed.dump, {"run": "t"}, followed.say)).run(ports)
    return listed.dump


def lose(followed: FollowedExternals) -> None:
    """Let the source do what its metastore will have forgotten."""
    followed.users.add_external("days", ("8",))
    for number in range(5):
        followed.users.create_external(f"lost{number}")


def add(followed: FollowedExternals, day: str, below: str | None = None) -> None:
    followed.world.source_files.put(f"{below or DAYS}/p={day}/f", b"rows")
    followed.users.add_external("days", (day,), below=below)


@pytest.fixture
def restored() -> FollowedExternals:
    """Return a replica at an event to which the source was restored, after a pass at the newest one."""
    followed = FollowedExternals()
    followed.users.create_external("days", ("p",))
    followed.world.source_files.put(f"{DAYS}/x", b"1")
    for once in (followed.follow, lambda: copy(followed), followed.follow, followed.follow):
        once()
    assert followed.pending == ()
    restore = backup(followed.world.source)
    lose(followed)
    copy(followed)
    restore()
    return followed


def test_what_came_after_the_restoration_waits_for_a_copy_that_began_after_it(restored: FollowedExternals) -> None:
    add(restored, "9")
    for _ in ("by its window", "between two windows"):
        restored.follow()
        assert restored.pending == ("days",)
        assert restored.partitions_on_replica("days") == {}
    copy(restored)
    restored.follow()
    assert restored.pending == ()
    (place,) = restored.partitions_on_replica("days").values()
    assert restored.world.replica_files.read(f"{place}/f") == b"rows"


def test_a_log_that_overtakes_the_pass_before_is_no_reason_to_know_its_tables(restored: FollowedExternals) -> None:
    add(restored, "9", below="hdfs://east/data/elsewhere")
    for number in range(8):
        restored.users.create_external(f"new{number}")
    restored.follow()
    copy(restored)
    restored.follow()
    assert restored.pending == ()
    assert restored.partitions_on_replica("days") == {"p=9": "hdfs://west/ext/data/elsewhere/p=9"}


def test_a_log_that_has_the_pass_itself_but_not_all_that_it_read_is_no_reason_either() -> None:
    """A pass reads tables as they are after the event that it names."""
    world = a_world_with_partitions()
    source = world.world.source
    restore, ask = backup(source), source.partition_locations

    def dropped_meanwhile(table):
        if table.name == PARTS and "day=3" in source.partition_names(PARTS):
            source.drop_partitions(PARTS, ["day=3"], delete_data=False)
        return ask(table)

    source.partition_locations = dropped_meanwhile  # type: ignore[method-assign]
    world.listed()
    source.partition_locations = ask  # type: ignore[method-assign]
    restore()
    for number in range(3):
        world.add_table(f"other{number}", f"hdfs://east/data/other{number}")
    wanted = a_world_with_partitions()
    assert set(keys(wanted, wanted.listed().dump)) <= set(keys(world, world.listed().dump))


def test_a_bootstrap_after_the_restoration_waits_for_copies_of_its_own(restored: FollowedExternals) -> None:
    add(restored, "9")
    ports, policy, holder = restored.world.ports(), restored.policy, {"run": "again"}
    run_phase(BOOTSTRAP, policy, ports, holder, restored.say, options=RunOptions(again=True))
    run_rounds(policy, ports, holder, restored.say)
    assert restored.on_replica("plain") is not None
    assert "days" in restored.pending


class TestRecords:
    """Of what a record's event is said to be."""

    @pytest.fixture
    def world(self) -> World:
        return a_world()

    def covers(self, world: World, policy, point: LogPoint) -> bool:
        at = point.position
        entry = SyncedEntry(
            DAYS,
            policy.external.place(DAYS, DAYS),
            at.event_id,
            0.0,
            log_id=point.log_id,
            event_time=at.time,
            digest=at.digest,
        )
        write_synced(world.replica_files, policy, entry)
        return Synced(world.replica_files, policy, SourceLog(world.source).has).covers(DAYS, 1)

    @pytest.mark.parametrize(
        ("change", "covered"),
        [
            (lambda point: point, True),
            (lambda point: LogPoint(point.position, "log-of-another"), False),
            (lambda point: LogPoint(Position(point.position.event_id, 7, "another"), point.log_id), False),
            (lambda point: LogPoint(Position(point.position.event_id + 1), point.log_id), False),
            (lambda point: LogPoint(Position(point.position.event_id)), True),
            (lambda point: LogPoint(Position(point.position.event_id + 1)), False),
        ],
        ids=["same", "other log", "other event", "beyond", "of an earlier version", "of one, and beyond"],
    )
    def test_one_of_another_log_or_of_a_lost_event_covers_nothing(
        self, world: World, change: Callable[[LogPoint], LogPoint], covered: bool
    ) -> None:
        policy = FollowedExternals(world=world).policy
        assert self.covers(world, policy, change(SourceLog(world.source).newest())) is covered

    def test_one_whose_event_has_expired_counts_and_so_does_each_where_the_source_is_not_asked(
        self, world: World
    ) -> None:
        point = SourceLog(world.source).newest()
        policy = FollowedExternals(world=world).policy
        world.source.create_database(Database("more", None, None, {}, "{}"))
        world.source.expire_events(point.position.event_id)
        assert SourceLog(world.source).has(point)
        silent = without_source(world.ports(), policy, point.log_id).source
        assert SourceLog(silent).has(LogPoint(Position(10**6, 1, "x"), point.log_id))
        assert not SourceLog(silent).has(LogPoint(point.position, "another"))

    def test_for_an_answer_that_nobody_knows_nothing_is_taken_for_true(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def answer_oddly() -> str:
            raise Unexplained("asking for the log's identity: refused")

        log, point = SourceLog(world.source), LogPoint(Position(1), "another")
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(world.source, "log_id", answer_oddly)
            with pytest.raises(Unexplained):
                log.has(point)
        assert not log.has(point)

    def test_each_event_is_asked_for_once(self, world: World) -> None:
        point, asked = SourceLog(world.source).newest(), list[int]()
        read = world.source.events_after
        world.source.events_after = lambda after, limit: asked.append(after) or read(after, limit)  # type: ignore
        log = SourceLog(world.source)
        assert all(log.has(point) for _ in range(100))
        assert len(asked) == 1


def test_what_is_asked_of_the_log_does_not_grow_with_the_directories() -> None:
    asked = [log_calls(directories) for directories in (2, 30)]
    assert asked[0] == asked[1]
    assert sum(asked[0].values()) <= 20, "by the list and one task, of a replica that is behind"


def log_calls(directories: int) -> Counter[str]:
    """Return what a pass that finds everything equal asks of the log."""
    world = an_unchanged_world(directories)
    source, asked = world.world.source, Counter[str]()

    def counted(name: str) -> Callable[..., Any]:
        call = getattr(source, name)

        def calling(*given: Any) -> Any:
            asked[name] += 1
            return call(*given)

        return calling

    for name in ("log_id", "current_event_id", "events_after"):
        source.__dict__[name] = counted(name)
    listed = world.listed()
    assert len(listed.batches) == 1
    world.sync(listed)
    return asked


def test_a_pass_notes_what_it_has_read_of_the_log(restored: FollowedExternals) -> None:
    name = copy(restored)
    files, source = restored.world.source_files, restored.world.source
    listed = newest_pass(files, restored.policy)
    assert listed is not None and listed.name == name
    assert listed.manifest.begin == listed.manifest.end == SourceLog(source).newest()
    assert locations_of_pass(files, restored.policy, name)
