"""What one job is told that carries out a plan on Spark's executors."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from twinhive.model.endpoints import FileSystemEndpoint
from twinhive.model.spoken import readable
from twinhive.transfer.engine.attributes import Newborn
from twinhive.transfer.staged.job import settings_text
from twinhive.transfer.tree.batches import FileBatch
from twinhive.transfer.tree.executing import TreeCopyJob
from twinhive.transfer.tree.places import Places
from twinhive.transfer.tree.request import SyncOptions


@dataclass(frozen=True)
class TreeTaskSettings:
    """What one task is told, whatever its batch: each Spark job ships it again."""

    source: FileSystemEndpoint
    target: FileSystemEndpoint
    job: TreeCopyJob
    bytes_per_second: float | None


@dataclass(frozen=True)
class TreeJobSettings:
    """Hold what the submitter knows: what is copied how, from where to where.

    title      "copy <source> to <target>", for people
    tasks      batches that are carried out at the same time
    """

    title: str
    source: FileSystemEndpoint
    target: FileSystemEndpoint
    job: TreeCopyJob
    batches: tuple[FileBatch, ...]
    tasks: int

    @property
    def label(self) -> str:
        """Say what is copied, and how much."""
        return f"{self.title}: {self.files:,} files, {readable(self.length)}"

    @property
    def files(self) -> int:
        """Actions of all batches."""
        return sum(batch.files for batch in self.batches)

    @property
    def length(self) -> int:
        """Bytes of the files of all batches."""
        return sum(batch.length for batch in self.batches)

    @property
    def at_once(self) -> int:
        """Batches that run at the same time, which share the bandwidth."""
        return max(1, min(self.tasks, len(self.batches)))

    @property
    def bytes_per_second(self) -> float | None:
        """What one task may write, None for no limit."""
        limit = self.job.options.bytes_per_second
        return limit and limit / self.at_once

    def of_a_task(self) -> TreeTaskSettings:
        """Return what the tasks have to know, which does not grow with the number of batches."""
        return TreeTaskSettings(self.source, self.target, self.job, self.bytes_per_second)

    def to_json(self) -> str:
        """Return the text that `of` reads the fields of."""
        return settings_text(
            title=self.title,
            source=_endpoint(self.source),
            target=_endpoint(self.target),
            places=asdict(self.job.places),
            options=self.job.options.to_document(),
            newborn=asdict(self.job.newborn),
            batches=[[batch.path, batch.files, batch.length] for batch in self.batches],
            tasks=self.tasks,
        )

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "TreeJobSettings":
        """Read the fields of the text; what they raise is for `parsed`."""
        options = SyncOptions.of(fields["options"])
        return cls(
            title=fields["title"],
            source=FileSystemEndpoint(**fields["source"]),
            target=FileSystemEndpoint(**fields["target"]),
            job=TreeCopyJob(Places(**fields["places"]), options, Newborn(**fields["newborn"])),
            batches=tuple(FileBatch(*batch) for batch in fields["batches"]),
            tasks=fields["tasks"],
        )


def _endpoint(side: FileSystemEndpoint) -> dict[str, Any]:
    return {"root": side.root, "properties": dict(side.properties), "user": side.user}
