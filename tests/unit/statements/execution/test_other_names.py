"""Statements know other names of a cluster's file system, as policies do: locations may name a NameNode."""

import pytest

from tests.support.policies import _cluster
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import REPLICA_ADDRESS
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.old_names import NAMENODE, ONE, call_by_namenode
from tests.unit.statements.execution.speaker import Speaker
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import base_name
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.names import TableName
from twinhive.hive.events.one_file_system import OneNamedMetastore

PLAIN = TableName("sales", "plain")
EXPORTED = "hdfs://east/exports/plain"


@pytest.fixture
def old(speaker: Speaker) -> Speaker:
    """A source whose locations name the NameNode, and settings that know of it."""
    east, west = _cluster("east"), _cluster("west")
    east["file_system"]["also"], west["file_system"]["also"] = [NAMENODE], ["hdfs://nn1.west"]
    speaker.policies.write("clusters.yaml", {"clusters": {"east": east, "west": west}})
    speaker.world.replica.configurations[REPLICA_ADDRESS] |= {
        "metastore.warehouse.dir": "hdfs://nn1.west:8020/warehouse/managed"
    }
    speaker.users.files = call_by_namenode(speaker.world.source, speaker.world.source_files)
    return speaker


def test_the_source_says_the_other_name(old: Speaker) -> None:
    assert str(old.world.source.table(PLAIN).location).startswith(f"{NAMENODE}/")
    old.policies.write("clusters.yaml", {"clusters": {name: _cluster(name) for name in ("east", "west")}})
    with pytest.raises(TwinhiveError):
        old.say(f"EXPORT TABLE sales.plain TO '{EXPORTED}'", "east")


def test_an_export_and_an_import(old: Speaker) -> None:
    assert any("plain" in line for line in old.plan(f"EXPORT TABLE sales.plain TO '{EXPORTED}'", "east"))
    old.say(f"EXPORT TABLE sales.plain TO '{EXPORTED}'", "east")
    assert old.world.source_files.read(f"{EXPORTED}/data/data") == b"plain"
    others = SourceWriter.with_database(old.world.source, old.users.files, "other", {SOURCE_FOR: ""})
    old.say(f"IMPORT TABLE other.again FROM '{EXPORTED}'", "east")
    assert rows(old, others.location("again")) == {"data": b"plain", "zero": b""}
    # Into a table that is there, in the place where people made it.
    old.say("EXPORT TABLE sales.orders PARTITION (p='a b') TO 'hdfs://east/exports/first'", "east")
    old.say("IMPORT TABLE other.there FROM 'hdfs://east/exports/first'", "east")
    call_by_namenode(old.world.source, old.world.source_files)
    place = others.location("there")
    old.say("EXPORT TABLE sales.orders PARTITION (p='50%=#:ü') TO 'hdfs://east/exports/second'", "east")
    old.say("IMPORT TABLE other.there FROM 'hdfs://east/exports/second'", "east")
    assert others.location("there") == place and place.startswith(f"{NAMENODE}/")
    assert rows(old, others.location("there", ("50%=#:ü",))) == {"000000_0": b"three"}


def rows(old: Speaker, place: str) -> dict[str, bytes]:
    [(_, children)] = old.users.files.list_directories([place])
    return {base_name(one.path): old.users.files.read(one.path) for one in children if not one.is_directory}


def same(old: Speaker) -> bool:
    world = old.world
    known = OneNamedMetastore(world.source, ONE, "sales")
    return contents(world.replica, world.replica_files) == contents(known, world.source_files)


def test_dumps_and_loads(old: Speaker) -> None:
    directory, event_id = old.dump()
    old.say(f"REPL LOAD sales FROM '{directory}'", "west")
    assert same(old)
    old.users.insert("plain", None, [b"more"])
    old.users.add_partitions("orders", {("later",): [b"l"]})
    old.users.rename_table("empty", "hollow")
    directory, _ = old.dump(f"REPL DUMP sales FROM {event_id}")
    old.say(f"REPL LOAD sales FROM '{directory}'", "west")
    assert same(old)
    there = old.world.replica.tables("sales", old.world.replica.table_names("sales"))
    assert all(NAMENODE not in table.thrift for table in there)


def test_a_load_finds_the_data_of_external_tables_at_the_source(old: Speaker) -> None:
    old.world.source_files.put("hdfs://east/outside/part", b"rows")
    assert str(old.world.source.table(TableName("sales", "outside")).location).startswith(f"{NAMENODE}/")
    base = "WITH ('hive.repl.replica.external.table.base.dir'='/ext')"
    ((directory, _),) = old.say(f"REPL DUMP sales {base}", "east")
    old.say(f"REPL LOAD sales FROM '{directory}' {base}", "west")
    [outside] = old.world.replica.tables("sales", ["outside"])
    assert outside.location == "hdfs://west/ext/outside"
    assert old.world.replica_files.read("hdfs://west/ext/outside/part") == b"rows"
