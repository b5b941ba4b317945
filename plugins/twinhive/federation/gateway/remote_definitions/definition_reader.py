"""Read the remotes that are defined in a metastore, in few calls and in bytes: no bindings are loaded for them."""

from collections.abc import Iterator
from struct import Struct as Packing
from typing import Final

from twinhive.core.model.errors import Missing, Unexplained
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.federation.gateway.remote_definitions.blocking_metastore import BlockingMetastore
from twinhive.federation.gateway.request_names import DEFAULT_CATALOG
from twinhive.federation.gateway.struct_edits import elements_at, entries_at, place_of, text_at, texts_at
from twinhive.hive.events.event_types import EventType
from twinhive.hive.wire.method_table import I16, I32, I64
from twinhive.hive.wire.thrift_message import STOP, WireMessage, call, struct_field, text_field, texts_field

_MOST_EVENTS: Final = 300
_TABLES_A_CALL: Final = 100
_VIEW: Final = "VIRTUAL_VIEW"
_DEFINE_NOTHING: Final = (
    *(EventType.ADD_PARTITION, EventType.ALTER_PARTITION, EventType.ALTER_PARTITIONS, EventType.DROP_PARTITION),
    *(EventType.INSERT, EventType.CREATE_FUNCTION, EventType.DROP_FUNCTION, EventType.RELOAD),
    *(EventType.OPEN_TXN, EventType.COMMIT_TXN, EventType.ABORT_TXN, EventType.ALLOC_WRITE_ID_EVENT),
    *(EventType.COMMIT_COMPACTION_EVENT, EventType.ACID_WRITE_EVENT, EventType.BATCH_ACID_WRITE_EVENT),
    *(EventType.UPDATE_TABLE_STATISTICS, EventType.UPDATE_PARTITION_STATISTICS, EventType.UPDATE_MANY_STATISTICS),
    *(EventType.DELETE_TABLE_STATISTICS, EventType.DELETE_PARTITION_STATISTICS),
)
"""Events of what is written all the time; the metastore leaves them out."""
_FIELD: Final = Packing("!bh")
_INT: Final = Packing("!i")
_FORMATS: Final = {I16: Packing("!h"), I32: _INT, I64: Packing("!q")}


