"""Make messages of announcements: on which topic, from which metastore."""

import logging
from collections.abc import Iterator, Sequence

from twinhive.core.model.errors import UnreadableObject
from twinhive.core.model.messages.hive_message import Announcement, AnnouncementKind, Origin, TableMessage
from twinhive.core.model.messages.topics import TopicRules, own_topic
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.sets.own_tables import OWN_TABLES
from twinhive.core.ports import MetastoreReader
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases

_TABLES_PER_CALL = 500
_LOG = logging.getLogger(__name__)


class TopicsOfTables:
    """Know the topics of a metastore's tables; what was read is forgotten with each round."""

    def __init__(self, metastore: MetastoreReader, rules: TopicRules, databases: AnnouncedDatabases) -> None:
        self._metastore, self._rules, self._databases = metastore, rules, databases
        self._own: dict[TableName, str | None] = {}
        self._origin: Origin | None = None

    def forget(self) -> None:
        """Read properties of tables, and the metastore's identity, anew."""
        self._own.clear()
        self._origin = None

    def message(self, announcement: Announcement) -> TableMessage:
        """Return the message for an announcement, on the topic of its table."""
        own = announcement.own_topic
        if announcement.kind in (AnnouncementKind.SET_DONE, AnnouncementKind.SET_OPEN):
            own = self._own_topic(announcement.table)
        return announcement.message(self._where(), self._rules.topic_of(announcement.table, own))

    def tables_of(self, database: str) -> Iterator[tuple[TableName, str | None]]:
        """Yield the tables of a database, of those that share a topic the first, each with the topic that it names."""
        seen = set()
        names = [name for name in self._metastore.table_names(database) if name not in OWN_TABLES]
        for at in range(0, len(names), _TABLES_PER_CALL):
            for table in self._readable(database, names[at : at + _TABLES_PER_CALL]):
                own = own_topic(table.parameters)
                topic = self._rules.topic_of(table.name, own)
                if topic not in seen:
                    seen.add(topic)
                    yield table.name, own

    def _readable(self, database: str, names: Sequence[str]) -> Iterator[Table]:
        """Yield the tables that can be read: of the others nobody knows the topic."""
        try:
            yield from self._metastore.tables(database, names)
        except UnreadableObject as problem:
            if len(names) == 1:
                _LOG.warning("not told of: %s", problem.words.what)
                return
            for name in names:
                yield from self._readable(database, [name])

    def every_table(self) -> Iterator[tuple[TableName, str | None]]:
        """Yield the tables of all databases that are told of."""
        for database in self._metastore.database_names():
            if database in self._databases:
                yield from self.tables_of(database)

    def _own_topic(self, name: TableName) -> str | None:
        if name not in self._own:
            self._own[name] = self._read_topic(name)
        return self._own[name]

    def _read_topic(self, name: TableName) -> str | None:
        """Return the topic that a table names; for one that cannot be read, nobody knows it, the usual one counts."""
        try:
            table = self._metastore.table(name)
        except UnreadableObject as problem:
            _LOG.warning("told on the usual topic, whatever the table says: %s", problem.words.what)
            return None
        return None if table is None else own_topic(table.parameters)

    def _where(self) -> Origin:
        if self._origin is None:
            server = f"thrift://{self._metastore.addresses()[0]}"
            self._origin = Origin(self._rules.cluster, server, self._metastore.log_id())
        return self._origin
