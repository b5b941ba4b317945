"""A copy of what nobody changes stays readable, whatever the log loses: its mark gets a newer event in time."""

import json
from random import Random

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.support.worlds.fake_world import killable
from twinhive.core.step.step_base import Work
from twinhive.federation.placement import mark_renewal
from twinhive.federation.placement.copies_status import copies_of
from twinhive.federation.placement.list_copies import CopiesListed, ListCopies
from twinhive.federation.placement.placement_layout import position_path
from twinhive.federation.routing.freshness import Freshness
from twinhive.runtime.dry_run.rehearsal import rehearse

HOUR, KEPT = 3_600, 24 * 3_600
DAYS = ("orders day=1", "orders day=2", "orders day=3")


def a_world() -> CopiesWorld:
    """A world with marks whose own events are not the newest ones."""
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("other", files={"o": b"o"})
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {(day,): {"f": day.encode()} for day in "123"})
    world.settle()
    return world


def places(world: CopiesWorld) -> dict[str, str]:
    return {name: mark.location for name, (_, mark) in world.marked().items() if name != "other"}


def lose_marks(world: CopiesWorld) -> None:
    """Let the log lose the events of all marks but that of `other`, after a run that has seen them."""
    first = world.metastore.current_event_id()
    world.users.insert("other", None, {"p": b"p"})
    world.settle()
    world.metastore._log.expire(first)


def readable(world: CopiesWorld) -> set[str]:
    """Return which copies one who routes would read, each asked for alone."""
    found = set()
    for name, (one, mark) in world.marked().items():
        table = world.users.table(name.split()[0]).name
        values = getattr(one, "values", None)
        if not Freshness(world.metastore, None).stale(table, {values: mark}, {values: str(one.location)}):
            found.add(name)
    return found


EVERYTHING = {"plain", "other", *DAYS}


def test_marks_whose_events_are_gone_are_dated_anew_and_nothing_is_copied() -> None:
    world = a_world()
    lose_marks(world)
    before = places(world)
    assert readable(world) == {"other"} == set(world.fresh())
    listed = world.run()["list_copies"]
    assert (listed.dated, listed.needed, listed.unmarked) == (4, 0, 0) and listed.idle
    assert readable(world) == EVERYTHING == set(world.fresh())
    assert places(world) == before
    assert not [copy for table in copies_of(world.ports(), world.placement) for copy in table.copies if copy.stale]
    for _ in range(3):
        assert world.run()["list_copies"].dated == 0
    world.assert_complete(*EVERYTHING)


def test_a_changed_one_among_them_is_copied_and_not_dated() -> None:
    world = a_world()
    lose_marks(world)
    before = places(world)
    world.files.put(f"{world.users.location('plain')}/late", b"without an event")
    world.users.insert("orders", ("2",), {"g": b"more"})
    listed = world.run()["list_copies"]
    assert (listed.needed, listed.unmarked) == (2, 2)
    same = {name for name, place in places(world).items() if before.get(name) == place}
    assert same == {"orders day=1", "orders day=3"}
    world.settle()
    world.assert_complete(*EVERYTHING)


def listed_now(world: CopiesWorld) -> CopiesListed:
    """List what is to be copied, by the clock of the log."""
    return ListCopies(Work(world.placement), now=lambda: float(world.metastore._log.now())).run(world.ports())


def pass_hours(world: CopiesWorld, hours: float) -> None:
    """Let time pass, and let the log lose what has come to its age."""
    log = world.metastore._log
    log.passed += int(hours * HOUR)
    log.expire(max((row.event_id for row in log.rows if row.time < log.now() - KEPT), default=0))


@pytest.mark.parametrize("is_quiet", [True, False])
def test_no_copy_is_ever_unreadable_while_its_placement_runs(is_quiet: bool) -> None:
    world = a_world()
    before, dated = places(world), 0
    for _ in range(60):
        pass_hours(world, 3)
        if not is_quiet:
            world.metastore._log.emit("OPEN_TXN", None, None, {})
        assert readable(world) >= EVERYTHING - {"other"}
        listed = listed_now(world)
        dated += listed.dated
        assert listed.idle and listed_now(world).idle
    assert places(world) == before
    # Not in each of the sixty runs.
    assert 4 <= dated <= 30 * 4
    world.assert_complete(*EVERYTHING)


