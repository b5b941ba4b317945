"""Both metastores of a policy are read by one name of their file systems, where settings tell more than one."""

import json
from pathlib import Path

import pytest

from tests.support.policies import PolicyFiles
from twinhive.core.ports.proved_writes import unproved
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.hive.events.one_file_system import OneNamedMetastore
from twinhive.runtime.wiring.policy_wiring import Wiring

HA = {
    "dfs.nameservices": "{name}",
    "dfs.ha.namenodes.{name}": "nn1",
    "dfs.namenode.rpc-address.{name}.nn1": "nn1.{name}:8020",
}


def wiring(directory: Path, monkeypatch: pytest.MonkeyPatch, **uris: str) -> Wiring:
    for name, uri in uris.items():
        hadoop = {key.format(name=name): value.format(name=name) for key, value in HA.items()}
        extra = {"uri": uri, "hadoop": hadoop if uri.count(":") == 1 else {}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_HDFS", json.dumps({"conn_type": "hdfs", "extra": extra}))
        thrift = {"host": f"{name}-metastore", "port": 9083}
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_METASTORE", json.dumps(thrift))
    policies = PolicyFiles(directory)
    return policies.wiring(policies.add("sales"))


def test_a_source_and_a_replica_with_nameservices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ports = wiring(tmp_path / "c", monkeypatch, east="hdfs://east", west="hdfs://west").write_ports()
    assert isinstance(ports.source, OneNamedMetastore)
    assert isinstance(unproved(ports.replica), OneNamedMetastore)


def test_nothing_is_put_in_between_where_there_is_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ports = wiring(tmp_path / "c", monkeypatch, east="hdfs://nn:9000", west="hdfs://nn.west:9000").write_ports()
    assert isinstance(ports.source, ThriftMetastore)
    assert isinstance(unproved(ports.replica), ThriftMetastore)
