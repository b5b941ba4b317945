"""Read the remotes that are defined in a metastore, in few calls, and keep new ones there."""

from collections.abc import Callable, Sequence
from typing import Any

from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBase import TBase
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException, TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer
from thrift.TRecursive import fix_spec

from twinhive.adapters.hive.hive_reader import CATALOG, ThriftMetastoreReader
from twinhive.adapters.hive.thrift_connection import Request
from twinhive.adapters.hive.thrift_json import tree_of
from twinhive.model import thrift_objects as objects
from twinhive.model.errors import Missing, Refused
from twinhive.model.names import TableName
from twinhive.model.objects import Database, Parameters, Table
from twinhive.model.remotes.data_connectors import DataConnector

_METHOD = "get_databases_req"
"""Of Hive 4.1; the bindings do not know it, nor those that make and drop a data connector."""
_ALL = -1
_MOST_EVENTS = 300
_DEFINE_NOTHING = (
    *("ADD_PARTITION", "ALTER_PARTITION", "ALTER_PARTITIONS", "DROP_PARTITION", "INSERT", "RELOAD"),
    *("OPEN_TXN", "COMMIT_TXN", "ABORT_TXN", "ALLOC_WRITE_ID", "ACID_WRITE", "BATCH_ACID_WRITE", "COMMIT_COMPACTION"),
    *("UPDATE_TABLE_COLUMN_STAT", "UPDATE_PARTITION_COLUMN_STAT", "UPDATE_PARTITION_COLUMN_STAT_BATCH"),
    *("DELETE_TABLE_COLUMN_STAT", "DELETE_PARTITION_COLUMN_STAT", "CREATE_FUNCTION", "DROP_FUNCTION"),
)
"""Events of what is written all the time; the metastore leaves them out."""
Columns = Sequence[tuple[str, str]]
"""Names and types."""


class ThriftRemoteReader:
    """Read one metastore."""

    def __init__(self, metastore: ThriftMetastoreReader) -> None:
        self._metastore = metastore

    def newest_event(self) -> int | None:
        """Return the id of the newest event of the log; None for one that holds none, or that we may not read."""
        try:
            return self._metastore.current_event_id() or None
        except Refused:
            return None

    def databases_changed_after(self, event_id: int) -> frozenset[str] | None:
        """Return the databases, in lower case, whose later events may define something; None for too many events."""
        request = ttypes.NotificationEventRequest(event_id, _MOST_EVENTS, list(_DEFINE_NOTHING))
        answer = self._metastore.connections.read(
            Request("reading what was defined", lambda client: client.get_next_notification(request))
        )
        events = answer.events or ()
        if len(events) >= _MOST_EVENTS:
            return None
        return frozenset(one.dbName.lower() for one in events if one.dbName)

    def database_names(self) -> frozenset[str]:
        """Return the names of all databases, in lower case."""
        return frozenset(name.lower() for name in self._metastore.database_names())

    def database(self, name: str) -> Database | None:
        """Return one database, None where there is none of this name."""
        return self._metastore.database(name)

    def all_databases(self) -> list[Database]:
        """Return all databases, in one call."""
        answer = self._metastore.connections.read(Request("reading all databases", _databases))
        return [objects.read_database(tree_of(one)) for one in answer]

    def connectors(self) -> dict[str, DataConnector]:
        """Return all data connectors, by their names in lower case."""
        names = self._metastore.connections.read(
            Request("listing connectors", lambda client: client.get_dataconnectors())
        )
        found = (self.connector(name) for name in names or ())
        return {one.name.lower(): one for one in found if one is not None}

    def connector(self, name: str) -> DataConnector | None:
        """Return one data connector, None where there is none of this name."""
        asked = ttypes.GetDataConnectorRequest(connectorName=name)
        try:
            one = self._metastore.connections.read(
                Request(f"reading connector {name}", lambda client: client.get_dataconnector_req(asked))
            )
        except Missing:
            return None
        return DataConnector(one.name, one.type or "", one.url or "", dict(one.parameters or {}), one.description)

    def views_with(self, parameter: str) -> list[Table]:
        """Return the views of all databases that have a parameter; its key holds no dot."""
        read = self._metastore.connections.read
        views = read(Request("listing views", lambda client: client.get_table_meta("*", "*", ["VIRTUAL_VIEW"])))
        found: list[Table] = []
        for database in sorted({one.dbName for one in views or ()}):
            found += self.views_of(database, parameter)
        return found

    def views_of(self, database: str, parameter: str) -> list[Table]:
        """Return the views of one database that have a parameter; its key holds no dot."""
        text = f'hive_filter_field_params__{parameter} like ".*"'
        names = self._metastore.connections.read(
            Request(
                f"finding views of {database}", lambda client: client.get_table_names_by_filter(database, text, _ALL)
            )
        )
        return self._metastore.tables(database, names) if names else []


class _DatabasesAsked(TBase):  # type: ignore[misc] # the library has no types
    thrift_spec = (
        None,
        (1, TType.STRING, "catalogName", "UTF8", None),
        (2, TType.STRING, "pattern", "UTF8", None),
    )

    def __init__(self, catalogName: str | None = None, pattern: str | None = None) -> None:
        self.catalogName, self.pattern = catalogName, pattern


class _DatabasesArguments(TBase):  # type: ignore[misc] # the library has no types
    thrift_spec = (None, (1, TType.STRUCT, "request", [_DatabasesAsked, None], None))

    def __init__(self, request: Any = None) -> None:
        self.request = request


