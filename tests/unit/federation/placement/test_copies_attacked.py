"""Let users act at each moment of a run, retire the placement meanwhile, and have copies on two clusters at once."""

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support import seeds
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.worlds.copies import copies_of
from tests.support.worlds.copies_world import COPIES_ROOT, CopiesWorld, a_placement, contents
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.support.worlds.kept_marks import kept_marks, mark_on
from tests.unit.federation.placement.test_copies import CHANGES, a_quiet_world, a_world
from tests.unit.federation.placement.test_copies_histories import Users
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.placement.copy_marks import LONGEST, CopyMark, DirectoryState
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copied_objects import values_of
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.placement_events import read_news
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.federation.placement.retire import RetirePlacement
from twinhive.federation.routing.nested_directories import states_like
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase

Act = Callable[[CopiesWorld], object]


def _drop_and_add_again(world: CopiesWorld) -> None:
    """The same values, the same name and length of the file, other rows."""
    world.users.drop_partitions("orders", [("1",)])
    world.users.add_partitions("orders", {("1",): {"a": b"1ne"}})


def _replace_the_directory(world: CopiesWorld) -> None:
    """Another directory of the same name, without a word to the log; files of the same names and lengths."""
    place = world.users.location("orders", ("1",))
    world.files.rename(place, f"{place}.aside")
    world.files.put(f"{place}/a", b"1ne")


def _replace_a_nested_file(world: CopiesWorld) -> None:
    """A file further below, with an event, as Hive's INSERT OVERWRITE tells it."""
    world.users.overwrite("plain", None, {"f": b"plain", "sub dir/g": b"BELOW"})


def _swap_names(world: CopiesWorld) -> None:
    world.users.rename_table("plain", "between")
    world.users.rename_table("empty", "plain")
    world.users.rename_table("between", "empty")


def _exchange(world: CopiesWorld) -> None:
    world.users.create_table("others", ("day",))
    world.users.exchange_partition("orders", "others", ("1",))


def _there_and_back(world: CopiesWorld) -> None:
    """Renamed twice: it has the same name, and the mark that it had is of its name."""
    world.users.rename_partition("orders", ("1",), ("9",))
    world.users.overwrite("orders", ("9",), {"a": b"1ne"})
    world.users.rename_partition("orders", ("9",), ("1",))


def _belongs_elsewhere(world: CopiesWorld) -> None:
    world.users.set_parameters("orders", {"twinhive.cluster": "south"})


ACTS: dict[str, Act] = {
    **{name: (lambda world, change=change: change(world.users)) for name, change in CHANGES.items()},
    "drop and add again": _drop_and_add_again,
    "a directory of the same name": _replace_the_directory,
    "a nested file": _replace_a_nested_file,
    "names that are swapped": _swap_names,
    "an exchanged partition": _exchange,
    "renamed there and back": _there_and_back,
    "another primary": _belongs_elsewhere,
}


class AtChange:
    """Let somebody act just before the n-th change of a run, or just after it; used like a kill switch."""

    def __init__(self, at: int, act: Callable[[], object], *, after: bool = False) -> None:
        self._at, self._act, self._after, self.changes = at, act, after, 0

    def change(self, effect: Callable[[], object]) -> object:
        """Carry the change out, and act."""
        self.changes += 1
        is_now = self.changes == self._at
        if is_now and not self._after:
            self._act()
        done = effect()
        if is_now and self._after:
            self._act()
        return done


def _moments(begin: Callable[[], CopiesWorld]) -> Iterator[tuple[CopiesWorld, int]]:
    """Yield a world for each change of a run; in `make test` a fourteenth of them, others each day."""
    again = copies_of(begin())
    counted = AtChange(0, lambda: None)
    world = again()
    world.run(killable(world.ports(), counted))
    for at in range(1, counted.changes + 1)[seeds.kill_points(1 if seeds.KILL_POINTS == 1 else 2)]:
        yield again(), at


def _changed() -> CopiesWorld:
    world = a_quiet_world()
    world.users.insert("orders", ("1",), {"more": b"more"})
    world.users.insert("plain", None, {"more": b"more"})
    return world


@pytest.mark.thorough
@pytest.mark.parametrize("name", ACTS)
def test_whoever_acts_at_any_moment_of_a_run_no_copy_lies(name: str) -> None:
    for begin in (a_world, _changed):
        for world, at in _moments(begin):
            world.files.make_directories(world.users.location("orders", ("3",)) + "x")
            with suppress(TwinhiveError):
                world.run(killable(world.ports(), AtChange(at, lambda world=world: ACTS[name](world))))
            world.assert_no_copy_lies()
            world.settle()
            world.assert_no_copy_lies()
            assert sorted(world.fresh()) == sorted(world.marked())


def test_a_placement_that_is_retired_while_it_copies_leaves_nothing_behind() -> None:
    for world, at in _moments(_changed):
        retiring = RetirePlacement(world.placement, {"run": "retire"})

        def retire(world: CopiesWorld = world, retiring: RetirePlacement = retiring) -> None:
            retiring.run(world.ports())

        # Who takes a lease over waits for the call that is under way: it acts after a change, never in one.
        with suppress(TwinhiveError):
            world.run(killable(world.ports(), AtChange(at, retire, after=True)))
        world.assert_no_copy_lies()
        # A run that the scheduler has begun since may have made copies again: whoever retires pauses its DAG first.
        retiring.run(world.ports())
        assert not kept_marks(world.metastore)
        assert not [path for path in world.north.paths() if path.startswith(COPIES_ROOT)]
        world.settle()
        assert len(world.fresh()) == 5


