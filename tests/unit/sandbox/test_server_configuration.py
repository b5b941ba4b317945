"""The configuration: what must be in it for the clusters to work together."""

import xml.etree.ElementTree as ET
from pathlib import Path

from sandbox.box import Sandbox
from sandbox.configuration import Database, hadoop_client, hdfs_server, metastore, render_xml, with_twins
from sandbox.ports import PortBlock

BLOCK = PortBlock(21000)
DATABASE = Database(21000, "metastore_east", "user", "secret")


def test_a_client_reaches_both_clusters_by_logical_names():
    properties = hadoop_client("west", BLOCK)
    assert properties["fs.defaultFS"] == "hdfs://west"
    assert properties["dfs.nameservices"] == "east,west,north"
    assert properties["dfs.namenode.rpc-address.east.nn1"] == "127.0.0.1:21001"
    assert properties["dfs.namenode.rpc-address.west.nn1"] == "127.0.0.1:21011"


def test_hdfs_servers_know_no_logical_names(tmp_path):
    assert not [key for key in hdfs_server(BLOCK.cluster("east"), tmp_path) if "nameservices" in key]


def test_nothing_a_metastore_stores_holds_a_port():
    properties = metastore("east", 21009, DATABASE)
    addresses = [value for value in properties.values() if value.startswith("hdfs:")]
    assert addresses
    assert all(address.startswith("hdfs://east/") for address in addresses)


def test_an_override_counts_for_every_spelling_of_its_key():
    base = metastore("east", 21009, DATABASE)
    overridden = with_twins({"metastore.metadata.transformer.class": "X", "hive.repl.cm.enabled": "false"}, base)
    assert overridden == {
        "metastore.metadata.transformer.class": "X",
        "hive.metastore.metadata.transformer.class": "X",
        "hive.repl.cm.enabled": "false",
        "metastore.repl.cm.enabled": "false",
    }


def test_an_override_of_an_unknown_key_stands_alone():
    assert with_twins({"metastore.new": "1"}, {}) == {"metastore.new": "1"}


def test_xml_keeps_a_blank_value_and_escapes_markup():
    root = ET.fromstring(render_xml({"blank": " ", "markup": "<a&b>"}))
    found = {entry.findtext("name"): entry.findtext("value") for entry in root.iter("property")}
    assert found == {"blank": " ", "markup": "<a&b>"}


def test_classes_are_found_in_jars_only_as_long_as_an_archive_may_hold_them(tmp_path):
    servers = Sandbox("archived", tmp_path / "state", tmp_path / "cache").servers
    for name in ("east-namenode", "east-datanode", "east-metastore"):
        launch = servers[name].launch()
        path = launch.environment["CLASSPATH"].split(":")
        directories = [entry for entry in path if not entry.endswith(".jar")]
        assert directories, path
        assert path[-len(directories) :] == directories
        [archive] = [flag for flag in launch.command if flag.startswith("-XX:SharedArchiveFile=")]
        assert archive.startswith(f"-XX:SharedArchiveFile={tmp_path}/cache/")


def test_one_cluster_writes_archives_of_classes_and_the_other_uses_those_that_are_there(tmp_path):
    servers = Sandbox("archived", tmp_path / "state", tmp_path / "cache").servers
    east, west = servers["east-namenode"], servers["west-namenode"]
    [used] = [flag for flag in east.launch().command if flag.startswith("-XX:SharedArchiveFile=")]
    assert "-XX:+AutoCreateSharedArchive" in east.launch().command
    assert used not in west.launch().command
    archive = Path(used.partition("=")[2])
    archive.parent.mkdir(parents=True)
    archive.touch()
    assert used in west.launch().command
    assert "-XX:+AutoCreateSharedArchive" not in west.launch().command
