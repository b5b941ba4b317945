"""Hold the fake and the real metastore to the same behaviour when databases, tables and partitions change."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.hive.contract_metastores import SourceCluster, a_database_on, created
from tests.support.hive.metastore_objects import a_partition, a_table, a_view
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.errors import AlreadyThere, ChangedMeanwhile, Missing, Refused
from twinhive.core.model.files import join
from twinhive.core.model.marks import SOURCE_FOR, STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import DDL_TIME, Parameters, Partition, Table, TableKind
from twinhive.core.model.thrift_objects import columns_of_partition, with_columns_of
from twinhive.core.model.tjson import from_text, to_text
from twinhive.core.ports import FileWriter, MetastoreWriter
from twinhive.core.step.parameter_changes import change_table
from twinhive.hive.events.decoder import decode_event
from twinhive.replication.replica.column_types import may_become

STATISTICS = {"numFiles": "3", "totalSize": "9", "numFilesErasureCoded": "0", "numRows": "2"}
LONG_AGO = {DDL_TIME: "1000000000"}
"""The server counts in seconds: two changes within one have the same time."""


class Place:
    """One database on a cluster, with short ways to put things in it and to see what is there."""

    def __init__(self, cluster: SourceCluster, database: str) -> None:
        self.metastore = cluster.metastore
        self.files = cluster.files
        self.database = database
        self.managed = f"hdfs://east/warehouse/managed/{database}.db"

    def table(self, name: str, keys: tuple[str, ...] = (), **changes: Any) -> Table:
        """Create a table, with one file in it when it has no partitions."""
        made = created(self.metastore, a_table(self.database, name, keys, **changes))
        if not keys:
            self.files.write(f"{made.location}/data", name.encode())
        return made

    def partition(self, table: Table, value: str, location: str | None = None) -> Partition:
        """Add a partition with one file in it."""
        self.metastore.add_partitions([a_partition(table, value, location=location)])
        (found,) = self.metastore.partitions(table.name, [f"p={value}"])
        self.files.write(f"{found.location}/data", value.encode())
        return found

    def now(self, name: str) -> Table:
        """Return a table as it is now."""
        found = self.metastore.table(TableName(self.database, name))
        assert found is not None
        return found

    def partitions(self, name: str) -> list[Partition]:
        """Return all partitions as they are now."""
        table = TableName(self.database, name)
        return self.metastore.partitions(table, self.metastore.partition_names(table))

    def locations(self, name: str) -> dict[str, str | None]:
        """Return the locations of a table's partitions by their only value."""
        return {partition.values[0]: partition.location for partition in self.partitions(name)}


@pytest.fixture
def place(cluster: SourceCluster) -> Iterator[Place]:
    with a_database_on(cluster.metastore) as name:
        yield Place(cluster, name)
        cluster.files.delete(f"hdfs://east/tmp/{name}")
    cluster.files.delete(f"hdfs://east/warehouse/managed/{name}.db")


def files_below(files: FileWriter, directory: str) -> set[str]:
    """Return the paths of all files below a directory, relative to it."""
    found: set[str] = set()
    waiting = [""]
    while waiting:
        below = waiting.pop()
        ((_, children),) = files.list_directories([join(directory, below)])
        for child in children or ():
            name = join(below, child.path.rpartition("/")[2]).lstrip("/")
            waiting.extend([name] if child.is_directory else [])
            found |= set() if child.is_directory else {name}
    return found


def spoken(parameters: Any) -> dict[str, str]:
    """Return parameters without the time that the server adds."""
    return {key: value for key, value in parameters.items() if key != DDL_TIME}


def test_database_is_altered_but_for_its_locations(metastore: MetastoreWriter, database: str) -> None:
    before = metastore.database(database)
    assert before is not None
    metastore.alter_database(
        replace(before, comment="Verkäufe", owner="anna", parameters={"a": "Zoë"}, location="hdfs://east/elsewhere")
    )
    after = metastore.database(database)
    assert after is not None
    assert replace(after, thrift="") == replace(
        before, comment="Verkäufe", owner="anna", parameters={"a": "Zoë"}, thrift=""
    )
    metastore.alter_database(replace(after, comment=None, owner=None))
    assert metastore.database(database) == after


