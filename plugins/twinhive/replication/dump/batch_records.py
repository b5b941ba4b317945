"""What is written down of a batch: the files that were listed, and what came of copying them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.dump_layout import DumpLayout, result_path
from twinhive.replication.dump.json_files import read_json, write_json
from twinhive.replication.dump.shards import pack_lines
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.staged.staged_files import CopyItem


@dataclass(frozen=True)
class ListedBatch:
    """What the list of files of a batch adds up to; `lo` is the event as of which it was read, 0 where none is said."""

    files: int
    bytes: int
    lo: int = 0

    @classmethod
    def parse(cls, record: Mapping[str, int]) -> "ListedBatch":
        """Read a summary as it is written beside a list."""
        return cls(int(record["files"]), int(record["bytes"]), int(record.get("lo", 0)))


@dataclass(frozen=True)
class CopiedBatch:
    """What a copy of a batch has reported: how many files, of which `failures` were not copied, bytes, seconds.

    `lost_files` counts the failures that are files that are lost. `lost` are the reasons why files of events are lost,
    by event id; None where the report has no room for the reason.
    """

    dump: str
    files: int
    bytes: int
    copied_files: int
    copied_bytes: int
    skipped_files: int
    superseded_files: int
    failures: int
    lost_files: int
    seconds: float
    lost: Mapping[int, str | None]

    @property
    def staged(self) -> int:
        """Return how many files are there: what was copied, and what was staged before."""
        return self.copied_files + self.skipped_files

    @property
    def uncopied(self) -> int:
        """Return how many files were not copied though they may be somewhere."""
        return self.failures - self.lost_files

    @classmethod
    def parse(cls, record: Mapping[str, Any]) -> "CopiedBatch":
        """Read a result as the copy wrote it."""
        told = {one["event_id"]: str(one["reason"]) for one in record["failures"] if one["kind"] == FailureKind.LOST}
        return cls(
            dump=record["dump"],
            files=record["files"],
            bytes=record["bytes"],
            copied_files=record["copied_files"],
            copied_bytes=record["copied_bytes"],
            skipped_files=record["skipped_files"],
            superseded_files=record["superseded_files"],
            failures=record["failure_count"],
            lost_files=record["lost_files"],
            seconds=record["seconds"],
            lost={one["event_id"]: told.get(one["event_id"]) for one in record["lost"]},
        )


def listed_batch(files: FileReader, layout: DumpLayout, batch: str) -> ListedBatch | None:
    """Return what a batch's list adds up to, None when its files are not listed yet."""
    record = read_json(files, layout.summary(batch))
    return None if record is None else ListedBatch.parse(record)


NOTHING_LISTED = ListedBatch(0, 0)


def write_file_list(
    files: FileWriter, layout: DumpLayout, batch: str, items: Iterable[CopyItem], lo: int
) -> ListedBatch:
    """Write the list of a batch and what it adds up to; `lo` is the newest event before it was read."""
    count = length = 0

    def counted() -> Iterator[str]:
        nonlocal count, length
        for item in items:
            count, length = count + 1, length + item.length
            yield item.to_line()

    files.write(layout.files(batch), pack_lines(counted()))
    listed = ListedBatch(count, length, lo)
    # Written last: its presence says that the list is complete.
    write_json(files, layout.summary(batch), asdict(listed))
    return listed


def copied_batch(files: FileReader, staging: str, dump: str, batch: str) -> CopiedBatch | None:
    """Return what the copy of a batch has reported, None when none has."""
    record = read_json(files, result_path(staging, dump, batch))
    return None if record is None else CopiedBatch.parse(record)
