"""Which connector a definition's VIA means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from twinhive.connectors.answering import AnsweringConnector
from twinhive.connectors.glue import GlueConnector
from twinhive.connectors.ssh import SshConnector
from twinhive.connectors.thrift import ThriftConnector
from twinhive.model.errors import InvalidSettings
from twinhive.ports.catalogs import CatalogConnector, Connector
from twinhive.ports.files import FileReader

ENTRY_POINTS: Final = "twinhive.connectors"
THRIFT, SSH, GLUE, ICEBERG = "thrift", "ssh", "glue", "iceberg"

_CLASSES: Final[Mapping[str, str]] = {
    "ThriftHiveMetastoreClientFactory": THRIFT,
    "SSHThriftHiveMetastoreClientFactory": SSH,
    "AWSGlueDataCatalogHiveClientFactory": GLUE,
    "IcebergTableHiveClientFactory": ICEBERG,
}
"""Classes that people know from Hive's clients, by the last part of their names."""


@dataclass(frozen=True)
class ConnectorContext:
    """What connectors get from outside: files by the names that definitions use, and seconds for connecting.

    `file_of` makes a local path of a key file's name. `files_at` returns the reader of a path's file system.
    """

    file_of: Callable[[str], Path]
    files_at: Callable[[str], FileReader]
    connect_seconds: float = 2.0


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

    async def close(self) -> None:
        """Close what is shared."""
        for connector in self._made.values():
            await connector.close()

    def _make(self, name: str) -> Connector:
        make = self._builtin.get(name)
        made = make() if make is not None else _loaded(_entry_point(name))
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

    @cached_property
    def _builtin(self) -> Mapping[str, Callable[[], Connector | CatalogConnector]]:
        context = self.context
        return {
            THRIFT: lambda: ThriftConnector(context.connect_seconds),
            SSH: lambda: SshConnector(context.file_of),
            GLUE: lambda: GlueConnector(context.connect_seconds),
        }


def _entry_point(text: str) -> EntryPoint:
    """Find a class of one's own, by its name or by `package.module:Class`; only what is installed as one is taken."""
    there = entry_points(group=ENTRY_POINTS)
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
