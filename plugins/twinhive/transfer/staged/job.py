"""What a copy of listed files works from, and what Spark jobs are told."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from twinhive import __version__
from twinhive.model.endpoints import FileSystemEndpoint
from twinhive.model.errors import InvalidSettings

T = TypeVar("T")


class Unusable(Exception):
    """Settings or executors that no repetition makes usable."""


def settings_text(**fields: Any) -> str:
    """Return the settings of a job as the text that `parsed` reads; it may hold secrets."""
    return json.dumps({"version": __version__, **fields})


def parsed(text: str, read: Callable[[dict[str, Any]], T]) -> T:
    """Return settings by their fields. Raises Unusable, also for those of a submitter of another version."""
    try:
        fields = json.loads(text)
        if (version := fields.pop("version")) == __version__:
            return read(fields)
    except (ValueError, TypeError, KeyError, AttributeError, InvalidSettings) as error:
        raise Unusable(f"the settings cannot be used: {type(error).__name__}: {error}") from error
    raise Unusable(f"the submitter is twinhive {version}, this job {__version__}")


@dataclass(frozen=True)
class CopyJob:
    """What a copy works from and where it leaves its result; all are URIs.

    Events up to `after_event` are on the replica: their files are not copied again. With
    `superseded_ok` a listed file that is gone or changed is no failure: the next round judges it. `batch_weight` is
    what such a batch was to weigh at most, 0 for unknown.
    """

    listing: str
    staging: str
    result: str
    label: str
    files: int
    bytes: int
    superseded_ok: bool = False
    after_event: int = 0
    batch_weight: int = 0


@dataclass(frozen=True)
class JobSettings:
    """Hold what the submitter of a copy job knows: what is copied, three file systems, and how to copy.

    bytes_per_second  what one task may move; None: no limit
    lost_ok           files that are lost for good are only written down: their tables are frozen (quarantine)
    permissions       whose owner, group, permission and ACL the copies get
    """

    job: CopyJob
    source: FileSystemEndpoint
    target: FileSystemEndpoint
    dump: FileSystemEndpoint
    dump_name: str
    batch: str
    threads: int = 8
    tasks: int = 2
    bytes_per_second: float | None = None
    lost_ok: bool = False
    permissions: Literal["replica", "source"] = "replica"

    @property
    def label(self) -> str:
        """Say what is copied."""
        return self.job.label

    def to_json(self) -> str:
        """Return the text that `of` reads the fields of."""
        return settings_text(**asdict(self))

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "JobSettings":
        """Read the fields of the text; what they raise is for `parsed`."""
        sides = {side: FileSystemEndpoint(**fields[side]) for side in ("source", "target", "dump")}
        return cls(**{**fields, **sides, "job": CopyJob(**fields["job"])})
