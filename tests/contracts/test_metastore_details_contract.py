"""Hold the fake and the real metastore to the same behaviour for functions, constraints and statistics."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.hive.contract_metastores import a_database_on, created
from tests.support.hive.metastore_objects import (
    CONSTRAINT_KINDS,
    a_constraint,
    a_function,
    a_partition,
    a_table,
    constraint_names,
    statistics_of,
)
from twinhive.core.model.changes.kinds import (
    AddConstraints,
    CreateFunction,
    DeleteStatistics,
    DropConstraint,
    DropFunction,
    UpdateStatistics,
)
from twinhive.core.model.constraints import FIELDS
from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.tjson import from_text, to_text
from twinhive.hive.events.decoder import decode_event

JAR = "hdfs://east/tmp/upper 1.jar"


@pytest.fixture
def table(metastore: Any, database: str) -> Table:
    return created(metastore, a_table(database, "t", ("p",)))


@pytest.fixture
def other_database(metastore: Any) -> Iterator[str]:
    with a_database_on(metastore) as name:
        yield name


def changes_after(metastore: Any, begin: int) -> list[Any]:
    return [decode_event(row).change for row in metastore.events_after(begin, 100)]


def test_functions_are_created_read_and_dropped(metastore: Any, database: str, other_database: str) -> None:
    assert metastore.functions(database) == []
    begin = metastore.current_event_id()
    given = a_function(database, "Upper", JAR, "hdfs://east/tmp/b.jar")
    metastore.create_function(given)
    metastore.create_function(a_function(database, "lower"))
    metastore.create_function(a_function(other_database, "upper"))
    lower, upper = metastore.functions(database)
    assert metastore.function_names(database) == ["lower", "upper"]
    assert [metastore.function(database, name) for name in ("lower", "Upper", "none")] == [lower, upper, None]
    assert metastore.function("nowhere", "upper") is None
    assert (lower.name, lower.resources) == ("lower", ())
    assert replace(upper, thrift="") == replace(given, name="upper", thrift="")
    assert from_text(upper.thrift)["4"] == {"str": "anna"}
    assert [function.name for function in metastore.functions(other_database)] == ["upper"]
    metastore.drop_function(database, "UPPER")
    metastore.drop_function(database, "upper")
    metastore.drop_function("nowhere", "upper")
    assert metastore.functions(database) == [lower]
    made, *_, dropped = changes_after(metastore, begin)
    assert isinstance(made, CreateFunction)
    assert (made.function.name, made.function.resources) == ("upper", given.resources)
    assert dropped == DropFunction(database, "upper")


def test_function_survives_a_copy(metastore: Any, database: str, other_database: str) -> None:
    metastore.create_function(a_function(database, "upper", JAR))
    (original,) = metastore.functions(database)
    metastore.create_function(original.at(other_database, ("hdfs://west/jars/upper 1.jar",)))
    (copy,) = metastore.functions(other_database)
    assert (copy.class_name, copy.resources) == (original.class_name, ("hdfs://west/jars/upper 1.jar",))
    assert from_text(copy.thrift)["4"] == from_text(original.thrift)["4"]


def test_function_that_is_there_or_without_a_database(metastore: Any, database: str) -> None:
    metastore.create_function(a_function(database, "upper"))
    with pytest.raises(AlreadyThere):
        metastore.create_function(a_function(database, "UPPER"))
    with pytest.raises(Missing):
        metastore.create_function(a_function("nowhere", "upper"))
    assert metastore.functions("nowhere") == metastore.function_names("nowhere") == []


@pytest.mark.parametrize("kind", [kind for kind in CONSTRAINT_KINDS if kind != "foreign_key"])
def test_constraint_is_added_once_and_dropped(metastore: Any, table: Table, kind: str) -> None:
    begin = metastore.current_event_id()
    foreign = a_table("elsewhere", "other")
    metastore.add_constraints(table.name, kind, [a_constraint(foreign, kind, "c1")])
    assert constraint_names(metastore, table.name) == {"c1"}
    with pytest.raises(AlreadyThere):
        metastore.add_constraints(table.name, kind, [a_constraint(table, kind, "c1")])
    metastore.drop_constraint(table.name, "c1")
    metastore.drop_constraint(table.name, "c1")
    assert constraint_names(metastore, table.name) == set()
    added, dropped = changes_after(metastore, begin)
    assert isinstance(added, AddConstraints)
    assert (added.table, added.kind, len(added.constraints)) == (table.name, kind, 1)
    assert dropped == DropConstraint(table.name, "c1")


def test_table_has_one_primary_key(metastore: Any, table: Table) -> None:
    metastore.add_constraints(table.name, "primary_key", [a_constraint(table, "primary_key", "pk")])
    with pytest.raises(AlreadyThere):
        metastore.add_constraints(table.name, "primary_key", [a_constraint(table, "primary_key", "pk2")])


def test_foreign_key_refers_within_the_new_database(metastore: Any, table: Table) -> None:
    parent = created(metastore, a_table(table.name.database, "parent"))
    metastore.add_constraints(parent.name, "primary_key", [a_constraint(parent, "primary_key", "pk")])
    begin = metastore.current_event_id()
    child, referred = a_table("elsewhere", "child"), a_table("elsewhere", "parent")
    metastore.add_constraints(table.name, "foreign_key", [a_constraint(child, "foreign_key", "fk", referred)])
    assert constraint_names(metastore, table.name) == {"fk"}
    (row,) = metastore.events_after(begin, 10)
    assert (row.database, row.table) == (parent.name.database, "parent")
    change = decode_event(row).change
    assert isinstance(change, AddConstraints) and change.table == table.name
    tree = from_text(change.constraints[0])
    assert (tree["1"], tree["2"]) == ({"str": parent.name.database}, {"str": "parent"})
    with pytest.raises(AlreadyThere):
        metastore.add_constraints(table.name, "foreign_key", [a_constraint(child, "foreign_key", "fk", referred)])


def test_foreign_key_to_a_third_database_stays_there(metastore: Any, table: Table, other_database: str) -> None:
    parent = created(metastore, a_table(other_database, "parent"))
    metastore.add_constraints(parent.name, "primary_key", [a_constraint(parent, "primary_key", "pk")])
    begin = metastore.current_event_id()
    child = a_table("elsewhere", "child")
    metastore.add_constraints(table.name, "foreign_key", [a_constraint(child, "foreign_key", "fk", parent)])
    (row,) = metastore.events_after(begin, 10)
    assert (row.database, row.table) == (other_database, "parent")


def test_a_foreign_key_needs_a_key_to_refer_to(metastore: Any, table: Table) -> None:
    parent = created(metastore, a_table(table.name.database, "parent"))
    with pytest.raises(Refused):
        metastore.add_constraints(table.name, "foreign_key", [a_constraint(table, "foreign_key", "fk", parent)])
    # Hive 4.1 takes a foreign key to a unique key as well, and does not list it.
    metastore.add_constraints(parent.name, "primary_key", [a_constraint(parent, "primary_key", "key")])
    metastore.add_constraints(table.name, "foreign_key", [a_constraint(table, "foreign_key", "fk", parent)])
    assert constraint_names(metastore, table.name) == {"fk"}


def test_constraints_are_read_as_they_were_added(metastore: Any, table: Table) -> None:
    parent = created(metastore, a_table(table.name.database, "parent"))
    metastore.add_constraints(parent.name, "primary_key", [a_constraint(parent, "primary_key", "PK")])
    assert metastore.constraints(table.name) == ()
    metastore.add_constraints(table.name, "foreign_key", [a_constraint(table, "foreign_key", "FK", parent)])
    for kind in ("unique", "not_null", "default", "check"):
        metastore.add_constraints(table.name, kind, [a_constraint(table, kind, f"the_{kind}")])
    found = metastore.constraints(table.name)
    assert [(one.kind, one.name) for one in found] == [
        *((kind, f"the_{kind}") for kind in ("unique", "not_null", "default", "check")),
        ("foreign_key", "fk"),
    ]
    assert {one.columns for one in found} == {("id",)}
    assert [one.parent for one in found][-1] == parent.name
    assert [(one.kind, one.parent) for one in metastore.constraints(parent.name)] == [("primary_key", None)]
    assert metastore.constraints(TableName(table.name.database, "nothing")) == ()


def test_what_was_read_makes_the_same_constraint_elsewhere(metastore: Any, table: Table, other_database: str) -> None:
    twin = created(metastore, a_table(other_database, "twin"))
    for kind in ("primary_key", "unique", "not_null", "default", "check"):
        metastore.add_constraints(table.name, kind, [a_constraint(table, kind, f"the_{kind}")])
    for one in metastore.constraints(table.name):
        metastore.add_constraints(twin.name, one.kind, one.structs)
    originals, copies = (metastore.constraints(name) for name in (table.name, twin.name))
    told = [[(one.kind, one.name, one.columns) for one in some] for some in (originals, copies)]
    assert told[0] == told[1]
    defaults = [from_text(some[3].structs[0])["5"] for some in (originals, copies)]
    assert defaults == [{"str": "7"}] * 2


def test_constraints_follow_tables_to_other_names(metastore: Any, table: Table) -> None:
    parent = created(metastore, a_table(table.name.database, "parent"))
    metastore.add_constraints(parent.name, "primary_key", [a_constraint(parent, "primary_key", "pk")])
    metastore.add_constraints(table.name, "foreign_key", [a_constraint(table, "foreign_key", "fk", parent)])
    elder, renamed = (TableName(table.name.database, name) for name in ("elder", "renamed"))
    for old, new in ((parent.name, elder), (table.name, renamed)):
        there = metastore.table(old)
        metastore.alter_table(old, there.at(new, there.location))
    assert [(one.kind, one.name) for one in metastore.constraints(elder)] == [("primary_key", "pk")]
    (key,) = metastore.constraints(renamed)
    assert (key.name, key.parent) == ("fk", elder)
    assert [from_text(text)[FIELDS["foreign_key"].table]["str"] for text in key.structs] == ["renamed"]
    assert metastore.constraints(table.name) == ()


def test_constraints_stay_while_other_columns_come(metastore: Any, table: Table) -> None:
    metastore.add_constraints(table.name, "primary_key", [a_constraint(table, "primary_key", "pk")])
    there = metastore.table(table.name)
    metastore.alter_table(table.name, replace(there, columns=(("more", "int"), *there.columns)))
    (key,) = metastore.constraints(table.name)
    assert (key.name, key.columns) == ("pk", ("id",))


@pytest.mark.parametrize("column", [("number", "int"), ("id", "bigint")])
def test_a_column_with_another_name_or_type_takes_its_constraints_along(
    metastore: Any, table: Table, column: tuple[str, str]
) -> None:
    child = created(metastore, a_table(table.name.database, "child"))
    metastore.add_constraints(table.name, "primary_key", [a_constraint(table, "primary_key", "pk")])
    metastore.add_constraints(child.name, "foreign_key", [a_constraint(child, "foreign_key", "fk", table)])
    metastore.add_constraints(child.name, "not_null", [a_constraint(child, "not_null", "own")])
    begin = metastore.current_event_id()
    metastore.alter_table(table.name, replace(metastore.table(table.name), columns=(column,)))
    assert constraint_names(metastore, table.name) == set()
    assert constraint_names(metastore, child.name) == {"own"}
    assert [row.event_type for row in metastore.events_after(begin, 100)] == ["ALTER_TABLE"]


def test_a_dropped_table_takes_the_keys_that_refer_to_it_along(metastore: Any, table: Table) -> None:
    parent = created(metastore, a_table(table.name.database, "parent"))
    metastore.add_constraints(parent.name, "primary_key", [a_constraint(parent, "primary_key", "pk")])
    metastore.add_constraints(table.name, "foreign_key", [a_constraint(table, "foreign_key", "fk", parent)])
    metastore.add_constraints(table.name, "unique", [a_constraint(table, "unique", "own")])
    metastore.drop_table(parent.name, delete_data=True)
    assert constraint_names(metastore, table.name) == {"own"}


@pytest.mark.parametrize("kind", ["primary_key", "unique", "not_null"])
def test_constraints_on_a_column_that_is_not_there(metastore: Any, table: Table, kind: str) -> None:
    other = replace(table, columns=(("no_column", "int"),))
    with pytest.raises(Refused):
        metastore.add_constraints(table.name, kind, [a_constraint(other, kind, "c")])
    assert metastore.constraints(table.name) == ()


def test_constraints_on_what_is_not_there(metastore: Any, table: Table) -> None:
    nothing = a_table(table.name.database, "nothing")
    for kind in CONSTRAINT_KINDS:
        constraint = a_constraint(nothing, kind, "c", table if kind == "foreign_key" else None)
        with pytest.raises(Missing, match="nothing"):
            metastore.add_constraints(nothing.name, kind, [constraint])
    with pytest.raises(Missing, match="nothing"):
        metastore.add_constraints(table.name, "foreign_key", [a_constraint(table, "foreign_key", "fk", parent=nothing)])
    metastore.drop_constraint(nothing.name, "c")
    metastore.drop_constraint(TableName("nowhere", "t"), "c")


def test_statistics_of_a_table(metastore: Any, table: Table) -> None:
    begin = metastore.current_event_id()
    metastore.set_statistics(table.name, statistics_of(a_table("elsewhere", "other"), "id"))
    assert metastore.column_statistics(table.name) == {"id"}
    found = metastore.table(table.name)
    assert '"COLUMN_STATS":{"id":"true"}' in found.parameters["COLUMN_STATS_ACCURATE"]
    metastore.delete_statistics(table.name, None, "id")
    metastore.delete_statistics(table.name, None, "id")
    assert metastore.column_statistics(table.name) == set()
    updated, *deleted = changes_after(metastore, begin)
    assert isinstance(updated, UpdateStatistics)
    assert (updated.table, updated.values) == (table.name, None)
    # Hive 4.1 writes the event of a deletion twice.
    assert deleted == [DeleteStatistics(table.name, None, "id")] * 4


def test_statistics_survive_a_copy(metastore: Any, table: Table) -> None:
    begin = metastore.current_event_id()
    metastore.set_statistics(table.name, statistics_of(table, "id"))
    (updated,) = changes_after(metastore, begin)
    copy = created(metastore, a_table(table.name.database, "copy"))
    metastore.set_statistics(copy.name, updated.statistics)
    assert metastore.column_statistics(copy.name) == {"id"}


def test_statistics_keep_what_the_bindings_do_not_know(metastore: Any, table: Table) -> None:
    begin = metastore.current_event_id()
    given = from_text(statistics_of(table, "id"))
    numbers = given["2"]["lst"][2]["3"]["rec"]["2"]["rec"]
    # A histogram, and bit vectors that Java writes without padding.
    numbers |= {"5": {"str": "SExMAQ"}, "6": {"str": "S0xMAAEC/w"}}
    metastore.set_statistics(table.name, to_text(given))
    (updated,) = changes_after(metastore, begin)
    kept = from_text(updated.statistics)["2"]["lst"][2]["3"]["rec"]["2"]["rec"]
    assert {number: typed["str"].rstrip("=") for number, typed in kept.items() if number in "56"} == {
        "5": "SExMAQ",
        "6": "S0xMAAEC/w",
    }
    assert metastore.column_statistics(table.name) == {"id"}


def test_statistics_of_a_partition(metastore: Any, table: Table) -> None:
    metastore.add_partitions([a_partition(table, "a b"), a_partition(table, "c")])
    begin = metastore.current_event_id()
    metastore.set_statistics(table.name, statistics_of(a_table("elsewhere", "other"), "id", "p=a b"))
    assert metastore.column_statistics(table.name, "p=a b") == {"id"}
    assert metastore.column_statistics(table.name, "p=c") == metastore.column_statistics(table.name) == set()
    metastore.delete_statistics(table.name, "p=a b", None)
    assert metastore.column_statistics(table.name, "p=a b") == set()
    updated, *deleted = changes_after(metastore, begin)
    assert isinstance(updated, UpdateStatistics)
    assert (updated.table, updated.values) == (table.name, ("a b",))
    assert deleted == [DeleteStatistics(table.name, ("a b",), "id")] * 2


def test_all_columns_of_a_table_lose_their_statistics(metastore: Any, database: str) -> None:
    wide = created(metastore, a_table(database, "wide", columns=(("id", "int"), ("b", "int"))))
    for column in ("id", "b"):
        metastore.set_statistics(wide.name, statistics_of(wide, column))
    assert metastore.column_statistics(wide.name) == {"id", "b"}
    metastore.delete_statistics(wide.name, None, None)
    assert metastore.column_statistics(wide.name) == set()


def test_statistics_of_what_is_not_there(metastore: Any, table: Table) -> None:
    nothing = TableName(table.name.database, "nothing")
    for name, partition in ((nothing, None), (nothing, "p=1"), (table.name, "p=1")):
        with pytest.raises(Missing):
            metastore.set_statistics(name, statistics_of(table, "id", partition))
        metastore.delete_statistics(name, partition, "id")
        metastore.delete_statistics(name, partition, None)
    with pytest.raises(Refused):
        metastore.set_statistics(table.name, statistics_of(table, "no_column"))
