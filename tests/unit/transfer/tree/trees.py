"""Hold two file systems in memory, and copy from one to the other."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from twinhive.core.model.files import is_below, join
from twinhive.transfer.tree.executing import ExecutePlan, in_this_process
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.tree_outcome import SyncOutcome
from twinhive.transfer.tree.tree_sync import run_sync
from twinhive.transfer.tree.work_directories import HIDDEN

SOURCE = "hdfs://east/data/d"
TARGET = "hdfs://west/copies/d"
NOON = datetime(2030, 5, 17, 12, 0, 0, tzinfo=UTC)

Content = dict[str, bytes | None]
"""What is below a directory: files by their relative path, None for a directory."""


class Trees:
    """A source and a target; nothing is at `TARGET` unless it is put there."""

    def __init__(self, **source_files: bytes) -> None:
        self.source = InMemoryFiles("hdfs://east")
        self.target = InMemoryFiles("hdfs://west")
        self.leases = InMemoryLease()
        self.settled: list[datetime] = []
        self.source.make_directories(SOURCE)
        self.target.make_directories("hdfs://west/copies")
        for name, content in source_files.items():
            self.put(name.replace("__", "/"), content)

    def put(self, relative: str, content: bytes = b"x", **more: Any) -> None:
        """Write a file of the source."""
        self.source.put(join(SOURCE, relative), content, **more)

    def grow(self, relative: str, more: bytes) -> None:
        """Append to a file of the source, which stays the file that it is: a difference of snapshots says so."""
        path = join(SOURCE, relative)
        self.source._set_content(path, self.source._file(path).content + more)

    def put_there(self, relative: str, content: bytes = b"x", **more: Any) -> None:
        """Write a file of the target as its own users do."""
        self.target.put(join(TARGET, relative), content, **more)

    def sync(
        self,
        *,
        source: Any = None,
        target: Any = None,
        execute: ExecutePlan | None = None,
        now: datetime = NOON,
        to: str = TARGET,
        sources: tuple[str, ...] = (SOURCE,),
        **options: Any,
    ) -> SyncOutcome:
        """Copy once; the options are those of SyncOptions, with two threads."""
        source, target = source or self.source, target or self.target
        request = SyncRequest(sources, to, SyncOptions.of({"threads": 2, **options}))
        execute = execute or in_this_process(source, target)
        return run_sync(
            request,
            source,
            target,
            self.leases,
            execute,
            holder={"run": "test"},
            now=lambda: now,
            settle=lambda: self.settled.append(now),
        )

    def at_source(self) -> Content:
        """Return what the source holds."""
        return below(self.source, SOURCE)

    def at_target(self) -> Content:
        """Return what the target holds, without our own directory."""
        content = below(self.target, TARGET)
        return {path: held for path, held in content.items() if not f"{path}/".startswith(f"{HIDDEN}/")}

    def assert_twin(self) -> None:
        """Check that the target is what the source is, and that nothing unfinished is left."""
        assert self.at_target() == self.at_source()
        self.assert_clean()

    def assert_clean(self) -> None:
        """Check that nothing unfinished is left anywhere."""
        work = [path for path in self.target._nodes if f"{HIDDEN}/work" in path or f"{HIDDEN}-" in path]
        assert work == []

    def trash(self) -> dict[str, bytes]:
        """Return what lies in the trash, by its path there."""
        directory = join(TARGET, HIDDEN, "trash")
        return {path: held for path, held in below(self.target, directory).items() if held is not None}


def below(files: InMemoryFiles, directory: str) -> Content:
    """Return all below a directory, by relative path."""
    return {
        path[len(directory) + 1 :]: None if node.status.is_directory else node.content
        for path, node in files._nodes.items()
        if is_below(path, directory)
    }


class Changed:
    """Pass everything on to a file system but some calls."""

    def __init__(self, files: Any, **calls: Callable[..., Any]) -> None:
        self._files = files
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return self._calls.get(name) or getattr(self._files, name)
