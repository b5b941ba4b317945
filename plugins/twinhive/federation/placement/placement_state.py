"""What is remembered of a placement between two runs: up to which event, and what was copied then.

It is a memory only: who finds none, or one of another text of the placement, looks at everything. A placement in which
nothing has happened costs one look into the log, and one at each directory around those that are copied: what was seen
there is compared as one digest, however many partitions there are.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from twinhive.core.model.changes.events import Position
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, if_there
from twinhive.federation.placement.copied_objects import CopyObject, line_of
from twinhive.federation.placement.parent_digests import Around, BothSides
from twinhive.federation.placement.placement_layout import position_path, record_path
from twinhive.replication.dump.json_files import read_json, write_json
from twinhive.replication.dump.shards import pack_lines, unpack_lines


@dataclass(frozen=True)
class LookedAt:
    """Up to which event all has been looked at.

    touched   at which event a table was found changed last
    around    of tables of which nothing was missing: the directories around theirs and their copies', as they were then
    marked    the oldest event that a mark of a table bears, None where it has none
    marks     how many marks a table has
    seen      when the position was found first, by our clock: 0 where that is not known
    clock     what time the primary's file system had when this was written, in milliseconds: 0 where that is not known
    """

    log_id: str
    position: Position
    touched: Mapping[str, int] = field(default_factory=dict)
    around: Mapping[str, BothSides] = field(default_factory=dict)
    marked: Mapping[str, int | None] = field(default_factory=dict)
    marks: Mapping[str, int] = field(default_factory=dict)
    seen: float = 0.0
    clock: int = 0

    @property
    def number_of_marks(self) -> int:
        """How many marks there are."""
        return sum(self.marks.values())

    @property
    def oldest_mark(self) -> int | None:
        """The oldest event that a mark bears, None where nothing is marked."""
        return min((event_id for event_id in self.marked.values() if event_id is not None), default=None)

    def is_due(self, table: str, event_id: int) -> bool:
        """True when a table has marks of an event or of older ones, or when an earlier version has not said which."""
        oldest = self.marked.get(table)
        return table not in self.marked or (oldest is not None and oldest <= event_id)


def read_position(files: FileReader, policy: Policy, log_id: str) -> LookedAt | None:
    """Return what the last run has written, None where it tells nothing: of another log, or of another text."""
    said = read_json(files, position_path(policy))
    if said is None or (said["log"], said["fingerprint"]) != (log_id, policy.fingerprint):
        return None
    around = {table: BothSides(*map(_around, both)) for table, both in said.get("around", {}).items()}
    position = Position(said["event"], said["time"], said["digest"])
    # Earlier versions have not written the last ones.
    return LookedAt(
        log_id,
        position,
        dict(said["touched"]),
        around,
        dict(said.get("marked", {})),
        dict(said.get("marks", {})),
        said.get("seen", 0.0),
        said.get("clock", 0),
    )


def write_position(files: FileWriter, policy: Policy, looked_at: LookedAt) -> None:
    """Write down up to which event all has been looked at."""
    position = looked_at.position
    said = {
        "log": looked_at.log_id,
        "fingerprint": policy.fingerprint,
        "event": position.event_id,
        "time": position.time,
        "digest": position.digest,
        "touched": dict(looked_at.touched),
        "marked": dict(looked_at.marked),
        "marks": dict(looked_at.marks),
        "seen": looked_at.seen,
        "clock": looked_at.clock,
        "around": {table: [_fields(both.objects), _fields(both.copies)] for table, both in looked_at.around.items()},
    }
    write_json(files, position_path(policy), said)


def _around(said: Mapping[str, Any]) -> Around:
    return Around(tuple(said["directories"]), said["digest"])


def _fields(around: Around) -> dict[str, Any]:
    return {"directories": list(around.directories), "digest": around.digest}


@dataclass(frozen=True)
class CopyRecorded:
    """An object of which a whole and fresh copy was at a place, and that directory as it was."""

    what: CopyObject
    copy: str
    directory: DirectoryState


@dataclass(frozen=True)
class CopiedTable:
    """All copies of a table, as of an event; `open` are objects that are to have one and had none then."""

    event_id: int
    copies: tuple[CopyRecorded, ...]
    open: tuple[Values, ...] = ()


def read_record(files: FileReader, policy: Policy, table: str, looked_at: LookedAt) -> CopiedTable | None:
    """Return what is remembered of a table, None when it was looked at since, or nothing is."""
    content = if_there(files.read, record_path(policy, table))
    if content is None:
        return None
    head, *lines = unpack_lines(content)
    said = json.loads(head)
    is_of_it = (said["table"], said["log"], said["fingerprint"]) == (table, looked_at.log_id, policy.fingerprint)
    if not is_of_it or said["event"] < looked_at.touched.get(table, 0):
        return None
    copies: list[CopyRecorded] = []
    waiting: list[Values] = []
    for line in lines:
        fields = json.loads(line)
        if "copied" in fields:
            copies.append(_recorded(fields))
        else:
            waiting.append(tuple(fields["open"]))
    return CopiedTable(said["event"], tuple(copies), tuple(waiting))


def _recorded(fields: Mapping[str, Any]) -> CopyRecorded:
    return CopyRecorded(CopyObject.of_fields(fields), fields["copy"], DirectoryState(*fields["copied"]))


def write_record(files: FileWriter, policy: Policy, table: str, log_id: str, record: CopiedTable) -> None:
    """Remember what has a copy of a table, and where; and of what is wanted the partitions that have none."""
    head = {"table": table, "log": log_id, "fingerprint": policy.fingerprint, "event": record.event_id}
    lines = (
        line_of({**one.what.fields(), "copy": one.copy, "copied": one.directory.fields()}) for one in record.copies
    )
    waiting = (line_of({"open": list(values)}) for values in record.open if values is not None)
    files.write(record_path(policy, table), pack_lines(chain([line_of(head)], lines, waiting)))
