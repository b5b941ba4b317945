"""Where a server is and who we are there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from twinhive.core.model.file_system_names import OneFileSystem, other_names


@dataclass(frozen=True)
class FileSystemEndpoint:
    """A file system: scheme and authority, Hadoop properties, the user we are there; what else it is called, besides
    what the properties tell.
    """

    root: str
    properties: Mapping[str, str]
    user: str | None
    also: tuple[str, ...] = field(default=(), kw_only=True)

    @cached_property
    def by_one_name(self) -> OneFileSystem:
        """The file system with all that it is called; its root is the one name."""
        return OneFileSystem(self.root, other_names(self.root, self.properties, self.also))


@dataclass(frozen=True)
class MetastoreEndpoint:
    """A metastore: its addresses, seconds to wait for one call, the user we are there; if known, its cluster and the
    file system of that.
    """

    addresses: tuple[tuple[str, int], ...]
    timeout_seconds: int
    user: str | None
    cluster: str = ""
    file_system: str = ""


@dataclass(frozen=True)
class BrokerEndpoint:
    """A message broker: its name for people, how it is spoken to, its addresses, and who we are there.

    properties  what else the client of a Kafka broker is told, by librdkafka's names
    """

    name: str
    scheme: str
    addresses: tuple[tuple[str, int], ...]
    user: str | None
    password: str | None = field(default=None, repr=False)
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(f'{host}:{port}' for host, port in self.addresses)})"
