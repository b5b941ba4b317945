"""Where the parts of a dump lie (design, 'The dump')."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from twinhive.core.model.files import base_name, join, short_hash
from twinhive.core.model.policy import Policy

_NAME = re.compile(r"(bootstrap|consolidate|incremental)-\d+-\d+|pass-\d{12,}-[0-9a-f]{8,}")
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
    EXTERNAL = "pass"
    """The directories of external tables, with the tasks that sync them, as a pass has listed them."""


BASE_KINDS = (DumpKind.BOOTSTRAP, DumpKind.CONSOLIDATE)
KINDS_OF_DUMPS = (*BASE_KINDS, DumpKind.INCREMENTAL)
"""What lies in the directory of a policy's dumps: all but passes, which have one of their own in it."""


PLANNERS = {
    DumpKind.BOOTSTRAP: "list_objects (of the bootstrap)",
    DumpKind.CONSOLIDATE: "round (of consolidate)",
    DumpKind.INCREMENTAL: "window",
    DumpKind.EXTERNAL: "list_external",
}
"""The tasks that write dumps of a kind, for people: cleared, they write another one."""


def kind_of(name: str) -> DumpKind:
    """Return the kind of a dump by its name, or by its key; what is none is taken for a bootstrap's."""
    return next((kind for kind in DumpKind if name.startswith(kind)), DumpKind.BOOTSTRAP)


@dataclass(frozen=True)
class DumpLayout:
    """The directory of one dump and the names in it."""

    directory: str

    @classmethod
    def of(cls, dumps: str, kind: DumpKind, begin: int, end: int) -> "DumpLayout":
        """Name a dump by its kind and its events, a pass by its event and its time in seconds.

        Sorted by name, dumps of a kind are sorted by event.
        """
        return cls(join(dumps, f"{kind}-{begin:012d}-{end:{'08x' if kind is DumpKind.EXTERNAL else '012d'}}"))

    @classmethod
    def attempt(cls, dumps: str, token: str) -> "DumpLayout":
        """Name the directory that a dump is written under before it is renamed."""
        return cls(join(dumps, ATTEMPT_PREFIX + token))

    @property
    def name(self) -> str:
        """Return the dump's own name."""
        return base_name(self.directory)

    @property
    def kind(self) -> DumpKind | None:
        """Return what a dump of this name holds, None for what is none: attempts and strangers."""
        return kind_of(self.name) if _NAME.fullmatch(self.name) else None

    @property
    def is_dump(self) -> bool:
        """True for the name of a dump, False for passes, attempts and strangers."""
        return self.kind in KINDS_OF_DUMPS

    @property
    def bounds(self) -> tuple[int, int]:
        """Return begin and end event ids, of a pass its event and its time; ValueError for what is no dump."""
        if self.kind is None:
            raise ValueError(f"{self.name} is not the name of a dump")
        _, begin, end = self.name.split("-")
        return int(begin), int(end, 16 if self.kind is DumpKind.EXTERNAL else 10)

    @property
    def is_eventless(self) -> bool:
        """True for a window that only resyncs tables."""
        begin, end = self.bounds
        return self.kind is DumpKind.INCREMENTAL and begin == end

    @property
    def manifest(self) -> str:
        """The description of the dump: what, of which policy, from which event."""
        return join(self.directory, "pass.json" if self.kind is DumpKind.EXTERNAL else "dump.json")

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
        """What the list of files of one batch adds up to; of a pass the directories of one task."""
        return join(self.directory, "batches", f"{batch}.json")

    @property
    def locations(self) -> str:
        """The places of all external tables, as a pass has found them (seed 001)."""
        return join(self.directory, "external_locations")


def as_passes_know(policy: Policy) -> Policy:
    """Return the policy with its passes and its dumps in one directory: a statement has one for all passes."""
    return replace(policy, dump_directory="")


def dumps_directory(policy: Policy, kind: DumpKind) -> str:
    """Return where a policy's dumps of a kind lie."""
    return join(as_passes_know(policy).dumps, "external") if kind is DumpKind.EXTERNAL else policy.dumps


def saved_events_directory(dumps: str) -> str:
    """Return where events wait that were read while the replica was being loaded."""
    return join(dumps, "drained")


def results_directory(staging: str, kind: DumpKind) -> str:
    """Return where a replica keeps the results of tasks, by dump."""
    return join(staging, "external" if kind is DumpKind.EXTERNAL else "", "results")


def result_path(staging: str, dump: str, batch: str) -> str:
    """Return where a replica keeps the result of copying one batch of a dump."""
    return join(results_directory(staging, kind_of(dump)), dump, f"{batch}.json")


def records_path(staging: str, dump: str, task: str) -> str:
    """Return where a replica keeps what a task of a pass has written down of its directories."""
    return result_path(staging, dump, task).removesuffix("json") + "records"
