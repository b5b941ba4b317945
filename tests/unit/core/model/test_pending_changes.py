"""What waits of external tables is what the events so far have made, however often they are folded in."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from tests.support.builders import a_partition, a_table
from tests.support.hive.metastore_objects import a_partition as a_full_partition
from tests.support.hive.metastore_objects import a_table as a_full_table
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import columns_of_partition, with_columns_of
from twinhive.replication.apply.external import pending_changes as changes
from twinhive.replication.replica.pending_tables import PendingTable

NAMES = [TableName("sales", name) for name in ("a", "b", "c")]
PARTITIONS = ("1", "2", "3")


def an_external_table(name: TableName, place: int, colour: int):
    return a_table(
        str(name),
        table_type="EXTERNAL_TABLE",
        location=f"hdfs://east/data/{place}",
        partition_keys=("p",),
        parameters={"colour": str(colour)},
    )


@dataclass(frozen=True)
class Step:
    """One event, as a function of the records; `removes`: a replay begins with it, or after it."""

    fold: Callable[[dict], None]
    removes: bool = False


class History:
    """Random events, and what the source has after each: tables and partitions with the event of their location."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)
        self._tables: dict = {}
        self.steps: list[Step] = []
        self.states: list[dict] = []
        for event_id in range(1, 60):
            self.steps.append(self._event(event_id))
            self.states.append(
                {name: (table, since, dict(parts)) for name, (table, since, parts) in self._tables.items()}
            )

    def _event(self, event_id: int) -> Step:
        free = [name for name in NAMES if name not in self._tables]
        if not self._tables or (free and self._choose.random() < 0.2):
            return self._create(self._choose.choice(free), event_id)
        name = self._choose.choice(sorted(self._tables))
        kinds = (self._alter, self._alter, self._drop, self._rename, *[self._partition] * 6)
        return self._choose.choice(kinds)(name, event_id)

    def _create(self, name: TableName, event_id: int) -> Step:
        table = an_external_table(name, event_id, 0)
        self._tables[name] = (table, event_id, {})
        return Step(lambda records: put(records, changes.created(get(records, name), table, event_id, replaces=False)))

    def _alter(self, name: TableName, event_id: int) -> Step:
        table, since, partitions = self._tables[name]
        after = table.with_parameters({"colour": str(event_id)})
        if self._choose.random() < 0.5:
            after, since = after.at(name, f"hdfs://east/data/{event_id}"), event_id
        self._tables[name] = (after, since, partitions)
        return Step(lambda records: put(records, changes.altered(get(records, name), after, event_id)))

    def _drop(self, name: TableName, event_id: int) -> Step:
        del self._tables[name]
        return Step(lambda records: put(records, changes.dropped(get(records, name), event_id)), removes=True)

    def _rename(self, name: TableName, event_id: int) -> Step:
        free = [name for name in NAMES if name not in self._tables]
        if not free:
            return self._drop(name, event_id)
        table, since, partitions = self._tables.pop(name)
        new = self._choose.choice(free)
        after = table.at(new, table.location)
        moved = {at: (one.at(new, one.location), when) for at, (one, when) in partitions.items()}
        self._tables[new] = (after, since, moved)
        return Step(
            lambda records: put(records, *changes.renamed(get(records, name), get(records, new), after, event_id)),
            removes=True,
        )

    def _partition(self, name: TableName, event_id: int) -> Step:
        key = self._choose.choice(PARTITIONS)
        if key not in self._tables[name][2]:
            return self._add(name, key, event_id)
        return self._choose.choice((self._edit, self._edit, self._remove, self._give_name))(name, key, event_id)

    def _add(self, name: TableName, key: str, event_id: int) -> Step:
        table, _, partitions = self._tables[name]
        new = a_partition(table, key)
        partitions[key] = (new, event_id)
        return Step(lambda records: put(records, changes.partitions_added(get(records, name), {key: (new, event_id)})))

    def _edit(self, name: TableName, key: str, event_id: int) -> Step:
        partition, since = self._tables[name][2][key]
        after = partition.with_parameters({"colour": str(event_id)})
        if self._choose.random() < 0.5:
            after, since = after.at(name, f"hdfs://east/other/{event_id}"), event_id
        self._tables[name][2][key] = (after, since)
        shaped = {key: (after, event_id)}
        return Step(lambda records: put(records, changes.partitions_altered(get(records, name), shaped)))

    def _remove(self, name: TableName, key: str, event_id: int) -> Step:
        del self._tables[name][2][key]
        gone = {key: event_id}
        return Step(lambda records: put(records, changes.partitions_dropped(get(records, name), gone)), removes=True)

    def _give_name(self, name: TableName, key: str, event_id: int) -> Step:
        partitions = self._tables[name][2]
        free = sorted(set(PARTITIONS) - partitions.keys())
        if not free:
            return self._remove(name, key, event_id)
        new, (partition, since) = self._choose.choice(free), partitions.pop(key)
        after = replace(partition, values=(new,))
        partitions[new] = (after, since)
        return Step(
            lambda records: put(records, changes.partition_renamed(get(records, name), key, new, after, event_id)),
            removes=True,
        )


