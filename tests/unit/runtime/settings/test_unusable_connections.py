"""A connection that somebody has mistyped: what is said of it, and that it takes nothing away from others."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.policies import PolicyFiles
from tests.support.policy_terminal import Terminal, a_terminal
from twinhive.core.model.endpoints import MetastoreEndpoint
from twinhive.core.model.errors import InvalidSettings, Refused
from twinhive.core.model.remotes.definitions import RemoteDatabase
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.runtime.settings import (
    FileSystemSettings,
    MetastoreSettings,
    load_configuration,
    resolve_from_environment,
)
from twinhive.runtime.wiring import lag_wiring
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring
from twinhive.runtime.wiring.lag_wiring import measure_policies
from twinhive.runtime.wiring.message_wiring import broker_endpoint
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint

Monkey = pytest.MonkeyPatch


def connection(monkeypatch: Monkey, name: str, **fields: Any) -> None:
    monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps({"conn_type": "any", **fields}))


def metastore(monkeypatch: Monkey, **fields: Any) -> MetastoreEndpoint:
    connection(monkeypatch, "m", **fields)
    return metastore_endpoint(MetastoreSettings(connection="m"), resolve_from_environment)


def test_hosts_of_a_metastore_may_have_ports(monkeypatch: Monkey) -> None:
    found = metastore(monkeypatch, host="hms1, hms2:9084", port=9085)
    assert found.addresses == (("hms1", 9085), ("hms2", 9084))


@pytest.mark.parametrize(
    "host", ["thrift://hms1:9083", "hms1:", "hms1:90x", "hms1:0", "hms1:65536", "[::1]:9083", "::1", "good,bad:-1"]
)
def test_a_host_that_is_none_is_said_with_its_connection(monkeypatch: Monkey, host: str) -> None:
    with pytest.raises(InvalidSettings, match="connection m cannot be used") as raised:
        metastore(monkeypatch, host=host)
    said = raised.value.words
    assert said.found and said.found in f"host {host.split(',')[-1]}, port 9083"
    assert said.expected and "hosts without a scheme" in said.expected
    assert said.next_step and "correct connection m" in said.next_step


@pytest.mark.parametrize(
    "fields",
    [{"extra": [1]}, {"extra": "[1]"}, {"extra": {"uri": 5}}, {"extra": {"user": 5}}, {"host": 5}, {"login": 5}],
)
def test_what_a_connection_holds_is_of_its_kind(monkeypatch: Monkey, fields: Any) -> None:
    connection(monkeypatch, "m", **{"host": "west", **fields})
    with pytest.raises(InvalidSettings, match="connection m cannot be used") as raised:
        file_system_endpoint(FileSystemSettings(connection="m"), resolve_from_environment)
    assert raised.value.words.next_step == "correct AIRFLOW_CONN_M"


def test_an_extra_that_is_null_is_none(monkeypatch: Monkey) -> None:
    assert metastore(monkeypatch, host="hms1", extra="null").user is None


def test_a_file_systems_host_has_no_scheme(monkeypatch: Monkey) -> None:
    connection(monkeypatch, "m", host="hdfs://west")
    with pytest.raises(InvalidSettings, match="connection m cannot be used"):
        file_system_endpoint(FileSystemSettings(connection="m"), resolve_from_environment)


@pytest.mark.parametrize("uri", ["thrift://hms1:0", "thrift://hms1:99999"])
def test_a_port_that_is_none_is_said_of_the_clusters_file(uri: str) -> None:
    with pytest.raises(InvalidSettings, match=f"{uri} is no address of a metastore"):
        metastore_endpoint(MetastoreSettings(uris=(uri,)), resolve_from_environment)


def test_a_brokers_port_is_one(monkeypatch: Monkey) -> None:
    connection(monkeypatch, "bus", conn_type="stomp", host="b1:99999")
    with pytest.raises(InvalidSettings, match="b1:99999 is no address of a broker"):
        broker_endpoint("bus", resolve_from_environment)


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: Monkey) -> Terminal:
    """Two policies; the replica of `other` is on a cluster whose metastore is mistyped."""
    found = a_terminal(tmp_path, monkeypatch)
    spoil(found.policies, monkeypatch)
    text = "policy: other\nsource: {cluster: east, database: other}\nreplica: {cluster: north, database: other}\n"
    found.policies.write("policies/other.yaml", text)
    return found


def spoil(policies: PolicyFiles, monkeypatch: Monkey) -> None:
    """Add the cluster north, whose metastore's connection cannot be used."""
    clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())["clusters"]
    north = {**clusters["west"], "metastore": {"connection": "north_metastore"}}
    policies.write("clusters.yaml", {"clusters": {"north": north, **clusters}})
    connection(monkeypatch, "north_metastore", host="thrift://hms1.north:9083")


def test_a_check_says_it_without_asking_a_server(terminal: Terminal) -> None:
    for words in (["check"], ["check", "other"]):
        found = terminal.document(*words, code=4)["policies"]
        said = {one["policy"]: [problem["what"] for problem in one["problems"]] for one in found}
        assert said == {
            "other": ["connection north_metastore cannot be used"],
            **({"sales": []} if words[1:] == [] else {}),
        }


def measured(terminal: Terminal, monkeypatch: Monkey) -> dict[str, PolicyLag]:
    monkeypatch.setattr(lag_wiring, "start_clients", list)
    configuration = load_configuration(terminal.policies.directory)
    return {lag.policy: lag for lag in measure_policies(configuration, resolve_from_environment)}


def test_an_unusable_connection_is_its_own_policys_trouble(terminal: Terminal, monkeypatch: Monkey) -> None:
    def ports(wiring: Wiring) -> Any:
        metastore_endpoint(wiring.replica.metastore, wiring.resolve)
        return terminal.world.ports()

    connection(monkeypatch, "west_metastore", host="hms1")
    monkeypatch.setattr(Wiring, "write_ports", ports)
    found = measured(terminal, monkeypatch)
    assert found["other"].trouble == "connection north_metastore cannot be used"
    assert found["sales"].trouble is None and found["sales"].phase == "absent"


def test_what_nobody_expected_is_one_policys_trouble(terminal: Terminal, monkeypatch: Monkey) -> None:
    def ports(wiring: Wiring) -> Any:
        if wiring.settings.policy == "other":
            raise ValueError("something")
        return terminal.world.ports()

    monkeypatch.setattr(Wiring, "write_ports", ports)
    found = measured(terminal, monkeypatch)
    assert found["other"].trouble == "policy other cannot be looked at"
    assert found["other"].error and found["other"].error.found == "ValueError: something"
    assert found["sales"].trouble is None


def test_a_cluster_that_cannot_be_reached_takes_no_remote_away(tmp_path: Path, monkeypatch: Monkey) -> None:
    policies = PolicyFiles(tmp_path / "config")
    spoil(policies, monkeypatch)
    for cluster in ("east", "west"):
        connection(monkeypatch, f"{cluster}_metastore", host=f"hms.{cluster}", port=9083)
    wiring = RemotesWiring(load_configuration(policies.directory), "east", resolve_from_environment)

    def remote(host: str) -> RemoteDatabase:
        return RemoteDatabase("far", "sales", properties={"hive.metastore.uris": f"thrift://{host}:9083"})

    assert wiring.reached(remote("hms.west")).name == "thrift://hms.west:9083"
    with pytest.raises(Refused, match="may not be reached") as refused:
        wiring.reached(remote("hms1.north"))
    assert "cluster north: connection north_metastore cannot be used" in str(refused.value)
