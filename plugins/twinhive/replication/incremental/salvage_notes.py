"""What was found staged of a window before anything of it was applied without its source.

What is applied is taken out of staging: who looks there after a kill would see less than there was, and would leave a
begun event half done.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from twinhive.core.model.changes.events import Position
from twinhive.core.model.files import join
from twinhive.core.model.text import Text, render
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.json_files import read_json, write_json


@dataclass(frozen=True)
class NotedStaging:
    """Up to which event a window was staged, and which events before it have files that nobody has."""

    end: Position
    lost: Mapping[int, Text]


def note_staged(files: FileWriter, kept: Dump, found: NotedStaging) -> None:
    """Write it beside a window that staging keeps; what was noted before and goes as far stays."""
    before = noted_staging(files, kept)
    if before is not None and before.end.event_id >= found.end.event_id:
        return
    end, lost = found.end, {str(event_id): render(reason) for event_id, reason in found.lost.items()}
    said = {"event_id": end.event_id, "time": end.time, "digest": end.digest, "lost": lost}
    write_json(files, _path(kept), said)


def noted_staging(files: FileReader, kept: Dump) -> NotedStaging | None:
    """Return what was noted of a window, None for nothing."""
    said = read_json(files, _path(kept))
    if said is None:
        return None
    lost = {int(event_id): reason for event_id, reason in said["lost"].items()}
    return NotedStaging(Position(said["event_id"], said["time"], said["digest"]), lost)


def note_refused(files: FileWriter, kept: Dump) -> bool:
    """Write down that tables which come whole with a window cannot be brought; True where that was there before."""
    path = join(kept.layout.directory, "refused.json")
    if read_json(files, path) is not None:
        return True
    write_json(files, path, {"tables": sorted(kept.manifest.window.snapshots)})
    return False


def _path(kept: Dump) -> str:
    return join(kept.layout.directory, "salvage.json")
