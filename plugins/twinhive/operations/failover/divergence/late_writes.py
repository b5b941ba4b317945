"""Find what users wrote into an old primary after it was kept: by its log, and by the times of files without an event.

All times are of one file system's clock: the note of keeping was written into the same one before that pass began.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from twinhive.core.model.errors import UnreadableObject, together
from twinhive.core.model.files import base_name, is_hidden
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, ReadPorts
from twinhive.core.threads.parallel_map import in_threads
from twinhive.operations.failover.divergence.diverged_tables import compared_tables
from twinhive.operations.failover.divergence.kept_note import KeptNote
from twinhive.operations.failover.divergence.old_primary_log import OldPrimaryLog
from twinhive.replication.comparison.leaf_reader import sides_of

_PLACES_AT_ONCE = 1_000
_ASKING = 8


def written_since(ports: ReadPorts, policy: Policy, log: OldPrimaryLog, note: KeptNote) -> Mapping[str, str] | None:
    """Return the tables that were written since the pass of a note, and how that shows; None: any of them may be."""
    log.read_on()
    named = log.written_after(note.until) if note.until else None
    if named is None:
        return None
    return {name: f"files of {name}, without an event" for name in _with_young_files(ports, policy, note)} | dict(named)


def _with_young_files(ports: ReadPorts, policy: Policy, note: KeptNote) -> Iterator[str]:
    """Yield the tables in whose directories something is as young as the pass, or has come or gone since."""
    _, old = sides_of(ports, policy)
    old = replace(old, with_external=policy.external.brings_data)
    unreadable: list[UnreadableObject] = []
    for table in compared_tables(ports.replica, policy, unreadable):
        places = (place for page in old.located(table) for _, place in page if place)
        if any(_has_young(ports.replica_files, some, note.since_ms) for some in _chunks(places)):
            yield table.name.table
    if unreadable:
        raise together(unreadable, f"{len(unreadable)} tables of {policy.replica} cannot be read")


def _has_young(files: FileReader, places: Sequence[str], since_ms: int) -> bool:
    found = in_threads(files.status, places, _ASKING)
    if any(one is not None and one.modified_ms >= since_ms for one in found):
        return True
    waiting = list(places)
    while waiting:
        below: list[str] = []
        for _, page in files.list_pages(waiting):
            for one in page or ():
                if is_hidden(base_name(one.path)):
                    continue
                if one.modified_ms >= since_ms:
                    return True
                below += [one.path] if one.is_directory else []
        waiting = below
    return False


def _chunks(places: Iterator[str]) -> Iterator[list[str]]:
    some: list[str] = []
    for place in places:
        some.append(place)
        if len(some) == _PLACES_AT_ONCE:
            yield some
            some = []
    if some:
        yield some