class TwoClusters:
    """A world whose tables have copies on north and on south, each by a placement of its own."""

    def __init__(self) -> None:
        self.north = CopiesWorld()
        self.south = copies_world_beside(self.north)

    def both(self) -> tuple[tuple[CopiesWorld, str], ...]:
        return (self.north, "north"), (self.south, "south")

    def assert_true(self) -> None:
        for world, cluster in self.both():
            for one, keys in world._objects():
                mark = mark_on(world.metastore, one, cluster)
                if mark is None:
                    continue
                table = (one.table if keys else one.name).table
                news = read_news(world.metastore, world.placement, Position(mark.event_id), "log-east")
                state = states_like(world.files, {str(one.location): mark.directory}).get(str(one.location))
                if state == mark.directory and news.is_same(table, values_of(one), mark.event_id):
                    assert contents(world.north, mark.location) == contents(world.files, str(one.location))


def copies_world_beside(other: CopiesWorld) -> CopiesWorld:
    """Return the same metastore and primary, with a placement on south."""
    world = CopiesWorld()
    world.files, world.metastore, world.users = other.files, other.metastore, other.users
    world.north, world.lease = InMemoryFiles("hdfs://south"), InMemoryLease()
    world.placement = replace(
        a_placement(name="far", staging_root="hdfs://south/twinhive/staging"),
        replica=replace(world.placement.replica, cluster="south"),
        copies=KeptCopies("hdfs://south/twinhive/copies", default_cluster="east"),
    )
    return world


@pytest.mark.parametrize("seed", seeds.cases(15, few=4, kind=11))
def test_copies_on_two_clusters_do_not_make_one_another_stale(seed: int) -> None:
    chance, worlds = random.Random(seed), TwoClusters()
    users = Users(worlds.north, chance)
    users.users.create_table("a", ("day",))
    users.users.create_table("b")
    for _ in range(20):
        for _ in range(chance.randrange(4)):
            users.act()
        (first, _), (second, _) = chance.sample(worlds.both(), 2)
        switch = KillSwitch(chance.randrange(1, 60), after_effect=chance.random() < 0.5)

        def meanwhile(second: CopiesWorld = second) -> None:
            with suppress(TwinhiveError):
                run_phase(COPIES, second.placement, second.ports(), {"run": "s"}, lambda line: None)

        try:
            # The other placement runs in the middle of this one.
            first.run(killable(first.ports(), AtChange(chance.randrange(1, 40), meanwhile)))
            first.run(killable(first.ports(), switch))
        except (Killed, TwinhiveError):
            first.lease.lose_holders()
        worlds.assert_true()
    # Each comes to rest beside the other: no mark of one makes a copy of the other stale.
    worlds.north.settle()
    worlds.south.settle()
    assert worlds.north.run()["list_copies"].idle and worlds.south.run()["list_copies"].idle
    worlds.assert_true()


def _records_read(world: CopiesWorld) -> list[str]:
    read: list[str] = []
    original = world.north.read
    world.north.read = lambda path: (read.append(path), original(path))[1]
    assert world.run()["list_copies"].idle
    del world.north.read
    return [path for path in read if "/copies/tables/" in path]


def _in_a_directory(world: CopiesWorld, change: str) -> None:
    place = world.users.location("orders", ("1",))
    match change:
        case "a file is replaced":
            world.files.delete_file(f"{place}/in/it/f")  # as HDFS does it
            world.files.put(f"{place}/in/it/f", b"other")
        case "a file is added":
            world.files.put(f"{place}/in/it/more", b"more")
        case "a file is added where nothing was":
            world.files.put(f"{place}/in/empty/first", b"first")
        case "a file is deleted":
            world.files.delete_file(f"{place}/in/it/f")


@pytest.mark.parametrize(
    "change", ["a file is replaced", "a file is added", "a file is added where nothing was", "a file is deleted"]
)
def test_what_changes_without_an_event_in_a_directory_of_a_partition_makes_its_copy_stale(change: str) -> None:
    world = a_world()
    place = world.users.location("orders", ("1",))
    world.files.put(f"{place}/in/it/f", b"below")
    world.files.make_directories(f"{place}/in/empty")
    world.settle()
    before = world.fresh()
    assert before["orders day=1"].directory.below and not before["orders day=3"].directory.below
    world.run()  # which remembers what is around all of it
    assert not _records_read(world)
    _in_a_directory(world, change)
    assert "orders day=1" not in world.fresh()
    assert set(before) - set(world.fresh()) == {"orders day=1"}
    world.settle()
    assert set(world.fresh()) == set(before)
    world.assert_no_copy_lies()
    assert world.run()["list_copies"].idle


def test_a_change_in_a_directory_while_it_is_copied_is_not_marked() -> None:
    for change in ("a file is replaced", "a file is added where nothing was"):
        world = a_world()
        place = world.users.location("orders", ("1",))
        world.files.put(f"{place}/in/it/f", b"below")
        world.files.make_directories(f"{place}/in/empty")
        listed = ListCopies(Work(world.placement)).run(world.ports())
        for batch in listed.batches:
            CopyObjects(Work(world.placement, batch.name, listed.dump)).run(world.ports())
        _in_a_directory(world, change)
        assert PublishCopies(Work(world.placement)).run(world.ports()).changed == 1
        world.assert_no_copy_lies()
        world.settle()
        world.assert_no_copy_lies()
        assert "orders day=1" in world.fresh()


def test_no_parameter_of_a_mark_is_longer_than_a_metastore_takes() -> None:
    state = DirectoryState(2**62, 10**14, "0123456789abcdef")
    place = "x" * LONGEST
    table = TableIdentity(2**62, 2**31)
    mark = CopyMark(place, "0" * 36, 10**15, place, state, state, table, 10**10, 10**17, "0123456789abcdef")
    assert all(len(value) <= LONGEST and len(key) < 256 for key, value in mark.parameters().items())
