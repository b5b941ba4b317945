"""Say what has happened to a table as a message that Hive's own deserializer reads (seed 003, D1 and D2)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from twinhive.core.model.names import TableName

EVENT, VERSION, FORMAT, ID = "HCAT_EVENT", "HCAT_MESSAGE_VERSION", "HCAT_MESSAGE_FORMAT", "twinhive_id"
"""Names of headers, the first three HCatalog's. None has a dot or a dash: selectors of JMS could not name them."""


class AnnouncementKind(StrEnum):
    """What a message is about, as its header `HCAT_EVENT` says it."""

    PARTITION = "ADD_PARTITION"
    """A partition was added."""
    SET_DONE = "SET_DONE"
    """A set of partitions is done; once more for each further mark."""
    SET_OPEN = "SET_OPEN"
    """A set is not done any more: it was unmarked, or its mark has expired."""
    GAP = "GAP"
    """Something may have happened that nobody was told: look at the store."""


@dataclass(frozen=True)
class TableMessage:
    """A text with headers, on a topic."""

    topic: str
    headers: Mapping[str, str]
    body: str

    @property
    def id(self) -> str:
        """What tells a message that is sent again from a new one."""
        return self.headers.get(ID, "")

    @property
    def kind(self) -> str:
        """What it is about; '' for a message of somebody else."""
        return self.headers.get(EVENT, "")


@dataclass(frozen=True)
class Origin:
    """The metastore that messages come from.

    cluster  its name in clusters.yaml
    server   `thrift://host:port`
    log_id   the identity of its notification log
    """

    cluster: str
    server: str
    log_id: str


@dataclass(frozen=True)
class Announcement:
    """One thing to be told about a table.

    at      the events that it stands for: an event's id, of a gap `<first>-<last>`
    number  its place among all that these events tell, so that the two name it for ever
    time    Unix seconds, 0 where no event says it
    said    what else its body has
    own_topic  the topic that the table's property names
    """

    kind: AnnouncementKind
    table: TableName
    at: str
    number: int
    time: int = 0
    said: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    own_topic: str | None = None

    def message(self, origin: Origin, topic: str) -> TableMessage:
        """Return it as HCatalog writes such a message (version v1, JSON), with fields of ours behind its own."""
        # With the time: a restored metastore gives the same ids to other events, which are no repetitions.
        id_ = f"{origin.log_id}:{self.at}:{self.time}:{self.number}"
        body = {
            "server": origin.server,
            "servicePrincipal": "",
            "db": self.table.database,
            "table": self.table.table,
            "timestamp": self.time,
            "id": id_,
            "cluster": origin.cluster,
            "event": self.kind.value,
            **self.said,
        }
        headers = {EVENT: self.kind.value, VERSION: "v1", FORMAT: "json", ID: id_}
        return TableMessage(topic, headers, json.dumps(body))
