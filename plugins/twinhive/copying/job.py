"""Say what one copy job is told, and deal its files over its tasks."""

import gzip
import heapq
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from twinhive import __version__
from twinhive.copying.staged import CopyItem
from twinhive.domain.endpoints import FileSystemEndpoint
from twinhive.domain.files import copying_weight


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


def parse_listing(content: bytes, where: str) -> list[CopyItem]:
    """Read a batch's list, largest file first. Raises Unusable."""
    try:
        # Not splitlines: it also cuts at U+2028 and its like, which names may hold.
        lines = gzip.decompress(content).decode("utf-8", "surrogatepass").split("\n")
        items = [CopyItem.from_line(line) for line in lines if line]
    except (ValueError, TypeError, KeyError, EOFError, gzip.BadGzipFile) as error:
        raise Unusable(f"{where} is not a listing: {type(error).__name__}: {error}") from error
    return sorted(items, key=lambda item: -item.length)


def deal(items: Iterable[CopyItem], hands: int) -> list[list[CopyItem]]:
    """Give each item to whoever has least to do so far; hands that stay empty are left out."""
    dealt: list[list[CopyItem]] = [[] for _ in range(max(1, hands))]
    loads = [(0, number) for number in range(len(dealt))]
    for item in items:
        load, number = loads[0]
        dealt[number].append(item)
        heapq.heapreplace(loads, (load + copying_weight(1, item.length), number))
    return [hand for hand in dealt if hand]
