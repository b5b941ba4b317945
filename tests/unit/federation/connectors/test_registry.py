"""Which connector a VIA means."""

import asyncio
from unittest import mock

import pytest

from tests.bad_input.connector_cases import connectors
from tests.support.servers.ssh_servers import echo_server
from twinhive.core.model.errors import InvalidSettings
from twinhive.federation.connector_api.byte_links import ByteLink, connected
from twinhive.federation.connectors import thrift
from twinhive.federation.connectors.registry import connector_name
from twinhive.federation.connectors.ssh import SshConnector
from twinhive.federation.connectors.thrift import ThriftConnector
from twinhive.federation.gateway.isolation import RemoteLimits


@pytest.mark.parametrize(
    ("via", "name"),
    [
        ("org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory", "thrift"),
        ("org.apache.hadoop.hive.metastore.SSHThriftHiveMetastoreClientFactory", "ssh"),
        ("com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory", "glue"),
        ("xxx.yyy.iceberg.hive.zzz.IcebergTableHiveClientFactory", "iceberg"),
        ("Thrift", "thrift"),
        (" iceberg ", "iceberg"),
    ],
)
def test_a_via_is_a_class_of_seed_004_or_a_short_name(via: str, name: str) -> None:
    assert connector_name(via) == name


def test_each_connector_is_made_once() -> None:
    there = connectors()

    assert isinstance(there.of("thrift"), ThriftConnector)
    assert isinstance(there.of("ssh"), SshConnector)
    assert there.of("thrift") is there.of("a.b.ThriftHiveMetastoreClientFactory")
    asyncio.run(there.close())


def test_classes_that_are_not_offered_are_not_loaded() -> None:
    with pytest.raises(InvalidSettings), mock.patch("importlib.import_module", side_effect=AssertionError):
        connectors().of("os:system")


def test_addresses_are_tried_in_turn() -> None:
    async def ask() -> None:
        async with echo_server() as port:
            uris = {"hive.metastore.uris": f"thrift://127.0.0.1:1, thrift://127.0.0.1:{port}"}
            link = await ThriftConnector().open(uris)
            link.write(b"hello")
            assert await link.read() == b"hello"
            link.close()
            with pytest.raises(ConnectionError, match=r"thrift://127\.0\.0\.1:1: .*; thrift://\[::1\]:1: "):
                await ThriftConnector().open({"hive.metastore.uris": "thrift://127.0.0.1:1,thrift://[::1]:1"})

    asyncio.run(ask())


def test_an_address_that_is_silent_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it within the time that a gateway waits for a connection."""
    tried = []

    async def connect(host: str, port: int) -> ByteLink:
        tried.append(host)
        if host == "silent":
            await asyncio.sleep(60)
        return await connected("127.0.0.1", port)

    monkeypatch.setattr(thrift, "connected", connect)

    async def ask() -> None:
        async with echo_server() as port:
            uris = {"hive.metastore.uris": f"thrift://silent:1,thrift://answers:{port}"}
            async with asyncio.timeout(RemoteLimits().connect):
                link = await connectors().of("thrift").open(uris)
            link.close()

    asyncio.run(ask())
    assert tried == ["silent", "answers"]


@pytest.mark.parametrize(
    "text",
    ["", ",", "host:9083", "thrift://", "thrift://a:b", "thrift://u@a", "thrift://a/p", "thrift://[a", "http://a"],
)
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(InvalidSettings):
        ThriftConnector().place({"hive.metastore.uris": text})


def test_the_place_of_a_metastore() -> None:
    place = ThriftConnector().place({"hive.metastore.uris": "thrift://a,thrift://b:1"})

    assert place.addresses == ("thrift://a:9083", "thrift://b:1")
