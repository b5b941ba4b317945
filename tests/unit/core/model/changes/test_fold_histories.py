"""Read a changing metastore bit by bit, fold its log into what was read, and compare with what was there.

`TWINHIVE_DEEP_HISTORIES` (a number of examples) runs more of them, longer and at random.
"""

import os
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.hive.model_metastore import NAMES, ModelMetastore, State, checksum_of, length_of
from tests.support.seeds import of_the_day
from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.contents import Content, PartitionState, Shard, SourceFile, TableState
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.files import join, relative_to
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.bootstrap.fold import fold

T = TypeVar("T")
Reading = Generator[None, None, T]
"""A reading that stops at every moment at which statements may come between."""

DEEP = int(os.environ.get("TWINHIVE_DEEP_HISTORIES", "0"))
STEPS = 120 if DEEP else 40
ROUNDS_WHEN_QUIET = 3
MOMENTS = (0, 0, 0, 0, 1, 2, 3, 5)
"""How many moments of reading a statement may be followed by: often none, so that some come together."""


@dataclass
class Reader:
    """Read a model as the dump does. `one_bound`: one event id, taken before all, bounds all parts of a table."""

    model: ModelMetastore
    one_bound: bool

    def dump(self) -> Reading[Shard]:
        """Read the names of the tables, then each table."""
        names_lo = self.model.event_id
        yield
        tables: dict[TableName, TableState] = {}
        for name in self.model.table_names():
            state = yield from self.table(name)
            if state is not None:
                tables[name] = state
        return Shard(tables, names_lo)

    def read_again(self, shard: Shard) -> Reading[Shard]:
        """Read again what the log did not spell out; what is gone leaves the shard, the log will say why.

        * a table that is unsure: all of it, as in the dump;
        * constraints that are unsure, of a table that is not;
        * a partition that is unsure: its object, then its files if they are unsure too or it is elsewhere now;
        * a list of files that is unsure: the directory where the record says that it is.
        """
        tables = dict(shard.tables)
        for name, known in shard.tables.items():
            if known.unsure:
                again = yield from self.table(name)
            elif known.constraints_unsure:
                lo = self.model.event_id
                yield
                constrained = known.table.with_constraints(self.model.constraints(name))
                again = replace(known, table=constrained, constraints_lo=lo, constraints_unsure=False)
            elif known.table.partition_keys:
                again = yield from self._unsure_partitions(known)
            elif known.content.unsure:
                content = yield from self._files(known.table.location, self.model.event_id)
                again = replace(known, content=content)
            else:
                continue
            if again is None:
                del tables[name]
            else:
                tables[name] = again
        return replace(shard, tables=tables)

    def table(self, name: TableName) -> Reading[TableState | None]:
        """Read a table's object, then names of its partitions, then these, then each list of files."""
        lo = self.model.event_id
        yield
        table = self.model.table(name)
        if table is None:
            return None
        constraints_lo = self._bound(lo)
        yield
        state = yield from self._without_constraints(table.with_constraints(self.model.constraints(name)), lo)
        return replace(state, constraints_lo=constraints_lo)

    def _without_constraints(self, table: Table, lo: int) -> Reading[TableState]:
        if not table.partition_keys:
            content = (yield from self._files(table.location, lo)) if table.has_files else Content(lo)
            return TableState(table, lo, content, partitions_lo=lo)
        partitions_lo = self._bound(lo)
        yield
        names = self.model.partition_names(table.name)
        partitions = yield from self._partitions(table.name, names, lo)
        return TableState(table, lo, Content(lo), partitions, partitions_lo)

    def _unsure_partitions(self, known: TableState) -> Reading[TableState]:
        partitions = dict(known.partitions)
        doubted = [name for name, state in partitions.items() if state.unsure]
        unlisted = [name for name, state in partitions.items() if state.content.unsure and not state.unsure]
        if doubted:
            again = yield from self._objects(known.table.name, doubted, self.model.event_id)
            for name in doubted:
                old = partitions.pop(name)
                if name in again:
                    lo, partition = again[name]
                    moved = old.partition.location != partition.location
                    keeps = not moved and not old.content.unsure
                    content = old.content if keeps else (yield from self._files(partition.location, lo))
                    partitions[name] = PartitionState(partition, lo, content)
        for name in unlisted:
            state = partitions[name]
            content = yield from self._files(state.partition.location, self.model.event_id)
            partitions[name] = replace(state, content=content)
        return replace(known, partitions=partitions)

    def _partitions(self, table: TableName, names: list[str], first_lo: int) -> Reading[dict[str, PartitionState]]:
        states = {}
        objects = yield from self._objects(table, names, first_lo)
        for name, (lo, partition) in objects.items():
            content = yield from self._files(partition.location, lo)
            states[name] = PartitionState(partition, lo, content)
        return states

    def _objects(self, table: TableName, names: list[str], first_lo: int) -> Reading[dict[str, tuple[int, Partition]]]:
        """Read partitions in two calls; those that are gone are missing."""
        found: dict[str, tuple[int, Partition]] = {}
        for batch in (names[:2], names[2:]):
            if batch:
                lo = self._bound(first_lo)
                yield
                found |= {name: (lo, partition) for name, partition in self.model.partitions(table, batch).items()}
        return found

    def _files(self, directory: str | None, first_lo: int) -> Reading[Content]:
        assert directory is not None
        lo = self._bound(first_lo)
        yield
        listed = (SourceFile.of_listing(s, relative_to(s.path, directory)) for s in self.model.list_files(directory))
        return Content(lo, {file.relative: file for file in listed})

    def _bound(self, first_lo: int) -> int:
        return first_lo if self.one_bound else self.model.event_id


