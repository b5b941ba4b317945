"""What a remote's definition may hold that no connector takes."""

from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from unittest import mock

from twinhive.connectors import registry
from twinhive.connectors.registry import ConnectorContext, Connectors
from twinhive.connectors.thrift import ThriftConnector

ConnectorCase = tuple[str, Callable[[object], object], str]


def connectors() -> Connectors:
    return Connectors(ConnectorContext(Path, mock.Mock()))


def _own(value: str) -> object:
    """Ask for a class that an installed package offers."""
    point = EntryPoint("own", value, registry.ENTRY_POINTS)
    with mock.patch.object(registry, "entry_points", lambda group: [point]):
        return connectors().of("own")


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
)
