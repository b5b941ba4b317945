"""A metastore that checks who reads its notification log, as Hive's does by default (seed 002, 'security')."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from sandbox import Sandbox
from sandbox.configuration import USER
from tests.integration.phases.test_dry_run import everything
from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.errors import Refused
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.log_access import GUARD
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.surfaces.cli.app import run

pytestmark = pytest.mark.sandbox

ON = {GUARD: "true"}
# Where this variable is set, Hive takes everybody for the user that it names; as a property it is Hadoop's alone.
_NAMES_COUNT = {"HADOOP_USER_NAME": None, "JAVA_TOOL_OPTIONS": f"-DHADOOP_USER_NAME={USER}"}
Restart = Callable[[dict[str, str]], None]
Said = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def restart(sandbox: Sandbox) -> Iterator[Restart]:
    """Run the source's metastore with other settings, as one that takes people for whom they say they are."""

    running: list[dict[str, str]] = []

    def with_settings(settings: dict[str, str]) -> None:
        if running[-1:] != [settings]:
            sandbox.stop("east-metastore")
            sandbox.start("east-metastore", overrides=settings, environment=_NAMES_COUNT)
            running.append(settings)

    yield with_settings
    sandbox.stop("east-metastore")
    sandbox.up()


@pytest.fixture
def clusters(sandbox: Sandbox) -> Iterator[tuple[Warehouse, Warehouse]]:
    """Return both clusters; only to be opened once the metastore runs as it should."""
    east, west = (Warehouse(sandbox.clusters[name]) for name in ("east", "west"))
    yield east, west
    east.close()
    west.close()


@pytest.fixture
def guarded(restart: Restart) -> None:
    restart(ON)


@pytest.fixture
def admitting(restart: Restart) -> None:
    restart({**ON, "hadoop.proxyuser.ann.hosts": "127.0.0.1", "hadoop.proxyuser.ann.groups": "*"})


def a_policy(policies: PolicyFiles, east: Warehouse, user: str | None) -> str:
    """Add a policy over a new database with one table, whose source is told that we are `user`."""
    database = east.create_database("rights")
    east.create_table(database, "first", files={"data": b"1"})
    told(policies, east, user)
    return policies.add(database)


def told(policies: PolicyFiles, east: Warehouse, user: str | None) -> None:
    path = policies.directory / "clusters.yaml"
    content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    metastore = {"uris": [east.cluster.metastore_uri], "timeout_seconds": 5, **({"user": user} if user else {})}
    content["clusters"]["east"]["metastore"] = metastore
    policies.write("clusters.yaml", content)


def check(policies: PolicyFiles, policy: str, code: int, said: Said) -> str:
    """Type `twinhive check --servers`; return what it prints, without the ends of its lines."""
    said.readouterr()
    assert run(["check", policy, "--servers", "--config", str(policies.directory)]) == code
    return " ".join("".join(said.readouterr()).split())


def newest(warehouse: Warehouse) -> int:
    return int(warehouse.client.get_current_notificationEventId().eventId)


@pytest.mark.thorough
def test_a_user_without_rights_is_told_what_to_set_and_nothing_changes(
    guarded: None, clusters: tuple[Warehouse, Warehouse], policies: PolicyFiles, capsys: Said
) -> None:
    east, west = clusters
    policy = a_policy(policies, east, USER)
    policies.run(policy)
    policies.finish(policy)
    east.create_table(policy, "second", files={"data": b"2"})
    told(policies, east, "ann")
    before = everything(policy, east, west)
    wiring = policies.wiring(policy)

    (problem,) = Preflight(Work(wiring.policy)).problems(wiring.write_ports())
    with pytest.raises(Refused) as window:
        policies.follow(policy)

    assert isinstance(problem, Refused)
    address = f"{east.cluster.metastore_host}:{east.cluster.metastore_port}"
    assert f"the metastore {address} of cluster east does not let us read its notification log" in problem.what
    assert problem.what.endswith("user to the metastore: ann")
    assert {"hadoop.proxyuser.ann.hosts", f"{GUARD}=false"} <= set(str(problem.next_step).split())
    assert (window.value.what, window.value.next_step) == (problem.what, problem.next_step)
    assert "hadoop.proxyuser.ann.groups" in check(policies, policy, ExitCode.ACT_NOW, capsys)
    assert everything(policy, east, west) == before


@pytest.mark.nightly(
    "tests/integration/phases/test_log_rights.py::test_a_user_without_rights_is_told_what_to_set_and_nothing_changes",
)
def test_who_tells_no_name_is_the_user_that_the_server_runs_as(
    guarded: None, clusters: tuple[Warehouse, Warehouse], policies: PolicyFiles, capsys: Said
) -> None:
    east, _ = clusters
    said = check(policies, a_policy(policies, east, None), ExitCode.DONE, capsys)
    assert "user to the metastore: the one that it runs as: no user name was sent" in said
    assert f"notification log: readable, newest event {newest(east)}" in said


@pytest.mark.nightly(
    "tests/integration/phases/test_log_rights.py::test_a_user_without_rights_is_told_what_to_set_and_nothing_changes",
)
def test_a_user_that_is_let_in_reads_the_log_and_goes_on(
    admitting: None, clusters: tuple[Warehouse, Warehouse], policies: PolicyFiles, capsys: Said
) -> None:
    east, west = clusters
    policy = a_policy(policies, east, "ann")
    policies.run(policy)
    policies.finish(policy)
    east.create_table(policy, "second", files={"data": b"2"})
    said = check(policies, policy, ExitCode.DONE, capsys)
    assert f"cluster east: user to the metastore: ann; notification log: readable, newest event {newest(east)}" in said
    policies.follow(policy)
    assert sorted(west.client.get_all_tables(policy)) == ["first", "second"]
    told(policies, east, "bob")
    assert "hadoop.proxyuser.bob.hosts" in check(policies, policy, ExitCode.ACT_NOW, capsys)


@pytest.mark.nightly(
    "tests/integration/phases/test_commands.py::test_a_policy_from_its_check_to_its_first_window",
)
def test_without_the_check_everybody_reads_the_log(
    restart: Restart, sandbox: Sandbox, policies: PolicyFiles, capsys: Said
) -> None:
    restart({GUARD: "false"})
    east = Warehouse(sandbox.clusters["east"])
    policy = a_policy(policies, east, "bob")
    assert "user to the metastore: bob; notification log: readable" in check(policies, policy, ExitCode.DONE, capsys)
    east.close()
