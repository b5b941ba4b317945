"""What the one job is told that copies on Spark's executors: the files of a list, or what a plan does to a tree."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.human_readable import readable
from twinhive.runtime.spark.settings_text import parsed, settings_text
from twinhive.transfer.engine.attributes import Newborn
from twinhive.transfer.staged.job import CopyJob
from twinhive.transfer.tree.executing import TreeCopyJob
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.tree_batches import FileBatch
from twinhive.transfer.tree.work_directories import Places


@dataclass(frozen=True)
class ListedCopy:
    """Files that a list on the file system `dump` names.

    lost_ok           files that are lost for good are only written down: their tables are frozen (quarantine)
    permissions       whose owner, group, permission and ACL the copies get
    """

    job: CopyJob
    dump: FileSystemEndpoint
    dump_name: str
    batch: str
    lost_ok: bool = False
    permissions: Literal["replica", "source"] = "replica"

    @property
    def label(self) -> str:
        """Say what is copied."""
        return self.job.label

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "ListedCopy":
        """Read the fields of the text."""
        return cls(**{**fields, "job": CopyJob(**fields["job"]), "dump": _end(fields["dump"])})


@dataclass(frozen=True)
class TreeCopy:
    """The batches of a plan; `title` is "copy <source> to <target>", for people."""

    title: str
    job: TreeCopyJob
    batches: tuple[FileBatch, ...]

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

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "TreeCopy":
        """Read the fields of the text."""
        places, options, newborn = (fields["job"][name] for name in ("places", "options", "newborn"))
        job = TreeCopyJob(Places(**places), SyncOptions.of(options), Newborn(**newborn))
        return cls(fields["title"], job, tuple(FileBatch(**batch) for batch in fields["batches"]))


_KINDS: Mapping[str, type[ListedCopy] | type[TreeCopy]] = {one.__name__: one for one in (ListedCopy, TreeCopy)}


@dataclass(frozen=True)
class CopySettings:
    """Hold what the submitter of a copy knows: what is copied, from where to where, and how.

    threads           files that one task copies at the same time
    tasks             parts of it that are copied at the same time
    bytes_per_second  what one task may move; None: no limit
    """

    source: FileSystemEndpoint
    target: FileSystemEndpoint
    what: ListedCopy | TreeCopy
    threads: int = 8
    tasks: int = 2
    bytes_per_second: float | None = None

    def to_json(self) -> str:
        """Return the text that `parse` reads; properties of a file system in it may hold secrets."""
        return settings_text(kind=type(self.what).__name__, **asdict(self))

    @classmethod
    def parse(cls, text: str) -> "CopySettings":
        """Read the JSON text. Raises Unusable."""
        return parsed(text, cls._of)

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> "CopySettings":
        what = _KINDS[fields.pop("kind")].of(fields["what"])
        sides = {side: _end(fields[side]) for side in ("source", "target")}
        return cls(**{**fields, **sides, "what": what})


def _end(fields: Mapping[str, Any]) -> FileSystemEndpoint:
    end = FileSystemEndpoint(**fields)
    return replace(end, also=tuple(end.also))
