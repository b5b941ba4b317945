"""docker-compose.yml: whoever calls a server uses the name and the port under which it listens."""

import itertools
import json
import re
from urllib.parse import urlsplit

import pytest
import typer
from typer.main import get_command

from deploy import addresses, settings
from deploy.addresses import CLUSTER_PORTS
from sandbox.brokers.broker_users import PASSWORDS, PUBLISHER, READER
from sandbox.configuration import CLUSTERS
from sandbox.postgres import AIRFLOW_DATABASE
from tests.support.compose_file import CHECKOUT, airflow_services, environment, services
from twinhive.core.model.connections import parse_connection
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.message_wiring import broker_endpoint
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint
from twinhive.surfaces.cli import gateway_command
from twinhive.surfaces.cli.messages import publish

USERS = (PUBLISHER, READER)


def words(service: str) -> str:
    return " ".join([*services()[service]["command"], *services()[service]["healthcheck"]["test"]])


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_names_of_a_clusters_servers_are_services(cluster: str):
    for server in (addresses.namenode, addresses.datanode, addresses.metastore):
        assert server(cluster) in services()


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_health_is_asked_where_the_server_listens(cluster: str):
    served = settings.hdfs_server(cluster)
    assert served["dfs.namenode.http-address"].split(":")[1] in words(addresses.namenode(cluster))
    assert served["dfs.datanode.http.address"].split(":")[1] in words(addresses.datanode(cluster))
    assert f"/localhost/{settings.metastore(cluster)['metastore.thrift.port']}" in words(addresses.metastore(cluster))
    assert environment(addresses.datanode(cluster))["NAMENODE"] == addresses.namenode(cluster)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_hadoops_clients_call_the_name_nodes_where_they_listen(cluster: str):
    client = settings.hadoop_client(cluster)
    for name in CLUSTERS:
        listening = settings.hdfs_server(name)["dfs.namenode.rpc-address"]
        assert client[f"dfs.namenode.rpc-address.{name}.nn1"] == listening
        assert listening == f"{addresses.namenode(name)}:{CLUSTER_PORTS.namenode}"


@pytest.mark.parametrize("service", airflow_services())
def test_twinhive_finds_both_clusters_with_the_connections_it_is_given(service: str):
    given = environment(service)

    def resolve(connection: str):
        return parse_connection(connection, given[f"AIRFLOW_CONN_{connection.upper()}"])

    clusters = load_configuration(CHECKOUT / "dags").clusters
    assert clusters.keys() == set(CLUSTERS)
    for name, cluster in clusters.items():
        found = metastore_endpoint(cluster.metastore, resolve)
        assert list(found.addresses) == [(addresses.metastore(name), CLUSTER_PORTS.metastore)]
        assert file_system_endpoint(cluster.file_system, resolve).root == f"hdfs://{name}"
        spark = json.loads(given[f"AIRFLOW_CONN_{cluster.job_tracker.connection.upper()}"])
        assert f"{spark['host']}:{spark['port']}" == services()["spark-worker"]["command"][-1]


def test_the_spark_master_listens_where_it_is_called():
    command = services()["spark-master"]["command"]
    asked = dict(zip(command[2::2], command[3::2], strict=True))
    assert (asked["--host"], int(asked["--port"])) == (addresses.SPARK_MASTER, addresses.SPARK_MASTER_PORT)
    for service in ("spark-master", "spark-worker"):
        pages = services()[service]["command"]
        assert f"localhost:{pages[pages.index('--webui-port') + 1]}/" in words(service)
    assert services()["spark-master"]["ports"][0].endswith(f":{asked['--webui-port']}")


INIT = (CHECKOUT / "deploy/postgres/databases.sh").read_text()
ROLES = dict(re.findall(r"CREATE ROLE (\w+) LOGIN PASSWORD :'(\w+)';", INIT))
"""The users that PostgreSQL's first start makes, with the psql variables that hold their passwords."""


def password_of(user: str) -> str:
    """Return the password that the first start gives to a user."""
    [variable] = re.findall(rf'--set {ROLES[user]}="\$(\w+)"', INIT)
    password: str = environment(addresses.POSTGRES)[variable]
    return password


