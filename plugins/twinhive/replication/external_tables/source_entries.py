"""Read at the source which directories hold the data of a policy's external tables."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow, InvalidSettings, Missing, TwinhiveError, together
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text
from twinhive.core.ports import FileReader, MetastoreReader, ReadPorts
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.dump.passes.external_entries import Entry, check_places, entries_of
from twinhive.replication.dump.passes.sync_tasks import SizedEntry
from twinhive.replication.external_tables.check_base import is_root, kept_places, misplaced
from twinhive.replication.notification_log.external_entry_cache import KnownEntries
from twinhive.replication.replica.source_scope import readable_scope, readable_tables, usage_or_nothing
from twinhive.replication.replica.sync_records import Synced
from twinhive.replication.replica.unusable_tables import UnusableTables

_THREADS = 8


@dataclass(frozen=True)
class ExternalEntries:
    """What was found: how many tables, how many of them were read, with how many partitions, and the directories.

    Those of the `unusable` tables of the scope are not among them: nobody knows which these are.
    """

    tables: int
    read: int
    partitions: int
    entries: tuple[Entry, ...]
    unusable: UnusableTables


@dataclass(frozen=True)
class _OfTable:
    entries: tuple[Entry, ...] = ()
    staying: tuple[Entry, ...] = ()
    partitions: int = 0
    problem: InvalidSettings | None = None


def read_entries(ports: ReadPorts, policy: Policy, known: KnownEntries) -> ExternalEntries:
    """Return the entries of all external tables of the scope that can be read.

    Raises ActNow naming those that cannot be replicated. Partitions are read of the tables that are not `known`.
    """
    unusable = UnusableTables(policy)
    tables = readable_scope(ports.source, policy, unusable).external
    unknown = [table for table in tables if table.name not in known]
    found = in_threads(lambda table: _read(ports.source, policy, table, unusable), unknown, _THREADS)
    found += [_OfTable(known[table.name]) for table in tables if table.name in known]
    problems = [each.problem for each in found if each.problem]
    if problems:
        raise _all_of(problems, policy)
    entries = tuple(sorted(entry for each in found for entry in each.entries))
    check_places(entries, [entry for each in found for entry in each.staying], policy.external)
    _check_kept_places(ports, policy, entries)
    return ExternalEntries(len(tables), len(unknown), sum(each.partitions for each in found), entries, unusable)


def with_sizes(files: FileReader, synced: Synced, entries: Sequence[Entry]) -> list[SizedEntry]:
    """Return the entries with what is below them: as the last sync found it, of new ones as the file system says."""

    def one(entry: Entry) -> SizedEntry:
        record = synced.record_of(entry.location)
        if record is not None:
            return SizedEntry(entry, record.files, record.bytes, record.at, record.directories)
        try:
            usage = usage_or_nothing(files, entry.location)
        except ActNow:  # its own task says what is wrong with it
            return SizedEntry(entry)
        return SizedEntry(entry, usage.files, usage.length, 0.0, usage.directories)

    return in_threads(one, entries, _THREADS)


def _read(source: MetastoreReader, policy: Policy, table: Table, unusable: UnusableTables) -> _OfTable:
    external, location = policy.external, table.location or ""
    partitions: Sequence[tuple[str, str]] | None = None
    with unusable.if_unusable(table.name), suppress(Missing):  # dropped meanwhile: its event tells
        partitions = source.partition_locations(table) if table.partition_keys else ()
    if partitions is None:
        return _OfTable()
    try:
        entries = tuple(entries_of(table.name, location, partitions, external))
    except InvalidSettings as problem:
        return _OfTable(problem=problem)
    places = (("", location), *partitions)
    staying = tuple(Entry(table.name, name, place) for name, place in places if external.stay and external.stays(place))
    return _OfTable(entries, staying, len(partitions))


def still_unusable(source: MetastoreReader, policy: Policy, names: Sequence[str]) -> UnusableTables:
    """Return those of some tables that cannot be read now."""
    unusable, database = UnusableTables(policy), policy.source.database
    found, unreadable = readable_tables(source, database, names)
    for name, problem in unreadable.items():
        with unusable.if_unusable(TableName(database, name)):
            raise problem
    for table in found:
        _read(source, policy, table, unusable)
    return unusable


def _check_kept_places(ports: ReadPorts, policy: Policy, entries: Sequence[Entry]) -> None:
    """Where the base directory keeps the source's paths, each of them has to be apart from what is not ours."""
    if entries and is_root(policy.external.base_directory or ""):
        places = kept_places(ports, policy)
        problems = list(_misplaced(policy, entries, places))
        if problems:
            raise _all_of(problems, policy)


def _misplaced(policy: Policy, entries: Sequence[Entry], places: dict[str, Text]) -> Iterator[InvalidSettings]:
    for entry in entries:
        yield from misplaced(policy, entry.key, policy.external.place(entry.location, entry.key), places)


def _all_of(problems: Sequence[InvalidSettings], policy: Policy) -> TwinhiveError:
    what = f"{len(problems)} external tables of policy {policy.name} cannot be replicated; nothing was copied"
    return together(problems, what)
