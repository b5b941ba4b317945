"""Which files are rewritten into fewer ones."""

from collections.abc import Mapping, Sequence

from twinhive.core.model.files import FileStatus
from twinhive.publishing.partition_writes.write_request import SmallFiles

WrittenPartitions = Mapping[tuple[str, ...], Sequence[FileStatus]]
"""Files by the values of their partition."""


def to_be_merged(written: WrittenPartitions, rule: SmallFiles) -> dict[tuple[str, ...], list[FileStatus]]:
    """Return the small files of partitions that have two or more; none where all together are fewer than the rule says.

    A file is small below the rule's bytes, else below its own block. One alone cannot become fewer.
    """
    small = {values: [file for file in files if _is_small(file, rule)] for values, files in written.items()}
    several = {values: files for values, files in small.items() if len(files) > 1}
    return several if sum(map(len, several.values())) >= rule.at_least else {}


def _is_small(file: FileStatus, rule: SmallFiles) -> bool:
    return file.length < (rule.below or file.block_size)
