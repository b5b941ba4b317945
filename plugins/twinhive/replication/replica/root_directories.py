"""Refuse a root directory for dumps or staging that is not apart from what people keep: tables, warehouses.

What is in such a root is made, listed and removed by us. A mistake in a policy file or a statement would put that among
somebody's rows, or somebody's rows below a directory of ours.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping

from twinhive.core.model.errors import InvalidSettings, UnreadableObject
from twinhive.core.model.files import authority, qualified
from twinhive.core.model.human_readable import Say
from twinhive.core.model.next_steps import COPIES_ROOT, DUMP_ROOT, IN_THE_POLICY_FILE, STAGING_ROOT
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, Setting
from twinhive.core.ports import DumpPorts, MetastoreReader, ReadPorts
from twinhive.replication.replica.base_claim import overlap
from twinhive.replication.replica.source_scope import readable_tables

_WAREHOUSES = {
    "metastore.warehouse.dir": "the warehouse",
    "metastore.warehouse.external.dir": "the warehouse of external tables",
}
_MOST_NAMED = 5
_LOG = logging.getLogger(__name__)

RootPlace = tuple[str, str]
"""A directory, and what it is."""


def roots_in_the_way(roots: Mapping[str, Setting], places: Iterable[RootPlace]) -> Iterator[InvalidSettings]:
    """Yield an error for each root that holds one of the places, or lies in one or around one."""
    found: dict[str, list[str]] = {root: [] for root in roots}
    for place, what in places:
        for root, some in found.items():
            if overlap(root, place):
                some.append(f"{place}, {what}")
    for root, some in found.items():
        if some:
            more = f"; and {len(some) - _MOST_NAMED} more" if len(some) > _MOST_NAMED else ""
            yield InvalidSettings(
                f"the directory {root} is not apart from what tables and databases use",
                found="; ".join(some[:_MOST_NAMED]) + more,
                expected="a directory that holds no table and no warehouse, and lies in none",
                next_step="name another " + roots[root] + " " + IN_THE_POLICY_FILE + ", then " + Clear("the task"),
            )


def check_roots(ports: ReadPorts, policy: Policy, say: Say) -> Iterator[InvalidSettings]:
    """Yield what is wrong with the roots of a policy: all databases and tables of both clusters are looked at.

    What cannot be read is left out, and said: it may be anybody's.
    """
    roots = {policy.dump_root: DUMP_ROOT, policy.staging_root: STAGING_ROOT}
    there = _places(ports.replica, ports.replica_files.root, say=say)
    return roots_in_the_way(roots, [*_of_source(ports, say), *there, *_base(policy)])


def check_copies_root(ports: ReadPorts, directory: str) -> Iterator[InvalidSettings]:
    """Yield what is wrong with the directory of a placement's copies: all databases and tables are looked at."""
    return roots_in_the_way({directory: COPIES_ROOT}, _of_source(ports))


def partitions_around(metastore: MetastoreReader, root: str, directory: str) -> Iterator[str]:
    """Yield a partition of each table that has one in a directory, or around it; all tables are looked at."""
    for name in metastore.database_names():
        tables, unread = readable_tables(metastore, name, metastore.table_names(name))
        yield from (f"perhaps table {name}.{table}, which cannot be read" for table in unread)
        for table in (one for one in tables if one.partition_keys):
            for partition, place in metastore.partition_locations(table):
                if place and overlap(directory, qualified(place, root)):
                    yield f"{place}, partition {partition} of table {table.name}"
                    break


def check_dump_root(ports: DumpPorts, policy: Policy) -> Iterator[InvalidSettings]:
    """Yield what is wrong with the root of a statement's dumps, as far as the cluster that is dumped tells."""
    places = _places(ports.source, ports.source_files.root, policy.source.database)
    return roots_in_the_way({policy.dump_root: DUMP_ROOT}, places)


def check_staging_root(ports: ReadPorts, policy: Policy) -> Iterator[InvalidSettings]:
    """Yield what is wrong with the root of a statement's staging, as far as the cluster that loads tells."""
    places = _places(ports.replica, ports.replica_files.root, policy.replica.database)
    return roots_in_the_way({policy.staging_root: STAGING_ROOT}, [*places, *_base(policy)])


def _of_source(ports: ReadPorts, say: Say = _LOG.warning) -> Iterator[RootPlace]:
    return _places(ports.source, ports.source_files.root, say=say)


def _base(policy: Policy) -> Iterator[RootPlace]:
    base = policy.external.base_directory
    # A file system's root keeps the source's paths: then the tables themselves say where they are.
    if base is not None and base.rstrip("/") != authority(base):
        yield base, "the base directory of external tables"


def _places(
    metastore: MetastoreReader, root: str, only: str | None = None, say: Say = _LOG.warning
) -> Iterator[RootPlace]:
    """Yield the warehouses, the directories of databases, and those of tables, of all databases or only of one."""
    for place, what in _unqualified(metastore, only, say):
        yield qualified(place, root), what


def _unqualified(metastore: MetastoreReader, only: str | None, say: Say) -> Iterator[RootPlace]:
    for address in metastore.addresses():
        for key, what in _WAREHOUSES.items():
            if place := metastore.configuration(address, key).strip():
                yield place, what
    for name in metastore.database_names():
        try:
            yield from _of_database(metastore.database(name))
        except UnreadableObject as problem:
            say(f"left out of the look for what lies in root directories: {problem.words.what}")
        if only in (None, name):
            tables, unreadable = readable_tables(metastore, name, metastore.table_names(name))
            yield from ((table.location, f"table {table.name}") for table in tables if table.location)
            for unread in unreadable.values():
                say(f"left out of the look for what lies in root directories: {unread.words.what}")


def _of_database(database: Database | None) -> Iterator[RootPlace]:
    places = (database.location, database.managed_location) if database else ()
    yield from ((place, f"database {database.name}") for place in places if place and database)
