"""What is asked of a write of partitions."""

from dataclasses import dataclass, field
from enum import StrEnum

from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName

BLOCKS_A_FILE = 4
"""Blocks of shuffled rows that are gathered for one file: Parquet and ORC make about a quarter of them."""


class WriteMode(StrEnum):
    """What becomes of a partition that is there already."""

    ADD = "add"
    """It is an error, and nothing is shown."""
    APPEND = "append"
    """It keeps its rows and gets more."""
    OVERWRITE = "overwrite"
    """Its rows are replaced. Partitions that the data frame has no row for stay (Hive's dynamic overwrite)."""


@dataclass(frozen=True)
class SmallFiles:
    """When files are rewritten before anybody sees them."""

    at_least: int = 16
    """So many small files in partitions with two or more are worth a second pass."""
    below: int | None = None
    """Bytes; smaller files are small. None: a block of the file system."""

    def __post_init__(self) -> None:
        """Raise ActNow for what cannot be meant."""
        if self.at_least < 2 or (self.below is not None and self.below < 1):
            raise ActNow(
                "the rule of small files cannot be used",
                found=f"at_least={self.at_least}, below={self.below}",
                expected="at_least of two or more files, below of one or more bytes",
                next_step="correct it; None leaves files as they were written",
            )


@dataclass(frozen=True)
class PartitionWrite:
    """One write: into which table, how, and the name under which a repetition goes on.

    `job` is the caller's: a run of a DAG, say. The same job is the same write, whoever repeats it and however often;
    another job writes anew. So does the same one that had come to its end under another `clearing`: a number that
    changes when a person clears the task, and not when it is tried again. `small_files` None: files stay as they were
    written. `set_done` is a set as people write it, marked when all partitions are shown; None: nothing is marked.
    """

    table: TableName
    mode: WriteMode
    job: str
    small_files: SmallFiles | None = field(default_factory=SmallFiles)
    set_done: str | None = None
    clearing: int = 0

    def __post_init__(self) -> None:
        """Raise ActNow for a job without a name."""
        if not self.job.strip():
            raise ActNow(
                f"a write into {self.table} needs the name of its job",
                found=repr(self.job),
                expected="a text that is the same when the write is repeated, and another for another write",
                next_step="give the run's id, job='{{ run_id }}' in Airflow",
            )

    @classmethod
    def of(
        cls,
        table: str,
        mode: str,
        job: str,
        small_files: SmallFiles | None,
        set_done: str | None = None,
        clearing: int = 0,
    ) -> "PartitionWrite":
        """Read what a caller gives as texts. Raises ActNow."""
        try:
            name, chosen = TableName.parse(table), WriteMode(mode)
        except ValueError as error:
            modes = ", ".join(WriteMode)
            raise ActNow(
                f"the write into {table!r} cannot be understood",
                found=str(error),
                expected=f"database.table, and a mode: {modes}",
                next_step="correct the call",
            ) from error
        return cls(name, chosen, job, small_files, set_done, clearing)
