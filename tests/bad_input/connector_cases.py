"""What a remote's definition may hold that no connector takes."""

from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from unittest import mock

from twinhive.federation.connectors import registry
from twinhive.federation.connectors.catalog_connections import AnsweringConnector
from twinhive.federation.connectors.connector_context import ConnectorContext
from twinhive.federation.connectors.glue import ENDPOINT, PROFILE, GlueConnector
from twinhive.federation.connectors.iceberg import NAME, PATH, URI, IcebergConnector
from twinhive.federation.connectors.registry import Connectors
from twinhive.federation.connectors.ssh_route import KEYS, KNOWN_HOSTS, ROUTE, STRICT, TIMEOUT, route_of
from twinhive.federation.connectors.thrift import ThriftConnector

ConnectorCase = tuple[str, Callable[[object], object], str]


def connectors() -> Connectors:
    return Connectors(ConnectorContext(Path, mock.Mock()))


def _own(value: str) -> object:
    """Ask for a class that an installed package offers."""
    point = EntryPoint("own", value, registry.ENTRY_POINTS)
    with mock.patch.object(registry, "offered", lambda: [point]):
        return connectors().of("own")


def _ssh(key: str, value: str) -> object:
    """Ask for a tunnel of which one property is wrong."""
    right = {ROUTE: "ann@a", KEYS: "ann.pem", KNOWN_HOSTS: "known_hosts"}
    return route_of({**right, key: value}, 1)


def _iceberg(properties: dict[str, str]) -> object:
    return IcebergConnector(mock.Mock()).catalog(properties)


def _odd_place() -> object:
    odd = mock.Mock()
    odd.place.side_effect = KeyError("folder")
    return AnsweringConnector(odd).place({})


CONNECTOR_CASES: tuple[ConnectorCase, ...] = (
    ("connector: none of that name", lambda _: connectors().of("no.such.Factory"), "VIA names no connector"),
    ("connector: a class that is none", lambda _: _own("decimal:Decimal"), "is no connector"),
    ("connector: a module that is not there", lambda _: _own("not_there:Class"), "could not be loaded"),
    ("thrift: no address", lambda _: ThriftConnector().place({}), "names no metastore"),
    (
        "thrift: an address of something else",
        lambda _: ThriftConnector().place({"hive.metastore.uris": "thrift://a:9083,http://b"}),
        "cannot be read",
    ),
    (
        "glue: an endpoint that is none",
        lambda _: GlueConnector().place({ENDPOINT: "glue"}),
        f"{ENDPOINT} cannot be read",
    ),
    ("glue: no such profile", lambda _: GlueConnector().catalog({PROFILE: "nobody's"}), "AWS cannot be asked"),
    ("connector: one that cannot read properties", lambda _: _odd_place(), "cannot read its properties"),
    ("iceberg: nothing", lambda _: _iceberg({}), "no Iceberg table or catalog"),
    ("iceberg: a secret", lambda _: _iceberg({URI: "http://a", "iceberg.catalog.token": "t"}), "more of an Iceberg"),
    ("iceberg: no path", lambda _: _iceberg({PATH: "s3://b/../c"}), f"{PATH} cannot be read"),
    ("iceberg: an unknown catalog", lambda _: _iceberg({NAME: "no such"}), "cannot be used"),
    ("ssh: no known hosts", lambda _: _ssh(KNOWN_HOSTS, ""), f"has no {KNOWN_HOSTS}"),
    ("ssh: hosts that are not looked at", lambda _: _ssh(STRICT, "no"), "is not opened"),
    ("ssh: a route that is none", lambda _: _ssh(ROUTE, "ann@a -> b"), f"{ROUTE} cannot be read"),
    ("ssh: fewer keys than hops", lambda _: _ssh(ROUTE, "ann@a -> bob@b"), "not one key for each hop"),
    ("ssh: a time that is none", lambda _: _ssh(TIMEOUT, "soon"), f"{TIMEOUT} cannot be read"),
)
