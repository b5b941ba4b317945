"""Be a cluster whose locations were written before its HDFS had a nameservice: they name a NameNode."""

from dataclasses import replace
from typing import Any

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_storage import Storage
from tests.support.hdfs.files_by_another_name import FilesByAnotherName
from tests.support.hive.fake_metastore import InMemoryMetastore
from twinhive.core.model.file_system_names import OneFileSystem

NAMENODE = "hdfs://nn1.east:8020"
AS_WRITTEN = OneFileSystem(NAMENODE, ("hdfs://east",))
ONE = OneFileSystem("hdfs://east", ("hdfs://nn1.east", NAMENODE))


def call_by_namenode(metastore: InMemoryMetastore, files: InMemoryFiles) -> FilesByAnotherName:
    """Let a metastore's places, those to come too, name the NameNode; return the file system as its users call it."""
    users = FilesByAnotherName(files, NAMENODE)
    metastore.file_system = NAMENODE
    metastore.managed_warehouse = AS_WRITTEN.named(metastore.managed_warehouse)
    metastore.external_warehouse = AS_WRITTEN.named(metastore.external_warehouse)
    metastore._storage = Storage(users)  # type: ignore[arg-type]
    kept: list[dict[Any, Any]] = [metastore._tables, metastore._databases, *metastore._partitions.values()]
    for things in kept:
        for key, one in things.items():
            located = replace(one, location=one.location and AS_WRITTEN.named(one.location))
            things[key] = replace(located, thrift=AS_WRITTEN.named_within(one.thrift))
    return users
