"""What is measured of a policy: its servers, and from when on somebody has to look."""

from dataclasses import dataclass, field

from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, MetastoreReader, ReadPorts


@dataclass(frozen=True)
class Limits:
    """From when on somebody has to look; None: never. Times in seconds, room in bytes.

    max_lag       age of the oldest event that is not applied
    external_age  age of what waits for its data, and of the last complete pass over external data
    free_bytes    room below the staging directory
    failed_for    how long a failure that may pass by itself may be open
    stalled_for   how long a copy that runs may move nothing
    held_for      how long a set that is done at the source may be held on the replica
    """

    max_lag: float | None = None
    external_age: float | None = None
    free_bytes: int | None = None
    failed_for: float = 900.0
    stalled_for: float | None = 3_600.0
    held_for: float | None = 3_600.0


@dataclass(frozen=True)
class Follower:
    """A policy, the servers it is about, and its limits."""

    policy: Policy
    ports: ReadPorts
    limits: Limits = field(default_factory=Limits)


def metastore_name(metastore: MetastoreReader) -> str:
    """Say which metastore it is."""
    return f"the metastore at {', '.join(metastore.addresses())}"


def file_system_name(files: FileReader) -> str:
    """Say which file system it is."""
    return f"the file system {files.root}"
