"""Which connector a definition's VIA means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from twinhive.core.model.errors import InvalidSettings
from twinhive.federation.connector_api.catalogs import CatalogConnector, Connector, ConnectorPlace
from twinhive.federation.connectors.catalog_connections import AnsweringConnector, place_of
from twinhive.federation.connectors.connector_context import ConnectorContext

__all__ = ["ENTRY_POINTS", "ConnectorContext", "Connectors", "connector_name"]

ENTRY_POINTS: Final = "twinhive.connectors"
THRIFT, SSH, GLUE, ICEBERG = "thrift", "ssh", "glue", "iceberg"

_CLASSES: Final[Mapping[str, str]] = {
    "ThriftHiveMetastoreClientFactory": THRIFT,
    "SSHThriftHiveMetastoreClientFactory": SSH,
    "AWSGlueDataCatalogHiveClientFactory": GLUE,
    "IcebergTableHiveClientFactory": ICEBERG,
}
"""Classes that people know from Hive's clients, by the last part of their names."""


def connector_name(via: str) -> str:
    """Return the short name of what a VIA means. Raises InvalidSettings where nothing has that name."""
    last = via.strip().rpartition(".")[2]
    if last in _CLASSES:
        return _CLASSES[last]
    if via.strip().lower() in _CLASSES.values():
        return via.strip().lower()
    return _entry_point(via.strip()).name


@dataclass(frozen=True)
class Connectors:
    """All connectors of a process, each made when it is first asked for."""

    context: ConnectorContext
    _made: dict[str, Connector] = field(default_factory=dict, init=False)

    def of(self, via: str) -> Connector:
        """Return the connector that a VIA means; a catalog's answers as a metastore would. Raises InvalidSettings."""
        name = connector_name(via)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def place(self, via: str, properties: Mapping[str, str]) -> ConnectorPlace:
        """Say where a definition leads. Raises InvalidSettings, and nothing else."""
        return place_of(self.of(via), properties)

    async def close(self) -> None:
        """Close what is shared."""
        for connector in self._made.values():
            await connector.close()

    def _make(self, name: str) -> Connector:
        made = self._builtin(name) if name in _CLASSES.values() else _loaded(_entry_point(name))
        if isinstance(made, Connector):
            return made
        if isinstance(made, CatalogConnector):
            return AnsweringConnector(made)
        raise InvalidSettings(
            f"connector {name} cannot be used: its class is no connector",
            found=type(made).__qualname__,
            expected="methods place, open and close, or place and catalog",
            next_step="write it as docs/connectors.md says",
        )

    def _builtin(self, name: str) -> Any:
        """Import one of ours when it is needed: each brings libraries that take memory."""
        return import_module(f"twinhive.federation.connectors.{name}").connector(self.context)


@cache
def offered() -> tuple[EntryPoint, ...]:
    """List the classes that installed packages offer; looked for once in a process."""
    return tuple(entry_points(group=ENTRY_POINTS))


def _entry_point(text: str) -> EntryPoint:
    """Find a class of one's own, by its name or by `package.module:Class`; only what is installed as one is taken."""
    there = offered()
    found = next((one for one in there if text in (one.name, one.value)), None)
    if found is None:
        known = [*sorted(set(_CLASSES.values())), *sorted({one.name for one in there})]
        raise InvalidSettings(
            "VIA names no connector",
            found=text,
            expected=", ".join(known),
            next_step="correct VIA, or install the package of a connector of your own (docs/connectors.md)",
        )
    return found


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()()
    except Exception as error:
        raise InvalidSettings(
            f"connector {point.name} cannot be used: {point.value} could not be loaded",
            found=f"{type(error).__name__}: {error}",
            expected="a class that is made without arguments",
            next_step="correct the package that has it",
        ) from error
