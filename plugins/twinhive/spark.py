"""For jobs in PySpark: rows of a data frame as partitions of a Hive table. See docs/partition-writes.md."""

from twinhive.publishing.partition_writes.write_request import SmallFiles
from twinhive.runtime.spark.partition_writes import write_partitions

__all__ = ["SmallFiles", "write_partitions"]
