"""What one copy job is told."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from twinhive import __version__
from twinhive.model.endpoints import FileSystemEndpoint


class Unusable(Exception):
    """Settings or executors that no repetition makes usable."""


@dataclass(frozen=True)
class JobSettings:
    """Hold what the submitter wrote: three file systems, and how to copy."""

    source: FileSystemEndpoint
    target: FileSystemEndpoint
    dump: FileSystemEndpoint
    dump_name: str
    batch: str
    label: str
    version: str = __version__
    threads: int = 8
    tasks: int = 2
    bytes_per_second: float | None = None
    """What one task may move; None: no limit."""
    superseded_ok: bool = False
    """Whether a listed file that is gone or changed is counted instead of failing (`copy_items`)."""
    after_event: int = 0
    """Files of events up to this one are not needed any more (`remaining`)."""
    lost_ok: bool = False
    """Whether files that are lost for good are only written down: their tables are frozen (quarantine)."""

    def to_json(self) -> str:
        """Return the text that `parse` reads; it may hold secrets."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "JobSettings":
        """Read the JSON text. Raises Unusable."""
        try:
            fields: dict[str, Any] = json.loads(text)
            for side in ("source", "target", "dump"):
                fields[side] = FileSystemEndpoint(**fields[side])
            settings = cls(**fields)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise Unusable(f"the settings cannot be used: {type(error).__name__}: {error}") from error
        if settings.version != __version__:
            raise Unusable(f"the submitter is twinhive {settings.version}, this job {__version__}")
        return settings
