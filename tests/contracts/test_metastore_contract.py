"""Hold the fake and the real metastore to the same behaviour."""

import json
import socket
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hive_metastore import ttypes

from tests.support import builders
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hive.contract_metastores import KNOWN_KEY, a_database_on, created, drop_database
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.hive.metastore_objects import a_partition, a_table, a_view, records, skewed
from tests.support.servers.cutting_proxy import CuttingProxy
from twinhive.core.model.changes.kinds import AddPartitions
from twinhive.core.model.errors import AlreadyThere, Missing, Refused, Unreachable
from twinhive.core.model.names import TableName, partition_name, partition_values
from twinhive.core.model.objects import Database, TableKind
from twinhive.core.model.sets.set_mark import sets_table
from twinhive.core.model.thrift_objects import read_database, read_partition, read_table, table_id
from twinhive.core.model.tjson import from_text
from twinhive.core.ports import MetastoreWriter
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.hive.adapters.hive.thrift_connection import Request
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_message import decode_message, names_touched
from twinhive.publishing.sets.done_sets import sets_there
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, SetStanding, take_away
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.publishing.sets.set_waiting import wanted_set
from twinhive.replication.notification_log.server_settings import wrong_in_answers

AWKWARD = (
    "a b",
    " a",
    "100%",
    "%41",
    "a=b",
    "a:b",
    "#1",
    "a/b",
    "Zoë 日本",
    "\U0001f600",
    'it\'s "x"',
    "[x]{y}^",
    "a\tb",
)
SERVER_MADE_STATE = "repl.target.last.id"


def test_directories_of_skewed_values(metastore: MetastoreWriter, database: str) -> None:
    """One of them must not keep anybody from reading tables and partitions, whatever the call."""
    name, place = TableName(database, "t"), f"hdfs://east/tmp/{database}"
    places = {("é", 'a"]:'): f"{place}/t/a=1", ("2", ""): f"{place}/t/a=2"}
    given = from_text(a_table(database, "t", ("p",)).thrift)
    sd = given["7"]["rec"] | {"1": records({"1": {"str": one}, "2": {"str": "string"}} for one in ("id", "note"))}
    given["7"] = {"rec": skewed(sd, ("id", "note"), places) | {"2": {"str": f"{place}/t"}}}
    begin = metastore.current_event_id()
    metastore.create_table(read_table(given))
    metastore.create_table(a_table(database, "plain"))
    tree = {"1": {"lst": ["str", 1, "1"]}, "2": {"str": database}, "3": {"str": "t"}, "6": given["7"]}
    metastore.add_partitions([read_partition(tree), a_partition(read_table(given), "2")])
    assert [found.name.table for found in metastore.tables(database, ["plain", "t"])] == ["plain", "t"]
    found = metastore.table(name)
    assert found is not None
    first, second = metastore.partitions(name, ["p=1", "p=2"])
    stored = from_text(first.thrift)["6"]["rec"]["11"]["rec"]["3"]["map"][3]
    assert {tuple(json.loads(key)[2:]): directory for key, directory in stored.items()} == places
    assert stored == from_text(found.thrift)["7"]["rec"]["11"]["rec"]["3"]["map"][3]
    assert [name for name, _ in metastore.partition_locations(found)] == ["p=1", "p=2"]
    metastore.alter_table(name, found.with_parameters({**found.parameters, "a": "b"}))
    metastore.alter_partitions([first.with_parameters({"a": "b"}), second])
    (again,) = metastore.partitions(name, ["p=1"])
    assert from_text(again.thrift)["6"]["rec"]["11"] == from_text(first.thrift)["6"]["rec"]["11"]
    told = [decode_event(row).change for row in metastore.events_after(begin, 100)]
    (event,) = (change for change in told if isinstance(change, AddPartitions))
    assert from_text(event.added[0].partition.thrift)["6"]["rec"]["11"] == from_text(first.thrift)["6"]["rec"]["11"]


