"""The list of external directories: an entry for each table, and for each partition outside its table's."""

import pytest

from tests.support.builders import an_external
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import TableName
from twinhive.replication.dump.passes.external_entries import Entry, check_places, entries_of, topmost

EVENTS = TableName("sales", "events")
PLACE = "hdfs://east/data/events"


def entry(location: str, table: str = "events", partition: str = "") -> Entry:
    return Entry(TableName("sales", table), partition, location)


def test_partitions_below_the_tables_directory_need_no_entry_of_their_own() -> None:
    partitions = [
        ("day=1", f"{PLACE}/day=1"),
        ("day=2", f"{PLACE}/any/where"),
        ("day=3", PLACE),
        ("day=4", "hdfs://east/data/events2/day=4"),
        ("day=5", "hdfs://east/data"),
        ("day=6", "hdfs://east/old/6"),
    ]
    found = list(entries_of(EVENTS, PLACE, partitions, an_external()))
    assert [each.key for each in found] == [
        "sales.events",
        "sales.events/day=4",
        "sales.events/day=5",
        "sales.events/day=6",
    ]


def test_a_hundred_thousand_partitions_below_make_one_entry() -> None:
    partitions = ((f"day={day}", f"{PLACE}/day={day}") for day in range(100_000))
    assert list(entries_of(EVENTS, PLACE, partitions, an_external())) == [entry(PLACE)]


def test_what_stays_has_no_entry_and_what_is_elsewhere_is_refused() -> None:
    partitions = [("day=1", "s3a://lake/events/1"), ("day=2", "hdfs://east/old/2")]
    with pytest.raises(InvalidSettings, match=r"partition day=1 of sales.events") as refused:
        list(entries_of(EVENTS, PLACE, partitions, an_external()))
    assert "external_tables.stay" in str(refused.value)
    stays = an_external(stay=("s3a://lake/.*",))
    assert [each.key for each in entries_of(EVENTS, PLACE, partitions, stays)] == ["sales.events", "sales.events/day=2"]


def test_of_a_table_that_stays_the_partitions_that_do_not_are_entries() -> None:
    partitions = [("day=1", "s3a://lake/events/1"), ("day=2", "hdfs://east/old/2")]
    found = list(entries_of(EVENTS, "s3a://lake/events", partitions, an_external(stay=("s3a://lake/.*",))))
    assert found == [entry("hdfs://east/old/2", partition="day=2")]


def test_metadata_only_has_no_entries() -> None:
    found = entries_of(EVENTS, PLACE, [("day=1", "hdfs://east/old/1")], an_external(data="metadata_only"))
    assert list(found) == []


def test_one_copy_of_a_directory_that_two_share_or_one_lies_in() -> None:
    entries = [
        entry("hdfs://east/a/b/c", "inner"),
        entry("hdfs://east/a", "outer"),
        entry("hdfs://east/ab", "beside"),
        entry("hdfs://east/a", "same"),
        entry("hdfs://east/z", "events", "day=1"),
    ]
    assert [each.location for each in topmost(entries)] == ["hdfs://east/ab", "hdfs://east/z", "hdfs://east/a"]
    assert [each.table.table for each in topmost(entries)] == ["beside", "events", "outer"]
    assert topmost([]) == ()


def test_data_that_stays_on_the_replica_and_a_copy_cannot_share_a_place() -> None:
    copied = [entry("hdfs://east/data/events")]
    for place in ("hdfs://west/ext/data/events", "hdfs://west/ext/data/events/x", "hdfs://west/ext/data"):
        with pytest.raises(InvalidSettings, match=r"sales.events and sales.shared"):
            check_places(copied, [entry(place, "shared")], an_external())
    check_places(copied, [entry("hdfs://west/ext/data/events2", "shared")], an_external())
    check_places([*copied, *copied], [], an_external())


def test_two_locations_that_map_to_one_place_are_refused() -> None:
    class Meeting:
        def place(self, location: str, what: str) -> str:
            return "hdfs://west/ext/one"

    with pytest.raises(InvalidSettings, match="hdfs://west/ext/one") as refused:
        check_places([entry("hdfs://east/a", "a"), entry("hdfs://east/b", "b")], [], Meeting())  # type: ignore[arg-type]
    assert "hdfs://east/a and hdfs://east/b" in str(refused.value)


@pytest.mark.parametrize("inner", ["hdfs://east/ext/newdir/t", "hdfs://east/ext/newdir/a/b/t"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_place_in_another_one_on_the_way_back_is_refused(inner: str, turned: bool) -> None:
    """Each pass would take the other's rows away."""
    way_back = an_external(base_directory="hdfs://west/", returns_from="hdfs://east/ext")
    entries = [entry(inner, "a"), entry("hdfs://east/newdir", "b")]
    with pytest.raises(InvalidSettings, match=r"sales\.b and sales\.a have their data in two places") as refused:
        check_places(entries[:: -1 if turned else 1], [], way_back)
    assert "hdfs://west/newdir" in str(refused.value)


def test_places_that_lie_in_each_other_as_at_the_source_are_not_refused() -> None:
    way_back = an_external(base_directory="hdfs://west/", returns_from="hdfs://east/ext")
    inside = [entry("hdfs://east/ext/d", "a"), entry("hdfs://east/ext/d/t", "b"), entry("hdfs://east/e", "c")]
    check_places([*inside, entry("hdfs://east/e/t", "d")], [], way_back)


@pytest.mark.parametrize(
    ("around", "inside"),
    [("hdfs://east/data//x", "hdfs://east/data/x/y"), ("hdfs://east/data/x", "hdfs://east//data/x/y")],
)
def test_places_that_are_spelled_with_empty_components_lie_in_each_other_too(around: str, inside: str) -> None:
    check_places([entry(around, "a"), entry(inside, "b")], [], an_external())
