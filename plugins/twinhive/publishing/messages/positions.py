"""Read and move a publisher's position by compare-and-set, so that of two publishers one is told to stop."""

from contextlib import suppress
from dataclasses import replace

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, AlreadyThere, ChangedMeanwhile, Unreachable
from twinhive.core.model.messages.publisher_position import KeptPosition
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.thrift_objects import text_table
from twinhive.core.ports import MetastoreReader, MetastoreWriter
from twinhive.publishing.messages.event_announcements import OWN_DATABASE

POSITION_TABLE = TableName(OWN_DATABASE, "publisher")
"""Not in a database of data: each write is an event, which would wake the policies of that database."""


class PositionStore:
    """The position of one metastore's publisher, in the parameters of a table there."""

    def __init__(self, metastore: MetastoreWriter) -> None:
        self._metastore = metastore

    def read(self) -> KeptPosition | None:
        """Return what is kept, None before the first start. Raises ActNow for a table of somebody else."""
        return kept_position(self._metastore)

    def start(self, first: KeptPosition) -> KeptPosition:
        """Keep a first position unless another publisher was faster; return what is kept then."""
        if self._metastore.database(OWN_DATABASE) is None:
            with suppress(AlreadyThere):
                self._metastore.create_database(
                    Database(OWN_DATABASE, None, None, {}, "{}", comment="kept by twinhive: positions of publishers")
                )
        table = text_table(POSITION_TABLE, (("note", "string"),), ())
        with suppress(AlreadyThere):
            self._metastore.create_table(replace(table, parameters=first.parameters()))
        return self.read() or first

    def move(self, before: KeptPosition, after: KeptPosition) -> None:
        """Write a position over the one that was read or written last. Raises ChangedMeanwhile, Unreachable."""
        table = self._metastore.table(POSITION_TABLE)
        if table is None:
            if self.start(after).token != after.token:
                raise ChangedMeanwhile(
                    f"{POSITION_TABLE} was dropped, and another publisher has made it again",
                    found="its position",
                    expected="this publisher's",
                    next_step=RETRIES + ": whoever is alone goes on from what is kept",
                )
            return
        moved = table.with_parameters({**table.parameters, **after.parameters()})
        try:
            self._metastore.alter_table(POSITION_TABLE, moved, expected=before.token)
        except Unreachable:
            # It may have been written all the same: no call is repeated blindly.
            kept = self.read()
            if kept is None or kept.token != after.token:
                raise


def only_its_writing_is_gone(metastore: MetastoreReader, kept: KeptPosition) -> bool:
    """True where the log is empty, and all that has happened since a position was kept is that it was written.

    Each write is an event itself. On a quiet cluster it expires like others, and nothing is lost with it.
    """
    after = kept.position.event_id
    return metastore.current_event_id() == after + 1 and not metastore.events_after(after, 1)


def begin_behind(metastore: MetastoreReader, kept: KeptPosition) -> Position:
    """Return from where to go on behind a position: past its own writing, where nothing else is left of the log."""
    if only_its_writing_is_gone(metastore, kept):
        return Position(kept.position.event_id + 1)
    return kept.position


def kept_position(metastore: MetastoreReader) -> KeptPosition | None:
    """Return what a metastore's publisher keeps, None before the first start. Raises ActNow likewise."""
    table = metastore.table(POSITION_TABLE)
    return None if table is None else _position_of(table)


def _position_of(table: Table) -> KeptPosition:
    kept = KeptPosition.read(table.parameters)
    if kept is None:
        raise ActNow(
            f"{POSITION_TABLE} keeps no position of a publisher, and its name is taken for that",
            found="a table without the parameters of a position",
            expected="the table that twinhive publish makes, or none",
            next_step="rename that table; or, if it was one and was spoiled, drop it: then messages start anew with "
            "what happens from then on",
        )
    return kept
