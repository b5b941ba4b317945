"""No write of a metastore under a lease without a proof of it: the ports see to that, for all that they can write."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.worlds.fake_world import a_world
from twinhive.core.model.errors import LeaseLost
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports import MetastoreReader, MetastoreWriter, SourceMarker, WritePorts
from twinhive.core.ports.proved_writes import proved, proving_keeper, unproved

POLICY, FENCE = "hdfs://west/lease", "hdfs://west/fence"


def methods(port: type) -> set[str]:
    return {name for name in dir(port) if not name.startswith("_")}


READS = sorted(methods(MetastoreReader))
WRITES = [("replica", name) for name in sorted(methods(MetastoreWriter) - methods(MetastoreReader))]
WRITES += [("source_marker", name) for name in sorted(methods(SourceMarker))]


class Recorded:
    """Note each call in a list, and answer with its name."""

    def __init__(self, calls: list[str]) -> None:
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        def called(*args: Any, **named: Any) -> tuple[Any, ...]:
            self._calls.append(name)
            return name, args, named

        return called


@dataclass(frozen=True)
class RecordedLeases:
    """Hand out leases that note each proof in a list, and that can be lost, by their directories."""

    calls: list[str]
    lost: set[str] = field(default_factory=set)

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> Iterator["_RecordedLease"]:
        yield _RecordedLease(self, directory)

    def holder(self, directory: str) -> str | None:
        return f"holder of {directory}"

    def is_held(self, directory: str) -> bool:
        return directory == POLICY


@dataclass(frozen=True)
class _RecordedLease:
    leases: RecordedLeases
    directory: str

    def confirm(self) -> None:
        if self.directory in self.leases.lost:
            raise LeaseLost(f"{self.directory}: the lease is not ours any more")
        self.leases.calls.append(self.directory)


@dataclass(frozen=True)
class Scene:
    """A bundle of ports, and all that is called in it."""

    calls: list[str]
    leases: RecordedLeases
    ports: WritePorts

    def hold(self, directory: str = POLICY) -> Any:
        return self.ports.lease.hold(directory, {}, LeaseKind.EVENTS)


@pytest.fixture
def scene() -> Scene:
    calls: list[str] = []
    port: Any = Recorded(calls)
    leases = RecordedLeases(calls)
    return Scene(calls, leases, replace(a_world().ports(), replica=port, source_marker=port, lease=leases))


@pytest.mark.parametrize(("port", "method"), WRITES)
def test_no_write_is_made_under_a_lost_lease(scene: Scene, port: str, method: str) -> None:
    with scene.hold():
        scene.leases.lost.add(POLICY)
        with pytest.raises(LeaseLost):
            getattr(getattr(scene.ports, port), method)("given")
    assert scene.calls == []


@pytest.mark.parametrize(("port", "method"), WRITES)
def test_each_write_proves_the_lease_and_is_passed_on(scene: Scene, port: str, method: str) -> None:
    with scene.hold():
        assert getattr(getattr(scene.ports, port), method)("given", write=1) == (method, ("given",), {"write": 1})
    assert scene.calls == [POLICY, method]


@pytest.mark.parametrize("method", READS)
def test_nothing_is_proved_to_read(scene: Scene, method: str) -> None:
    with scene.hold():
        getattr(scene.ports.replica, method)()
    assert scene.calls == [method]


def test_leases_that_are_held_one_in_another_are_all_proved_as_long_as_they_are_held(scene: Scene) -> None:
    drop = scene.ports.source_marker.unmark
    drop("sales", "before")
    with scene.hold(POLICY):
        with scene.hold(FENCE):
            drop("sales", "both")
        drop("sales", "one")
    drop("sales", "after")
    assert scene.calls == ["unmark", POLICY, FENCE, "unmark", POLICY, "unmark", "unmark"]


def test_a_lease_whose_work_has_failed_is_not_proved_any_more(scene: Scene) -> None:
    with pytest.raises(ValueError, match="failed"), scene.hold():
        raise ValueError("failed")
    scene.ports.source_marker.unmark("sales", "after")
    assert scene.calls == ["unmark"]


def test_other_threads_of_the_same_work_prove_its_lease(scene: Scene) -> None:
    with scene.hold():
        other = Thread(target=scene.ports.source_marker.unmark, args=("sales", "p"))
        other.start()
        other.join()
    assert scene.calls == [POLICY, "unmark"]


def test_work_with_other_ports_proves_nothing_of_this_one(scene: Scene) -> None:
    calls: list[str] = []
    port: Any = Recorded(calls)
    other = WritePorts(**{**vars(scene.ports), "source_marker": port, "lease": scene.leases})
    with scene.hold():
        other.source_marker.unmark("sales", "p")
    assert calls == ["unmark"]
    assert scene.calls == []


def test_a_port_that_takes_the_place_of_another_proves_the_leases_that_are_held_already(scene: Scene) -> None:
    with scene.hold():
        changed = replace(scene.ports, source_marker=unproved(scene.ports.source_marker))
        changed.source_marker.unmark("sales", "p")
    assert scene.calls == [POLICY, "unmark"]


def test_ports_that_are_taken_over_with_other_leases_prove_these_alone(scene: Scene) -> None:
    other = RecordedLeases(scene.calls)
    changed = replace(scene.ports, lease=other)
    with scene.hold(), changed.lease.hold(FENCE, {}, LeaseKind.EVENTS):
        changed.source_marker.unmark("sales", "p")
    assert scene.calls == [FENCE, "unmark"]


def test_what_is_asked_of_the_leases_is_answered_by_their_keeper(scene: Scene) -> None:
    leases = scene.ports.lease
    assert (leases.holder(FENCE), leases.is_held(POLICY), leases.is_held(FENCE)) == (f"holder of {FENCE}", True, False)
    assert proving_keeper(leases) is leases


def test_a_table_of_a_replica_stays_as_it_is_when_another_try_has_taken_the_lease() -> None:
    world = a_world()
    leases = proving_keeper(InMemoryLease())
    metastore = proved(world.source, leases)
    table = world.source.table(a_table("sales.plain").name)
    assert table is not None
    with pytest.raises(LeaseLost), leases.hold(POLICY, {}, LeaseKind.EVENTS):
        with leases.hold(POLICY, {}, LeaseKind.EVENTS):
            pass
        metastore.drop_table(table.name, delete_data=True)
    assert world.source.table(table.name) == table
