"""Random histories of external tables: what waits and what is published together are what the source has."""

import random
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.support.seeds import seeds
from tests.support.worlds.external_followed import POLICY, TOPS, FollowedExternals
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.support.worlds.memory_comparison import spoken
from tests.unit.replication.external_tables.test_external_incremental import with_tables
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.thrift_objects import columns_of_partition

PLACES = ("hdfs://east/data", "hdfs://east/other")
KEYS = ("1", "2", "3", "4")


class Users:
    """Do one random thing to the source's external tables."""

    def __init__(self, followed: FollowedExternals, choose: random.Random) -> None:
        self._users = followed.users
        self._source = followed.world.source
        self._choose = choose
        self._serial = 0

    def act(self) -> None:
        kinds: list[Callable[[Table], None]] = [self._create, self._alter, self._move, self._drop, self._rename]
        self._serial += 1
        table = self._choose.choice(self._externals())
        self._choose.choice([*kinds, *[self._partition] * 8, self._columns])(table)

    def _externals(self) -> list[Table]:
        tables = self._source.tables("sales", self._source.table_names("sales"))
        found = [table for table in tables if table.is_external]
        return found or [self._users.create_external(f"first{self._serial}", ("p",))]

    def _create(self, _: Table) -> None:
        self._users.create_external(f"t{self._serial}", ("p",), f"{self._choose.choice(PLACES)}/t{self._serial}")

    def _alter(self, table: Table) -> None:
        self._users.set_parameters(table.name.table, {"colour": str(self._serial)})

    def _columns(self, table: Table) -> None:
        cascade = self._choose.random() < 0.7
        self._users.add_columns(table.name.table, [(f"c{self._serial}", "string")], cascade=cascade)

    def _move(self, table: Table) -> None:
        self._users.set_location(table.name.table, f"{self._choose.choice(PLACES)}/{self._serial}")

    def _drop(self, table: Table) -> None:
        self._users.drop_table(table.name.table)
        if self._choose.random() < 0.5:
            self._users.create_external(table.name.table, ("p",))

    def _rename(self, table: Table) -> None:
        self._users.rename_table(table.name.table, f"t{self._serial}")
        if self._choose.random() < 0.5:
            self._users.create_external(table.name.table, ("p",))

    def _partition(self, table: Table) -> None:
        name, key, other = table.name.table, self._choose.choice(KEYS), self._choose.choice(KEYS)
        if not table.partition_keys:
            return
        there = {partition for (partition,) in self._values(table)}
        if key not in there:
            self._users.add_external(name, (key,), below=f"{self._choose.choice(PLACES)}/{self._serial}")
        elif other not in there:
            self._users.rename_partition(name, (key,), (other,))
        else:
            place = f"{self._choose.choice(PLACES)}/{self._serial}"
            self._choose.choice(
                [
                    lambda: self._users.drop_partitions(name, [(key,)]),
                    lambda: self._users.alter_partition(name, (key,), {"colour": str(self._serial)}),
                    lambda: self._users.set_partition_location(name, (key,), place),
                ]
            )()

    def _values(self, table: Table) -> list[tuple[str, ...]]:
        names = self._source.partition_names(table.name)
        return [partition.values for partition in self._source.partitions(table.name, names)]


def together(followed: FollowedExternals) -> dict:
    """Return what the replica has and what waits of external tables, each as it will be when its data is there."""
    replica, place = followed.world.replica, lambda at: followed.policy.external.place(at, at)
    published = {table.name.table: table for table in externals(replica)}
    records = {name: followed.record(name) for name in followed.pending}
    found = {}
    for name in published.keys() | records.keys():
        record, there = records.get(name), published.get(name)
        table = record.table.thing if record and record.table else there
        partitions = {} if there is None or (record and record.replaces) else of_table(replica, there, lambda at: at)
        if record:
            waiting = [waiting.thing for waiting in record.partitions.values()]
            partitions |= {
                one.values: said_of(one, lambda at: followed.policy.external.place(at, at)) for one in waiting
            }
        place = table.location if table is there else followed.policy.external.place(table.location, name)
        found[name] = (place, table.columns, spoken(table.parameters), partitions)
    return found


def of_source(followed: FollowedExternals) -> dict:
    """Return the same of the source."""
    source, place = followed.world.source, lambda at: followed.policy.external.place(at, at)
    return {
        table.name.table: (
            place(table.location),
            table.columns,
            spoken(table.parameters),
            of_table(source, table, place),
        )
        for table in externals(source)
    }


def externals(metastore) -> list[Table]:
    return [table for table in metastore.tables("sales", metastore.table_names("sales")) if table.is_external]


def of_table(metastore, table: Table, placed) -> dict:
    partitions = metastore.partitions(table.name, metastore.partition_names(table.name))
    return {partition.values: said_of(partition, placed) for partition in partitions}


def said_of(partition: Partition, placed) -> tuple:
    return placed(partition.location), spoken(partition.parameters), columns_of_partition(partition)


def run(followed: FollowedExternals, choose: random.Random) -> None:
    """Follow to the end, sometimes killed on the way."""
    if choose.random() < 0.4:
        switch = KillSwitch(choose.randrange(1, 30), after_effect=True)
        with suppress(Killed):
            followed.run_with(killable(followed.world.ports(), switch))
    while not followed.follow()["window"].idle:
        pass


@pytest.mark.parametrize("seed", seeds(4, kind=24))
def test_what_waits_and_what_is_published_are_together_what_the_source_has(seed: int) -> None:
    choose = random.Random(seed)
    options = {
        "window_events": choose.choice((1, 3, 1_000)),
        "consistency": choose.choice(("every_event", "window_end")),
    }
    followed = with_tables(tuned(POLICY, **options))
    users = Users(followed, choose)
    for _ in range(8):
        for _ in range(choose.randrange(1, 8)):
            users.act()
        if choose.random() < 0.5:
            followed.sync(*choose.sample(TOPS, 2))
        run(followed, choose)
        assert together(followed) == of_source(followed), f"seed {seed}"
    followed.settle()
    assert followed.pending == ()
    followed.assert_twin()
