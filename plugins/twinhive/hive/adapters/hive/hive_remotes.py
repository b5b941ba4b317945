"""Keep remotes in a metastore, and take them away."""

from collections.abc import Callable, Sequence
from typing import Any

from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBase import TBase
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException, TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer
from thrift.TRecursive import fix_spec

from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Table
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.hive.adapters.hive.hive_reader import ThriftMetastoreReader
from twinhive.hive.adapters.hive.thrift_connection import Request
from twinhive.hive.adapters.hive.thrift_json import tree_of

RemoteColumns = Sequence[tuple[str, str]]
"""Names and types."""


class _ConnectorArguments(TBase):  # type: ignore[misc] # the library has no types
    thrift_spec = (None, (1, TType.STRUCT, "request", [ttypes.CreateDataConnectorRequest, None], None))

    def __init__(self, request: Any = None) -> None:
        self.request = request


fix_spec([_ConnectorArguments])


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

    def create_view(self, name: TableName, columns: RemoteColumns, text: str, parameters: Parameters) -> None:
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
    try:
        result.read(TBinaryProtocolAccelerated(TMemoryBuffer(body), string_length_limit=None))
    except Exception as error:  # whatever the library throws at bytes that it cannot read
        raise ValueError(f"an answer that cannot be read: {error}") from error
    if result.success is None or result.success.table is None:
        raise ValueError("an answer without a table")
    return objects.read_table(tree_of(result.success.table))
