"""Read the events of a window's dump, each with all files that it brings."""

from collections.abc import Iterator

from twinhive.core.model.changes.kinds import Event
from twinhive.core.ports import FileReader
from twinhive.hive.events.database_drop import without_dropped
from twinhive.hive.events.decoder import decode_event
from twinhive.replication.dump.dump_layout import DumpLayout
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.unnamed_event_files import with_unnamed
from twinhive.replication.dump.unnamed_store import read_unnamed


def told_events(files: FileReader, layout: DumpLayout) -> Iterator[Event]:
    """Yield the events in the order of the log.

    The drop of the database stands for what it has dropped; a window of Hive's own dump holds both.
    """
    unnamed = read_unnamed(files, layout)
    for row in without_dropped(EventRange.unpack(files.read(layout.events)).rows):
        yield with_unnamed(decode_event(row), unnamed.get(row.event_id, ()))
