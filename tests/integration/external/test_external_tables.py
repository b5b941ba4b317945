"""Replicate external tables between real clusters: metadata in the stream of events, data by directory."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.integration.spark_sql import ONE_WORKER
from tests.support.policies import PolicyFiles
from tests.support.users.external_users import ExternalUsers
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.external_comparison import assert_equal_files, assert_external_twin, external_names
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import Attributes
from twinhive.core.model.names import TableName
from twinhive.core.step.step_base import Work
from twinhive.replication.external_tables.sync_external import SyncExternal
from twinhive.replication.replica.pending_files import pending_names
from twinhive.runtime.pipeline.phases import BOOTSTRAP, EXTERNAL
from twinhive.runtime.pipeline.runner import run_phase
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.spark.size_dispatch import LargeBySpark

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]


class Stage:
    """A source database with its users, and a policy that follows it."""

    def __init__(self, users: ExternalUsers, policies: PolicyFiles, report) -> None:
        self.users = users
        self.root = f"hdfs://east/data/{users.database}"
        self._policies = policies
        self._report = report
        self.name = users.database

    def policy(self, **external) -> "Stage":
        given = {"base_directory": f"hdfs://west/ext/{self.name}", **external}
        self._policies.add(self.name, external_tables=given)
        wiring = self._policies.wiring(self.name)
        self.wired, self.ports = wiring.policy, wiring.write_ports()
        return self

    def bootstrap(self) -> None:
        self._policies.run(self.name, report=self._report)

    def copy_data(self):
        return self._policies.copy_external(self.name, self._report)

    def follow(self) -> None:
        while not self._policies.follow(self.name, self._report)["window"].idle:
            pass

    def pending(self) -> tuple[str, ...]:
        return pending_names(self.ports.replica_files, self.wired)

    def on_replica(self, table: str):
        return self.ports.replica.table(TableName(self.wired.replica.database, table))

    def catch_up(self) -> None:
        """Follow, bring the data, publish what waited for it."""
        self.follow()
        self.copy_data()
        self.follow()
        assert self.pending() == ()

    def assert_twin(self) -> None:
        assert_external_twin(self.ports, self.wired)


@pytest.fixture
def stage(sandbox: Sandbox, east: Warehouse, policies: PolicyFiles, report) -> Iterator[Stage]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    database = east.create_database("external")
    yield Stage(ExternalUsers(metastore, east.files, database), policies, report)
    metastore.close()


def furnish(stage: Stage) -> None:
    """Make tables with every awkward place: shared, nested, partitions outside, names with blanks."""
    users, root = stage.users, stage.root
    users.fill_external("plain", f"{root}/plain", files={"a b": b"one", "sub dir/f": b"two", "_hidden": b"x"})
    users.fill_external("shared", f"{root}/plain")
    users.fill_external("inside", f"{root}/plain/sub dir")
    users.fill_external("days", f"{root}/days", keys=("day",))
    users.fill_partitions(
        "days",
        {
            ("1",): (None, {"f": b"inside"}),
            ("2",): (f"{root}/elsewhere/two", {"f": b"outside"}),
            ("a/b",): (None, {"f": b"escaped"}),
        },
    )
    users.fill_external("empty", f"{root}/empty")
    users.create_table("managed", files={"f": b"managed"})


def test_external_tables_are_copied_and_published_with_the_bootstrap(stage: Stage) -> None:
    furnish(stage)
    top = f"{stage.root}/plain"
    stage.policy().ports.trees.source.set_attributes(  # type: ignore[attr-defined]
        top, Attributes("ann", "crew", 0o750, acl=("user::rwx", "user:bob:r-x", "group::r-x", "other::---"))
    )
    stage.bootstrap()
    assert stage.pending() == ()
    stage.assert_twin()
    replica = stage.wired.external.place(top, "plain")
    assert stage.ports.trees.replica.acl(replica) == stage.ports.trees.source.acl(top) != ()
    assert stage.on_replica("managed").kind.value == "managed"


@pytest.mark.thorough
def test_files_written_straight_come_with_the_next_pass_and_what_did_not_change_is_skipped(stage: Stage, log) -> None:
    furnish(stage)
    stage.policy().bootstrap()
    stage.users.put(f"{stage.root}/days/day=1", {"more": b"straight"})
    stage.users.put(f"{stage.root}/elsewhere/two", {"more": b"straight"})
    stage.users.files.delete(f"{stage.root}/plain/a b")
    log.clear()
    stage.copy_data()
    stage.assert_twin()
    log.clear()
    stage.copy_data()
    assert any("unchanged" in line for line in log), log


def test_new_objects_wait_for_their_data_and_events_do_not_wait_for_them(stage: Stage) -> None:
    furnish(stage)
    stage.policy().bootstrap()
    users, root = stage.users, stage.root
    users.fill_external("fresh", f"{root}/fresh", keys=("day",), files={})
    users.fill_partitions("fresh", {("1",): (None, {"f": b"1"})})
    users.fill_partitions("days", {("3",): (None, {"f": b"3"}), ("4",): (f"{root}/four", {"f": b"4"})})
    users.set_partition_location("days", ("1",), f"{root}/moved/one")
    users.put(f"{root}/moved/one", {"f": b"moved"})
    users.set_parameters("fresh", {"note": "later"})
    users.set_parameters("managed", {"note": "not held up"})
    stage.follow()
    assert stage.on_replica("managed").parameters["note"] == "not held up"
    assert stage.on_replica("fresh") is None
    assert set(stage.pending()) == {"fresh", "days"}
    days = TableName(stage.wired.replica.database, "days")
    assert sorted(stage.ports.replica.partition_names(days)) == ["day=1", "day=2", "day=a%2Fb"]
    stage.catch_up()
    stage.assert_twin()


@pytest.mark.thorough
def test_drops_renames_and_moves_reach_the_twin(stage: Stage) -> None:
    furnish(stage)
    users, root = stage.users, stage.root
    users.fill_external("purged", f"{root}/purged", files={"f": b"gone"}, purge=True)
    stage.policy().bootstrap()
    kept = stage.wired.external.place(f"{root}/empty", "empty")
    purged = stage.wired.external.place(f"{root}/purged", "purged")
    users.drop_table("empty")
    users.drop_table("purged")
    users.rename_table("days", "dates")
    users.rename_partition("dates", ("2",), ("two",))
    users.drop_partitions("dates", [("1",)])
    users.put(f"{root}/second", {"f": b"another place"})
    users.set_location("plain", f"{root}/second")
    users.add_columns("shared", [("added", "string")])
    stage.catch_up()
    stage.copy_data()
    stage.assert_twin()
    assert stage.ports.replica_files.status(kept) is not None
    assert stage.ports.replica_files.status(purged) is None


@pytest.mark.thorough
def test_tables_that_change_their_kind_are_brought_over_whole(stage: Stage) -> None:
    furnish(stage)
    stage.policy().bootstrap()
    stage.users.make_external("managed")
    stage.users.make_managed("plain")
    stage.catch_up()
    stage.assert_twin()
    plain = stage.on_replica("plain")
    assert plain.table_type == "MANAGED_TABLE"
    assert not plain.location.startswith(stage.wired.external.base_directory)


@pytest.mark.thorough
def test_external_tables_are_added_to_a_running_policy(stage: Stage) -> None:
    furnish(stage)
    stage.policy(include=False).bootstrap()
    assert external_names(stage.ports.replica, stage.wired.replica.database) == []
    stage.policy(include=True).catch_up()
    stage.assert_twin()


def test_a_policy_may_have_external_tables_only(stage: Stage) -> None:
    stage.users.fill_external("plain", f"{stage.root}/plain", files={"f": b"one"})
    stage.policy().bootstrap()
    stage.assert_twin()


def test_metadata_only_brings_no_files(stage: Stage) -> None:
    furnish(stage)
    stage.policy(data="metadata_only").bootstrap()
    assert_external_twin(stage.ports, stage.wired, data=False)


def test_data_in_a_third_place_stays_there_by_rule_and_is_refused_without(stage: Stage, west: Warehouse) -> None:
    stage.users.fill_external("plain", f"{stage.root}/plain", files={"f": b"one"})
    third = f"hdfs://west/third/{stage.name}"
    west.files.write(f"{third}/f", b"read by both")
    found = stage.users.table("plain")
    stage.users.metastore.create_table(found.at(stage.users.name("outside"), third))
    with pytest.raises(ActNow) as refused:
        stage.policy().bootstrap()
    assert "external_tables.stay" in str(refused.value)
    assert stage.ports.replica.database(stage.wired.replica.database) is None
    stage.policy(stay=["hdfs://west/third/.*"]).bootstrap()
    assert stage.on_replica("outside").location == third
    assert_equal_files(stage.ports, f"{stage.root}/plain", stage.wired.external.place(f"{stage.root}/plain", ""))


def test_a_missing_source_directory_is_an_error_or_an_empty_directory(stage: Stage) -> None:
    stage.users.fill_external("plain", f"{stage.root}/plain", files={"f": b"one"})
    stage.users.files.delete(f"{stage.root}/plain")
    with pytest.raises(ActNow) as missing:
        stage.policy().bootstrap()
    assert f"{stage.root}/plain" in str(missing.value)
    assert "missing: empty" in str(missing.value)
    stage.policy(missing="empty").bootstrap()
    place = stage.wired.external.place(f"{stage.root}/plain", "")
    assert stage.on_replica("plain").location == place
    assert stage.ports.replica_files.status(place).is_directory


@pytest.mark.nightly(
    "tests/integration/in_airflow/test_airflow.py::test_the_copies_went_through_spark_and_compared_what_they_copied",
    "tests/dags/policies/test_in_process.py::test_a_large_copy_asks_for_spark_and_a_failure_leaves_the_table_waiting",
)
def test_a_large_directory_is_copied_by_spark(stage: Stage, policies: PolicyFiles, monkeypatch, log, report) -> None:
    users, root = stage.users, stage.root
    users.fill_external("plain", f"{root}/plain", files={f"p=a b/{number}": b"%d" % number for number in range(20)})
    wiring = policies.wiring(stage.policy().name)
    run_phase(BOOTSTRAP[:2], wiring.policy, stage.ports, {"run": "test"}, report)
    listed = run_phase(EXTERNAL[:2], wiring.policy, stage.ports, {"run": "test"}, report)["list_external"]
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    quiet = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    by_spark = LargeBySpark(
        wiring.source_endpoint,
        wiring.replica_endpoint,
        is_small=lambda files, length: files < 20,
        cluster=lambda: SparkCluster.of(ONE_WORKER, 2, quiet.items()),
        next_steps=NextSteps("clear", "mend", "again"),
    )
    (batch,) = listed.batches
    work = Work(wiring.policy, batch.name, listed.dump, {"run": "test"}, report)
    assert SyncExternal(work, by_spark).run(stage.ports).files == 20
    assert any("by Spark" in line for line in log)
    assert_equal_files(stage.ports, f"{root}/plain", wiring.policy.external.place(f"{root}/plain", ""))


@pytest.mark.parametrize(
    ("base", "said"),
    [
        (None, "base_directory"),
        ("/ext", "hdfs://west"),
        ("hdfs://east/ext", "hdfs://west"),
        ("hdfs://west/warehouse/managed/x", "warehouse"),
    ],
)
def test_a_wrong_base_directory_is_refused_and_nothing_changed(stage: Stage, base: str | None, said: str) -> None:
    stage.users.fill_external("plain", f"{stage.root}/plain", files={"f": b"one"})
    with pytest.raises(ActNow) as refused:
        stage.policy(base_directory=base).bootstrap()
    assert said in str(refused.value)
    assert stage.ports.replica.database(stage.wired.replica.database) is None
