"""Where the parts of a dump lie (design, 'The dump')."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from twinhive.model.files import base_name, join, short_hash

_NAME = re.compile(r"(?P<kind>bootstrap|consolidate|incremental)-(?P<begin>\d+)-(?P<end>\d+)")
ATTEMPT_PREFIX = "_attempt-"
VIEWS = "views"
"""The name of the shard that holds a dump's views."""
WHOLE_TABLES = "s"
"""How the names of batches begin that hold tables which a window resyncs."""


class DumpKind(StrEnum):
    """What a dump holds."""

    BOOTSTRAP = "bootstrap"
    """Objects as they were read from one event on, while the source went on changing."""
    CONSOLIDATE = "consolidate"
    """All objects as they were at one event."""
    INCREMENTAL = "incremental"
    """The events of one window, (begin, end]."""


BASE_KINDS = (DumpKind.BOOTSTRAP, DumpKind.CONSOLIDATE)


def kind_of(name: str) -> DumpKind:
    """Return the kind of a dump by its name, or by its key; what is none is taken for a bootstrap's."""
    return next((kind for kind in DumpKind if name.startswith(kind)), DumpKind.BOOTSTRAP)


def planner_of(kind: DumpKind) -> str:
    """Return the tasks that write dumps of a kind, for people: cleared, they write another one."""
    match kind:
        case DumpKind.BOOTSTRAP:
            return "list_objects (of the bootstrap)"
        case DumpKind.CONSOLIDATE:
            return "round (of consolidate)"
        case DumpKind.INCREMENTAL:
            return "window"
        case _:
            assert_never(kind)


@dataclass(frozen=True)
class DumpLayout:
    """The directory of one dump and the names in it."""

    directory: str

    @classmethod
    def of(cls, dumps: str, kind: DumpKind, begin: int, end: int) -> "DumpLayout":
        """Name a dump by its kind and its events; sorted by name, dumps of a kind are sorted by event."""
        return cls(join(dumps, f"{kind}-{begin:012d}-{end:012d}"))

    @classmethod
    def attempt(cls, dumps: str, token: str) -> "DumpLayout":
        """Name the directory that a dump is written under before it is renamed."""
        return cls(join(dumps, ATTEMPT_PREFIX + token))

    @property
    def name(self) -> str:
        """Return the dump's own name."""
        return base_name(self.directory)

    @property
    def is_dump(self) -> bool:
        """True for the name of a dump, False for attempts and strangers."""
        return _NAME.fullmatch(self.name) is not None

    @property
    def kind(self) -> DumpKind:
        """Return what a dump of this name holds; ValueError for what is none."""
        return DumpKind(self._parts["kind"])

    @property
    def bounds(self) -> tuple[int, int]:
        """Return begin and end event ids."""
        return int(self._parts["begin"]), int(self._parts["end"])

    @property
    def is_eventless(self) -> bool:
        """True for a window that only resyncs tables."""
        begin, end = self.bounds
        return self.kind is DumpKind.INCREMENTAL and begin == end

    @property
    def _parts(self) -> re.Match[str]:
        match = _NAME.fullmatch(self.name)
        if match is None:
            raise ValueError(f"{self.name} is not the name of a dump")
        return match

    @property
    def manifest(self) -> str:
        """The description of the dump: what, of which policy, from which event."""
        return join(self.directory, "dump.json")

    @property
    def begun(self) -> str:
        """Written first into an attempt, gone when that was removed: whoever still writes there must not publish it."""
        return join(self.directory, "_begun")

    @property
    def is_attempt(self) -> bool:
        """True for the name of a dump that is being written, or was never finished."""
        return self.name.startswith(ATTEMPT_PREFIX)

    @property
    def events(self) -> str:
        """The events of a window, as rows of the log."""
        return join(self.directory, "events", "events.jsonl.gz")

    @property
    def unnamed(self) -> str:
        """The files that events of a window bring without naming them; not there where there are none."""
        return join(self.directory, "events", "unnamed.jsonl.gz")

    def plan(self, table: str) -> str:
        """What becomes of the leaves of a table that is repaired; not there for one that is built anew."""
        return join(self.directory, "plans", short_hash(table, 32) + ".json.gz")

    def objects(self, batch: str) -> str:
        """The tables and partitions of one batch."""
        return join(self.directory, "objects", f"{batch}.jsonl.gz")

    def files(self, batch: str) -> str:
        """The files of one batch: present only when complete."""
        return join(self.directory, "files", f"{batch}.jsonl.gz")

    def summary(self, batch: str) -> str:
        """What the list of files of one batch adds up to."""
        return join(self.directory, "batches", f"{batch}.json")


def saved_events_directory(dumps: str) -> str:
    """Return where events wait that were read while the replica was being loaded."""
    return join(dumps, "drained")


def result_path(staging: str, dump: str, batch: str) -> str:
    """Return where a replica keeps the result of copying one batch of a dump."""
    return join(staging, "results", dump, f"{batch}.json")
