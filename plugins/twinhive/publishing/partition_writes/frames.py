"""What a write needs of the data frame: Spark's, or a small one of tests."""

from collections.abc import Sequence
from typing import Protocol

from twinhive.publishing.partition_writes.frame_schema import FittedColumn
from twinhive.publishing.partition_writes.write_target import WriteTarget


class Frame(Protocol):
    """Rows to be written. Directories are URIs; one to write must not be there."""

    def columns(self) -> Sequence[tuple[str, str]]:
        """Return the columns as (name, Spark's simple type), in any case and order."""
        ...

    def write(self, directory: str, target: WriteTarget, columns: Sequence[FittedColumn], file_bytes: int) -> None:
        """Write all rows below a directory, `key=value/...`, in files of about so many bytes of shuffled rows.

        Raises ActNow for rows that the table cannot hold, TryAgain when Spark fails.
        """
        ...

    def rewrite(self, base: str, paths: Sequence[str], directory: str, target: WriteTarget, file_bytes: int) -> None:
        """Write the rows of files below `base` again below another directory. Raises TryAgain."""
        ...

    def rows(self, base: str, paths: Sequence[str], target: WriteTarget) -> dict[tuple[str, ...], int]:
        """Return how many rows these files below `base` have, by the values of their partition. Raises TryAgain."""
        ...
