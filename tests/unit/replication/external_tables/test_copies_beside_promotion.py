"""A replica may take over at any moment of a copy: what its users write is neither replaced nor deleted."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.worlds.external_world import BASE, ExternalWorld, a_world_with_files
from tests.support.worlds.fake_world import killable
from tests.unit.operations.failover.test_failback import HOLDER
from twinhive.core.model.errors import LeaseLost, Promoted, TryAgain, TwinhiveError, Unreachable
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import PHASE, Phase, ReplicaState
from twinhive.core.ports import Lease, WritePorts
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.external_tables.copy_cancellation import stop_copies
from twinhive.replication.external_tables.copy_permission import CopyPermission
from twinhive.transfer.tree import executing
from twinhive.transfer.tree.work_directories import Places

USERS = b"written by users"


def a_later_pass() -> ExternalWorld:
    """Return a world where everything was copied once, and several things of every kind have changed since."""
    world = a_world_with_files(options={"copy_threads": 1}, delete="permanently")
    gone = [world.add_table(f"gone{number}", f"hdfs://east/data/gone{number}") for number in range(2)]
    for number in range(2):
        world.put(f"/data/gone{number}/f", b"gone")
        world.put(f"/data/events/old{number}/h", b"old")
        world.put(f"/data/events/r{number}", b"one")
    world.check()
    world.cycle()
    for number in range(2):
        world.put(f"/data/events/r{number}", b"another")
        world.put(f"/data/events/new{number}/i", b"new")
        world.world.source_files.delete(f"hdfs://east/data/events/old{number}")
        world.world.source.drop_table(gone[number].name, delete_data=False)
        world.note_purge(f"/data/gone{number}")
    world.follow_up_to(5)
    world.world.replica_files.keeps_trash = True  # else a purge is two calls
    return world


def take_over(world: ExternalWorld) -> None:
    """Let the replica take over, and its users write."""
    position = int(world.world.replica.database("sales").parameters["repl.last.id"])
    UnplannedFailover(world.policy, position, "east is gone", HOLDER).run(world.ports())
    write_as_users(world)


def take_over_and_die(world: ExternalWorld) -> None:
    """Let the replica take over, and who does that be killed right after the call: nobody stops any copy."""
    parameters = world.world.replica.database("sales").parameters
    world.world.replica.set_database_parameters("sales", {**parameters, PHASE: Phase.PROMOTED.value})
    write_as_users(world)


def write_as_users(world: ExternalWorld) -> None:
    """Write each file anew, and another one in each directory."""
    files, there = world.world.replica_files, world.there("/data")
    for name, content in there.items():
        files.put(f"{BASE}/data/{name}" if content is not None else f"{BASE}/data/{name}/users", USERS)


def forget(world: ExternalWorld) -> None:
    """Let nobody know any more that the database was a replica."""
    world.world.replica.set_database_parameters("sales", {})


class AtTheLease(InMemoryLease):
    """A lease of directories: something happens right before it is taken for the first time."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self.happens: Callable[[], object] | None = happens

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind = LeaseKind.EVENTS) -> Iterator[Any]:
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()
        with super().hold(directory, holder, kind) as lease:
            yield lease


def with_lease(ports: WritePorts, lease: InMemoryLease) -> WritePorts:
    return replace(ports, trees=replace(ports.trees, lease=lease))


@pytest.mark.parametrize(("happens", "error"), [(take_over, Promoted), (forget, TryAgain)])
def test_a_copy_that_stood_still_before_its_lease_changes_nothing(
    happens: Callable[[ExternalWorld], None], error: type[TwinhiveError]
) -> None:
    world = a_later_pass()
    listed = world.listed()
    before: dict[str, bytes | None] = {}

    def meanwhile() -> None:
        happens(world)
        before.update(world.there("/data"))

    with pytest.raises(error):
        world.sync(listed, with_lease(world.ports(), AtTheLease(meanwhile)))
    assert before and world.there("/data") == before


class TakenOverAt:
    """Let the replica take over right before one change: that call is under way, and comes to its end."""

    def __init__(self, world: ExternalWorld, at: int, happens: Callable[[ExternalWorld], None]) -> None:
        self.world = world
        self.happens = happens
        self.at = at
        self.count = 0
        self.left: dict[str, bytes | None] | None = None

    def change(self, effect: Callable[[], Any]) -> Any:
        """Count one change and carry it out."""
        self.count += 1
        if self.count != self.at:
            return effect()
        self.happens(self.world)
        try:
            return effect()
        finally:
            self.left = self.world.there("/data")


@pytest.mark.thorough
@pytest.mark.parametrize("happens", [take_over, take_over_and_die])
def test_after_a_promotion_at_any_change_nothing_but_that_call_changes_anything(
    monkeypatch: pytest.MonkeyPatch, happens: Callable[[ExternalWorld], None]
) -> None:
    monkeypatch.setattr(executing, "CONFIRM_SECONDS", 0.0)
    for at in range(1, 300):
        world = a_later_pass()
        switch = TakenOverAt(world, at, happens)
        with suppress(TwinhiveError):  # it has taken over, or has taken the lease
            world.cycle(killable(world.ports(), switch))  # type: ignore[arg-type]
        if switch.left is None:
            break
        assert world.there("/data") == switch.left, f"taken over at change {at}"
    assert at > 30, "a pass makes more changes"


def test_the_right_to_copy_ends_with_the_replica() -> None:
    world = a_later_pass()
    permission = CopyPermission(world.world.replica, world.policy, ReplicaState(Phase.FOLLOWING, "sales"))
    leases = permission.leases(InMemoryLease())
    with leases.hold("d", HOLDER, LeaseKind.COPY) as lease:
        lease.confirm()
        take_over(world)
        with pytest.raises(Promoted):
            lease.confirm()
    with pytest.raises(Promoted), leases.hold("d", HOLDER, LeaseKind.COPY):
        pytest.fail("what a killed copy has moved out of the way would be moved back")
    forget(world)
    with pytest.raises(LeaseLost, match="is not the replica of policy sales any more"):
        permission.confirm()
    # A bootstrap copies data before the database is marked, or there.
    CopyPermission(world.world.replica, world.policy, ReplicaState(Phase.ABSENT)).confirm()


def test_tasks_elsewhere_lose_what_they_have_to_do() -> None:
    world = a_later_pass()
    record = world.record("/data/events")
    assert record is not None
    places, settled = Places(record.target, is_new=False), list[str]()
    world.world.replica_files.put(f"{places.plan}/000000.gz", b"a batch")
    with pytest.raises(LeaseLost), world.ports().trees.lease.hold(places.lease, {"run": "old"}, LeaseKind.COPY):
        said = list(stop_copies(world.ports(), world.policy, HOLDER, lambda: settled.append("waited")))
    assert said == [f"stopped: a copy into {record.target}"] and settled == ["waited"]
    assert world.world.replica_files.status(places.plan) is None


def test_a_copy_that_cannot_be_stopped_is_said_and_keeps_nobody_from_anything() -> None:
    class Unwell(InMemoryLease):
        def is_held(self, directory: str) -> bool:
            raise Unreachable(f"{directory}: no answer")

        def hold(self, *given: Any) -> Lease:  # type: ignore[override]
            raise AssertionError

    world = a_later_pass()
    said = list(stop_copies(with_lease(world.ports(), Unwell()), world.policy, HOLDER))
    assert said and all(line.startswith("not stopped: a copy into hdfs://west/ext/") for line in said)
