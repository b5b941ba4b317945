"""Scan and sweep beside the lane of events, at every moment of each other: no work is ended, both come to their end."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import pytest

from tests.checker.faults import Plan, faulty
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.scan.test_scan import put, same, scan
from twinhive.core.directory_marks.directories import Owned
from twinhive.core.model.errors import ActNow, Refused, TwinhiveError, Unreachable
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import DUMP, PHASE
from twinhive.core.ports import WritePorts
from twinhive.core.step.replica_lease import hold_lease, lease_directory
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.json_files import read_json
from twinhive.replication.operator_requests.request_files import request_table
from twinhive.replication.replica.used_directories import UsedPlaces
from twinhive.replication.scan import scan as scanning
from twinhive.replication.scan.scan import Scan, Scanned
from twinhive.replication.scan.sweep import sweep
from twinhive.runtime.pipeline.phases import APPLY

NOW = 1e9
LONG = 1e6


class Once:
    """Let something happen at one of the calls of something else, and count them."""

    def __init__(self, at: int, action: Callable[[], object]) -> None:
        self.at, self.action = at, action
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.at:
            self.action()


def with_much_to_do() -> Followed:
    """Return a world with silent writes, unused directories whose grace is over, and a window to be applied."""
    followed = Followed(tuned(grace_seconds=60))
    scan(followed, now=NOW)
    followed.users.overwrite("plain", None, [b"other"])
    followed.users.overwrite("orders", ("a b",), [b"other"])
    followed.follow()
    scan(followed, now=NOW)
    put(followed, "plain", "part-1", b"silent")
    put(followed, "empty", "part-1", b"silent")
    followed.users.insert("orders", ("a b",), [b"more"])
    followed.users.rename_table("recent", "former")
    followed.users.create_table("made", files=[b"made"])
    followed.world.replica_files.pass_time(LONG)
    return followed


def scan_with(followed: Followed, ports: WritePorts) -> Scanned:
    work = Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    return Scan(work, clock=lambda: NOW + LONG, wait=lambda seconds: None).run(ports)


def comes_to_equality(followed: Followed) -> None:
    followed.follow()
    scan_with(followed, followed.world.ports())
    assert same(followed)


def test_no_apply_is_ended_by_a_scan_at_any_of_its_calls() -> None:
    copy, at = copies_of(with_much_to_do()), 1
    while True:
        followed = copy()
        meanwhile = Once(at, lambda: scan_with(followed, followed.world.ports()))  # noqa: B023
        followed.run_with(faulty(followed.world.ports(), Plan(), meanwhile))
        comes_to_equality(followed)
        if meanwhile.count < at:
            break
        at += 7
    assert at > 60


@pytest.mark.thorough
def test_no_apply_is_ended_that_comes_at_any_call_of_a_scan() -> None:
    copy, at = copies_of(with_much_to_do()), 1
    while True:
        followed = copy()
        meanwhile = Once(at, followed.follow)
        scan_with(followed, faulty(followed.world.ports(), Plan(), meanwhile))
        comes_to_equality(followed)
        if meanwhile.count < at:
            break
        at += 3
    assert at > 60


def test_many_rounds_of_both_end_no_apply_and_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What housekeeping takes the lease for is shorter than the time that an apply waits."""
    followed = with_much_to_do()
    followed.world.lease = keeper = CountingLease()
    for number in range(25):
        put(followed, "plain", f"silent-{number}", b"silent")
        followed.users.overwrite("orders", ("a b",), [b"%d" % number])
        meanwhile = Once(1 + number * 11, lambda: scan_with(followed, followed.world.ports()))
        followed.run_with(faulty(followed.world.ports(), Plan(), meanwhile))
        scan_with(followed, faulty(followed.world.ports(), Plan(), Once(1 + number * 5, followed.follow)))
    assert keeper.taken_from_work == 0
    comes_to_equality(followed)