@dataclass
class Consolidations:
    """Dump, fold and read again in rounds until the log has spelt out all; then the same once more, for ever."""

    reader: Reader
    rounds: int = 0
    ends: int = 0

    def run(self) -> Reading[None]:
        """Go as far as the moments reach. What is sure after a fold is compared each time."""
        while True:
            yield from self._one()
            self.ends, self.rounds = self.ends + 1, 0

    def _one(self) -> Reading[None]:
        model = self.reader.model
        begin = folded = model.event_id
        yield
        shard = yield from self.reader.dump()
        while True:
            new, folded = model.events(after=folded), model.event_id
            one_by_one = reduce(fold, ([event] for event in new), shard)
            halves = fold_in_halves(shard, new)
            shard = fold(shard, new)
            assert shard == one_by_one
            assert shard.tables == halves
            assert fold(shard, model.events(after=begin)) == shard, "folding events again changes something"
            assert_sure_is_true(shard, model.at(folded))
            self.rounds += 1
            if all(is_told(state) for state in shard.tables.values()):
                return
            yield
            shard = yield from self.reader.read_again(shard)


def fold_in_halves(shard: Shard, events: list[Event]) -> dict[TableName, TableState]:
    """Fold two shards of the tables apart: each gets the events that name one of its own, and keeps its own."""
    tables: dict[TableName, TableState] = {}
    for own in (set(NAMES[:2]), set(NAMES[2:])):
        part = Shard({name: state for name, state in shard.tables.items() if name in own}, shard.names_lo)
        told = fold(part, [event for event in events if own & set(tables_of(event.change))])
        tables |= {name: state for name, state in told.tables.items() if name in own}
    return tables


def is_told(state: TableState) -> bool:
    """True when nothing of a table is marked, of whatever kind it is."""
    if state.constraints_unsure:
        return False
    if not state.table.partition_keys:
        return not (state.unsure or state.content.unsure)
    return not (state.unsure or any(part.unsure or part.content.unsure for part in state.partitions.values()))


def assert_sure_is_true(shard: Shard, state: State) -> None:
    """Compare all that is not marked for reading with what was there."""
    assert set(shard.tables) == set(state.tables)
    for name, told in shard.tables.items():
        if told.unsure:
            continue
        there = state.tables[name]
        assert told.table == (there.with_constraints(told.table.constraints) if told.constraints_unsure else there)
        if told.table.partition_keys:
            assert set(told.partitions) == set(state.partitions[name])
            for key, partition in told.partitions.items():
                one = state.partitions[name][key]
                assert partition.unsure or partition.partition == one
                assert_files(partition.content, one.location, state)
        elif told.table.location is not None:
            assert_files(told.content, told.table.location, state)


def assert_files(content: Content, location: str | None, state: State) -> None:
    """Compare a list of files, unless it is marked: places and contents, by whatever tells the content."""
    assert location is not None
    if content.unsure:
        return
    assert all(file.path == join(location, file.relative) for file in content.files.values())
    there = state.files_below(location)
    assert {file.path: told_content(file) for file in content.files.values()} == {
        path: told_content(SourceFile(path, length_of(number), file_id=number)) for path, number in there.items()
    }


def told_content(file: SourceFile) -> tuple[str, int]:
    """Return checksum and length, computed from what the record has: a listing or an event's entry."""
    checksum = file.checksum or checksum_of(file.file_id)
    return checksum, file.length or length_of(int(checksum[1:]))


def run(history: Iterable[int], one_bound: bool) -> None:
    """Execute statements with moments of reading between them; at the end read undisturbed.

    A step is a number: its lowest digits are the moments, the rest is a statement.
    """
    model = ModelMetastore()
    consolidations = Consolidations(Reader(model, one_bound))
    reading = consolidations.run()
    for step in history:
        statement, choice = divmod(step, len(MOMENTS))
        model.execute(statement)
        for _ in range(MOMENTS[choice]):
            next(reading)
    end, rounds = consolidations.ends + 1, consolidations.rounds
    while consolidations.ends < end:
        next(reading)
        assert consolidations.rounds <= rounds + ROUNDS_WHEN_QUIET, "what is unsure stays unsure"


@pytest.mark.thorough
@of_the_day
@settings(
    max_examples=DEEP or 300,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(st.integers(0, 2**24 - 1), min_size=STEPS // 2, max_size=STEPS), st.booleans())
def test_folding_a_history_tells_what_was_there(history: list[int], one_bound: bool) -> None:
    run(history, one_bound)
