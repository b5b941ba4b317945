"""Write tables of a Hive metastore as a job does that writes rows: the files are told to its log."""

from collections.abc import Sequence

from hive_metastore import ttypes

from twinhive.core.model.names import TableName
from twinhive.core.ports.table_writers import LoggedInsert
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore


class ThriftTableWriter(ThriftMetastore):
    """Read and write one metastore, and tell its log of files. Threads may share an instance."""

    def fire_inserts(self, table: TableName, inserts: Sequence[LoggedInsert]) -> None:
        """Log that files were written into partitions of a table, or into itself, by one call: an event for each."""
        several = [_insert(insert) for insert in inserts if insert.values]
        # The server fails at a list where there are no partitions.
        itself = [_insert(insert) for insert in inserts if not insert.values]
        data = {"insertDatas": several} if several else {"insertData": itself[0]}
        request = ttypes.FireEventRequest(
            successful=True,
            data=ttypes.FireEventRequestData(**data),
            dbName=table.database,
            tableName=table.table,
        )
        self._write(f"logging what was written into {table}", lambda client: client.fire_listener_event(request))

    def recycle(self, path: str) -> None:
        """Move a file, or all files of a directory, into the change manager, where one keeps them; else they stay."""
        request = ttypes.CmRecycleRequest(dataPath=path, purge=True)
        self._write(f"handing {path} to the change manager", lambda client: client.cm_recycle(request))


def _insert(insert: LoggedInsert) -> ttypes.InsertEventRequestData:
    checksums = [checksum for _, checksum in insert.files if checksum is not None]
    return ttypes.InsertEventRequestData(
        replace=insert.replaces,
        filesAdded=[path for path, _ in insert.files],
        # Hive pairs the two lists: without one checksum none can be said.
        filesAddedChecksum=checksums if len(checksums) == len(insert.files) else None,
        partitionVal=list(insert.values) or None,
    )
