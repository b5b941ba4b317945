"""Ask which sets are done: one question for any number of them, so that all who wait share it."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import InvalidSettings, Missing, UnreadableObject
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.sets.set_mark import KEEP, SetMark, is_expired, mark_name
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.ports import MetastoreReader
from twinhive.publishing.sets.sets_table import find_sets_table, no_table

DEFAULT_KEEP = "30d"


@dataclass(frozen=True)
class WantedSet:
    """A set that somebody waits for; a mark from `since` on counts (Unix seconds)."""

    table: TableName
    spec: SetSpec
    since: int = 0


SetAnswer = SetMark | InvalidSettings | UnreadableObject | Missing | None
"""The mark by which a set is done, None for one that is not; what keeps it from being judged, or from being there."""


def sets_there(
    metastore: MetastoreReader,
    wanted: Iterable[WantedSet],
    keep: str = DEFAULT_KEEP,
    clock: Callable[[], float] = time.time,
) -> dict[WantedSet, SetMark]:
    """Return those that are done, each with the mark that says so: its own, or that of a broader set.

    A mark of a table that was dropped and made again does not count, nor one that has expired. A table that is not
    there has no sets. Raises InvalidSettings, and UnreadableObject.
    """
    found: dict[WantedSet, SetMark] = {}
    for one, answer in set_answers(metastore, wanted, keep, clock).items():
        if isinstance(answer, (InvalidSettings, UnreadableObject)):
            raise answer
        if isinstance(answer, SetMark):
            found[one] = answer
    return found


def set_answers(
    metastore: MetastoreReader,
    wanted: Iterable[WantedSet],
    keep: str = DEFAULT_KEEP,
    clock: Callable[[], float] = time.time,
) -> dict[WantedSet, SetAnswer]:
    """Return what is to be said of each.

    A table whose property has no sense, or that cannot be read, is the trouble of those who wait for it.

    Whatever the number of sets, each database is asked three questions (a further one for each 1,000 names).
    """
    by_database: dict[str, list[WantedSet]] = defaultdict(list)
    for one in wanted:
        by_database[one.table.database].append(one)
    found: dict[WantedSet, SetAnswer] = {}
    for database, some in by_database.items():
        marks = _marks(metastore, database, some)
        tables = _tables(metastore, database, sorted({one.table.table for one in some}))
        found |= {one: _answer(one, marks, tables.get(one.table), keep, clock()) for one in some}
    return found


def how_long(table: Table, keep: str) -> str:
    """Return how long a table's sets are kept. Raises InvalidSettings naming the table for a property without sense."""
    text = table.parameters.get(KEEP)
    if text is None:
        return keep
    try:
        is_expired(SetMark(table.name, "*", 0), text, 0)
    except InvalidSettings as error:
        raise InvalidSettings(
            f"property {KEEP} of {table.name} cannot be read",
            found=error.found,
            expected=error.expected,
            next_step=f"ALTER TABLE {table.name} SET TBLPROPERTIES ('{KEEP}'='{DEFAULT_KEEP}')",
        ) from error
    return text


def is_valid(mark: SetMark, table: Table, keep: str, now: float) -> bool:
    """True for a mark that counts: of this very table, and not expired."""
    return mark.is_of(table) and not is_expired(mark, how_long(table, keep), now)


def _marks(metastore: MetastoreReader, database: str, some: Iterable[WantedSet]) -> Mapping[str, SetMark]:
    sets = find_sets_table(metastore, database)
    if sets is None:
        return {}
    names = {_name(one.table, spec) for one in some for spec in one.spec.broader()}
    return {mark.name: mark for mark in map(SetMark.read, metastore.partitions(sets.name, sorted(names)))}


def _tables(
    metastore: MetastoreReader, database: str, names: Sequence[str]
) -> Mapping[TableName, Table | UnreadableObject]:
    try:
        return {table.name: table for table in metastore.tables(database, names)}
    except UnreadableObject as problem:
        if len(names) == 1:
            return {TableName(database, names[0]): problem}
    return {name: one for each in names for name, one in _tables(metastore, database, [each]).items()}


def _answer(
    one: WantedSet, marks: Mapping[str, SetMark], table: Table | UnreadableObject | None, keep: str, now: float
) -> SetAnswer:
    if table is None:
        return no_table(one.table)
    if isinstance(table, UnreadableObject):
        return table
    try:
        return _first(one, marks, table, keep, now)
    except InvalidSettings as error:
        return error


def _first(one: WantedSet, marks: Mapping[str, SetMark], table: Table, keep: str, now: float) -> SetMark | None:
    there = (marks.get(_name(one.table, spec)) for spec in one.spec.broader())
    return next(
        (mark for mark in there if mark and mark.marked >= one.since and is_valid(mark, table, keep, now)), None
    )


def _name(table: TableName, spec: SetSpec) -> str:
    return mark_name(table.table, str(spec))
