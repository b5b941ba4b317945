"""Know what the source's log tells after the replica's position: marks not reached yet, and what changes meanwhile.

A leaf that changes on and on never equals the source. It is excused when the replica has passed the mark, so that it
had what the mark promises, and an event that it has not reached names the leaf. A mark that the replica has not passed
says nothing of what the replica has, unless nothing of its set is told between the two.
"""

from collections import defaultdict

from twinhive.core.model.changes.affected_objects import partitions_named, partitions_told, tables_of
from twinhive.core.model.changes.kinds import DetailChange, Event
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import SETS_TABLE, SetMark
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_scope import is_of_default_catalog

_PER_CALL = 300
_MOST = 10_000
"""Rows; of a replica that is further behind no set is judged."""


class LaterEvents:
    """What rows of a source's log after a position say of one database; read when it is first asked for."""

    def __init__(self, ports: ReadPorts, database: str, position: int) -> None:
        self._ports = ports
        self._database = database
        self._position = position
        self._marks: set[tuple[str, ...]] = set()
        self._leaves: dict[TableName, set[tuple[str, ...] | None]] = defaultdict(set)
        self._known: bool | None = None

    @property
    def is_known(self) -> bool:
        """True when all of it could be read."""
        if self._known is None:
            self._known = self._read()
        return self._known

    def is_before(self, mark: SetMark, spec: SetSpec, keys: tuple[str, ...]) -> bool:
        """True when the replica has not passed a mark, and something of its set is told that it has not reached."""
        if not self.is_known:
            return True
        leaves = self._leaves[mark.table]
        changes = any(values is None or len(values) != len(keys) or spec.matches(values, keys) for values in leaves)
        return changes and not self._has_passed(mark)

    def excuses(self, mark: SetMark, values: tuple[str, ...] | None) -> bool:
        """True for a leaf of a set that changes after a mark which the replica has passed."""
        if not self.is_known or not self._has_passed(mark):
            return False
        return bool({values, None} & self._leaves[mark.table])

    def _has_passed(self, mark: SetMark) -> bool:
        return (mark.table.table, mark.spec) not in self._marks

    def _read(self) -> bool:
        """Return whether all of it could be read."""
        position, end = self._position, self._ports.source.current_event_id()
        if end - position > _MOST:
            return False
        while rows := self._ports.source.events_after(position, _PER_CALL):
            for row in rows:
                if is_of_default_catalog(row) and (row.database or "").lower() == self._database:
                    try:
                        self._note(decode_event(row))
                    except ActNow:
                        return False
            position = rows[-1].event_id
        return True

    def _note(self, event: Event) -> None:
        change = event.change
        if isinstance(change, DetailChange):
            return
        for name in tables_of(change):
            if name.table == SETS_TABLE:
                told = (one.values for one in partitions_told(change))
                self._marks |= {(table.lower(), *spec) for table, *spec in told}
            elif named := partitions_named(change):
                self._leaves[name].update(named)
            else:
                self._leaves[name].add(None)
