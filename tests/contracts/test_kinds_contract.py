"""Hold the fake and the real metastore to what they store of what clients say, and to what they write into events."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.hive.metastore_objects import a_table, as_said, owned
from twinhive.core.model.changes.kinds import AlterDatabase, AlterTable, CreateTable
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import USER, Table
from twinhive.core.model.thrift_objects import read_table
from twinhive.core.model.tjson import from_text
from twinhive.core.ports import MetastoreWriter
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_message import decode_message

SAID = (None, "", "MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW", "MATERIALIZED_VIEW", "managed_table")
EXTERNAL = (None, "TRUE", "true", "tRuE", "FALSE", "false", " TRUE", "TRUE ", "", "1")
EACH = [(said, external) for said in SAID for external in EXTERNAL]
ROLE, GROUP = 2, 3


@pytest.fixture
def begin(metastore: MetastoreWriter, database: str) -> int:
    """Give the newest event before those of a test."""
    return metastore.current_event_id()


def rows_after(metastore: MetastoreWriter, begin: int, database: str, event_type: str) -> Iterator:
    rows = metastore.events_after(begin, 1000)
    return (row for row in rows if row.database == database and row.event_type == event_type)


def what_counts(table: Table) -> tuple:
    return table.name, table.table_type, table.kind, table.location, "10" in from_text(table.thrift)


def stored(metastore: MetastoreWriter, name: TableName) -> Table:
    found = metastore.table(name)
    assert found is not None
    return found


def test_a_new_table_is_decoded_as_it_is_stored_whatever_a_client_says(
    metastore: MetastoreWriter, database: str, begin: int
) -> None:
    """The event holds what the client said."""
    names = {TableName(database, f"t{number}"): each for number, each in enumerate(EACH)}
    for name, (said, external) in names.items():
        place = None if said == "VIRTUAL_VIEW" else f"hdfs://east/tmp/{database}/{name.table}"
        metastore.create_table(as_said(a_table(database, name.table, location=place), said, external))
    rows = list(rows_after(metastore, begin, database, "CREATE_TABLE"))
    assert len(rows) == len(names)
    for row, (name, (said, _)) in zip(rows, names.items(), strict=True):
        change = decode_event(row).change
        assert isinstance(change, CreateTable)
        assert what_counts(change.table) == what_counts(stored(metastore, name)), names[name]
        told = from_text(decode_message(row)["tableObjJson"])
        assert told.get("12") == (None if said is None else {"str": said})


def test_a_text_without_a_type_is_a_view_without_a_text(metastore: MetastoreWriter, database: str, begin: int) -> None:
    tree = from_text(as_said(a_table(database, "v", location=f"hdfs://east/tmp/{database}/v"), None, None).thrift)
    metastore.create_table(replace(read_table(tree | {"10": {"str": "select 1"}, "11": {"str": "select 1"}})))
    (row,) = rows_after(metastore, begin, database, "CREATE_TABLE")
    change = decode_event(row).change
    assert isinstance(change, CreateTable)
    assert what_counts(change.table) == what_counts(stored(metastore, change.table.name))
    assert change.table.table_type == "VIRTUAL_VIEW"


@pytest.mark.parametrize("first", ["MANAGED_TABLE", "EXTERNAL_TABLE"])
def test_an_altered_table_is_decoded_as_it_is_stored_whatever_a_client_says(
    metastore: MetastoreWriter, database: str, begin: int, first: str
) -> None:
    """What was before is told as it was stored, what is after as the client said it."""
    said_each = [(said, external) for said in SAID for external in (None, "TRUE", "true", "false")]
    for number, (said, external) in enumerate(said_each):
        place = f"hdfs://east/tmp/{database}/{number}"
        metastore.create_table(a_table(database, f"t{number}", location=place, table_type=first))
        found = stored(metastore, TableName(database, f"t{number}"))
        assert found.table_type == first
        metastore.alter_table(found.name, as_said(found, said, external))
    rows = list(rows_after(metastore, begin, database, "ALTER_TABLE"))
    assert len(rows) == len(said_each)
    for row, (said, external) in zip(rows, said_each, strict=True):
        change = decode_event(row).change
        assert isinstance(change, AlterTable)
        assert change.before.table_type == first
        assert what_counts(change.after) == what_counts(stored(metastore, change.after.name)), (said, external)
        told = from_text(decode_message(row)["tableObjAfterJson"])
        assert told.get("12") == (None if said is None else {"str": said})


def test_the_kind_of_a_databases_owner_is_kept_and_told(metastore: MetastoreWriter, database: str, begin: int) -> None:
    """A change of it alone is an event."""
    for owner_type in (ROLE, GROUP, USER, ROLE):
        found = metastore.database(database)
        assert found is not None
        metastore.alter_database(owned(found, "analysts", owner_type))
        changed = metastore.database(database)
        assert changed is not None
        assert (changed.owner, changed.owner_type) == ("analysts", owner_type)
    changes = [decode_event(row).change for row in rows_after(metastore, begin, database, "ALTER_DATABASE")]
    types = [(one.before.owner_type, one.after.owner_type) for one in changes if isinstance(one, AlterDatabase)]
    assert types == [(USER, ROLE), (ROLE, GROUP), (GROUP, USER), (USER, ROLE)]
