"""Be two clusters in memory that count what a run asks of them, and which messages of events it opens.

Only calls through `CountedWorld.ports()` are counted: neither what users of the source do, nor what a metastore in
memory does to its own file system. So the names say port and method: `source metastore partitions`,
`replica NameNode rename`. Dumps have a port of their own, though they lie at the source: `dump NameNode write`.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any

import pytest

from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.worlds.fake_world import World
from twinhive.core.model.files import FileStatus
from twinhive.core.ports import TreePorts, WritePorts
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.hive.events import decoder, event_message
from twinhive.hive.events.event_message import decode_message
from twinhive.hive.events.structs import parse_json

DECODED = "decoded events"
"""Events whose messages became changes, once for each time that one did, whoever asked for it."""
OPENED = "opened messages"
"""Messages whose JSON was parsed, to be decoded or for a look at one field."""
PROOFS = "lease proofs"
_NO_CALLS = ("addresses", "close")
_LISTINGS = ("list_directories", "list_pages")
Pages = Iterable[tuple[str, list[FileStatus] | None]]


class Tally:
    """Count by name, from any thread."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, name: str, count: int = 1) -> None:
        """Add to one count."""
        with self._lock:
            self._counts[name] += count

    def take(self) -> dict[str, int]:
        """Return what was counted since the last time, and begin anew."""
        with self._lock:
            taken, self._counts = dict(self._counts), Counter()
        return taken

    def counting(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same call, which counts as `name`."""

        @wraps(call)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.add(name)
            return call(*args, **kwargs)

        return counted


class CountedMetastore:
    """Pass calls on to a metastore: each counts, and so do the objects and names in the lists that it returns."""

    def __init__(self, metastore: Any, side: str, tally: Tally) -> None:
        self._metastore, self._side, self._tally = metastore, side, tally

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._metastore, name)
        if not callable(value) or name in _NO_CALLS:
            return value
        call = self._tally.counting(f"{self._side} metastore {name}", value)

        def called(*args: Any, **kwargs: Any) -> Any:
            returned = call(*args, **kwargs)
            if isinstance(returned, list | tuple):
                self._tally.add(f"{self._side} metastore, objects returned", len(returned))
            return returned

        return called


class CountedFiles:
    """Pass calls on to a file system: each counts; of listings each page is a call, and entries are counted too."""

    def __init__(self, files: Any, side: str, tally: Tally) -> None:
        self._files, self._side, self._tally = files, side, tally

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._files, name)
        if not callable(value) or name in _NO_CALLS:
            return value
        called = f"{self._side} NameNode {name}"
        if name in _LISTINGS:
            return lambda paths: self._pages(called, value(paths))
        return self._tally.counting(called, value)

    def _pages(self, called: str, pages: Pages) -> Iterator[tuple[str, list[FileStatus] | None]]:
        for path, page in pages:
            self._tally.add(called)
            self._tally.add(f"{self._side} NameNode, entries listed", len(page or ()))
            yield path, page


class CountedLease(InMemoryLease):
    """Count the proofs that a lease is still ours, the one before it is released included."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self._tally = tally

    def confirm(self, directory: str, epoch: int) -> None:
        """Count it, and raise LeaseLost unless `epoch` is the newest."""
        self._tally.add(PROOFS)
        super().confirm(directory, epoch)


class CountedWorld(World):
    """Hold both clusters; what is done through `ports()` is in the tally."""

    def __init__(self) -> None:
        super().__init__()
        self.tally = Tally()
        self.lease = CountedLease(self.tally)

    def ports(self) -> WritePorts:
        """Return ports over the same clusters whose calls are counted."""
        source: Any = CountedMetastore(self.source, "source", self.tally)
        replica: Any = CountedMetastore(self.replica, "replica", self.tally)
        source_files: Any = CountedFiles(self.source_files, "source", self.tally)
        replica_files: Any = CountedFiles(self.replica_files, "replica", self.tally)
        dump_files: Any = CountedFiles(self.source_files, "dump", self.tally)
        return replace(
            super().ports(),
            source=source,
            replica=replica,
            source_files=source_files,
            replica_files=replica_files,
            dump_files=dump_files,
            source_marker=MetastoreMarker(source),
            trees=TreePorts(source_files, replica_files, self.lease, source_files),
        )

    @contextmanager
    def decoding_counted(self) -> Iterator[None]:
        """Count in this context the messages of events that are decoded, and those that are opened at all."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(decoder, "decode_message", self.tally.counting(DECODED, decode_message))
            patch.setattr(event_message, "parse_json", self.tally.counting(OPENED, parse_json))
            yield
