"""What a writer of tables needs of a metastore, beside what replication does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from twinhive.core.model.names import TableName
from twinhive.core.ports.metastores import MetastoreWriter


@dataclass(frozen=True)
class LoggedInsert:
    """Files that were written into a partition: (path, checksum as HDFS writes it; None where there is none).

    Of a table without partitions `values` is empty.
    """

    values: tuple[str, ...]
    files: tuple[tuple[str, str | None], ...]
    replaces: bool
    """Whether they took the place of all files before."""


class TableWriter(MetastoreWriter, Protocol):
    """Write one metastore, and tell its log of files."""

    def fire_inserts(self, table: TableName, inserts: Sequence[LoggedInsert]) -> None:
        """Log that files were written into partitions of a table, or into itself, by one call: an event for each.

        Raises Refused where the metastore does not take such events.
        """
        ...

    def recycle(self, path: str) -> None:
        """Move a file, or all files of a directory, into the change manager, where one keeps them; else they stay."""
        ...
