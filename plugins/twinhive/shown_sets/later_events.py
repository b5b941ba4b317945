"""Know what the source's log tells after the replica's position: marks not reached yet, and what changes meanwhile.

A leaf that changes on and on never equals the source. It is excused when the replica has passed the mark, so that it
had what the mark promises, and an event that it has not reached names the leaf.
"""

from collections import defaultdict

from twinhive.events.decoder import decode_event
from twinhive.model.changes.facts import partitions_named, partitions_told, tables_of
from twinhive.model.changes.kinds import Event
from twinhive.model.errors import ActNow
from twinhive.model.names import TableName
from twinhive.model.sets.mark import SETS_TABLE, SetMark
from twinhive.ports import ReadPorts

_PER_CALL = 1_000
_MOST = 10_000
"""Rows; of a log that is further ahead nothing is excused."""


class LaterEvents:
    """What rows of a source's log after a position say of one database; read when it is first asked for."""

    def __init__(self, ports: ReadPorts, database: str, position: int) -> None:
        self._ports = ports
        self._database = database
        self._position = position
        self._marks: set[tuple[str, ...]] = set()
        self._leaves: dict[TableName, set[tuple[str, ...] | None]] = defaultdict(set)
        self._is_known: bool | None = None

    def excuses(self, mark: SetMark, values: tuple[str, ...] | None) -> bool:
        """True for a leaf of a set that changes after a mark which the replica has passed."""
        if self._is_known is None:
            self._is_known = self._read()
        if not self._is_known or (mark.table.table, mark.spec) in self._marks:
            return False
        return bool({values, None} & self._leaves[mark.table])

    def _read(self) -> bool:
        """Return whether all of it could be read."""
        position, end = self._position, self._ports.source.current_event_id()
        if end - position > _MOST:
            return False
        while rows := self._ports.source.events_after(position, _PER_CALL):
            for row in rows:
                if (row.database or "").lower() == self._database:
                    try:
                        self._note(decode_event(row))
                    except ActNow:
                        return False
            position = rows[-1].event_id
        return True

    def _note(self, event: Event) -> None:
        change = event.change
        for name in tables_of(change):
            if name.table == SETS_TABLE:
                self._marks |= {one.values for one in partitions_told(change)}
            elif named := partitions_named(change):
                self._leaves[name].update(named)
            else:
                self._leaves[name].add(None)