def test_only_owner_and_parameters_of_a_database_make_events(metastore: MetastoreWriter, database: str) -> None:
    found = metastore.database(database)
    assert found is not None
    begin = metastore.current_event_id()
    metastore.alter_database(replace(found, comment="new"))
    metastore.alter_database(replace(found, comment="new", parameters={"repl.source.for": "x"}))
    metastore.alter_database(replace(found, comment="new", parameters={}))
    assert [row for row in metastore.events_after(begin, 100) if row.database == database] == []
    metastore.alter_database(replace(found, parameters={"a": "b"}))
    metastore.alter_database(replace(found, parameters={"a": "b"}, owner="bob"))
    metastore.alter_database(replace(found, parameters={}, owner="bob"))
    rows = [row for row in metastore.events_after(begin, 100) if row.database == database]
    assert [row.event_type for row in rows] == ["ALTER_DATABASE"] * 3


def test_what_is_not_there_cannot_be_altered(metastore: MetastoreWriter, database: str) -> None:
    found = metastore.database(database)
    assert found is not None
    nothing = a_table(database, "nothing", ("p",))
    partition = a_partition(nothing, "1", location="hdfs://east/tmp/nothing/p=1")
    for call in (
        lambda: metastore.alter_database(replace(found, name="nowhere")),
        lambda: metastore.alter_table(nothing.name, nothing),
        lambda: metastore.alter_table(nothing.name, nothing, expected="log:1"),
        lambda: metastore.alter_partitions([partition]),
        lambda: metastore.rename_partition(("2",), partition),
        lambda: metastore.drop_partitions(nothing.name, ["p=1"], delete_data=True),
    ):
        with pytest.raises(Missing):
            call()


def test_nothing_to_change_is_no_call(metastore: MetastoreWriter) -> None:
    begin = metastore.current_event_id()
    metastore.alter_partitions([])
    metastore.drop_partitions(TableName("nowhere", "t"), [], delete_data=True)
    metastore.add_constraints(TableName("nowhere", "t"), "unique", [])
    assert metastore.current_event_id() == begin


def test_altered_table_is_what_was_given(metastore: MetastoreWriter, database: str) -> None:
    before = created(metastore, a_table(database, "t", parameters={"old": "1", **STATISTICS}))
    tree = from_text(before.thrift) | {"3": {"str": "berta"}}
    given = replace(before, columns=(("id", "int"), ("né", "string")), thrift=to_text(tree))
    metastore.alter_table(before.name, given.with_parameters({"new": "Zoë", **STATISTICS}))
    after = metastore.table(before.name)
    assert after is not None
    assert (after.columns, after.location, after.kind) == (given.columns, before.location, TableKind.MANAGED)
    assert spoken(after.parameters) == {"new": "Zoë", **STATISTICS}
    found = from_text(after.thrift)
    assert found["3"] == {"str": "berta"}
    assert found["7"]["rec"]["1"]["lst"][2]["3"] == {"str": "Schlüssel"}


def test_statistics_stay_as_given_whatever_the_directory_holds(place: Place) -> None:
    table = place.table("t")
    place.metastore.alter_table(table.name, table.with_parameters(STATISTICS))
    assert spoken(place.now("t").parameters) == STATISTICS
    parent = place.table("u", ("p",))
    partition = place.partition(parent, "1")
    place.metastore.alter_partitions([partition.with_parameters(STATISTICS)])
    (found,) = place.partitions("u")
    assert spoken(found.parameters) == STATISTICS


