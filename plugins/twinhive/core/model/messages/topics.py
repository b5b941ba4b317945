"""Name the topic of a table or of a database, so that every broker can have it."""

import re
from dataclasses import dataclass
from hashlib import sha256

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters

OWN_TOPIC = "hcat.msgbus.topic.name"
"""HCatalog's property by which a table names its topic."""
DEFAULT_TOPIC = "twinhive.{cluster}.{database}.{table}"
DEFAULT_TABLE_TOPICS = r"twinhive\..+"
LONGEST = 249
"""Kafka's limit, in characters of its topics: letters, digits, dot, underscore and dash."""
_ALLOWED = re.compile(r"[A-Za-z0-9._-]{1,249}")
_STAYS = re.compile(r"[A-Za-z0-9_]")


@dataclass(frozen=True)
class TopicRules:
    """How the topics of a cluster are named.

    template      with `{cluster}`, `{database}` and `{table}`
    table_topics  a regular expression for the whole of what a table's own property may name: who may alter a table
                  cannot speak on any topic of the broker
    """

    cluster: str
    template: str = DEFAULT_TOPIC
    table_topics: str = DEFAULT_TABLE_TOPICS

    def topic_of(self, table: TableName, own: str | None = None) -> str:
        """Return the topic of a table; what its property names counts where it is allowed."""
        if own is not None and self.allows(own):
            return own
        return _short(
            self.template.format(
                cluster=escaped(self.cluster), database=escaped(table.database), table=escaped(table.table)
            )
        )

    def subscribed(self, database: str, table: str | None = None) -> str:
        """Return what to subscribe to for a table's topic, or for all topics of a database: it and what is below.

        It may be a topic of other databases too, where the pattern has no `.` between the two; '' where nothing is
        above all tables.
        """
        if table is not None:
            return self.topic_of(TableName(database, table))
        before, found, _ = self.template.partition("{table}")
        if found:
            before, _, _ = before.rpartition(".")
        return before.format(cluster=escaped(self.cluster), database=escaped(database)).rstrip(".")

    def of_database(self, database: str) -> str:
        """Return what to subscribe to for a database. Raises InvalidSettings where nothing is above all its tables."""
        if topic := self.subscribed(database):
            return topic
        raise InvalidSettings(
            f"no topic is above those of all tables of {database}",
            found=f"the pattern {self.template} (messages.topic of cluster {self.cluster})",
            expected="one with a '.' before {table}: that is what is subscribed to",
            next_step="name a table, or correct messages.topic in clusters.yaml",
        )

    def allows(self, own: str) -> bool:
        """True for a topic that a table's property may name."""
        return _ALLOWED.fullmatch(own) is not None and re.fullmatch(self.table_topics, own) is not None


def own_topic(parameters: Parameters) -> str | None:
    """Return the topic that a table's properties name."""
    return parameters.get(OWN_TOPIC)


def escaped(name: str) -> str:
    """Write a name so that it is one part of a topic on every broker: `-` and two hex digits for each other byte."""
    return "".join(
        char if _STAYS.fullmatch(char) else "".join(f"-{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in name
    )


def _short(topic: str) -> str:
    if len(topic) <= LONGEST:
        return topic
    return f"{topic[: LONGEST - 33]}-{sha256(topic.encode()).hexdigest()[:32]}"