class CountingLease(InMemoryLease):
    """Count how often housekeeping has taken the lease from work that had not released it."""

    taken_from_work = 0

    def _take(self, directory: str, holder: Mapping[str, str], kind: LeaseKind):
        before = self._kept.get(directory)
        lease = super()._take(directory, holder, kind)
        if before and before.unreleased and before.kind is not LeaseKind.HOUSEKEEPING and kind is not before.kind:
            self.taken_from_work += 1
        return lease


def test_where_everything_lies_is_read_without_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = with_much_to_do()
    read = UsedPlaces.read
    applied = []

    def reading(*args):
        places = read(*args)
        with hold_lease(followed.world.ports(), Work(followed.policy, holder={"run": "a"}), LeaseKind.EVENTS) as lease:
            lease.confirm()
        applied.append(followed.follow()["apply"].events)
        return places

    monkeypatch.setattr(UsedPlaces, "read", reading)
    assert scan_with(followed, followed.world.ports()).swept > 0
    assert applied[0] > 0
    monkeypatch.undo()
    comes_to_equality(followed)


def without_partitions(followed: Followed) -> Callable[[], None]:
    """Leave the content of a table's only partition unused; return what adds another one."""
    followed.users.create_table("made", keys=("p",))
    followed.users.add_partitions("made", {("1",): [b"1"]})
    followed.follow()
    followed.users.drop_partitions("made", [("1",)])
    return lambda: followed.users.add_partitions("made", {("2",): [b"2"]})


def with_a_default_place_unused(followed: Followed) -> Callable[[], None]:
    """Leave the content of a renamed partition unused; return what gives another one its name."""
    followed.users.add_partitions("orders", {("one",): [b"1"], ("two",): [b"2"]})
    followed.users.rename_partition("orders", ("one",), ("x",))
    followed.follow()
    followed.users.drop_partitions("orders", [("x",)])
    return lambda: followed.users.rename_partition("orders", ("two",), ("x",))


@pytest.mark.parametrize("leave_unused", [without_partitions, with_a_default_place_unused])
def test_what_comes_into_use_between_looking_and_removing_stays(
    monkeypatch: pytest.MonkeyPatch, leave_unused: Callable[[Followed], Callable[[], None]]
) -> None:
    followed = Followed(tuned(grace_seconds=60))
    use_again = leave_unused(followed)
    followed.follow()
    ports, work = followed.world.ports(), Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    sweep(ports, work)
    followed.world.replica_files.pass_time(LONG)
    read = UsedPlaces.read

    def reading(*args):
        places = read(*args)
        use_again()
        followed.follow()
        return places

    monkeypatch.setattr(UsedPlaces, "read", reading)
    sweep(ports, work)
    monkeypatch.undo()
    assert same(followed)
    sweep(ports, work)
    followed.world.replica_files.pass_time(LONG)
    sweep(ports, work)
    assert same(followed)
    assert read_json(ports.replica_files, f"{followed.policy.staging}/scan/unused.json")["unused"] == {}


