"""What Hive's layout cannot say is refused by name, and nothing is written."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.unit.statements.interop.hive_world import ROOT, HiveWorld
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, AlreadyThere
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.shards import pack_lines, unpack_lines
from twinhive.transfer.staged.staged_files import CopyItem


@pytest.fixture
def hive() -> HiveWorld:
    return HiveWorld()


def refused(hive: HiveWorld, dump: Dump, *said: str) -> None:
    with pytest.raises(ActNow) as error:
        hive.write(dump)
    assert "nothing was written" in error.value.what
    for words in said:
        assert words in str(error.value)
    assert [path for path in hive.files.paths() if path.startswith(ROOT)] == []


def a_partition_of_another_alphabet(hive: HiveWorld) -> None:
    hive.users.add_partitions("orders", {("Köln",): [b"one"]})


def a_path_with_a_hash(hive: HiveWorld) -> None:
    hive.users.insert("plain", None, {"f#1": b"one"})


def a_file_of_another_alphabet(hive: HiveWorld) -> None:
    hive.users.insert("plain", None, {"日本": b"one"})


def a_table_whose_name_is_a_path(hive: HiveWorld) -> None:
    hive.users.create_table("a/b", files=[b"one"])


def a_table_called_as_the_directory_above(hive: HiveWorld) -> None:
    hive.users.create_table("..", files=[b"one"])


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (a_table_whose_name_is_a_path, ("the name of a table", "a/b")),
        (a_table_called_as_the_directory_above, ("the name of a table", "'..'")),
        (a_partition_of_another_alphabet, ("a partition of sales.orders", "Köln")),
        (a_path_with_a_hash, ("a file of sales.plain", "f#1")),
        (a_file_of_another_alphabet, ("a file of sales.plain", "日本")),
    ],
)
@pytest.mark.parametrize("of_events", [False, True], ids=["of a whole database", "of events"])
def test_names_that_hive_would_read_as_others(
    hive: HiveWorld, done: Callable, said: tuple[str, ...], of_events: bool
) -> None:
    begin = hive.our_dump().manifest.end.event_id
    done(hive)
    refused(hive, hive.our_dump(begin if of_events else None), *said)


def test_the_drop_of_a_partition_of_another_alphabet(hive: HiveWorld) -> None:
    a_partition_of_another_alphabet(hive)
    begin = hive.our_dump().manifest.end.event_id
    hive.users.drop_partitions("orders", [("Köln",)])
    refused(hive, hive.our_dump(begin), "Köln")


@pytest.mark.parametrize("of_events", [False, True], ids=["of a whole database", "of events"])
def test_event_ids_beyond_31_bits(hive: HiveWorld, of_events: bool) -> None:
    begin = hive.our_dump().manifest.end.event_id
    hive.users.insert("plain", None, [b"more"])
    dump = hive.our_dump(begin if of_events else None)
    refused(hive, Dump(dump.layout, replace(dump.manifest, end=Position(2**31))), str(2**31))


def test_the_end_of_the_database(hive: HiveWorld) -> None:
    begin = hive.our_dump().manifest.end.event_id
    hive.users.alter_database_parameters({"repl.source.for": ""})
    hive.repl.world.source.drop_database("sales")
    hive.repl.world.source.create_database(hive.database_before)
    refused(hive, hive.our_dump(begin), "DROP_DATABASE", "REPL DUMP without FROM")


def test_a_file_that_only_its_listing_knows(hive: HiveWorld) -> None:
    dump = hive.our_dump()
    path = dump.layout.files(dump.manifest.batches[0].name)
    items = [replace(CopyItem.from_line(line), checksum=None) for line in unpack_lines(hive.files.read(path))]
    hive.files.write(path, pack_lines(item.to_line() for item in items))
    refused(hive, dump, "a file without a checksum", items[0].path)


def test_a_directory_that_holds_something_is_left_as_it_is(hive: HiveWorld) -> None:
    hive.files.write(f"{ROOT}/c2FsZXM=/twinhive-1/other", b"something")
    with pytest.raises(AlreadyThere, match=f"{ROOT}/c2FsZXM=/twinhive-1"):
        hive.write(hive.our_dump())
    assert [path for path in hive.files.paths() if "/hive/repl/" in path and path.endswith("_dumpmetadata")] == []
