"""deploy/conf: current, and equal to what the sandbox's servers, and so all tests, run with."""

import xml.etree.ElementTree as ET

import pytest

from deploy import settings
from deploy.render import DIRECTORY, rendered
from sandbox import configuration
from sandbox.configuration import CLUSTERS, Database, Properties
from sandbox.ports import PortBlock
from tests.support.compose_file import services

BLOCK = PortBlock(21000)
# What may differ, and why.
ADDRESSES = {
    *("fs.defaultFS", "dfs.namenode.rpc-address", "dfs.namenode.rpc-bind-host", "dfs.namenode.http-address"),
    *("dfs.namenode.http-bind-host", "dfs.datanode.address", "dfs.datanode.ipc.address", "dfs.datanode.http.address"),
    *("dfs.datanode.hostname", "metastore.thrift.bind.host", "metastore.thrift.port"),
    *(f"dfs.namenode.rpc-address.{cluster}.nn1" for cluster in CLUSTERS),
}
PLACES = {"hadoop.tmp.dir", "dfs.namenode.name.dir", "dfs.datanode.data.dir"}
DATABASE = {f"javax.jdo.option.Connection{key}" for key in ("URL", "UserName", "Password")}
SAFER = {"dfs.namenode.edits.noeditlogchannelflush"}


def read(name: str) -> Properties:
    root = ET.parse(DIRECTORY / name).getroot()
    return {entry.findtext("name", ""): entry.findtext("value", "") for entry in root.iter("property")}


def test_the_files_are_current():
    found = {str(path.relative_to(DIRECTORY)): path.read_text() for path in DIRECTORY.rglob("*") if path.is_file()}
    assert found == rendered(), "run: python -m deploy.render"


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_hdfs_runs_with_the_sandboxs_keys_and_values(cluster: str, tmp_path):
    ours = read(f"{cluster}/hdfs/core-site.xml") | read(f"{cluster}/hdfs/hdfs-site.xml")
    theirs = configuration.hdfs_server(BLOCK.cluster(cluster), tmp_path)
    assert ours.keys() == theirs.keys()
    assert {key for key in ours if ours[key] != theirs[key]} <= ADDRESSES | PLACES | SAFER


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_metastore_runs_with_the_sandboxs_keys_and_values(cluster: str):
    ours = read(f"{cluster}/metastore/metastore-site.xml")
    port = BLOCK.cluster(cluster).metastore
    theirs = configuration.metastore(cluster, port, Database(BLOCK.postgres, f"metastore_{cluster}", "user", "secret"))
    assert ours.keys() == theirs.keys()
    assert {key for key in ours if ours[key] != theirs[key]} <= ADDRESSES | DATABASE


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_metastores_hadoop_is_configured_as_the_sandboxs(cluster: str):
    ours = read(f"{cluster}/metastore/core-site.xml") | read(f"{cluster}/metastore/hdfs-site.xml")
    theirs = configuration.hadoop_client(cluster, BLOCK, CLUSTERS)
    assert ours.keys() == theirs.keys()
    assert {key for key in ours if ours[key] != theirs[key]} <= ADDRESSES


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_a_server_stores_lies_in_a_volume(cluster: str):
    stored = read(f"{cluster}/hdfs/core-site.xml") | read(f"{cluster}/hdfs/hdfs-site.xml")
    for key in PLACES:
        assert stored[key].removeprefix("file://").startswith(f"{settings.STORAGE}/")
    for role in ("namenode", "datanode"):
        volume = f"{cluster}-{role}:{settings.STORAGE}"
        assert volume in services()[f"{cluster}-{role}"]["volumes"]


def test_no_file_holds_a_password():
    for name, text in rendered().items():
        assert "ConnectionPassword" not in text or "<value>${env.METASTORE_DB_PASSWORD}</value>" in text, name


def test_a_value_that_the_sandbox_does_not_know_is_refused():
    with pytest.raises(KeyError, match="no_such_key"):
        settings._with({"no_such_key": "1"}, {"known": "2"})
