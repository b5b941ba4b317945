"""YARN: loopback, its own ports, and containers that are told what a client is told."""

import re

from sandbox.fleet import DEFAULT_SERVERS, build_servers
from sandbox.hadoop.yarn_configuration import CONTAINER_MEGABYTES, CONTAINERS, mapreduce_client, yarn_server
from sandbox.layout import Layout, new_record
from sandbox.ports import PortBlock
from sandbox.running.starting import with_dependencies

BLOCK = PortBlock(21000)


def test_every_address_is_on_the_loopback_interface_and_in_the_block(tmp_path):
    properties = yarn_server(BLOCK.yarn, tmp_path)
    addresses = [value for key, value in properties.items() if key.endswith("address")]
    assert len(addresses) > 10
    for address in addresses:
        host, port = address.split(":")
        assert host == "127.0.0.1"
        assert int(port) in BLOCK.all
    assert {properties[key] for key in properties if key.endswith(("bind-host", "hostname"))} == {"127.0.0.1"}


def test_all_maps_fit_beside_the_master(tmp_path):
    client = mapreduce_client(BLOCK.yarn, "classes", ["-XX:+UseSerialGC"])
    memory = int(yarn_server(BLOCK.yarn, tmp_path)["yarn.nodemanager.resource.memory-mb"])
    assert memory >= CONTAINERS * CONTAINER_MEGABYTES + int(client["yarn.app.mapreduce.am.resource.mb"])


def test_containers_get_the_flags_and_a_heap_that_fits_into_their_memory():
    client = mapreduce_client(BLOCK.yarn, "classes", ["-XX:+UseSerialGC"])
    options = client["mapreduce.map.java.opts"]
    assert "-XX:+UseSerialGC" in options
    assert int(re.search(r"-Xmx(\d+)m", options)[1]) < int(client["mapreduce.map.memory.mb"])


def test_a_client_and_the_servers_agree_on_addresses(tmp_path):
    client, server = mapreduce_client(BLOCK.yarn, "classes", []), yarn_server(BLOCK.yarn, tmp_path)
    shared = client.keys() & server.keys()
    assert "mapreduce.jobhistory.address" in shared
    assert all(client[key] == server[key] for key in shared)


def test_yarn_starts_only_when_named_and_then_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINHIVE_SANDBOX_PORT_BASE", "21000")
    servers = build_servers(Layout(tmp_path), new_record("x", tmp_path, 21000), tmp_path, tmp_path)
    assert not [name for name in DEFAULT_SERVERS if name.startswith("yarn")]
    started = with_dependencies(["yarn-nodemanager"], servers)
    assert {"yarn-resourcemanager", "yarn-jobhistory", "yarn-nodemanager"} <= set(started)
    assert started[-1] == "yarn-nodemanager"