TYPES = (
    *("void", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(12,3)"),
    *("string", "varchar(10)", "char(5)", "date", "timestamp", "timestamp with local time zone", "binary"),
    *("array<int>", "array<string>", "map<string,int>", "struct<a:int>", "struct<b:string>", "uniontype<int,string>"),
)


def test_columns_become_others_by_one_rule(metastore: MetastoreWriter, database: str) -> None:
    """A refusal names all columns that may not, whatever the others."""
    for number, old in enumerate(TYPES):
        columns = tuple((f"c{of}", old) for of in range(len(TYPES)))
        made = created(metastore, replace(a_table(database, f"t{number}"), columns=columns))
        wanted = tuple((f"c{of}", new) for of, new in enumerate(TYPES))
        refused = {f"c{of}" for of, new in enumerate(TYPES) if not may_become(old, new)}
        with pytest.raises(Refused) as refusal:
            metastore.alter_table(made.name, replace(made, columns=wanted))
        assert set(re.findall(r"\bc\d+\b", str(refusal.value.found))) == refused, old


def test_all_columns_go_and_come_again_as_others_with_cascade(metastore: MetastoreWriter, database: str) -> None:
    made = created(metastore, replace(a_table(database, "t", ("p",)), columns=(("a", "string"), ("b", "int"))))
    metastore.add_partitions([a_partition(made, "1")])
    with pytest.raises(Refused):
        metastore.alter_table(made.name, replace(made, columns=(("a", "int"), ("b", "int"))), cascade=True)
    metastore.alter_table(made.name, replace(made, columns=()))
    metastore.alter_table(made.name, replace(made, columns=(("a", "int"), ("b", "int"))), cascade=True)
    (partition,) = metastore.partitions(made.name, ["p=1"])
    assert columns_of_partition(partition) == (("a", "int"), ("b", "int"))
    metastore.alter_partitions([with_columns_of(partition, replace(made, columns=(("a", "map<int,int>"),)))])
    (partition,) = metastore.partitions(made.name, ["p=1"])
    assert columns_of_partition(partition) == (("a", "map<int,int>"),)


def test_only_cascade_reaches_partitions(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    metastore.add_partitions([a_partition(table, value, parameters={"note": value}) for value in "ab"])
    wider, widest = (replace(table, columns=tuple((name, "int") for name in names)) for names in (("id", "b"), "xyz"))
    begin = metastore.current_event_id()
    metastore.alter_table(table.name, wider)
    assert columns_of_partitions(metastore, table.name) == [["id"], ["id"]]
    metastore.alter_table(table.name, widest, cascade=True)
    assert columns_of_partitions(metastore, table.name) == [["x", "y", "z"]] * 2
    assert [each.parameters["note"] for each in metastore.partitions(table.name, ["p=a", "p=b"])] == ["a", "b"]
    rows = [row for row in metastore.events_after(begin, 100) if row.database == database]
    assert [row.event_type for row in rows] == ["ALTER_TABLE", "ALTER_TABLE"]


def test_cascade_does_nothing_for_columns_that_the_table_has_already(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    metastore.add_partitions([a_partition(table, "a")])
    wider = replace(table, columns=(("id", "int"), ("b", "int")))
    metastore.alter_table(table.name, wider)
    metastore.alter_table(table.name, wider, cascade=True)
    assert columns_of_partitions(metastore, table.name) == [["id"]]


def columns_of_partitions(metastore: MetastoreWriter, table: TableName) -> list[list[str]]:
    found = metastore.partitions(table, metastore.partition_names(table))
    return [[column["1"]["str"] for column in from_text(each.thrift)["6"]["rec"]["1"]["lst"][2:]] for each in found]


def test_view_gets_another_text_and_name(metastore: MetastoreWriter, database: str) -> None:
    view = created(metastore, a_view(database, "v"))
    tree = from_text(view.thrift) | {"10": {"str": "select 2"}}
    other = TableName(database, "w")
    metastore.alter_table(view.name, replace(view, name=other, thrift=to_text(tree)))
    assert metastore.table(view.name) is None
    found = metastore.table(other)
    assert found is not None and found.kind is TableKind.VIEW
    assert from_text(found.thrift)["10"] == {"str": "select 2"}


def test_stamp_is_compared_before_it_is_set(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", parameters={STAMP: "log:1"}))
    second = table.with_parameters({STAMP: "log:2"})
    metastore.alter_table(table.name, second, expected="log:1")
    for late in (second, second.with_parameters({STAMP: "log:3"})):
        with pytest.raises(ChangedMeanwhile, match=f"{database}.t"):
            metastore.alter_table(table.name, late, expected="log:1")
    found = metastore.table(table.name)
    assert found is not None and found.parameters[STAMP] == "log:2"
    metastore.alter_table(table.name, second, expected="log:2")
    with pytest.raises(Refused):
        metastore.alter_table(table.name, table.with_parameters({}), expected="log:2")


def test_stamp_that_was_never_set_is_another_stamp(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t"))
    with pytest.raises(ChangedMeanwhile):
        metastore.alter_table(table.name, table.with_parameters({STAMP: "log:2"}), expected="log:1")


def test_time_of_the_last_ddl_is_compared_before_a_table_is_set(writer: SourceWriter) -> None:
    before = writer.create_table("t", parameters=LONG_AGO)
    assert before.parameters[DDL_TIME] == LONG_AGO[DDL_TIME]
    writer.set_parameters("t", {"theirs": "1"})
    assert writer.table("t").parameters[DDL_TIME] != LONG_AGO[DDL_TIME]
    ours = before.with_parameters({**before.parameters, "ours": "1"})
    with pytest.raises(ChangedMeanwhile, match=f"{writer.database}.t"):
        writer.metastore.alter_table(before.name, ours, expected=LONG_AGO[DDL_TIME], of_key=DDL_TIME)
    found = writer.table("t").parameters
    assert "theirs" in found and "ours" not in found
    writer.metastore.alter_table(
        before.name, before.with_parameters({**found, "ours": "1"}), expected=found[DDL_TIME], of_key=DDL_TIME
    )
    assert writer.table("t").parameters == {**found, "ours": "1"}


def test_parameters_of_ours_go_on_a_table_that_another_client_alters_between_reading_and_writing(
    writer: SourceWriter,
) -> None:
    before = writer.create_table("t", parameters=LONG_AGO)
    seen: list[Table] = []

    def ours(table: Table) -> Parameters:
        seen.append(table)
        if len(seen) == 1:
            writer.add_columns("t", [("added", "string")])
        return {**table.parameters, "ours": "1"}

    written = change_table(writer.metastore, before.name, ours)
    found = writer.table("t")
    assert [("added", "string") in each.columns for each in seen] == [False, True]
    assert ("added", "string") in found.columns and found.parameters["ours"] == "1"
    assert written is not None and written.parameters == found.parameters


def test_rename_onto_what_is_there(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", parameters={STAMP: "log:1"}))
    other = created(metastore, a_table(database, "other"))
    for stamp in (None, "log:1"):
        with pytest.raises(AlreadyThere, match=f"{database}.other"):
            metastore.alter_table(table.name, replace(table, name=other.name), expected=stamp)
    with pytest.raises(Missing, match="nowhere"):
        metastore.alter_table(table.name, replace(table, name=TableName("nowhere", "t")))
    assert metastore.table_names(database) == ["other", "t"]


def test_rename_of_a_table_in_its_default_place_moves_it(place: Place) -> None:
    table = place.table("t", ("p",))
    place.partition(table, "below")
    place.partition(table, "deep", f"{table.location}/_tw/7/p=deep")
    place.partition(table, "outside", f"{place.managed}/outside")
    new = TableName(place.database, "n")
    place.metastore.alter_table(table.name, replace(table, name=new))
    assert place.metastore.table(table.name) is None
    assert place.now("n").location == f"{place.managed}/n"
    assert place.locations("n") == {
        "below": f"{place.managed}/n/p=below",
        "deep": f"{place.managed}/n/_tw/7/p=deep",
        "outside": f"{place.managed}/outside",
    }
    assert files_below(place.files, place.managed) == {"n/p=below/data", "n/_tw/7/p=deep/data", "outside/data"}


def test_rename_of_a_table_in_its_default_place_needs_the_new_one_free(place: Place) -> None:
    table = place.table("t")
    place.files.write(f"{place.managed}/n/stray", b"")
    with pytest.raises(Refused):
        place.metastore.alter_table(table.name, replace(table, name=TableName(place.database, "n")))
    assert place.now("t").location == table.location
    assert files_below(place.files, place.managed) == {"t/data", "n/stray"}


def test_rename_of_a_managed_table_in_another_place_moves_nothing(place: Place) -> None:
    table = place.table("t", ("p",), location=f"{place.managed}/t.17", parameters={STAMP: "log:1"})
    place.partition(table, "1")
    before = files_below(place.files, place.managed)
    renamed = replace(table, name=TableName(place.database, "n")).with_parameters({STAMP: "log:2"})
    place.metastore.alter_table(table.name, renamed, expected="log:1")
    assert (place.now("n").location, place.now("n").kind) == (f"{place.managed}/t.17", TableKind.MANAGED)
    assert place.locations("n") == {"1": f"{place.managed}/t.17/p=1"}
    assert files_below(place.files, place.managed) == before == {"t.17/p=1/data"}


def test_rename_to_a_place_that_is_given_moves_nothing(place: Place) -> None:
    table = place.table("t", ("p",))
    place.partition(table, "1")
    given = table.at(TableName(place.database, "n"), f"{place.managed}/n.17")
    place.metastore.alter_table(table.name, given)
    assert place.now("n").location == f"{place.managed}/n.17"
    assert place.locations("n") == {"1": f"{place.managed}/t/p=1"}
    assert files_below(place.files, place.managed) == {"t/p=1/data"}


def test_rename_of_an_external_table_moves_nothing(place: Place) -> None:
    outside = f"hdfs://east/tmp/{place.database}/x"
    table = place.table("t", location=outside, table_type="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    place.metastore.alter_table(table.name, replace(table, name=TableName(place.database, "n")))
    assert place.now("n").location == outside
    assert files_below(place.files, outside) == {"data"}


def test_rename_into_another_database(place: Place) -> None:
    with a_database_on(place.metastore) as other:
        table = place.table("t", ("p",), location=f"{place.managed}/t.17")
        place.partition(table, "1")
        new = TableName(other, "n")
        begin = place.metastore.current_event_id()
        place.metastore.alter_table(table.name, replace(table, name=new))
        assert place.metastore.partition_names(new) == ["p=1"]
        (row,) = place.metastore.events_after(begin, 10)
        assert (row.event_type, row.database, row.table) == ("ALTER_TABLE", other, "n")


def test_rename_between_databases_moves_nothing_of_a_replication_source(place: Place) -> None:
    """So only tables outside their default place are renamed out of a source database, and into it."""
    place.metastore.set_database_parameters(place.database, {SOURCE_FOR: "contract"})
    with a_database_on(place.metastore) as other:
        there = place.table("there", location=f"{place.managed}/there.17")
        for table in (place.table("t"), there):
            renamed = replace(table, name=TableName(other, table.name.table))
            if table is there:
                place.metastore.alter_table(table.name, renamed)
                continue
            with pytest.raises(Refused):
                place.metastore.alter_table(table.name, renamed)
        back = place.metastore.table(TableName(other, "there"))
        place.metastore.alter_table(back.name, replace(back, name=there.name))
        assert place.now("there").location == there.location
    assert files_below(place.files, place.managed) == {"t/data", "there.17/data"}


def test_switched_location_of_a_table_moves_nothing(place: Place) -> None:
    table = place.table("t")
    place.files.write(f"{place.managed}/t.17/new", b"new")
    place.metastore.alter_table(table.name, table.at(table.name, f"{place.managed}/t.17"))
    assert place.now("t").location == f"{place.managed}/t.17"
    assert files_below(place.files, place.managed) == {"t/data", "t.17/new"}


def test_switched_location_of_a_table_leaves_its_partitions(place: Place) -> None:
    table = place.table("t", ("p",))
    place.partition(table, "1")
    place.metastore.alter_table(table.name, table.at(table.name, f"{place.managed}/t.17"))
    assert place.locations("t") == {"1": f"{place.managed}/t/p=1"}
    assert files_below(place.files, place.managed) == {"t/p=1/data"}


def test_switched_location_of_partitions_moves_nothing(place: Place) -> None:
    table = place.table("t", ("p",))
    old = [place.partition(table, value) for value in "ab"]
    place.files.write(f"{table.location}/_tw/17/p=a/new", b"new")
    switched = [each.at(table.name, f"{table.location}/_tw/17/p={each.values[0]}") for each in old]
    place.metastore.alter_partitions(switched)
    assert place.locations("t") == {value: f"{table.location}/_tw/17/p={value}" for value in "ab"}
    assert files_below(place.files, str(table.location)) == {"p=a/data", "p=b/data", "_tw/17/p=a/new"}


def test_partitions_are_altered_all_or_none(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p", "q")))
    pairs = [("a b", "%41"), ("50%=#:ü", "日本"), ("c/d", "z")]
    metastore.add_partitions([a_partition(table, *pair) for pair in pairs])
    names = metastore.partition_names(table.name)
    altered = [each.with_parameters({"note": each.values[1]}) for each in metastore.partitions(table.name, names)]
    begin = metastore.current_event_id()
    metastore.alter_partitions(altered)
    assert [row.event_type for row in metastore.events_after(begin, 10)] == ["ALTER_PARTITIONS"]
    notes = {each.values: each.parameters["note"] for each in metastore.partitions(table.name, names)}
    assert notes == {pair: pair[1] for pair in pairs}
    unknown = replace(altered[0], values=("no", "one"))
    with pytest.raises(Missing, match="no"):
        metastore.alter_partitions([altered[1].with_parameters({"note": "changed"}), unknown])
    assert "changed" not in {each.parameters["note"] for each in metastore.partitions(table.name, names)}


def test_partitions_of_two_tables_are_altered_by_two_calls(metastore: MetastoreWriter, database: str) -> None:
    tables = [created(metastore, a_table(database, name, ("p",))) for name in ("a", "b")]
    with pytest.raises(ValueError):
        metastore.alter_partitions([a_partition(table, "1") for table in tables])


def test_many_partitions_are_altered_and_dropped_by_one_call(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    metastore.add_partitions([a_partition(table, f"{number:03}") for number in range(900)])
    names = metastore.partition_names(table.name)
    begin = metastore.current_event_id()
    metastore.alter_partitions([each.with_parameters({"a": "b"}) for each in metastore.partitions(table.name, names)])
    assert {each.parameters["a"] for each in metastore.partitions(table.name, names)} == {"b"}
    metastore.drop_partitions(table.name, names[1:], delete_data=True)
    assert metastore.partition_names(table.name) == names[:1]
    types = [row.event_type for row in metastore.events_after(begin, 100)]
    assert types == ["ALTER_PARTITIONS", "DROP_PARTITION"]


def test_renamed_partition_goes_to_its_default_place(place: Place) -> None:
    table = place.table("t", ("p",))
    first = place.partition(table, "a")
    second = place.partition(table, "b", f"{table.location}/_tw/17/p=b")
    place.metastore.rename_partition(("a",), replace(first, values=("c d",)))
    place.metastore.rename_partition(("b",), replace(second, values=("e",), location=f"{place.managed}/ignored"))
    assert place.locations("t") == {"c d": f"{table.location}/p=c d", "e": f"{table.location}/p=e"}
    assert files_below(place.files, str(table.location)) == {"p=c d/data", "p=e/data"}


def test_renamed_partition_keeps_the_file_statistics_it_had(place: Place) -> None:
    table = place.table("t", ("p",))
    first = place.partition(table, "a").with_parameters({**STATISTICS, "note": "1"})
    place.metastore.alter_partitions([first])
    place.metastore.rename_partition(("a",), replace(first, values=("b",), parameters={**STATISTICS, "note": "2"}))
    assert spoken(place.partitions("t")[0].parameters) == {**STATISTICS, "note": "2"}


def test_renamed_partition_with_other_file_statistics_is_counted(place: Place) -> None:
    table = place.table("t", ("p",))
    first = place.partition(table, "a").with_parameters(STATISTICS)
    place.metastore.alter_partitions([first])
    place.files.write(f"{first.location}/below/more", b"more")
    place.files.write(f"{first.location}/_hidden", b"more")
    place.metastore.rename_partition(("a",), replace(first, values=("b",), parameters={**STATISTICS, "numFiles": "9"}))
    counted = {**STATISTICS, "numFiles": "2", "totalSize": "5"}
    assert spoken(place.partitions("t")[0].parameters) == counted


def test_renamed_partition_needs_its_place_free(place: Place) -> None:
    table = place.table("t", ("p",))
    first = place.partition(table, "a")
    place.partition(table, "b")
    place.files.make_directories(f"{table.location}/p=empty")
    place.files.write(f"{table.location}/p=stray/file", b"stray")
    with pytest.raises(AlreadyThere):
        place.metastore.rename_partition(("a",), replace(first, values=("b",)))
    for unregistered in ("empty", "stray"):
        with pytest.raises(Refused):
            place.metastore.rename_partition(("a",), replace(first, values=(unregistered,)))
    with pytest.raises(Missing):
        place.metastore.rename_partition(("none",), replace(first, values=("z",)))
    with pytest.raises(Refused):
        place.metastore.rename_partition(("a",), replace(first, values=("z", "z")))
    assert place.locations("t") == {value: f"{table.location}/p={value}" for value in "ab"}
    assert files_below(place.files, str(table.location)) == {"p=a/data", "p=b/data", "p=stray/file"}


def test_partition_that_lies_in_the_default_place_of_its_new_name_is_not_renamed(place: Place) -> None:
    table = place.table("t", ("p",))
    first = place.partition(table, "one", f"{table.location}/p=01")
    with pytest.raises(Refused):
        place.metastore.rename_partition(("one",), replace(first, values=("01",)))
    assert place.locations("t") == {"one": f"{table.location}/p=01"}
    assert files_below(place.files, str(table.location)) == {"p=01/data"}


def test_renamed_partition_whose_directory_is_in_the_new_place_already(place: Place) -> None:
    """So it is when the metastore was killed after it had moved the directory, before it said so."""
    table = place.table("t", ("p",))
    first = place.partition(table, "a")
    place.files.rename(str(first.location), f"{table.location}/p=b")
    place.metastore.rename_partition(("a",), replace(first, values=("b",)))
    assert place.locations("t") == {"b": f"{table.location}/p=b"}
    assert files_below(place.files, str(table.location)) == {"p=b/data"}


def test_partitions_of_a_view_have_no_location(place: Place) -> None:
    view = created(place.metastore, a_view(place.database, "v", ("p",)))
    begin = place.metastore.current_event_id()
    place.metastore.add_partitions([a_partition(view, value) for value in "abc"])
    assert place.locations("v") == dict.fromkeys("abc")
    first, second, _ = place.partitions("v")
    place.metastore.alter_partitions([first.with_parameters({"note": "x"})])
    assert spoken(place.partitions("v")[0].parameters) == {"note": "x"}
    with pytest.raises(Refused):
        place.metastore.rename_partition(("b",), replace(second, values=("d",)))
    place.metastore.drop_partitions(view.name, ["p=c"], delete_data=False)
    assert place.locations("v") == dict.fromkeys("ab")
    rows = place.metastore.events_after(begin, 10)
    assert [row.event_type for row in rows] == ["ADD_PARTITION", "ALTER_PARTITIONS", "DROP_PARTITION"]
    for row in rows:
        decode_event(row)


def test_renamed_partition_of_an_external_table_stays_where_it_is(place: Place) -> None:
    outside = f"hdfs://east/tmp/{place.database}/x"
    table = place.table("t", ("p",), location=outside, table_type="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    partition = place.partition(table, "a")
    place.metastore.rename_partition(("a",), replace(partition, values=("b",), location=f"{outside}/elsewhere"))
    assert place.locations("t") == {"b": f"{outside}/p=a"}
    assert files_below(place.files, outside) == {"p=a/data"}


@pytest.mark.parametrize("delete_data", [True, False])
def test_dropped_partitions_are_gone_their_files_as_asked(place: Place, delete_data: bool) -> None:
    table = place.table("t", ("p",))
    for value in ("a", "b", "50%=#:ü", "__HIVE_DEFAULT_PARTITION__"):
        place.partition(table, value) if value != "50%=#:ü" else place.metastore.add_partitions(
            [a_partition(table, value)]
        )
    names = place.metastore.partition_names(table.name)
    begin = place.metastore.current_event_id()
    place.metastore.drop_partitions(table.name, [*names[1:], "p=none"], delete_data=delete_data)
    place.metastore.drop_partitions(table.name, ["p=none"], delete_data=delete_data)
    assert place.metastore.partition_names(table.name) == names[:1]
    assert [row.event_type for row in place.metastore.events_after(begin, 10)] == ["DROP_PARTITION"]
    left = files_below(place.files, str(table.location))
    kept = {"p=__HIVE_DEFAULT_PARTITION__/data", "p=a/data", "p=b/data"}
    assert left == (kept & {f"{names[0]}/data"} if delete_data else kept)


def test_partitions_of_a_replication_source_are_dropped_before_one_without_a_directory_is_refused(place: Place) -> None:
    place.metastore.set_database_parameters(place.database, {SOURCE_FOR: "all"})
    table = place.table("t", ("p",))
    there, bare = place.partition(table, "a"), place.partition(table, "b")
    place.files.delete(str(bare.location))
    begin = place.metastore.current_event_id()
    with pytest.raises(Refused):
        place.metastore.drop_partitions(table.name, ["p=a", "p=b"], delete_data=True)
    assert place.metastore.partition_names(table.name) == []
    assert [row.event_type for row in place.metastore.events_after(begin, 10)] == ["DROP_PARTITION"]
    assert place.files.status(str(there.location)) is None


@pytest.mark.parametrize("delete_data", [True, False])
def test_dropped_table_is_gone_its_files_as_asked(place: Place, delete_data: bool) -> None:
    plain = place.table("plain", location=f"{place.managed}/plain.17")
    parted = place.table("parted", ("p",))
    place.partition(parted, "below")
    place.partition(parted, "outside", f"{place.managed}/outside")
    for table in (plain, parted):
        place.metastore.drop_table(table.name, delete_data=delete_data)
    assert place.metastore.table_names(place.database) == []
    everything = {"plain.17/data", "parted/p=below/data", "outside/data"}
    assert files_below(place.files, place.managed) == (set() if delete_data else everything)


def test_dropped_external_table_leaves_its_files(place: Place) -> None:
    outside = f"hdfs://east/tmp/{place.database}/x"
    table = place.table("t", ("p",), location=outside, table_type="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    for value in "ab":
        place.partition(table, value)
    place.metastore.drop_partitions(table.name, ["p=a"], delete_data=True)
    place.metastore.drop_table(table.name, delete_data=True)
    assert files_below(place.files, outside) == {"p=a/data", "p=b/data"}