class _DatabasesAnswer(TBase):  # type: ignore[misc] # the library has no types
    thrift_spec = (None, (1, TType.LIST, "databases", (TType.STRUCT, [ttypes.Database, None], False), None))

    def __init__(self, databases: Any = None) -> None:
        self.databases = databases


class _DatabasesResult(TBase):  # type: ignore[misc] # the library has no types
    thrift_spec = (
        (0, TType.STRUCT, "success", [_DatabasesAnswer, None], None),
        (1, TType.STRUCT, "o1", [ttypes.MetaException, None], None),
    )

    def __init__(self, success: Any = None, o1: Any = None) -> None:
        self.success, self.o1 = success, o1


class _ConnectorArguments(TBase):  # type: ignore[misc] # the library has no types
    thrift_spec = (None, (1, TType.STRUCT, "request", [ttypes.CreateDataConnectorRequest, None], None))

    def __init__(self, request: Any = None) -> None:
        self.request = request


fix_spec([_DatabasesAsked, _DatabasesArguments, _DatabasesAnswer, _DatabasesResult, _ConnectorArguments])


def _databases(client: Any) -> list[Any]:
    result = _called(client, _METHOD, _DatabasesArguments(_DatabasesAsked(CATALOG)), _DatabasesResult())
    return list(result.success.databases or ())


def _called(client: Any, method: str, arguments: Any, result: Any) -> Any:
    """Make a call that the bindings do not have, and return its result. Raises what the server raises."""
    out, into = client._oprot, client._iprot
    out.writeMessageBegin(method, TMessageType.CALL, 0)
    arguments.write(out)
    out.writeMessageEnd()
    out.trans.flush()
    _, kind, _ = into.readMessageBegin()
    if kind == TMessageType.EXCEPTION:
        error = TApplicationException()
        error.read(into)
        into.readMessageEnd()
        raise error
    result.read(into)
    into.readMessageEnd()
    for raised in (getattr(result, name, None) for name in ("o1", "o2", "o3")):
        if raised is not None:
            raise raised
    return result


class ThriftRemoteWriter:
    """Keep remotes in a metastore, and take them away; each change is sent once."""

    def __init__(self, metastore: ThriftMetastoreReader) -> None:
        self._metastore = metastore

    def create_view(self, name: TableName, columns: Columns, text: str, parameters: Parameters) -> None:
        """Create a view. Raises AlreadyThere, and Missing without the database."""
        view = ttypes.Table(
            tableName=name.table,
            dbName=name.database,
            owner=None,
            sd=ttypes.StorageDescriptor(
                cols=[ttypes.FieldSchema(column, kind, "") for column, kind in columns],
                inputFormat="org.apache.hadoop.mapred.SequenceFileInputFormat",
                outputFormat="org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat",
                serdeInfo=ttypes.SerDeInfo(parameters={}),
                bucketCols=[],
                sortCols=[],
                parameters={},
            ),
            partitionKeys=[],
            parameters=dict(parameters),
            viewOriginalText=text,
            viewExpandedText=text,
            tableType="VIRTUAL_VIEW",
        )
        request = ttypes.CreateTableRequest(table=view)
        self._write(f"creating remote table {name}", lambda client: client.create_table_req(request))

    def create_connector(self, connector: DataConnector) -> None:
        """Create a data connector. Raises AlreadyThere."""
        kept = ttypes.DataConnector(
            name=connector.name,
            type=connector.kind,
            url=connector.url,
            description=connector.comment,
            parameters=dict(connector.parameters),
        )
        asked = _ConnectorArguments(ttypes.CreateDataConnectorRequest(kept))
        result = ThriftHiveMetastore.create_dataconnector_result
        self._write(
            f"creating connector {connector.name}",
            lambda client: _called(client, "create_dataconnector_req", asked, result()),
        )

    def drop_connector(self, name: str) -> None:
        """Drop a data connector. Raises Missing."""
        # The request's first field is the name, as in the one that reads it; the bindings do not know the other.
        asked = ThriftHiveMetastore.get_dataconnector_req_args(ttypes.GetDataConnectorRequest(connectorName=name))
        result = ThriftHiveMetastore.drop_dataconnector_result
        self._write(
            f"dropping connector {name}", lambda client: _called(client, "drop_dataconnector_req", asked, result())
        )

    def create_remote_database(self, name: str, parameters: Parameters, connector: str | None = None) -> None:
        """Create a database of type REMOTE: the metastore keeps tables out of it. Raises AlreadyThere."""
        database = ttypes.Database(
            name=name, type=ttypes.DatabaseType.REMOTE, parameters=dict(parameters), connector_name=connector
        )
        self._write(f"creating remote database {name}", lambda client: client.create_database(database))

    def drop_view(self, name: TableName) -> None:
        """Drop a view; of anything else no file would be deleted. Raises Missing."""
        self._write(f"dropping remote table {name}", lambda client: client.drop_table(name.database, name.table, False))

    def drop_remote_database(self, name: str) -> None:
        """Drop a database that has no tables; its directory stays. Raises Missing, Refused."""
        self._write(f"dropping remote database {name}", lambda client: client.drop_database(name, False, False))

    def _write(self, doing: str, call: Callable[[Any], Any]) -> None:
        self._metastore.connections.write(Request(doing, call))


def table_of_answer(body: bytes) -> Table:
    """Read the body of an answer to `get_table_req`. Raises ValueError for anything else."""
    result = ThriftHiveMetastore.get_table_req_result()
    result.read(TBinaryProtocolAccelerated(TMemoryBuffer(body), string_length_limit=None))
    if result.success is None or result.success.table is None:
        raise ValueError("an answer without a table")
    return objects.read_table(tree_of(result.success.table))
