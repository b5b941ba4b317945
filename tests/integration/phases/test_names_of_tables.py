"""Tables that are called whatever a real metastore lets their owners call them are replicated as any other."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.external_users import ExternalUsers
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from tests.support.worlds.external_comparison import assert_external_twin
from twinhive.core.model.quarantine import frozen_tables, with_frozen
from twinhive.operations.actions.resync import Resync
from twinhive.replication.operator_requests.request_files import requested_tables
from twinhive.replication.replica.pending_files import pending_names

pytestmark = pytest.mark.sandbox

NAMES = ["a/b", "..", "v1.2", "it's %2f | #1", "/" * 40 + "x" * 88]


@pytest.fixture
def users(sandbox: Sandbox, east: Warehouse) -> Iterator[ExternalUsers]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    yield ExternalUsers(metastore, east.files, east.create_database("named"))
    metastore.close()


@pytest.mark.nightly(
    "tests/unit/replication/incremental/names/test_names_of_tables.py",
    "tests/integration/phases/test_names_of_tables.py::test_a_metastore_has_room_for_the_mark_of_a_frozen_table",
)
def test_the_worst_names_that_a_metastore_allows(
    users: ExternalUsers, east: Warehouse, west: Warehouse, policies: PolicyFiles, report
) -> None:
    database = users.database
    root = f"hdfs://east/data/{database}"
    for name in NAMES:
        users.create_table(name, files=[b"one"])
    policies.add(database, external_tables={"base_directory": f"hdfs://west/ext/{database}"})
    wiring = policies.wiring(database)
    policy, ports = wiring.policy, wiring.write_ports()
    policies.run(database, report=report)
    for number, name in enumerate(NAMES):
        users.insert(name, None, [b"two"])
        users.create_table(f"p{name[1:]}", keys=("p",))
        users.add_partitions(f"p{name[1:]}", {("a/b",): [b"three"], ("..",): [b"four"]})
        users.fill_external(f"e{name[1:]}", f"{root}/{number}", files={"f": b"five"})
    follow(policies, database, report)
    assert set(pending_names(ports.replica_files, policy)) == {f"e{name[1:]}" for name in NAMES}
    policies.copy_external(database, report)
    follow(policies, database, report)
    assert_equal_twin(east, database, west)
    assert_external_twin(ports, policy)
    for name in NAMES:
        Resync(policy, name, {"by": "test"}).run(ports)
    users.insert("..", None, [b"six"])
    follow(policies, database, report)
    assert requested_tables(ports.replica_files, policy) == ()
    assert_equal_twin(east, database, west)


@pytest.mark.parametrize("length", [160, 161, 190])
def test_a_metastore_has_room_for_the_mark_of_a_frozen_table(users: ExternalUsers, length: int) -> None:
    users.alter_database_parameters(with_frozen({}, "x" * length, "7 files are lost"))
    found = users.metastore.database(users.database)
    assert found is not None
    assert frozen_tables(found.parameters) == {"x" * length: "7 files are lost"}


def follow(policies: PolicyFiles, policy: str, report) -> None:
    while not policies.follow(policy, report)["window"].idle:
        pass