def test_airflow_and_the_journal_have_databases_and_users_of_their_own_that_are_created():
    created = dict(re.findall(r"CREATE DATABASE (\w+) OWNER (\w+);", INIT))
    urls = [
        environment("airflow-scheduler")[key] for key in ("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "TWINHIVE_JOURNAL")
    ]
    used = [urlsplit(url) for url in urls]
    assert [url.path for url in used] == [f"/{AIRFLOW_DATABASE}", "/journal"]
    for url in used:
        assert (url.hostname, url.port) == (addresses.POSTGRES, addresses.POSTGRES_PORT)
        assert url.username == created.pop(url.path.removeprefix("/"))
        assert url.password == password_of(url.username)
    assert created == {}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_metastore_gets_the_password_of_the_user_that_it_names(cluster: str):
    served = settings.metastore(cluster)
    user = served["javax.jdo.option.ConnectionUserName"]
    variable = re.fullmatch(r"\$\{env\.(\w+)\}", served["javax.jdo.option.ConnectionPassword"])
    assert variable
    for service in (addresses.metastore(cluster), f"{cluster}-prepare"):
        assert environment(service)[variable[1]] == password_of(user)


def test_no_two_parts_share_a_user_and_only_what_makes_databases_knows_the_superuser():
    users = {environment("airflow-scheduler")["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].split("//")[1].split(":")[0]}
    users |= {settings.metastore(cluster)["javax.jdo.option.ConnectionUserName"] for cluster in CLUSTERS}
    users.add(environment("airflow-scheduler")["TWINHIVE_JOURNAL"].split("//")[1].split(":")[0])
    assert users == set(ROLES) and len(users) == 2 + len(CLUSTERS)
    knows = {service for service in services() if "POSTGRES_PASSWORD" in str(environment(service))}
    assert knows == {addresses.POSTGRES, *(f"{cluster}-prepare" for cluster in CLUSTERS)}


def test_airflows_parts_call_the_api_server_by_its_name():
    for service in airflow_services():
        url = urlsplit(environment(service)["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"])
        assert url.hostname in services()
        assert services()[url.hostname]["ports"][0].endswith(f":{url.port}")
        assert f"localhost:{url.port}/" in words(url.hostname)


def test_the_gateway_listens_where_its_health_is_asked_and_its_port_is_published():
    command = services()["gateway"]["command"]
    said = dict(itertools.pairwise(command))
    assert command[:2] == ["twinhive", "gateway"]
    assert said["--cluster"] in load_configuration(CHECKOUT / "dags").clusters
    assert f"/localhost/{said['--port']}" in words("gateway")
    published, of_clusters = services()["gateway"]["ports"]
    assert published.endswith(f":{said['--port']}")
    # The port that the page gives to a cluster is one of those that are published, under the same number.
    page = (CHECKOUT / "docs/clusters.md").read_text()
    (port,) = map(int, re.findall(r"gateway:\n      port: (\d+)", page))
    outside, inside = (range(*map(int, one.split("-"))) for one in of_clusters.split(":")[1:])
    assert port in outside and outside == inside
    assert {word for word in command if word.startswith("--")} <= options_of(gateway_command.app)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_publisher_finds_its_metastore_and_the_broker_which_lets_it_write(cluster: str):
    service = services()[f"{cluster}-publisher"]
    command, given = service["command"], environment(f"{cluster}-publisher")
    assert command[:3] == ["twinhive", "publish", cluster]
    assert {word for word in command if word.startswith("--")} <= options_of(publish.app)
    assert f"localhost:{dict(itertools.pairwise(command))['--status-port']}/" in words(f"{cluster}-publisher")
    assert service["depends_on"].keys() == {addresses.BROKER, addresses.metastore(cluster)}
    messages = load_configuration(CHECKOUT / "dags").clusters[cluster].messages
    passwords = environment(addresses.BROKER)[PASSWORDS].split()
    for connection, user, password in zip((messages.broker, messages.reader), USERS, passwords, strict=True):
        found = broker_endpoint(
            connection, lambda name, given=given: parse_connection(name, given[f"AIRFLOW_CONN_{name.upper()}"])
        )
        assert found.addresses == ((addresses.BROKER, addresses.BROKER_PORT),)
        assert (found.scheme, found.user, found.password) == ("stomp", user, password)
    assert f"/localhost/{addresses.BROKER_PORT}" in words(addresses.BROKER)


def test_airflow_may_listen_and_not_publish():
    for service in airflow_services():
        given = environment(service)
        assert json.loads(given["AIRFLOW_CONN_BROKER_READER"])["login"] == READER
        assert "AIRFLOW_CONN_BROKER" not in given


def options_of(command: typer.Typer) -> set[str]:
    return {option for one in get_command(command).params for option in one.opts}


def test_the_gateway_finds_both_clusters_and_its_configuration():
    given = environment("gateway")
    assert given.keys() >= {f"AIRFLOW_CONN_{cluster.upper()}_METASTORE" for cluster in CLUSTERS}
    assert any(volume.endswith(f":{given['TWINHIVE_CONFIG']}:ro") for volume in services()["gateway"]["volumes"])
    needed = addresses.metastore(dict(itertools.pairwise(services()["gateway"]["command"]))["--cluster"])
    assert services()["gateway"]["depends_on"].keys() == {needed}
