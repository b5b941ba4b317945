"""`write_partitions`: rows of a data frame as partitions of a table of Hive, for jobs in PySpark."""

from collections.abc import Mapping
from contextlib import closing

from pyspark.sql import DataFrame, SparkSession

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import authority
from twinhive.core.model.human_readable import Say
from twinhive.core.model.sets.set_spec import set_text
from twinhive.hive.adapters.file_clients import open_files
from twinhive.hive.adapters.hive.hive_table_writer import ThriftTableWriter
from twinhive.publishing.partition_writes.partition_writer import PartitionsWritten, PartitionWriter
from twinhive.publishing.partition_writes.write_request import PartitionWrite, SmallFiles
from twinhive.runtime.spark.partition_frame import SparkFrame

_MERGED = SmallFiles()


def write_partitions(
    frame: DataFrame,
    table: str,
    *,
    metastore: str,
    job: str,
    mode: str = "add",
    small_files: SmallFiles | None = _MERGED,
    set_done: Mapping[str, str] | str | None = None,
    user: str | None = None,
    clearing: int = 0,
    report: Say = print,
) -> PartitionsWritten:
    """Write the rows of a data frame as partitions of `database.table`; the last columns need not be the keys.

    `metastore` is one address or several, `thrift://host:9083,...`, as in `hive.metastore.uris`. `mode` is `add` (a
    partition that is there is an error), `append` or `overwrite` (of the partitions that the frame has rows for).
    `job` names the write: the same one, repeated after whatever ended it, goes on, and once it is done does nothing,
    unless it is done under another `clearing` (of the task in Airflow, by a person).
    Files are gathered by partition; small ones are merged before anybody sees them (`small_files`, None: never).
    Partitions appear at most 1,000 a call, when all is written. `set_done`, values by keys or a text, is the set that
    is marked as done when all of them are there. Raises ActNow, TryAgain.
    """
    text = None if set_done is None else set_text(set_done)
    request = PartitionWrite.of(table, mode, job, small_files, text, clearing)
    properties = _hadoop_properties(frame.sparkSession)
    default_root = authority(properties.get("fs.defaultFS", "file:///"))
    with closing(ThriftTableWriter(_addresses(metastore), user=user, file_system=default_root)) as writer:
        found = writer.table(request.table)
        root = authority(found.location) if found and found.location else default_root
        with closing(open_files(FileSystemEndpoint(root, properties, user))) as files:
            return PartitionWriter(request, writer, files, report, user).write(SparkFrame(frame))


def _addresses(uris: str) -> tuple[tuple[str, int], ...]:
    found = []
    for uri in uris.split(","):
        host, colon, port = uri.strip().removeprefix("thrift://").rpartition(":")
        if not (host and colon and port.isdigit()):
            raise ActNow(
                "the metastore's address cannot be read",
                found=repr(uri),
                expected="thrift://host:9083, several separated by commas",
                next_step="correct metastore=",
            )
        found.append((host.strip("[]"), int(port)))
    return tuple(found)


def _hadoop_properties(session: SparkSession) -> dict[str, str]:
    """Return Hadoop's settings of the session, as its own file systems have them."""
    entries = session.sparkContext._jsc.hadoopConfiguration().iterator()
    properties = {}
    while entries.hasNext():
        entry = entries.next()
        properties[entry.getKey()] = entry.getValue()
    return properties
