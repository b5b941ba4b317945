"""Hold the fake and the real metastore to the same behaviour of external tables."""

import pytest

from tests.contracts.test_metastore_changes_contract import Place, files_below, place
from tests.support.hive.metastore_objects import a_table
from tests.support.users.external_writer import PURGES
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table

__all__ = ["place"]
TRANSLATED = {**PURGES, "TRANSLATED_TO_EXTERNAL": "TRUE"}


def an_external(place: Place, name: str, parameters: dict[str, str]) -> Table:
    location = f"hdfs://east/tmp/{place.database}/{name}"
    return place.table(name, ("p",), table_type="EXTERNAL_TABLE", location=location, parameters=parameters)


def renamed(place: Place, table: Table, parameters: dict[str, str] | None = None) -> Table:
    new = TableName(place.database, f"{table.name.table}_renamed")
    given = table.with_parameters(table.parameters if parameters is None else parameters)
    place.metastore.alter_table(table.name, given.at(new, table.location))
    return place.now(new.table)


@pytest.mark.parametrize("parameters", [{"EXTERNAL": "TRUE"}, PURGES], ids=["plain", "purges"])
def test_a_rename_moves_nothing(place: Place, parameters: dict[str, str]) -> None:
    table = an_external(place, "t", parameters)
    place.partition(table, "1")
    after = renamed(place, table)
    assert after.location == table.location
    assert place.locations("t_renamed") == {"1": f"{table.location}/p=1"}


def test_a_rename_moves_what_the_metastore_itself_has_made_external(place: Place) -> None:
    table = an_external(place, "t", TRANSLATED)
    place.partition(table, "1")
    far = f"hdfs://east/tmp/{place.database}/far"
    place.partition(table, "far", far)
    after = renamed(place, table)
    external = place.metastore.database(place.database).location
    assert after.location == f"{external}/t_renamed"
    assert place.locations("t_renamed") == {"1": f"{after.location}/p=1", "far": far}
    assert files_below(place.files, str(after.location)) == {"p=1/data"}


def test_a_rename_that_takes_the_mark_away_moves_nothing(place: Place) -> None:
    table = an_external(place, "t", PURGES)
    place.partition(table, "1")
    assert renamed(place, table, TRANSLATED).location == table.location


@pytest.mark.parametrize("delete_data", [True, False])
@pytest.mark.parametrize("purges", [True, False])
def test_a_drop_deletes_files_of_a_table_that_purges_if_asked(place: Place, purges: bool, delete_data: bool) -> None:
    table = an_external(place, "t", PURGES if purges else {"EXTERNAL": "TRUE"})
    place.partition(table, "1")
    place.partition(table, "2")
    place.metastore.drop_partitions(table.name, ["p=1"], delete_data=delete_data)
    gone = purges and delete_data
    assert files_below(place.files, str(table.location)) == ({"p=2/data"} if gone else {"p=1/data", "p=2/data"})
    place.metastore.drop_table(table.name, delete_data=delete_data)
    assert files_below(place.files, str(table.location)) == (set() if gone else {"p=1/data", "p=2/data"})


def test_an_external_table_is_made_where_it_is_to_be(place: Place) -> None:
    location = f"hdfs://east/tmp/{place.database}/base/data/t"
    made = a_table(place.database, "t", table_type="EXTERNAL_TABLE", location=location, parameters={"EXTERNAL": "TRUE"})
    place.metastore.create_table(made)
    assert (place.now("t").table_type, place.now("t").location) == ("EXTERNAL_TABLE", location)