class WireDefinitionReader:
    """Read one metastore; used by one thread at a time."""

    def __init__(self, metastore: BlockingMetastore) -> None:
        self._metastore = metastore

    def log_id(self) -> str:
        """Return the identity of the metastore's database. Raises Unreachable, Unexplained."""
        return text_at(self._asked("reading the metastore's id", "get_metastore_db_uuid"), (0,)) or ""

    def newest_event(self) -> int | None:
        """Return the id of the newest event of the log; None for one that holds none, or that we may not read."""
        try:
            answer = self._asked("reading the newest event", "get_current_notificationEventId")
        except Unexplained:
            return None
        place = place_of(answer, (0, 1))
        return None if place is None else int.from_bytes(answer.raw[place.begin : place.end], "big") or None

    def databases_changed_after(self, event_id: int) -> frozenset[str] | None:
        """Return the databases, in lower case, whose later events may define something; None for too many events."""
        body = _number(I64, 1, event_id) + _number(I32, 2, _MOST_EVENTS) + texts_field(3, _DEFINE_NOTHING) + STOP
        answer = self._asked("reading what was defined", "get_next_notification", struct_field(1, body))
        events = _structs(answer, (0, 1))
        if len(events) >= _MOST_EVENTS:
            return None
        return frozenset(name.lower() for one in events if (name := text_at(one, (4,))))

    def database_names(self) -> frozenset[str]:
        """Return the names of all databases, in lower case."""
        names = texts_at(self._asked("listing databases", "get_all_databases"), (0,)) or ()
        return frozenset(name.lower() for name in names)

    def database(self, name: str) -> Database | None:
        """Return one database, None where there is none of this name."""
        body = struct_field(1, text_field(1, name) + text_field(2, DEFAULT_CATALOG) + STOP)
        try:
            answer = self._asked(f"reading database {name}", "get_database_req", body)
        except Missing:
            return None
        return _database(next(_within(answer, (0,))))

    def all_databases(self) -> list[Database]:
        """Return all databases, in one call."""
        body = struct_field(1, text_field(1, DEFAULT_CATALOG) + STOP)
        answer = self._asked("reading all databases", "get_databases_req", body)
        return [_database(one) for one in _structs(answer, (0, 1))]

    def views_with(self, parameter: str) -> list[Table]:
        """Return the views of all databases that have a parameter; its key holds no dot."""
        body = text_field(1, "*") + text_field(2, "*") + texts_field(3, (_VIEW,))
        answer = self._asked("listing views", "get_table_meta", body)
        databases = {name for one in _structs(answer, (0,)) if (name := text_at(one, (1,)))}
        return [view for database in sorted(databases) for view in self.views_of(database, parameter)]

    def views_of(self, database: str, parameter: str) -> list[Table]:
        """Return the views of one database that have a parameter; its key holds no dot."""
        text = f'hive_filter_field_params__{parameter} like ".*"'
        body = text_field(1, database) + text_field(2, text) + _number(I16, 3, -1)
        names = texts_at(self._asked(f"finding views of {database}", "get_table_names_by_filter", body), (0,)) or ()
        found: list[Table] = []
        for at in range(0, len(names), _TABLES_A_CALL):
            page = names[at : at + _TABLES_A_CALL]
            body = struct_field(1, text_field(1, database) + texts_field(2, page) + STOP)
            answer = self._asked(f"reading views of {database}", "get_table_objects_by_name_req", body)
            found += [_table(one) for one in _structs(answer, (0, 1))]
        return found

    def connectors(self) -> dict[str, DataConnector]:
        """Return all data connectors, by their names in lower case."""
        names = texts_at(self._asked("listing connectors", "get_dataconnectors"), (0,)) or ()
        found = (self.connector(name) for name in names)
        return {one.name.lower(): one for one in found if one is not None}

    def connector(self, name: str) -> DataConnector | None:
        """Return one data connector, None where there is none of this name."""
        body = struct_field(1, text_field(1, name) + STOP)
        try:
            answer = self._asked(f"reading connector {name}", "get_dataconnector_req", body)
        except Missing:
            return None
        one = next(_within(answer, (0,)))
        return DataConnector(
            text_at(one, (1,)) or name,
            text_at(one, (2,)) or "",
            text_at(one, (3,)) or "",
            entries_at(one, (5,)),
            text_at(one, (4,)),
        )

    def _asked(self, doing: str, method: str, arguments: bytes = b"") -> WireMessage:
        return self._metastore.ask(doing, call(method, 0, arguments + STOP))


def _database(one: WireMessage) -> Database:
    name, location = text_at(one, (1,)) or "", text_at(one, (3,))
    return Database(name, location, None, entries_at(one, (4,)), "", connector=text_at(one, (12,)))


def _table(one: WireMessage) -> Table:
    name = TableName(text_at(one, (2,)) or "", text_at(one, (1,)) or "")
    return Table(name, text_at(one, (12,)) or "", None, (), (), entries_at(one, (9,)), "")


def _structs(answer: WireMessage, path: tuple[int, ...]) -> list[WireMessage]:
    return [WireMessage(answer.head, raw, 0) for raw in elements_at(answer, path)]


def _within(answer: WireMessage, path: tuple[int, ...]) -> Iterator[WireMessage]:
    place = place_of(answer, path)
    if place is not None:
        yield WireMessage(answer.head, answer.raw[place.begin : place.end], 0)


def _number(code: int, number: int, value: int) -> bytes:
    return _FIELD.pack(code, number) + _FORMATS[code].pack(value)
