"""Which events are passed over: those that a person has asked for, and no others that have their numbers by now.

A source that is restored from a backup gives the ids to other events. A request that names an id alone, because nobody
could read its event, is obeyed.
"""

from collections.abc import Mapping

from twinhive.core.model.changes.events import Position
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.reader import position_at
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.operator_requests.request_files import SkipRequest, skip_requests


def obeyed_skips(ports: ReadPorts, policy: Policy) -> Mapping[int, str]:
    """Return the events of the source's log that are passed over, with the reasons."""
    return {event_id: one.reason for event_id, (one, is_meant) in _looked_up(ports, policy).items() if is_meant}


def skips_of_others(ports: ReadPorts, policy: Policy) -> tuple[int, ...]:
    """Return the ids that requests name which mean other events than those that the log has; it may have none yet."""
    others = sorted(event_id for event_id, (_, is_meant) in _looked_up(ports, policy).items() if not is_meant)
    newest = ports.source.current_event_id() if others else 0
    return tuple(event_id for event_id in others if event_id <= newest)


def skips_of_window(ports: ReadPorts, policy: Policy, dump: Dump) -> Mapping[int, str]:
    """Return what is passed over of a window, with the reasons. The source is not asked: it may be gone for good."""
    requests = skip_requests(ports.replica_files, policy)
    manifest = dump.manifest
    ids = range(manifest.begin.event_id + 1, manifest.end.event_id + 1)
    held: dict[int, Position] = {}
    if any(one.position.digest and event_id in ids for event_id, one in requests.items()):
        held = {row.event_id: row.position for row in dump.rows(ports.dump_files)}
    return {
        event_id: one.reason
        for event_id, one in requests.items()
        if one.means(manifest.log_id, held.get(event_id, Position(event_id)))
    }


def _looked_up(ports: ReadPorts, policy: Policy) -> dict[int, tuple[SkipRequest, bool]]:
    requests = skip_requests(ports.replica_files, policy)
    if not any(one.log_id for one in requests.values()):
        return {event_id: (one, True) for event_id, one in requests.items()}
    log_id, newest = ports.source.log_id(), ports.source.current_event_id()
    return {
        event_id: (one, _is_meant(ports, one, log_id, newest) if one.log_id else True)
        for event_id, one in requests.items()
    }


def _is_meant(ports: ReadPorts, request: SkipRequest, log_id: str, newest: int) -> bool:
    """True for a request that means the log's event. A log that has none of its number yet has gone back since."""
    event_id = request.position.event_id
    return event_id <= newest and request.means(log_id, position_at(ports.source, event_id))
