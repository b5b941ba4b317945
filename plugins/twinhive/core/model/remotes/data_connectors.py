"""Hive 4's data connectors: an address with a name, which databases of type REMOTE are reached by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

TYPE: Final = "twinhive"
"""Of connectors that a gateway reaches; those of other types are Hive's own business."""
REMOTE_NAME: Final = "connector.remoteDbName"
"""How Hive calls the remote's database, in a database's parameters."""


@dataclass(frozen=True)
class DataConnector:
    """A data connector, as the local metastore keeps it."""

    name: str
    kind: str
    url: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @property
    def is_ours(self) -> bool:
        """True for one that a gateway reaches."""
        return self.kind.strip().lower() == TYPE

    @property
    def told(self) -> dict[str, str]:
        """Return the properties that its URL and its parameters stand for."""
        at = {"hive.metastore.uris": self.url} if self.url else {}
        return {**at, **self.parameters}
