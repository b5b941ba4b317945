"""Make databases and tables on a metastore under contract, fake or real."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.users.source_writer import SourceMetastore
from twinhive.core.model.objects import Database, Table
from twinhive.core.ports import FileWriter, MetastoreWriter

KNOWN_KEY = "hive.repl.cm.enabled"


@dataclass(frozen=True)
class SourceCluster:
    """A metastore with its file system and the directory of its change manager."""

    metastore: SourceMetastore
    files: FileWriter
    cmroot: str


@contextmanager
def a_database_on(metastore: MetastoreWriter) -> Iterator[str]:
    name = f"contract_{uuid.uuid4().hex[:12]}"
    metastore.create_database(Database(name, None, None, {}, "{}"))
    yield name
    drop_database(metastore, name)


def drop_database(metastore: Any, name: str) -> None:
    metastore.set_database_parameters(name, {})
    metastore.drop_database(name)


def created(metastore: MetastoreWriter, table: Table) -> Table:
    """Create a table and return it as the metastore keeps it."""
    metastore.create_table(table)
    found = metastore.table(table.name)
    assert found is not None
    return found
