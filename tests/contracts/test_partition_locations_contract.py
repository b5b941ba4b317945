"""Hold the fake and the real metastore to the same answer on where partitions lie, and on which databases there are."""

from dataclasses import replace

import pytest

from tests.support.hive.contract_metastores import created
from tests.support.hive.metastore_objects import a_partition, a_table
from tests.support.users.thrift_source import ThriftSource
from twinhive.core.model.errors import Missing, Refused, Unreachable
from twinhive.core.model.names import partition_name
from twinhive.core.model.objects import Table
from twinhive.core.ports import MetastoreWriter
from twinhive.hive.adapters.hive.hive_partition_locations import PartitionLocations

AWKWARD = ("a b", " a", "100%", "a=b", "a:b", "a/b", "Zoë 日本", "\U0001f600", 'it\'s "x"', "a\tb")


def an_external(metastore: MetastoreWriter, database: str, keys: tuple[str, ...] = ("p", "q")) -> Table:
    place = f"hdfs://east/data/{database}/t"
    table = a_table(database, "t", keys, table_type="EXTERNAL_TABLE", location=place, parameters={"EXTERNAL": "TRUE"})
    return created(metastore, table)


def test_partitions_inside_and_outside_the_tables_directory(metastore: MetastoreWriter, database: str) -> None:
    table = an_external(metastore, database)
    places = {
        "inside": f"{table.location}/p=inside/q=1",
        "elsewhere below": f"{table.location}/other/name",
        "the directory itself": table.location,
        "a name that only begins alike": f"{table.location}2/p",
        "outside": f"hdfs://east/elsewhere/{database}",
        "another file system": f"hdfs://west/elsewhere/{database}",
    }
    metastore.add_partitions([a_partition(table, what, "1", location=place) for what, place in places.items()])
    expected = {partition_name(table.partition_keys, (what, "1")): place for what, place in places.items()}
    assert metastore.partition_locations(table) == sorted(expected.items())


def test_a_location_without_a_host_is_on_the_clusters_file_system(metastore: MetastoreWriter, database: str) -> None:
    """The metastore completes a location that it is given, but not where several partitions are altered."""
    table = an_external(metastore, database, ("p",))
    metastore.add_partitions([a_partition(table, "1", location=f"/data/{database}/1")])
    (partition,) = metastore.partitions(table.name, ["p=1"])
    assert partition.location == f"hdfs://east/data/{database}/1"
    metastore.alter_partitions([partition.at(table.name, f"/data/{database}/2")])
    expected = f"hdfs://east/data/{database}/2"
    assert metastore.partitions(table.name, ["p=1"])[0].location == expected
    assert dict(metastore.partition_locations(table)) == {"p=1": expected}


def test_awkward_values(metastore: MetastoreWriter, database: str) -> None:
    table = an_external(metastore, database, ("p",))
    metastore.add_partitions([a_partition(table, value) for value in AWKWARD])
    named = metastore.partitions(table.name, metastore.partition_names(table.name))
    assert dict(metastore.partition_locations(table)) == {
        partition.name(table.partition_keys): partition.location for partition in named
    }


def test_some_partitions_by_their_names(metastore: MetastoreWriter, database: str) -> None:
    table = an_external(metastore, database, ("p", "q"))
    metastore.add_partitions([a_partition(table, value, "1") for value in AWKWARD])
    every = metastore.partition_locations(table)
    some = [name for name, _ in every][::2]
    assert metastore.partition_locations_of(table, some) == [one for one in every if one[0] in some]
    found = metastore.partition_locations_of(table, [*some, "p=not there/q=1"])
    assert found == [one for one in every if one[0] in some]


def test_a_table_without_partitions_and_one_that_is_not_there(metastore: MetastoreWriter, database: str) -> None:
    table = an_external(metastore, database)
    assert list(metastore.partition_locations(table)) == []
    metastore.drop_table(table.name, delete_data=False)
    with pytest.raises(Missing, match="t"):
        metastore.partition_locations(table)


def test_databases(metastore: MetastoreWriter, database: str) -> None:
    names = metastore.database_names()
    assert database in names
    assert names == sorted(names)


@pytest.mark.sandbox
def test_every_way_of_asking_gives_the_same_answer(real: ThriftSource, real_database: str) -> None:
    table = an_external(real, real_database, ("p",))
    elsewhere = a_partition(table, "5", location="hdfs://east/elsewhere/5")
    real.add_partitions([*(a_partition(table, str(number)) for number in range(5)), elsewhere])
    asked = PartitionLocations(real.connections, real._locations_by_names)
    answers = []
    for way in tuple(asked._ways):
        try:
            answers.append(sorted(way(table)))
        except (Refused, Unreachable):  # a server without the library for projections
            continue
    assert len(answers) >= 2
    assert all(answer == answers[0] for answer in answers)
    assert len(answers[0]) == 6
    assert asked.read_of(table, [name for name, _ in answers[0]]) in (answers[0], None)
    assert asked.read_of(table, ["p=1", "p=not there"]) is None


def test_the_first_way_that_is_answered_is_kept() -> None:
    calls: list[str] = []

    class Refusing:
        def read(self, request: object) -> object:
            calls.append("at once")
            raise Refused("the server does not know the call")

    def by_names(table: Table) -> list[tuple[str, str]]:
        calls.append("by names")
        return [("p=2", "b"), ("p=1", "a")]

    asked = PartitionLocations(Refusing(), by_names)  # type: ignore[arg-type]
    table = replace(a_table("d", "t", ("p",)), location="hdfs://east/t")
    assert asked.read(table) == [("p=1", "a"), ("p=2", "b")]
    asked.read(table)
    assert calls == ["at once", "at once", "by names", "by names"]
