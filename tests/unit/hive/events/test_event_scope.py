from typing import Any

import pytest
from hive_metastore import ttypes

from tests.support.builders import a_policy
from tests.unit.hive.events.messages import MESSAGES, a_row, a_table_struct, tjson
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.policy import Policy
from twinhive.hive.events.event_scope import in_scope

POLICY = a_policy(exclude=("tmp_.*",))


def a_table_event(table: str, event_type: str = "CREATE_TABLE", database: str = "sales", **changes: Any) -> EventRow:
    text = tjson(a_table_struct(table, dbName=database))
    message = {"db": database, "table": table, "tableObjJson": text, "files": []}
    return a_row(message, event_type, **{"database": database, "table": table, **changes})


def a_rename(old: tuple[str, str], new: tuple[str, str]) -> EventRow:
    before, after = (tjson(a_table_struct(table, dbName=database)) for database, table in (old, new))
    message = {"db": old[0], "table": old[1], "tableObjBeforeJson": before, "tableObjAfterJson": after}
    return a_row(message, "ALTER_TABLE", database=new[0], table=new[1])


def a_foreign_key(referring: tuple[str, str], referred: tuple[str, str]) -> EventRow:
    key = ttypes.SQLForeignKey(*referred, "id", *referring, "id", 1)
    return a_row({"foreignKeyListJson": [tjson(key)]}, "ADD_FOREIGNKEY", database=referred[0], table=referred[1])


def a_database_event(event_type: str, database: str) -> EventRow:
    message = dict(MESSAGES[event_type], db=database)
    for key in ("dbJson", "dbObjBeforeJson", "dbObjAfterJson"):
        message[key] = tjson(ttypes.Database(database))
    message["functionObjJson"] = tjson(ttypes.Function("f", database, "org.F"))
    return a_row(message, event_type, database=database, table=None)


def judged(row: EventRow, policy: Policy = POLICY) -> bool:
    return in_scope(row, policy)


IN, OUT = True, False
DATABASE_EVENTS = ["CREATE_DATABASE", "ALTER_DATABASE", "DROP_DATABASE", "CREATE_FUNCTION", "DROP_FUNCTION"]


@pytest.mark.parametrize("event_type", DATABASE_EVENTS)
def test_events_of_the_database_and_of_its_functions(event_type: str) -> None:
    assert judged(a_database_event(event_type, "sales")) == IN
    assert judged(a_database_event(event_type, "Sales")) == IN
    assert judged(a_database_event(event_type, "other")) == OUT


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (a_table_event("orders"), IN),
        (a_table_event("Orders", database="Sales"), IN),
        (a_table_event("tmp_1"), OUT),
        (a_table_event("TMP_1"), OUT),
        (a_table_event("orders", database="other"), OUT),
        (a_table_event("orders", catalog="spark"), OUT),
        (a_table_event("orders", catalog=None), IN),
        (a_table_event("orders", catalog=""), IN),
        (a_rename(("sales", "tmp_1"), ("sales", "orders")), IN),
        (a_rename(("sales", "orders"), ("sales", "tmp_1")), IN),
        (a_rename(("sales", "orders"), ("other", "orders")), IN),
        (a_rename(("other", "orders"), ("sales", "orders")), IN),
        (a_rename(("sales", "tmp_1"), ("sales", "tmp_2")), OUT),
        (a_rename(("other", "a"), ("other", "b")), OUT),
        (a_foreign_key(("sales", "items"), ("other", "orders")), IN),
        (a_foreign_key(("sales", "tmp_1"), ("other", "orders")), OUT),
    ],
)
def test_events_of_tables(row: EventRow, verdict: bool) -> None:
    assert judged(row) == verdict


def test_a_foreign_key_is_looked_at_for_the_table_that_it_refers_to() -> None:
    assert judged(a_foreign_key(("sales", "tmp_1"), ("sales", "orders")))


@pytest.mark.parametrize(
    ("event_type", "names", "verdict"),
    [
        ("OPEN_TXN", {"database": None, "table": None}, OUT),
        ("CREATE_CATALOG", {"database": None, "table": None}, OUT),
        ("CREATE_ISCHEMA", {"database": "Sales", "table": None}, IN),
        ("CREATE_ISCHEMA", {"database": "other", "table": None}, OUT),
        ("ALLOC_WRITE_ID_EVENT", {"database": "Sales", "table": "Orders"}, IN),
        ("ALLOC_WRITE_ID_EVENT", {"database": "sales", "table": "tmp_1"}, OUT),
        ("RELOAD", {"database": "other", "table": "orders"}, OUT),
    ],
)
def test_events_that_are_not_replicated(event_type: str, names: dict[str, str | None], verdict: bool) -> None:
    assert judged(a_row({}, event_type, **names)) == verdict


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        ({"database": None, "table": None}, True),
        ({"database": "sales", "table": None}, True),
        ({"database": "sales", "table": "orders"}, True),
        ({"database": "sales", "table": "tmp_1"}, False),
        ({"database": "other", "table": "orders"}, False),
        ({"database": None, "table": None, "catalog": "spark"}, False),
    ],
)
def test_unknown_types_are_in_scope_unless_they_name_something_else(
    names: dict[str, str | None], verdict: bool
) -> None:
    assert in_scope(a_row({}, "ALTER_UNIVERSE", **names), POLICY) is verdict


def test_messages_of_other_databases_may_be_broken() -> None:
    assert not in_scope(a_row("{", "ALTER_PARTITION", database="other"), POLICY)
