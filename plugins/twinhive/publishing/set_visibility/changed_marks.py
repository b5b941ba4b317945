"""Find the marks that have to be looked at: those that the source's log tells of since the last look, those that were
held, and those of tables that are others by now.
"""

from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass, replace

from twinhive.core.model.changes.affected_objects import partitions_named
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import ActNow, Missing
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_mark import SETS_TABLE, mark_name
from twinhive.core.model.thrift_objects import table_id
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_scope import is_of_default_catalog
from twinhive.hive.events.reader import position_at, read_events
from twinhive.replication.replica.set_checkpoint import Ids, Looked, read_looked

_MOST_ROWS = 10_000
"""Where the log has gone further, all marks are read instead."""
_WHOLE_SECONDS = 3_600
"""How often all marks are read: for what no event of the source tells, as when sets expire."""
_WRITE_ROWS = 50
"""So many rows are read again rather than a file is written."""


@dataclass(frozen=True)
class ToLookAt:
    """The marks that a look is of.

    names             None for all of both sides
    looked            what it is to leave, all being well
    is_worth_keeping  the next look would do much of this one again, were it not kept
    """

    names: frozenset[str] | None
    looked: Looked
    is_worth_keeping: bool


def find_changed(ports: ReadPorts, policy: Policy, log_id: str, now: float) -> ToLookAt:
    """Return what has to be looked at. Reads only."""
    before = read_looked(ports.replica_files, policy)
    is_recent = before is not None and before.log_id == log_id and 0 <= now - before.whole_at < _WHOLE_SECONDS
    changed = _changed_since(ports, policy, before) if before is not None and is_recent else None
    if changed is None:
        newest = position_at(ports.source, ports.source.current_event_id())
        return ToLookAt(None, Looked(log_id, newest, int(now)), is_worth_keeping=True)
    return changed


def _changed_since(ports: ReadPorts, policy: Policy, before: Looked) -> ToLookAt | None:
    """Return what has to be looked at since a look, None where nobody knows."""
    tables = table_ids(ports, policy, before.tables.keys() - {SETS_TABLE})
    if tables[SETS_TABLE] != before.tables.get(SETS_TABLE):
        return None
    told: set[str] = set()
    end = before.position
    try:
        for number, row in enumerate(read_events(ports.source, before.position)):
            if number == _MOST_ROWS:
                return None
            told |= _marks_told(row, policy.source.database)
            end = row.position
    except ActNow:  # a gap, another log, or an event that cannot be read: it may be of a mark
        return None
    others = [name for name, ids in tables.items() if ids != before.tables[name]]
    of_others = {name for table in others for name in _marks_of(ports, policy, table)}
    is_worth_keeping = bool(told or of_others) or end.event_id - before.position.event_id > _WRITE_ROWS
    return ToLookAt(
        before.open | told | of_others, replace(before, position=end, tables=tables), is_worth_keeping=is_worth_keeping
    )


def table_ids(ports: ReadPorts, policy: Policy, names: Set[str]) -> dict[str, Ids]:
    """Return the ids of tables on both sides, and those of the tables of sets."""
    wanted = sorted({*names, SETS_TABLE})
    source = {one.name.table: table_id(one) for one in ports.source.tables(policy.source.database, wanted)}
    replica = {one.name.table: table_id(one) for one in ports.replica.tables(policy.replica.database, wanted)}
    return {name: (source.get(name), replica.get(name)) for name in wanted}


def _marks_of(ports: ReadPorts, policy: Policy, table: str) -> list[str]:
    sides = ((ports.source, policy.source), (ports.replica, policy.replica))
    found: list[str] = []
    for metastore, side in sides:
        with suppress(Missing):
            found += metastore.partition_names_with(TableName(side.database, SETS_TABLE), (table, ""))
    return found


def _marks_told(row: EventRow, database: str) -> set[str]:
    named = ((row.database or "").lower(), (row.table or "").lower())
    if not is_of_default_catalog(row) or named != (database, SETS_TABLE):
        return set()
    told = ((table, "".join(spec)) for table, *spec in partitions_named(decode_event(row).change))
    # Hive SQL may have marked it in capitals; the replica has it in small letters.
    return {mark_name(one, spec) for table, spec in told for one in (table, table.lower())}