@pytest.mark.parametrize("call", ["create_table", "add_partitions"])
def test_what_a_repeated_apply_goes_on_with_is_not_removed(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """A table is brought over as of the position itself, and the apply was killed: its directory is there."""
    followed = Followed(tuned(grace_seconds=60))
    request_table(followed.world.replica_files, followed.policy, "orders", "anna")

    def killed(*args: object) -> None:
        raise Killed

    monkeypatch.setattr(followed.world.replica, call, killed)
    with pytest.raises(Killed):
        followed.follow()
    monkeypatch.undo()
    followed.world.lease = InMemoryLease()
    ports, work = followed.world.ports(), Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    sweep(ports, work)
    followed.world.replica_files.pass_time(LONG)
    read = UsedPlaces.read

    def reading(*args):
        places = read(*args)
        APPLY(work).run(ports)
        return places

    monkeypatch.setattr(UsedPlaces, "read", reading)
    sweep(ports, work)
    assert same(followed)


@pytest.mark.parametrize(("key", "value"), [(DUMP, "another"), (PHASE, "loading")])
def test_a_replica_that_was_loaded_anew_after_it_was_looked_at_keeps_what_it_has(
    monkeypatch: pytest.MonkeyPatch, key: str, value: str
) -> None:
    followed = with_much_to_do()
    ports, work = followed.world.ports(), Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    replica, read = followed.world.replica, UsedPlaces.read

    def reading(*args):
        places = read(*args)
        replica.set_database_parameters("sales", {**replica.database("sales").parameters, key: value})
        return places

    monkeypatch.setattr(UsedPlaces, "read", reading)
    before = set(followed.world.replica_files.paths())
    assert sweep(ports, work) == 0
    assert set(followed.world.replica_files.paths()) == before


def test_a_sweep_that_finds_the_lease_held_leaves_everything_to_the_next_one() -> None:
    followed = with_much_to_do()
    ports, work = followed.world.ports(), Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    before = set(followed.world.replica_files.paths())
    with hold_lease(ports, Work(followed.policy, holder={"run": "a"}), LeaseKind.EVENTS) as apply:
        assert sweep(ports, work) == 0
        apply.confirm()
    assert "the sweep leaves the rest to the next one" in followed.log[-1]
    assert set(followed.world.replica_files.paths()) == before
    assert sweep(ports, work) > 0


def test_a_sweep_that_has_lost_the_lease_removes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = with_much_to_do()
    ports, work = followed.world.ports(), Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    take_away, gone = Owned.take_away, []

    def taking(owned: Owned, path: str) -> object:
        gone.append(path)
        with hold_lease(ports, Work(followed.policy, holder={"run": "a"}), LeaseKind.EVENTS) as apply:
            apply.confirm()
        return take_away(owned, path)

    monkeypatch.setattr(Owned, "take_away", taking)
    with suppress(TwinhiveError):
        sweep(ports, work)
    assert len(gone) == 1
    monkeypatch.undo()
    assert sweep(ports, work) > 0


def test_a_sweep_lets_go_of_the_lease_between_some_removals_and_others(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tuned(grace_seconds=60))
    for number in range(200):
        followed.users.overwrite("plain", None, [b"%d" % number])
    followed.follow()
    ports, work = followed.world.ports(), Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    sweep(ports, work)
    followed.world.replica_files.pass_time(LONG)
    free: list[bool] = []

    def between(seconds: float) -> None:
        free.append(not followed.world.lease.is_held(lease_directory(followed.policy)))

    assert sweep(ports, work, between) == 200
    assert free == [True, True, True]


def test_an_older_apply_gives_way_to_the_next_try_and_so_does_a_killed_scan() -> None:
    followed = with_much_to_do()
    with pytest.raises(Killed):
        scan_with(followed, killable(followed.world.ports(), KillSwitch(1, after_effect=True)))
    comes_to_equality(followed)


def test_a_sweep_that_cannot_remove_does_not_stop_the_scan_and_a_scan_that_fails_not_the_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = with_much_to_do()
    followed.follow()

    def refuse(*args: object) -> int:
        raise Refused("the trash does not take it")

    monkeypatch.setattr(scanning, "sweep", refuse)
    with pytest.raises(Refused, match="the trash does not take it"):
        scan_with(followed, followed.world.ports())
    assert same(followed)
    put(followed, "plain", "part-2", b"silent")

    def fail(*args: object) -> Iterable[object]:
        raise Unreachable("the source does not list")

    monkeypatch.setattr(scanning, "compare_leaves", fail)
    with pytest.raises(ActNow) as told:
        scan_with(followed, followed.world.ports())
    assert "the trash does not take it" in str(told.value) and "the source does not list" in str(told.value)
    monkeypatch.undo()
    monkeypatch.setattr(scanning, "compare_leaves", fail)
    before = len(followed.world.replica_files.paths())
    with pytest.raises(Unreachable):
        scan_with(followed, followed.world.ports())
    assert len(followed.world.replica_files.paths()) < before
