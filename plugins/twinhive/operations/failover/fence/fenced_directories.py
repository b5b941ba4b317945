"""Find the directories of a source that writers are kept out of."""

from collections.abc import Iterable, Iterator

from twinhive.core.model.errors import Missing, Refused
from twinhive.core.model.files import is_below, qualified
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.own_tables import OWN_TABLES
from twinhive.core.ports import MetastoreReader, ReadPorts
from twinhive.replication.apply.managed_locations import managed_directory
from twinhive.replication.replica.source_scope import tables_in_bulk


def source_database(ports: ReadPorts, policy: Policy) -> Database:
    """Return the source's database. Raises Missing."""
    database = ports.source.database(policy.source.database)
    if database is None:
        raise Missing(
            f"there is no source database {policy.source}",
            found="no such database",
            expected="the database that is failed over from",
            next_step="correct source.database in the policy file",
        )
    return database


def directories_to_fence(ports: ReadPorts, policy: Policy, database: Database) -> tuple[str, ...]:
    """Return the uppermost directories in which writers of the policy's tables make files, those that exist, sorted.

    The database's own where all its tables are replicated, else those of the tables; and what tables and partitions
    have elsewhere on that file system. Tables of marks count for none: they are fenced with the database, and are
    left to those who mark sets and copies of other tables. Raises Refused where others would be kept out too.
    """
    root, metastore = ports.source_files.root, ports.source
    tables = tables_in_bulk(metastore, database.name, metastore.table_names(database.name))
    ours = [table for table in tables if policy.selects(table.name.table)]
    own = [table for table in tables if table.name.table in OWN_TABLES]
    found = list(_places(metastore, ours))
    if len(ours) + len(own) == len(tables):
        found += [managed_directory(metastore, database), database.location or "", *_places(metastore, own)]
    # The URI of a place in the file system alone: what lies elsewhere has no quota of this one.
    mine = {place for place in (qualified(one, root).rstrip("/") for one in found if one) if is_below(place, root)}
    top = sorted(one for one in mine if not any(is_below(one, other) for other in mine))
    _refuse_shared(ports, policy, database, top)
    return tuple(one for one in top if ports.source_files.status(one) is not None)


def _places(metastore: MetastoreReader, tables: Iterable[Table]) -> Iterator[str]:
    for table in tables:
        if not table.location:
            continue
        yield table.location
        if table.partition_keys:
            try:
                places = metastore.partition_locations(table)
            except Missing:
                continue
            yield from (place for _, place in places if place and not is_below(place, table.location))


def _refuse_shared(ports: ReadPorts, policy: Policy, database: Database, top: Iterable[str]) -> None:
    """Refuse directories that hold what is not the policy's: other databases, and what we write ourselves."""
    root, metastore = ports.source_files.root, ports.source
    others = {policy.dumps: "the policy's dumps", policy.staging: "the policy's staging"}
    for name in metastore.database_names():
        other = metastore.database(name) if name != database.name else None
        if other is not None:
            places = (other.location, managed_directory(metastore, other))
            others |= {qualified(one, root).rstrip("/"): f"database {name}" for one in places if one}
    for directory in top:
        for place, what in others.items():
            if place == directory or is_below(place, directory):
                raise Refused(
                    f"{policy.source} cannot be fenced by a quota: others would be kept out with it",
                    found=f"{place} of {what}, in {directory}",
                    expected="directories with nothing else in them",
                    next_step="take quota out of failover.fence in the policy file, and keep writers away otherwise",
                )
