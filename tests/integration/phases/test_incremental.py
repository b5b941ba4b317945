"""Follow a real source whose users do everything that Hive's log can tell."""

import pytest

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from tests.unit.replication.incremental import test_incremental as histories
from twinhive.core.model.errors import ActNow, TryAgain

pytestmark = pytest.mark.sandbox


EVERY_KIND = (
    histories.create_and_fill_partitioned,
    histories.insert_into_table,
    histories.insert_into_partition,
    histories.overwrite_table,
    histories.overwrite_partition_twice,
    histories.truncate_partitions,
    histories.alter_everything,
    histories.details,
    histories.exchange_partition,
    histories.cascade,
    histories.partition_in_three_states,
    histories.views,
    histories.rename_and_recreate,
    histories.swap_tables_of,
    histories.drop_partitions,
    histories.rename_table_back_and_forth,
    histories.drop_and_create_with_other_keys,
    histories.truncate_table,
)


@pytest.fixture
def users(source_metastore: ThriftSource, east: Warehouse) -> SourceWriter:
    """The users of a database that holds what the histories begin with."""
    return SourceWriter(source_metastore, east.files, east.create_database("followed", parameters={"team": "Zürich"}))


def furnish(users: SourceWriter) -> None:
    users.create_table("orders", keys=("p",))
    users.add_partitions(
        "orders",
        {("a b",): {"f1": b"one"}, ("50%=#:ü",): {"000000_0": b"three"}, ("no files",): {}},
    )
    users.create_table("plain", files={"data": b"plain", "zero": b""}, parameters={"comment": "x"})
    users.create_table("empty")
    users.add_constraint("empty", "primary_key", "key_of_empty")
    users.add_constraint("orders", "foreign_key", "to_empty", parent="empty")
    users.add_constraint("plain", "not_null", "not_empty")
    users.create_view("recent")


def follow_all(policies: PolicyFiles, policy: str, report) -> None:
    while not policies.follow(policy, report)["window"].idle:
        pass


ONE_BY_ONE = pytest.mark.nightly(
    "tests/integration/phases/test_incremental.py::test_every_kind_of_change_reaches_the_twin",
    "tests/unit/replication/incremental/test_incremental.py",
)


@pytest.mark.parametrize(
    "most_events",
    [pytest.param(10_000, id="one window"), pytest.param(1, id="windows of one event", marks=ONE_BY_ONE)],
)
def test_every_kind_of_change_reaches_the_twin(
    users: SourceWriter, east: Warehouse, west: Warehouse, policies: PolicyFiles, log, report, most_events: int
) -> None:
    furnish(users)
    policy = policies.add(users.database, options={"window_events": most_events})
    policies.run(policy, report=report)
    for history in EVERY_KIND:
        history(users)
    follow_all(policies, policy, report)
    assert_equal_twin(east, users.database, west)
    follow_all(policies, policy, report)
    staged = [path.rpartition("/")[2] for path in children(west, policies.wiring(policy).policy.staging)]
    assert staged == ["control", "lease"], log  # control/window.json says how far the newest window goes


def children(warehouse: Warehouse, directory: str) -> list[str]:
    ((_, found),) = warehouse.files.list_directories([directory])
    return [status.path for status in found or ()]


@pytest.mark.thorough
def test_a_replica_metastore_that_dies_in_mid_apply_is_tried_again(
    sandbox: Sandbox, users: SourceWriter, east: Warehouse, west: Warehouse, policies: PolicyFiles, report
) -> None:
    furnish(users)
    policy = policies.add(users.database)
    policies.run(policy)
    for number in range(40):
        users.insert("plain", None, [b"row %d" % number])
    killed = []

    def kill_in_the_middle(line: str) -> None:
        report(line)
        if "step 3/3: apply" in line and not killed:
            killed.append(sandbox.kill("west-metastore"))

    with pytest.raises(TryAgain):
        policies.follow(policy, kill_in_the_middle)
    sandbox.up()
    follow_all(policies, policy, report)
    restarted = Warehouse(sandbox.clusters["west"])
    assert_equal_twin(east, users.database, restarted)
    restarted.close()


def test_a_table_altered_by_hand_on_the_replica_is_named_with_the_command_that_mends_it(
    users: SourceWriter, west: Warehouse, policies: PolicyFiles
) -> None:
    furnish(users)
    policy = policies.add(users.database)
    policies.run(policy)
    before = west.client.get_database(policy).parameters["repl.last.id"]
    west.client.drop_table(policy, "plain", False)
    users.insert("plain", None, [b"more"])
    with pytest.raises(ActNow, match=f"twinhive resync {policy} plain"):
        policies.follow(policy)
    assert west.client.get_database(policy).parameters["repl.last.id"] == before
