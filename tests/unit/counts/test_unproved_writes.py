"""The watch for proofs of the lease sees each write that is not proved, and no other."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from typing import Any

from tests.support.builders import a_policy
from tests.support.unproved_writes import ProofWatch
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.ports import Lease, LeaseKeeper, MetastoreWriter
from twinhive.core.ports.proved_writes import unproved
from twinhive.runtime.pipeline.runner import run_bootstrap

HOLDER = {"run": "r", "by": "ann"}


@contextmanager
def held(watch: ProofWatch) -> Iterator[tuple[MetastoreWriter, Lease]]:
    """Hold the lease of a world whose ports are watched; what writes to the replica there makes no proofs by itself."""
    ports = watch.ports(World().ports())
    with ports.lease.hold("hdfs://west/lease", HOLDER, LeaseKind.EVENTS) as lease:
        yield unproved(ports.replica), lease


def make(replica: MetastoreWriter, name: str) -> None:
    replica.create_database(Database(name, None, None, {}, "{}"))


def drop(replica: MetastoreWriter) -> None:
    replica.drop_table(TableName("first", "none"), delete_data=False)


def test_a_write_without_a_proof_is_seen_and_told_by_method_and_caller() -> None:
    watch = ProofWatch()
    with held(watch) as (replica, _):
        make(replica, "first")
        drop(replica)
    said = ("create_database by test_unproved_writes.make", "drop_table by test_unproved_writes.drop")
    assert watch.unproved == dict.fromkeys(said, 1)


def test_a_proof_is_good_for_one_write() -> None:
    watch = ProofWatch()
    with held(watch) as (replica, lease):
        lease.confirm()
        make(replica, "first")
        assert (watch.writes.total(), watch.unproved.total()) == (1, 0)
        make(replica, "second")
        assert (watch.writes.total(), watch.unproved.total()) == (2, 1)


def test_a_proof_of_another_thread_or_of_the_time_before_proves_nothing() -> None:
    watch = ProofWatch()
    with held(watch) as (replica, lease):
        other = Thread(target=lease.confirm)
        other.start()
        other.join()
        make(replica, "first")
        lease.confirm()
    with held(watch) as (replica, _):
        make(replica, "second")
    assert watch.unproved.total() == watch.writes.total() == 2


def test_a_call_with_an_empty_list_is_no_write() -> None:
    watch = ProofWatch()
    with held(watch) as (replica, _):
        replica.add_partitions([])
    assert not watch.writes


def test_what_users_write_and_what_is_written_without_a_lease_is_not_counted() -> None:
    watch, world = ProofWatch(), World()
    ports = watch.ports(world.ports())
    replica = unproved(ports.replica)
    make(replica, "before")
    with ports.lease.hold("hdfs://west/lease", HOLDER, LeaseKind.EVENTS):
        make(world.replica, "meanwhile")
    make(replica, "after")
    assert not watch.writes


def test_what_is_written_through_the_ports_themselves_is_proved() -> None:
    watch = ProofWatch()
    ports = watch.ports(World().ports())
    with ports.lease.hold("hdfs://west/lease", HOLDER, LeaseKind.EVENTS):
        make(ports.replica, "first")
        drop(ports.replica)
    assert (watch.writes.total(), watch.unproved.total()) == (2, 0)


class Unproving:
    """Hand out leases that are never proved."""

    def __init__(self, leases: LeaseKeeper) -> None:
        self._leases = leases

    @contextmanager
    def hold(self, *given: Any) -> Iterator["Unproving"]:
        with self._leases.hold(*given):
            yield self

    def confirm(self) -> None:
        """Prove nothing."""


def test_all_writes_of_a_bootstrap_that_proves_nothing_are_seen() -> None:
    watch, world = ProofWatch(), a_world()
    ports = watch.ports(world.ports())
    unproving = replace(ports, lease=Unproving(ports.lease))
    run_bootstrap(a_policy(), unproving, HOLDER, lambda line: None)
    assert watch.unproved.total() == watch.writes.total() > 0
