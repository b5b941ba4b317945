"""Give each runbook's test a policy that Airflow knows, a replica that follows, and its writers."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from sandbox import Sandbox
from tests.integration.airflow_fixtures import RunningAirflow
from tests.integration.damage import Databases
from tests.integration.oncall import OnCall, rest
from tests.support.runbooks import runbooks
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin

MARK = "runbook"
PREFIX = "runbook_"


@pytest.fixture(scope="session")
def runbook_policies(airflow: RunningAirflow, request: pytest.FixtureRequest) -> dict[str, str]:
    """Write a policy for each runbook that is going to be tried, so that Airflow parses all of them at once.

    The marker's keywords are keys of the policy file. Nothing of them runs until a test lets it.
    """
    marks = {item.nodeid: mark for item in request.session.items if (mark := item.get_closest_marker(MARK))}
    policies = {node: airflow.policies.add(f"{PREFIX}{uuid4().hex[:8]}", **mark.kwargs) for node, mark in marks.items()}
    airflow.wait_until_known(*policies.values())
    for policy in policies.values():
        airflow.api.pause_like(f"{policy}.%")
    return policies


@pytest.fixture
def oncall(
    airflow: RunningAirflow, runbook_policies: dict[str, str], request: pytest.FixtureRequest
) -> Iterator[OnCall]:
    """Open the runbook that a test names by its marker; all that it quotes has to be met.

    Its policy is gone then: what it has broken would fill what the monitor says to those who come later.
    """
    mark, failed = request.node.get_closest_marker(MARK), request.session.testsfailed
    person = OnCall(airflow, runbook_policies[request.node.nodeid], runbooks()[mark.args[0]])
    yield person
    rest(airflow, person.policy)
    (airflow.policies.directory / "policies" / f"{person.policy}.yaml").unlink(missing_ok=True)
    if request.session.testsfailed == failed:
        assert person.unread() == []


@pytest.fixture
def users(oncall: OnCall, sandbox: Sandbox, east: Warehouse) -> Iterator[SourceWriter]:
    """The users of the policy's source: a partitioned table, a plain one, a view; they are on the replica already."""
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    users = SourceWriter.with_database(metastore, east.files, oncall.policy)
    users.create_table("orders", keys=("day",))
    users.add_partitions("orders", {("1",): {"f1": b"one"}, ("2",): {"f2": b"two"}})
    users.create_table("plain", files={"data": b"plain"})
    users.create_view("recent")
    oncall.airflow.policies.run(oncall.policy)
    yield users
    metastore.close()


@pytest.fixture
def writers(oncall: OnCall, users: SourceWriter) -> SourceWriter:
    """The same users, of a source that is followed by Airflow's own runs."""
    oncall.follow()
    return users


@pytest.fixture
def assert_twin(oncall: OnCall, sandbox: Sandbox) -> Callable[[], None]:
    """Compare the twin with its source, over connections that no fault has met."""

    def compare() -> None:
        sides = [Warehouse(sandbox.clusters[name]) for name in ("east", "west")]
        try:
            assert_equal_twin(sides[0], oncall.policy, sides[1])
        finally:
            for side in sides:
                side.close()

    return compare


@pytest.fixture
def databases(sandbox: Sandbox) -> Databases:
    """Reach the databases of both metastores and of Airflow."""
    return Databases(sandbox)