def get(records: dict, name: TableName) -> PendingTable:
    return records.get(name, PendingTable(name))


def put(records: dict, *changed: PendingTable) -> None:
    for record in changed:
        records[record.name] = record
        if record.is_empty:
            del records[record.name]


def folded(steps: list[Step], records: dict | None = None) -> dict:
    records = dict(records or {})
    for step in steps:
        step.fold(records)
    return records


def said(records: dict) -> dict:
    return {
        name: (
            record.table.thing,
            record.table.since,
            {key: (waiting.thing, waiting.since) for key, waiting in record.partitions.items()},
        )
        for name, record in records.items()
    }


@pytest.mark.parametrize("seed", range(12))
def test_what_waits_is_what_the_source_has(seed: int) -> None:
    history = History(seed)
    for length in range(1, len(history.steps) + 1):
        assert said(folded(history.steps[:length])) == history.states[length - 1]


@pytest.mark.parametrize("seed", range(12))
def test_events_that_are_folded_again_change_nothing(seed: int) -> None:
    """A replay begins at the last removal at the earliest: the position is written before each."""
    steps = History(seed).steps
    for length in range(1, len(steps) + 1):
        once = folded(steps[:length])
        start = length
        while start > 0:
            start -= 1
            assert said(folded(steps[start:length], once)) == said(once)
            if steps[start].removes:
                break


def test_columns_reach_partitions_that_were_there_and_not_those_that_came_later() -> None:
    table = a_full_table("sales", "t", ("p",), location="hdfs://east/t", table_type="EXTERNAL_TABLE")
    wider = replace(table, columns=(("id", "int"), ("extra", "string")))
    old, new = a_full_partition(table, "1"), a_full_partition(table, "2")
    record = changes.partitions_added(PendingTable(table.name), {"p=1": (old, 1), "p=2": (new, 3)})
    partitions = changes.columns_changed(record, wider, 2).partitions
    assert columns_of_partition(partitions["p=1"].thing) == wider.columns
    assert columns_of_partition(partitions["p=2"].thing) == table.columns
    assert (partitions["p=1"].since, partitions["p=1"].event_id) == (1, 2)


def test_a_partition_keeps_all_but_its_columns() -> None:
    table = a_full_table("sales", "t", ("p",))
    partition = a_full_partition(table, "1", location="hdfs://east/t/p=1", parameters={"k": "v"})
    wider = with_columns_of(partition, replace(table, columns=(("id", "bigint"), ("extra", "string"))))
    assert columns_of_partition(wider) == (("id", "bigint"), ("extra", "string"))
    assert "Schlüssel" in wider.thrift
    assert replace(wider, thrift="") == replace(partition, thrift="")
    back = with_columns_of(wider, table)
    assert back == partition