@pytest.mark.parametrize("has_one_event_a_mark", [False, True])
def test_a_mark_that_is_far_behind_a_busy_log_gets_a_newer_event_however_young_it_is(
    has_one_event_a_mark: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark_renewal, "_MOST_BEHIND", 40)
    world = a_world()
    if has_one_event_a_mark:  # as Hive 3 tells it
        alter = world.metastore.alter_partitions
        world.metastore.alter_partitions = lambda some: [alter([one]) for one in some]  # type: ignore[method-assign]
    for _ in range(2):
        world.run()
    before = {name: mark.event_id for name, (_, mark) in world.marked().items()}
    for number in range(30):
        world.metastore._log.emit("OPEN_TXN", None, None, {})
        assert listed_now(world).dated == 0, number
    for _ in range(30):
        world.metastore._log.emit("OPEN_TXN", None, None, {})
    assert listed_now(world).dated == len(before)
    assert [listed_now(world).dated for _ in range(4)] == [0] * 4
    assert all(mark.event_id > before[name] + 40 for name, (_, mark) in world.marked().items())


def test_it_is_done_in_bulk() -> None:
    world = CopiesWorld(a_placement(options={"partitions_per_call": 1_000}))
    world.users.create_table("orders", ("day",))
    world.users.create_table("other", files={"o": b"o"})
    world.users.add_partitions("orders", {(f"{number:03}",): {"f": b"x"} for number in range(100)})
    world.settle()
    lose_marks(world)
    newest = world.metastore.current_event_id()
    assert world.run()["list_copies"].dated == 100
    assert world.metastore.current_event_id() == newest + 1


def test_a_plan_says_it_and_changes_nothing() -> None:
    world = a_world()
    lose_marks(world)
    events, paths = world.metastore.current_event_id(), world.north.paths()
    plan = rehearse("copies", world.ports(), world.placement)
    assert (world.metastore.current_event_id(), world.north.paths()) == (events, paths)
    assert [str(section).partition(":")[0] for section in plan.sections] == ["date marks anew of objects"]


def a_losing_world() -> CopiesWorld:
    world = a_world()
    lose_marks(world)
    return world


def test_killed_at_any_change_the_next_run_ends_it() -> None:
    before = places(a_losing_world())
    for world in left_by_kills(a_losing_world, lambda world, switch: world.run(killable(world.ports(), switch))):
        world.assert_no_copy_lies()
        world.settle()
        world.assert_complete(*EVERYTHING)
        assert readable(world) == EVERYTHING and places(world) == before


def test_what_an_earlier_version_remembers_is_read_and_its_tables_are_looked_at_once() -> None:
    world = a_world()
    lose_marks(world)
    path = position_path(world.placement)
    said = json.loads(world.north.read(path))
    del said["marked"], said["seen"]
    world.north.put(path, json.dumps(said).encode())
    assert world.run()["list_copies"].needed == 0
    world.settle()
    assert readable(world) == EVERYTHING


def test_without_a_memory_nothing_can_be_told_of_them_and_they_are_copied_anew() -> None:
    world = a_world()
    lose_marks(world)
    world.change(fingerprint="another text")
    listed = world.run()["list_copies"]
    assert (listed.fresh, listed.unmarked, listed.needed, listed.dated) == (1, 4, 4, 0)
    world.settle()
    assert readable(world) == EVERYTHING


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
def test_no_copy_lies_whatever_the_log_loses(seed: int) -> None:
    world, random = a_world(), Random(seed)
    changes = [
        lambda: world.users.insert("plain", None, {f"f{random.random()}": b"more"}),
        lambda: world.users.insert("orders", (random.choice("123"),), {f"f{random.random()}": b"more"}),
        lambda: world.users.set_parameters("orders", {"x": str(random.random())}),
        lambda: world.files.put(f"{world.users.location('plain')}/{random.random()}", b"without an event"),
        lambda: world.metastore._log.expire(world.metastore.current_event_id() - random.randint(0, 9)),
        lambda: pass_hours(world, random.randint(1, 30)),
        lambda: listed_now(world),
        world.run,
    ]
    for _ in range(25):
        random.choice(changes)()
        world.assert_no_copy_lies()
    world.settle()
    world.settle()
    world.assert_complete(*EVERYTHING)
    assert readable(world) == EVERYTHING
