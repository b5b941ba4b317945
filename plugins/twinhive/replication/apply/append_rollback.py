"""Take back the files of an event that was begun and cannot be ended: readers see appended files before its call."""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import assert_never

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.untrusted_paths import place_below
from twinhive.core.ports import rename_into
from twinhive.replication.apply.actions import Add, Drop, Edit, EditPartitions, EditTable, Rows, Single, actions
from twinhive.replication.apply.table_changes import with_checksums
from twinhive.replication.apply.target import Target
from twinhive.transfer.staged.staged_files import CopyItem


def take_back(target: Target, later: Iterable[Event]) -> list[str]:
    """Rename files of the first of these events back to where they were staged; return where they were.

    `later` are the events after the position, in the order of the log; the first ones are of one table, or are none of
    rows. A file whose copy is still staged was not placed: what has its name there is somebody else's.
    """
    events = iter(later)
    first = next(events, None)
    if first is None:
        return []
    names = tables_of(first.change)
    same = [first, *takewhile(lambda event: tables_of(event.change) == names, events)]
    taken = []
    for directory, edit in _appended(target, same):
        for file in with_checksums(edit.files):
            staged = CopyItem.of(file).staged_path(target.policy.staging)
            place = place_below(directory, file.relative)
            if target.files.status(staged) is None and target.files.status(place) is not None:
                target.lease.confirm()
                if rename_into(target.files, place, staged):
                    taken.append(place)
    return taken


def _appended(target: Target, events: list[Event]) -> Iterator[tuple[str, Edit]]:
    """Yield the directories that events append to, if they are not applied."""
    for action in (action for event in events for action in actions([event])):
        match action.what:
            case EditTable(table=table, edit=edit) if edit.rows is Rows.APPEND and not table.is_external:
                there = target.twin.table(target.policy.on_replica(table.name))
                if there is not None and there.location and not target.twin.is_at(there, edit.event_id):
                    yield there.location, edit
            case EditPartitions(table=table) as several if not table.is_external:
                yield from _appended_to_partitions(target, several)
            case EditTable() | EditPartitions() | Add() | Drop() | Single():
                continue
            case _:
                assert_never(action.what)


def _appended_to_partitions(target: Target, several: EditPartitions) -> Iterator[tuple[str, Edit]]:
    name, edits = target.policy.on_replica(several.table.name), several.edits
    found = target.twin.partitions(name, list(edits)) if target.twin.table(name) else {}
    for partition, edit in edits.items():
        one = found.get(partition)
        if one is None or not one.location or target.twin.is_at(one, edit.event_id):
            continue
        if edit.rows is Rows.APPEND:
            yield one.location, edit
