"""Sets between two real clusters: marked on east, held while their data is not there, then shown on west."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.external_users import ExternalUsers
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import WINDOW_END
from twinhive.core.model.sets.set_mark import SetMark, sets_table
from twinhive.core.model.thrift_objects import new_partition
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.operations.actions.replica_status import read_status
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, SetStanding, left_behind, take_away
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.publishing.sets.set_waiting import wait_for_set, wanted_set
from twinhive.replication.operator_requests.request_files import request_table
from twinhive.replication.replica.held_sets import held_sets
from twinhive.runtime.pipeline.phases import SCAN
from twinhive.runtime.pipeline.runner import run_phase

pytestmark = pytest.mark.sandbox


class Producing:
    """A database of east whose producers mark sets, and its replica."""

    def __init__(self, users: ExternalUsers, policies: PolicyFiles, report: Any, **options: Any) -> None:
        self.users, self._policies, self._report, self.database = users, policies, report, users.database
        users.create_table("orders", ("day", "region"))
        users.add_partitions("orders", {("1", "us"): [b"1 us"], ("1", "eu"): [b"1 eu"]})
        base = {"base_directory": f"hdfs://west/ext/{self.database}"}
        policies.add(self.database, external_tables=base, options={"settle_seconds": 0, **options})
        wiring = policies.wiring(self.database)
        self.policy, self.ports = wiring.policy, wiring.write_ports()
        policies.run(self.database, report=report)

    def mark(self, text: str, table: str = "orders", token: str = "t") -> None:
        """Mark a set as a producer does."""
        MarkSet(TableName(self.database, table), text, token).run(self.users.metastore)

    def unmark(self, text: str) -> None:
        """Take a mark away."""
        UnmarkSet(TableName(self.database, "orders"), text).run(self.users.metastore)

    def follow(self) -> None:
        """Run until nothing is left."""
        while not self._policies.follow(self.database, self._report)["window"].idle:
            pass

    def scan(self) -> None:
        """Look for what no event tells of."""
        run_phase(SCAN, self.policy, self.ports, {"run": "scan"}, self._report)

    def copy_external(self) -> None:
        """Bring the data of external tables."""
        self._policies.copy_external(self.database, self._report)

    def shown(self) -> list[str]:
        """Return the sets that count on west."""
        listed = SetsOfDatabase(self.ports.replica, self.database).read()
        done = (one.mark for one in listed if one.standing is SetStanding.DONE)
        return [f"{mark.table.table} {mark.spec}" for mark in done]

    def held(self) -> dict[str, str]:
        """Return the sets that are held, and why."""
        return dict(held_sets(self.ports.replica_files, self.policy))

    def content(self, *values: str) -> list[bytes]:
        """Return what a partition of west holds."""
        (found,) = self.ports.replica.partitions(
            TableName(self.database, "orders"), [f"day={values[0]}/region={values[1]}"]
        )
        ((_, files),) = self.ports.replica_files.list_directories([str(found.location)])
        return sorted(self.ports.replica_files.read(one.path) for one in files or ())


@pytest.fixture
def users(sandbox: Sandbox, east: Warehouse) -> Iterator[ExternalUsers]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    files = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
    yield ExternalUsers(metastore, files, east.create_database("sets"))
    metastore.close()
    files.close()


def test_a_set_shows_on_the_replica_when_what_it_promises_is_there(
    users: ExternalUsers, policies: PolicyFiles, report: Any
) -> None:
    here = Producing(users, policies, report)
    # Marked at two levels, behind the data; by Hive SQL the same partition of the table is added without parameters.
    users.add_partitions("orders", {("2", "us"): [b"2 us"], ("2", "eu"): [b"2 eu"]})
    here.mark("region=us/day=2")
    here.mark("day=2")
    sets = users.metastore.table(sets_table(here.database))
    users.metastore.add_partitions([new_partition(sets, ("orders", "region=eu"), {})])
    assert here.shown() == []
    here.follow()
    assert here.shown() == ["orders day=2", "orders day=2/region=us", "orders region=eu"]
    # Whoever waits for less is content with more; the store of west answers.
    wanted = wanted_set(here.ports.replica, TableName(here.database, "orders"), "day=2/region=eu")
    assert wait_for_set(here.ports.replica, wanted, 0).spec == "day=2"

    # A writer without an event: held until the scan has brought it, and named in the status.
    users.put(users.location("orders", ("1", "us")), {"silent": b"no event"})
    here.mark("day=1")
    here.follow()
    assert "orders day=1" not in here.shown()
    assert "the DAG" in here.held()["orders day=1"]
    assert any(name == "set held: orders day=1" for name, _ in read_status(here.ports, here.policy).rows())
    here.scan()
    here.follow()
    assert "orders day=1" in here.shown() and here.held() == {}
    assert here.content("1", "us") == [b"1 us", b"no event"]

    # Taken away, written anew, marked again: it is hidden, and shows with the new rows.
    here.unmark("day=1")
    here.follow()
    assert "orders day=1" not in here.shown()
    users.overwrite("orders", ("1", "us"), {"new": b"right"})
    here.mark("day=1", token="again")
    here.follow()
    assert "orders day=1" in here.shown() and here.content("1", "us") == [b"right"]

    # Another location, which the newer call does not tell.
    place = f"{users.files.root}/moved/{here.database}"
    users.put(place, {"moved": b"elsewhere"})
    users.set_partition_location("orders", ("1", "eu"), place, says_before=False)
    here.mark("day=1/region=eu")
    here.follow()
    assert here.content("1", "eu") == [b"elsewhere"] and "orders day=1/region=eu" in here.shown()


@pytest.mark.thorough
def test_what_a_set_waits_for_is_said_and_then_it_shows(
    users: ExternalUsers, policies: PolicyFiles, report: Any
) -> None:
    here = Producing(users, policies, report)
    # A frozen table, and its resync.
    parameters = here.ports.replica.database(here.database).parameters
    frozen = {**parameters, "twinhive.quarantine.orders": "3 no room"}
    here.ports.replica.set_database_parameters(here.database, frozen)
    users.add_partitions("orders", {("3", "us"): [b"3 us"]})
    here.mark("day=3")
    # External data that no pass has brought yet.
    users.fill_external("logs", f"{users.files.root}/data/{here.database}/logs", ("day",))
    users.fill_partitions("logs", {("1",): (None, {"f": b"one"})})
    here.mark("day=1", "logs")
    here.follow()
    assert here.shown() == []
    assert "table orders is frozen: 3 no room" in here.held()["orders day=3"]
    assert "table logs waits for its data" in here.held()["logs day=1"]
    request_table(here.ports.replica_files, here.policy, "orders", "ann")
    here.follow()
    here.copy_external()
    here.follow()
    assert here.shown() == ["logs day=1", "orders day=3"] and here.held() == {}

    # Expired on east, where a table says for how long; west keeps sets as long, from when it showed them.
    users.set_parameters("orders", {"twinhive.sets.keep": "1h"})
    mark = SetMark(TableName(here.database, "orders"), "day=9", 1_000)
    sets = users.metastore.table(sets_table(here.database))
    users.metastore.add_partitions([new_partition(sets, ("orders", mark.spec), mark.parameters())])
    gone = left_behind(SetsOfDatabase(users.metastore, here.database))
    assert [one.mark.spec for one in gone] == ["day=9"]
    take_away(users.metastore, here.database, gone)
    here.follow()
    assert here.shown() == ["logs day=1", "orders day=3"]


def test_a_window_that_begins_with_a_set_shows_it_behind_its_tables(
    users: ExternalUsers, policies: PolicyFiles, report: Any
) -> None:
    here = Producing(users, policies, report, consistency=WINDOW_END)
    here.mark("day=1")
    users.add_partitions("orders", {("4", "us"): [b"4 us"]})
    here.mark("day=4")
    users.add_partitions("orders", {("4", "eu"): [b"4 eu"]})
    here.mark("*")
    here.follow()
    assert here.shown() == ["orders *", "orders day=1", "orders day=4"]
    assert here.content("4", "eu") == [b"4 eu"]