def test_database_that_is_not_there(metastore: MetastoreWriter) -> None:
    assert metastore.database("nowhere") is None
    assert metastore.connector("nowhere") is None
    assert metastore.table_names("nowhere") == []
    assert metastore.tables("nowhere", ["t"]) == []
    assert metastore.table(TableName("nowhere", "t")) is None
    assert metastore.partitions(TableName("nowhere", "t"), ["p=1"]) == []
    metastore.drop_table(TableName("nowhere", "t"), delete_data=True)
    for call in (
        lambda: metastore.partition_names(TableName("nowhere", "t")),
        lambda: metastore.partition_names_with(TableName("nowhere", "t"), ["1"]),
        lambda: metastore.set_database_parameters("nowhere", {}),
        lambda: metastore.create_table(a_table("nowhere", "t")),
        lambda: metastore.add_partitions([a_partition(a_table("nowhere", "t", ("p",)), "1")]),
    ):
        with pytest.raises(Missing, match="nowhere"):
            call()


def test_database_keeps_what_it_was_created_with(metastore: MetastoreWriter) -> None:
    name = f"contract_{uuid.uuid4().hex[:12]}"
    parameters = {"repl.last.id": "7", "twinhive.policy": "sales", "Zoë": "日本 \U0001f600", "empty": ""}
    given = Database(
        name, f"hdfs://east/tmp/{name}", f"hdfs://east/tmp/{name}-managed", parameters, "{}", "Verkäufe", "anna", 2
    )
    metastore.create_database(given)
    found = metastore.database(name)
    assert found is not None
    assert replace(found, thrift="{}") == given
    assert read_database(from_text(found.thrift)) == found
    drop_database(metastore, name)


def test_database_without_locations_gets_a_default(metastore: MetastoreWriter, database: str) -> None:
    found = metastore.database(database)
    assert found is not None
    assert found.location == f"hdfs://east/warehouse/external/{database}.db"
    assert found.managed_location is None
    assert found.comment is None


def test_database_that_is_there(metastore: MetastoreWriter, database: str) -> None:
    with pytest.raises(AlreadyThere, match=database):
        metastore.create_database(Database(database, None, None, {}, "{}"))


def test_database_parameters_are_replaced_and_nothing_else(metastore: MetastoreWriter) -> None:
    name = f"contract_{uuid.uuid4().hex[:12]}"
    places = (f"hdfs://east/tmp/{name}", f"hdfs://east/tmp/{name}-managed")
    metastore.create_database(Database(name, *places, {"old": "1", "kept": "1"}, "{}", "Verkäufe", "anna"))
    before = metastore.database(name)
    metastore.set_database_parameters(name, {"kept": "2", "new": "Zoë", "repl.last.id": "9223372036854775807"})
    after = metastore.database(name)
    assert before is not None and after is not None
    parameters = {key: value for key, value in after.parameters.items() if key != SERVER_MADE_STATE}
    assert parameters == {"kept": "2", "new": "Zoë", "repl.last.id": "9223372036854775807"}
    assert {**from_text(before.thrift), "4": None} == {**from_text(after.thrift), "4": None}
    metastore.set_database_parameters(name, {})
    emptied = metastore.database(name)
    assert emptied is not None and emptied.parameters == {}
    drop_database(metastore, name)


def test_the_server_notes_its_own_event_id_beside_ours(metastore: MetastoreWriter, database: str) -> None:
    position = metastore.current_event_id()
    metastore.set_database_parameters(database, {"repl.last.id": "5"})
    found = metastore.database(database)
    assert found is not None
    assert int(found.parameters[SERVER_MADE_STATE]) >= position


def test_table_that_is_not_there(metastore: MetastoreWriter, database: str) -> None:
    name = TableName(database, "nothing")
    assert metastore.table(name) is None
    assert metastore.table_names(database) == []
    assert metastore.partitions(name, ["p=1"]) == []
    metastore.drop_table(name, delete_data=False)
    with pytest.raises(Missing, match="nothing"):
        metastore.partition_names(name)
    with pytest.raises(Missing, match="nothing"):
        metastore.add_partitions([a_partition(a_table(database, "nothing", ("p",)), "1")])


