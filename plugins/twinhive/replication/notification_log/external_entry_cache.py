"""Know from the pass before which directories external tables have: of most tables no event has said anything since.

Every change of a partition's place has an event, so reading the log replaces a call to the metastore for each table.
"""

from collections import defaultdict
from collections.abc import Mapping

from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.replication.dump.dump_store import ExternalPass
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.dump.passes.external_passes import locations_of_pass
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.notification_log.touched_tables import touched_after

_READ_AGAIN_SECONDS = 24 * 3600
_MOST_EVENTS = 20_000
"""Beyond this, reading the tables is as fast as reading the log."""
KnownEntries = Mapping[TableName, tuple[Entry, ...]]


def known_entries(
    ports: ReadPorts, policy: Policy, before: ExternalPass | None, now: float, log: SourceLog
) -> KnownEntries:
    """Return the entries of tables that are as the pass before found them; nothing where the log cannot tell.

    That is so in a log that was restored behind anything that pass may have read.

    Once a day all are read again. A policy that lets data stay has to look at every place, because what stays is on no
    list.
    """
    if before is None or before.manifest.fingerprint != policy.fingerprint or policy.external.stay:
        return {}
    of = before.manifest
    if now - of.read_at > _READ_AGAIN_SECONDS or ports.source.current_event_id() - of.event_id > _MOST_EVENTS:
        return {}
    if not all(log.has(point) for point in (of.begin, of.end)):
        return {}
    touched = touched_after(ports, policy, of.begin.position)
    if touched is None:
        return {}
    known: dict[TableName, tuple[Entry, ...]] = defaultdict(tuple)
    for entry in locations_of_pass(ports.dump_files, policy, before.name):
        if entry.table not in touched:
            known[entry.table] += (entry,)
    return known
