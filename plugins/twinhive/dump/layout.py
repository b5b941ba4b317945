"""Say where the parts of a dump lie (design, 'The dump')."""

import re
from dataclasses import dataclass

from twinhive.domain.files import base_name, join

_NAME = re.compile(r"(?P<kind>bootstrap)-(?P<first>\d+)-(?P<last>\d+)")
ATTEMPT_PREFIX = "_attempt-"


@dataclass(frozen=True)
class DumpLayout:
    """The directory of one dump and the names in it."""

    directory: str

    @classmethod
    def bootstrap(cls, dumps: str, event_id: int) -> "DumpLayout":
        """Name a bootstrap dump by the event at which its listing began."""
        return cls(join(dumps, f"bootstrap-{event_id:012d}-{event_id:012d}"))

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
    def manifest(self) -> str:
        """The description of the dump: what, of which policy, from which event."""
        return join(self.directory, "dump.json")

    @property
    def is_attempt(self) -> bool:
        """True for the name of a dump that is being written, or was never finished."""
        return self.name.startswith(ATTEMPT_PREFIX)

    def objects(self, batch: str) -> str:
        """The tables and partitions of one batch."""
        return join(self.directory, "objects", f"{batch}.jsonl.gz")

    def files(self, batch: str) -> str:
        """The files of one batch: present only when complete."""
        return join(self.directory, "files", f"{batch}.jsonl.gz")

    def summary(self, batch: str) -> str:
        """What the list of files of one batch adds up to."""
        return join(self.directory, "batches", f"{batch}.json")


def result_path(staging: str, dump: str, batch: str) -> str:
    """Return where a replica keeps the result of copying one batch of a dump."""
    return join(staging, "results", dump, f"{batch}.json")
