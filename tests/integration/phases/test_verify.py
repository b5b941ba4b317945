"""Verify real twins: equal where nothing is wrong, and each damage is found in exactly its leaf."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from hive_metastore.ttypes import GetTableRequest

from tests.integration.phases.test_incremental import EVERY_KIND, furnish
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.repair import Repair
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import Verify
from twinhive.transfer.staged.listing import list_files

pytestmark = pytest.mark.sandbox


class Verifying:
    """A policy whose replica follows; the second look may come at once."""

    def __init__(self, policies: PolicyFiles, east: Warehouse, west: Warehouse, report: Any) -> None:
        self.policies, self.east, self.west, self.report = policies, east, west, report
        self.database = east.create_database(description="all sales", parameters={"team": "Zürich"})
        orders = east.create_table(self.database, "orders", keys=("p",), comment="Käufe")
        for value in ("a b", "50%=#:ü", "c/d e"):
            east.add_partition(orders, value, files={"f1": b"one", "f2": value.encode()})
        east.create_table(self.database, "plain", files={"data": b"1,2\n" * 1000, "zero": b""})
        east.create_table(self.database, "empty")
        east.create_view(self.database, "recent", f"SELECT a FROM {self.database}.plain")
        self.replica = f"{self.database}_twin"
        self.policy = policies.add(self.database, replica=self.replica, options={"second_look_seconds": 0})
        policies.run(self.policy, report=report)

    def verify(self, *, deep: bool = False) -> Verified:
        """Look once."""
        wiring = self.policies.wiring(self.policy)
        work = Work(wiring.policy, holder={"run": "verify"}, report=self.report)
        return Verify(work, deep=deep, clock=time.time, wait=lambda seconds: self.follow()).run(wiring.write_ports())

    def follow(self) -> None:
        """Apply what there is."""
        while not self.policies.follow(self.policy, self.report)["window"].idle:
            pass

    def repair(self) -> None:
        """Ask for what the last verification has found."""
        wiring = self.policies.wiring(self.policy)
        Repair(wiring.policy, (), {"by": "ann"}).run(wiring.write_ports())

    def files(self) -> dict[str, int]:
        """Return all files of the replica's tables with their ids."""
        places = [one.sd.location for one in self.west.client.get_partitions(self.replica, "orders", -1)]
        places.append(table_of(self.west, self.replica, "plain").sd.location)
        found = list_files(self.west.files, [("", place) for place in places])
        return {status.path: status.file_id for _, _, status in found}

    def place(self, value: str) -> str:
        """Return where a partition of orders lies on the replica."""
        return self.west.client.get_partition(self.replica, "orders", [value]).sd.location


def table_of(warehouse: Warehouse, database: str, name: str) -> Any:
    return warehouse.client.get_table_req(GetTableRequest(dbName=database, tblName=name)).table


@pytest.fixture
def verifying(policies: PolicyFiles, east: Warehouse, west: Warehouse, report: Any) -> Verifying:
    return Verifying(policies, east, west, report)


def test_a_twin_is_equal_and_a_second_look_reads_what_has_changed(verifying: Verifying) -> None:
    first = verifying.verify(deep=True)
    assert first.is_equal, first.lines()
    assert (first.with_files, first.with_checksums) == (4, 4)
    second = verifying.verify()
    assert second.is_equal
    assert second.digest == first.digest
    assert second.read < first.read
    orders = table_of(verifying.east, verifying.database, "orders")
    verifying.east.add_partition(orders, "new", files={"f": b"new"})
    third = verifying.verify()
    assert third.is_equal
    assert third.leaves == second.leaves + 1


def rewritten(v: Verifying) -> None:
    v.west.files.write(f"{v.place('a b')}/f1", b"eno")


def added(v: Verifying) -> None:
    v.west.files.write(f"{v.place('c/d e')}/f3", b"more")


def removed(v: Verifying) -> None:
    v.west.files.delete_file(f"{v.place('50%=#:ü')}/f2")


def altered(v: Verifying) -> None:
    partition = v.west.client.get_partition(v.replica, "orders", ["a b"])
    partition.sd.cols[0].comment = "by hand"
    v.west.client.alter_partition(v.replica, "orders", partition)


def dropped(v: Verifying) -> None:
    v.west.client.drop_partition(v.replica, "orders", ["a b"], False)


def commented(v: Verifying) -> None:
    table = table_of(v.west, v.replica, "plain")
    table.parameters["by"] = "hand"
    v.west.client.alter_table(v.replica, "plain", table)


def rephrased(v: Verifying) -> None:
    view = table_of(v.west, v.replica, "recent")
    view.viewOriginalText = view.viewExpandedText = "SELECT 1"
    v.west.client.alter_table(v.replica, "recent", view)


OTHER_DAMAGE = pytest.mark.nightly(
    "tests/integration/phases/test_verify.py::test_damage_is_found_in_its_leaf",
    "tests/unit/replication/verify/test_verify.py",
)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (rewritten, "orders p=a b: content"),
        pytest.param(added, "orders p=c%2Fd e: names", marks=OTHER_DAMAGE),
        pytest.param(removed, "orders p=50%25%3D%23%3Aü: names", marks=OTHER_DAMAGE),
        pytest.param(altered, "orders p=a b: meta (sd.cols[0].comment", marks=OTHER_DAMAGE),
        pytest.param(dropped, "orders p=a b: missing", marks=OTHER_DAMAGE),
        pytest.param(commented, "plain: meta (parameters.by", marks=OTHER_DAMAGE),
        pytest.param(rephrased, "recent: meta", marks=OTHER_DAMAGE),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_damage_is_found_in_its_leaf(verifying: Verifying, damage: Callable[[Verifying], None], found: str) -> None:
    assert verifying.verify(deep=True).is_equal
    damage(verifying)
    assert verifying.verify().suspected == 1
    second = verifying.verify()
    assert [one[: len(found)] for one in second.findings] == [found], second.lines()

    before = verifying.files()
    verifying.repair()
    verifying.follow()
    last = verifying.verify(deep=True)
    assert last.is_equal, last.lines()
    after = verifying.files()
    both = before.keys() & after.keys()
    assert {path: after[path] for path in both} == {path: before[path] for path in both}
    assert len(after.keys() - before.keys()) <= 2


@pytest.mark.nightly(
    "tests/integration/phases/test_verify.py::test_a_twin_is_equal_and_a_second_look_reads_what_has_changed",
    "tests/unit/replication/verify/test_verify_histories.py",
)
def test_after_each_kind_of_change_the_twin_is_equal_and_nothing_is_called_damaged(
    source_metastore: ThriftSource, policies: PolicyFiles, east: Warehouse, log: list[str], report: Any
) -> None:
    users = SourceWriter(source_metastore, east.files, east.create_database("verified"))
    furnish(users)
    policy = policies.add(users.database)
    policies.run(policy, report=report)
    work = Work(policies.wiring(policy).policy, holder={"run": "verify"}, report=report)
    for history in EVERY_KIND:
        history(users)
        found = Verify(work, wait=lambda seconds: follow(policies, policy)).run(policies.wiring(policy).write_ports())
        assert found.is_equal, (history.__name__, found.lines(), log[-40:])
        assert found.event == source_metastore.current_event_id()


def follow(policies: PolicyFiles, policy: str) -> None:
    while not policies.follow(policy)["window"].idle:
        pass