def test_managed_table_stays_managed_in_its_default_place(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", parameters={"Zoë": "日本", "numRows": "5", "totalSize": "9"}))
    assert table.kind is TableKind.MANAGED
    assert table.location == f"hdfs://east/warehouse/managed/{database}.db/t"
    assert table.columns == (("id", "int"),)
    assert set(table.parameters) == {"Zoë", "numRows", "totalSize", "transient_lastDdlTime"}
    assert table.parameters["Zoë"] == "日本"


def test_managed_table_stays_managed_in_another_place(metastore: MetastoreWriter, database: str) -> None:
    place = f"hdfs://east/tmp/{database}/Ä b=c"
    table = created(
        metastore, a_table(database, "t", location=place, parameters={"transient_lastDdlTime": "1700000001"})
    )
    assert (table.kind, table.location) == (TableKind.MANAGED, place)
    assert table.parameters == {"transient_lastDdlTime": "1700000001"}


def test_external_table_goes_below_the_database(metastore: MetastoreWriter, database: str) -> None:
    external = a_table(database, "t", table_type="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    table = created(metastore, external)
    assert table.kind is TableKind.EXTERNAL
    assert table.location == f"hdfs://east/warehouse/external/{database}.db/t"


def test_parameter_external_makes_a_table_external(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", parameters={"EXTERNAL": "TRUE"}))
    assert table.kind is TableKind.EXTERNAL


def test_table_that_is_there(metastore: MetastoreWriter, database: str) -> None:
    metastore.create_table(a_table(database, "t"))
    with pytest.raises(AlreadyThere, match=f"{database}.t"):
        metastore.create_table(a_table(database, "t"))


def test_view_has_text_and_no_location(metastore: MetastoreWriter, database: str) -> None:
    view = created(metastore, a_view(database, "v"))
    assert (view.kind, view.location) == (TableKind.VIEW, None)
    tree = from_text(view.thrift)
    assert "2" not in tree["7"]["rec"]
    assert tree["11"] == {"str": f"select 'é' from `{database}`.`t`"}
    metastore.drop_table(view.name, delete_data=True)
    assert metastore.table(view.name) is None


def test_tables_are_read_together(metastore: MetastoreWriter, database: str) -> None:
    for name in ("c", "a", "b"):
        metastore.create_table(a_table(database, name))
    metastore.create_table(a_view(database, "v"))
    assert metastore.table_names(database) == ["a", "b", "c", "v"]
    tables = metastore.tables(database, ["v", "c", "nothing", "a"])
    assert [table.name.table for table in tables] == ["a", "c", "v"]
    assert tables[0] == metastore.table(TableName(database, "a"))
    assert metastore.tables(database, []) == []


def test_fields_nobody_understands_survive_a_copy(metastore: MetastoreWriter, database: str) -> None:
    original = created(metastore, a_table(database, "t", ("p", "q"), parameters={"unknown": "kept"}))
    copy = created(metastore, original.at(TableName(database, "copy"), f"hdfs://east/tmp/{database}/copy"))
    assert (copy.partition_keys, copy.columns, copy.parameters) == (("p", "q"), original.columns, original.parameters)
    before, after = from_text(original.thrift), from_text(copy.thrift)
    for tree in (before, after):
        # Name, creation time, id; the location is compared above.
        for field_id in ("1", "4", "25"):
            tree.pop(field_id, None)
        assert tree["7"]["rec"].pop("2")
        assert tree["7"]["rec"]["7"]["rec"]["3"]["map"][3]["twinhive.unknown"] == "Zoë 日本"
        assert tree["7"]["rec"]["1"]["lst"][2]["3"] == {"str": "Schlüssel"}
    assert before == after


def test_what_belongs_to_the_source_metastore_is_not_copied(metastore: MetastoreWriter, database: str) -> None:
    tree = from_text(a_table(database, "t").thrift)
    tree |= {
        "13": {"rec": {"1": {"map": ["str", "lst", 0, {}]}}},
        "17": {"str": "another_catalog"},
        "19": {"i64": 99},
        "25": {"i64": 2**40},
        "28": {"i64": 4711},
    }
    found = from_text(created(metastore, read_table(tree)).thrift)
    assert found["17"] == {"str": "hive"}
    assert found["19"] == {"i64": 0}
    assert found.get("25") != {"i64": 2**40}


@pytest.mark.parametrize("delete_data", [True, False])
def test_dropped_table_is_gone_with_its_partitions(
    metastore: MetastoreWriter, database: str, delete_data: bool
) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    metastore.add_partitions([a_partition(table, "1")])
    metastore.drop_table(table.name, delete_data=delete_data)
    assert metastore.table(table.name) is None
    assert metastore.partition_names(created(metastore, a_table(database, "t", ("p",))).name) == []


def test_partition_values_survive(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p", "q")))
    pairs = [(value, f"{value}!") for value in AWKWARD]
    metastore.add_partitions([a_partition(table, *pair) for pair in pairs])
    names = metastore.partition_names(table.name)
    assert names == sorted(partition_name(("p", "q"), pair) for pair in pairs)
    partitions = metastore.partitions(table.name, names)
    assert [partition.name(("p", "q")) for partition in partitions] == names
    assert {partition.values for partition in partitions} == set(pairs)
    assert [partition.location for partition in partitions] == [f"{table.location}/{name}" for name in names]


@pytest.mark.parametrize("value", ["", "__HIVE_DEFAULT_PARTITION__"])
def test_null_partition(metastore: MetastoreWriter, database: str, value: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    metastore.add_partitions([a_partition(table, value), a_partition(table, "z")])
    names = metastore.partition_names(table.name)
    assert names == ["p=__HIVE_DEFAULT_PARTITION__", "p=z"]
    assert [partition.values for partition in metastore.partitions(table.name, names)] == [(value,), ("z",)]


def test_partition_keeps_location_parameters_and_unknown_fields(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    place = f"hdfs://east/tmp/{database}/else where"
    parameters = {"numRows": "5", "numFiles": "1", "totalSize": "9", "numFilesErasureCoded": "0", "unknown": "Zoë"}
    metastore.add_partitions([a_partition(table, "1", location=place, parameters=parameters)])
    (found,) = metastore.partitions(table.name, ["p=1"])
    assert found.location == place
    assert {key: value for key, value in found.parameters.items() if key != "transient_lastDdlTime"} == parameters
    other = created(metastore, a_table(database, "other", ("p",)))
    metastore.add_partitions([found.at(other.name, f"{place}/copy")])
    (copy,) = metastore.partitions(other.name, ["p=1"])
    assert (copy.location, copy.parameters) == (f"{place}/copy", found.parameters)
    before, after = from_text(found.thrift)["6"]["rec"], from_text(copy.thrift)["6"]["rec"]
    assert {**before, "2": None} == {**after, "2": None}
    assert read_partition(from_text(copy.thrift)) == copy


def test_statistics_stay_when_the_directory_is_there_already(metastore: MetastoreWriter, database: str) -> None:
    kept = {"numFiles": "3", "totalSize": "9", "numRows": "2", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    first = created(metastore, a_table(database, "first", ("p",)))
    metastore.add_partitions([a_partition(first, "1")])
    second = created(metastore, a_table(database, "second", ("p",), location=first.location, parameters=kept))
    assert kept.items() <= second.parameters.items()
    metastore.add_partitions([a_partition(second, "1", parameters=kept)])
    (partition,) = metastore.partitions(second.name, ["p=1"])
    assert kept.items() <= partition.parameters.items()


def test_partitions_that_are_there_stop_all_of_a_call(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    metastore.add_partitions([])
    metastore.add_partitions([a_partition(table, "b")])
    with pytest.raises(AlreadyThere, match=database):
        metastore.add_partitions([a_partition(table, "a"), a_partition(table, "b")])
    assert metastore.partition_names(table.name) == ["p=b"]


def test_partition_with_too_many_values_is_refused(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    with pytest.raises(Refused, match=database):
        metastore.add_partitions([a_partition(table, "a", "b")])


def test_partitions_of_two_tables_need_two_calls(metastore: MetastoreWriter, database: str) -> None:
    tables = [created(metastore, a_table(database, name, ("p",))) for name in ("a", "b")]
    with pytest.raises(ValueError):
        metastore.add_partitions([a_partition(table, "1") for table in tables])


def test_unknown_partition_names_are_left_out(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    metastore.add_partitions([a_partition(table, "b"), a_partition(table, "a")])
    found = metastore.partitions(table.name, ["p=b", "p=none", "p=a", "p=b"])
    assert [partition.values for partition in found] == [("a",), ("b",)]
    assert metastore.partitions(table.name, []) == []


def test_table_without_partition_keys_has_no_partitions(metastore: MetastoreWriter, database: str) -> None:
    assert metastore.partition_names(created(metastore, a_table(database, "t")).name) == []


def test_many_partitions(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "t", ("p",)))
    values = [f"{number:05}" for number in range(2_500)]
    for start in range(0, len(values), 1_000):
        metastore.add_partitions([a_partition(table, value) for value in values[start : start + 1_000]])
    names = metastore.partition_names(table.name)
    assert names == [f"p={value}" for value in values]
    assert [partition.values[0] for partition in metastore.partitions(table.name, names)] == values


def test_log_has_an_identity(metastore: MetastoreWriter) -> None:
    assert metastore.log_id() == metastore.log_id() != ""


def test_each_address_says_who_we_are_and_where_the_log_ends(metastore: MetastoreWriter, database: str) -> None:
    for address in metastore.addresses():
        access = metastore.log_access(address)
        assert (access.address, access.caller.name) == (address, "hive")
        assert access.newest_event == metastore.current_event_id() > 0


def test_each_change_is_an_event(metastore: MetastoreWriter) -> None:
    begin = metastore.current_event_id()
    with a_database_on(metastore) as database:
        table = created(metastore, a_table(database, "t", ("p",)))
        metastore.add_partitions([a_partition(table, "é"), a_partition(table, "b")])
        metastore.set_database_parameters(database, {"a": "b"})
        metastore.drop_table(table.name, delete_data=True)
        rows = [row for row in metastore.events_after(begin, 1_000) if row.database == database]
        assert [row.event_type for row in rows] == [
            "CREATE_DATABASE",
            "CREATE_TABLE",
            "ADD_PARTITION",
            "ALTER_DATABASE",
            "DROP_TABLE",
        ]
        assert [row.table for row in rows] == [None, "t", "t", None, "t"]
        assert names_touched(rows[1]) == {table.name}
        message = decode_message(rows[1])
        assert (message["db"], message["table"]) == (database, "t")
        assert read_table(from_text(message["tableObjJson"])).location == table.location
        texts = decode_message(rows[2])["partitionListJson"]
        assert {read_partition(from_text(text)).values for text in texts} == {("é",), ("b",)}


def test_replication_state_makes_no_event(metastore: MetastoreWriter, database: str) -> None:
    begin = metastore.current_event_id()
    metastore.set_database_parameters(database, {"repl.last.id": "5", "repl.target.for": "true"})
    assert [row for row in metastore.events_after(begin, 1_000) if row.database == database] == []


def test_events_come_in_order_and_in_pages(metastore: MetastoreWriter, database: str) -> None:
    begin = metastore.current_event_id()
    for number in range(5):
        metastore.create_table(a_table(database, f"t{number}"))
    end = metastore.current_event_id()
    ids = [row.event_id for row in metastore.events_after(begin, 1_000)]
    assert ids == list(range(begin + 1, end + 1))
    assert [row.event_id for row in metastore.events_after(begin, 2)] == ids[:2]
    assert [row.event_id for row in metastore.events_after(ids[1], 2)] == ids[2:4]
    assert metastore.events_after(begin, 0) == metastore.events_after(end, 10) == []
    assert metastore.events_after(begin, 1)[0].position == metastore.events_after(begin, 5)[0].position


def test_a_server_as_it_comes_answers_from_its_database_and_for_the_catalog_that_is_replicated(
    metastore: MetastoreWriter,
) -> None:
    (address,) = metastore.addresses()
    assert list(wrong_in_answers(metastore, address, "east", "")) == []


def test_configuration_of_one_address(metastore: MetastoreWriter) -> None:
    (address,) = metastore.addresses()
    assert metastore.configuration(address, KNOWN_KEY) == "true"
    assert metastore.configuration(address, "hive.no.such.key") == ""
    with pytest.raises(ValueError, match="elsewhere"):
        metastore.configuration("elsewhere:1", KNOWN_KEY)


def test_threads_share_an_instance(metastore: MetastoreWriter, database: str) -> None:
    def work(number: int) -> list[str]:
        table = created(metastore, a_table(database, f"t{number}", ("p",)))
        for value in "abc":
            metastore.add_partitions([a_partition(table, f"{value}{number}")])
        return metastore.partition_names(table.name)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(16)))
    assert results == [[f"p={value}{number}" for value in "abc"] for number in range(16)]
    assert len(metastore.table_names(database)) == 16


def test_policies_mark_a_source(metastore: MetastoreWriter, database: str) -> None:
    marker = MetastoreMarker(metastore)
    metastore.set_database_parameters(database, {"repl.source.for": "hive_policy, other", "a": "b"})
    marker.mark(database, "sales")
    found = metastore.database(database)
    assert found is not None
    assert found.parameters == {"repl.source.for": "hive_policy,other,sales", "a": "b"}
    marker.mark(database, "sales")
    assert metastore.database(database) == found
    marker.unmark(database, "hive_policy")
    marker.unmark(database, "other")
    marker.unmark(database, "never_there")
    marker.unmark(database, "sales")
    unmarked = metastore.database(database)
    assert unmarked is not None and unmarked.parameters == {"a": "b"}


def test_policies_cannot_mark_what_is_not_there(metastore: MetastoreWriter) -> None:
    marker = MetastoreMarker(metastore)
    with pytest.raises(Missing, match="nowhere"):
        marker.mark("nowhere", "sales")
    marker.unmark("nowhere", "sales")


def test_fake_is_down() -> None:
    fake = InMemoryMetastore()
    fake.down = True
    with pytest.raises(Unreachable):
        fake.database("d")


def test_fake_makes_and_deletes_directories_and_needs_no_thrift() -> None:
    files = InMemoryFiles("hdfs://east")
    fake = InMemoryMetastore(files=files)
    fake.create_database(Database("sales", None, None, {}, "{}"))
    table = builders.a_table(partition_keys=("p",))
    fake.create_table(table)
    fake.add_partitions([builders.a_partition(table, "1")])
    assert files.status(f"{table.location}/p=1") is not None
    fake.drop_table(table.name, delete_data=True)
    assert files.status(f"{table.location}") is None


def test_fake_forgets_events_and_translates_tables_like_hive() -> None:
    fake = InMemoryMetastore()
    fake.create_database(Database("sales", None, None, {}, "{}"))
    fake.expire_events(1)
    assert (fake.events_after(0, 10), fake.current_event_id()) == ([], 1)
    fake.translates_managed = True
    table = created(fake, builders.a_table(location=None))
    assert table.kind is TableKind.EXTERNAL
    assert table.location == "hdfs://east/warehouse/external/sales.db/orders"
    assert table.parameters["TRANSLATED_TO_EXTERNAL"] == "TRUE"


@pytest.mark.sandbox
def test_rename_to_another_database_names_both_tables(real: ThriftMetastore, real_database: str) -> None:
    with a_database_on(real) as other:
        old, new = TableName(real_database, "old"), TableName(other, "new")
        real.create_table(a_table(old.database, old.table))
        begin = real.current_event_id()

        def rename(client: Any) -> None:
            struct = client.get_table_req(ttypes.GetTableRequest(dbName=old.database, tblName=old.table)).table
            struct.dbName, struct.tableName = new.database, new.table
            client.alter_table(old.database, old.table, struct)

        real.connections.write(Request("renaming", rename))
        (row,) = [row for row in real.events_after(begin, 100) if row.event_type == "ALTER_TABLE"]
        assert (row.database, row.table) == (new.database, new.table)
        assert names_touched(row) == {old, new}


@pytest.fixture
def proxy(sandbox: Any) -> Iterator[CuttingProxy]:
    cluster = sandbox.clusters["east"]
    proxy = CuttingProxy((cluster.metastore_host, cluster.metastore_port))
    yield proxy
    proxy.close()


@pytest.mark.sandbox
def test_write_whose_answer_is_lost_happened_once(
    proxy: CuttingProxy, real: ThriftMetastore, real_database: str
) -> None:
    begin = real.current_event_id()
    through_proxy = ThriftMetastore([proxy.address], 10.0, "hive")
    through_proxy.log_id()
    proxy.cuts = True
    with pytest.raises(Unreachable, match="may or may not have happened"):
        through_proxy.create_table(a_table(real_database, "t"))
    proxy.cuts = False
    assert through_proxy.table_names(real_database) == ["t"]
    rows = [row for row in real.events_after(begin, 100) if row.database == real_database]
    assert [row.event_type for row in rows] == ["CREATE_TABLE"]


@pytest.mark.sandbox
def test_read_whose_answer_is_lost_is_repeated(proxy: CuttingProxy, real: ThriftMetastore, sandbox: Any) -> None:
    cluster = sandbox.clusters["east"]
    both = ThriftMetastore([proxy.address, (cluster.metastore_host, cluster.metastore_port)], 10.0, "hive")
    both.log_id()
    proxy.cuts = True
    assert both.log_id() == real.log_id()


@pytest.mark.sandbox
def test_calls_go_to_the_address_that_lives(real: ThriftMetastore, real_database: str) -> None:
    (alive,) = real.connections.addresses
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        both = ThriftMetastore([nobody.getsockname(), (alive.host, alive.port)], 10.0, "hive")
        both.create_table(a_table(real_database, "t"))
        assert both.table_names(real_database) == ["t"]


@pytest.mark.sandbox
def test_stopped_metastore_is_unreachable_at_once(proxy: CuttingProxy) -> None:
    metastore = ThriftMetastore([proxy.address], 5.0, "hive")
    metastore.log_id()
    proxy.cuts = True
    started = time.monotonic()
    with pytest.raises(Unreachable, match=str(proxy.address[1])):
        metastore.log_id()
    assert time.monotonic() - started < 5.0


def test_partitions_are_found_by_the_values_of_some_keys(metastore: MetastoreWriter, database: str) -> None:
    table = created(metastore, a_table(database, "levels", ("a", "b", "c")))
    metastore.add_partitions([a_partition(table, one, "x", other) for one in AWKWARD for other in ("1", "2")])

    def found(*values: str) -> set[tuple[str, ...]]:
        return set(map(partition_values, metastore.partition_names_with(table.name, values)))

    for one in AWKWARD:
        assert (one, "x", "1") in found(one, "", "") and found(one, "x", "2") >= {(one, "x", "2")}
    assert {values[2] for values in found("", "", "2")} == {"2"} and len(found("", "", "2")) == len(AWKWARD)
    assert len(found("", "x", "")) == len(found("", "", "")) == 2 * len(AWKWARD)
    assert found("", "y", "") == set()


def test_a_table_has_a_number_that_a_rename_keeps_and_no_other_gets(metastore: MetastoreWriter, database: str) -> None:
    first = created(metastore, a_table(database, "numbered"))
    renamed = TableName(database, "renamed")
    metastore.alter_table(first.name, first.at(renamed, first.location))
    second = created(metastore, a_table(database, "numbered"))
    found = metastore.table(renamed)
    assert found is not None and table_id(found) == table_id(first) is not None
    assert table_id(second) not in (None, table_id(first))
    [listed] = metastore.tables(database, ["renamed"])
    assert table_id(listed) == table_id(first)


def test_marks_of_sets_are_partitions_of_a_table_that_is_made_by_the_first(
    metastore: MetastoreWriter, database: str
) -> None:
    data = created(metastore, a_table(database, "data", ("day", "region")))
    metastore.add_partitions([a_partition(data, "1", "a/b"), a_partition(data, "2", "a/b")])
    marked = MarkSet(data.name, "region=a%2Fb/day=1", "one").run(metastore).mark
    assert (marked.spec, marked.partitions) == ("day=1/region=a%2Fb", 1)
    assert MarkSet(data.name, marked.spec, "one").run(metastore).already
    assert MarkSet(data.name, marked.spec, "two").run(metastore).mark.count == 2
    longest = "region=" + "x" * 240
    assert MarkSet(data.name, longest, "three").run(metastore).mark.partitions == 0
    assert MarkSet(data.name, "region=a%2Fb", "four").run(metastore).mark.partitions == 2
    wanted = wanted_set(metastore, data.name, "day=2/region=a%2Fb")
    assert sets_there(metastore, [wanted])[wanted].spec == "region=a%2Fb"
    listed = list(SetsOfDatabase(metastore, database).read())
    assert [(one.mark.spec, one.standing) for one in listed] == [
        (spec, SetStanding.DONE) for spec in (marked.spec, "region=a%2Fb", longest)
    ]
    # So it is asked for by who knows nothing of sets, as Airflow's own sensor for a partition.
    [asked] = metastore.partitions(sets_table(database), ["table_name=data/spec=region%3Da%252Fb"])
    assert asked.values == ("data", "region=a%2Fb")
    assert UnmarkSet(data.name, "region=a%2Fb").run(metastore)
    assert sets_there(metastore, [wanted]) == {}
    take_away(metastore, database, listed)
    assert list(SetsOfDatabase(metastore, database).read()) == []
