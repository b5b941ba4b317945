"""Random histories of what the log tells badly: renames between databases, other locations, nested files, odd views."""

from contextlib import suppress
from random import Random

import pytest

from tests.support.seeds import seeds
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import a_world, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.incremental.test_incremental_killed import killed_at
from twinhive.core.model.errors import ActNow, AlreadyThere, Refused
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_rounds

ELSEWHERE = "hdfs://east/elsewhere"
NAMES = ("t1", "t2", "t3", "plain", "orders")
VALUES = (("1",), ("2",), ("a b",), ("no files",))


class Users:
    """Be the users of two databases, of which one is followed."""

    def __init__(self, random: Random, followed: Followed) -> None:
        self.random, self.files = random, followed.world.source_files
        self.ours = followed.users
        self.others = SourceWriter.with_database(followed.world.source, self.files, "staging")
        self.number = 0

    def act(self) -> None:
        """Do something, as far as it makes sense."""
        users = self.random.choice([self.ours, self.ours, self.ours, self.others])
        metastore = users.metastore
        tables = metastore.tables(users.database, metastore.table_names(users.database))
        managed = [one for one in tables if one.table_type == "MANAGED_TABLE"]
        parted = [one for one in tables if one.partition_keys]
        choices = [self.create, self.create, self.view]
        choices += [self.insert, self.overwrite, self.move_table, self.truncate] if managed else []
        choices += [self.drop, self.rename, self.rename] if tables else []
        choices += [self.add, self.add, self.move, self.move, self.alter, self.drop_partition, self.rename_partition]
        choice = self.random.choice(choices)
        chosen = managed if choice in (self.insert, self.overwrite, self.move_table, self.truncate) else tables
        chosen = (
            parted
            if choice in (self.add, self.move, self.alter, self.drop_partition, self.rename_partition)
            else chosen
        )
        if choice in (self.create, self.view):
            choice(users, None)
        elif chosen:
            choice(users, self.random.choice(chosen))

    def some_files(self) -> dict[str, bytes]:
        self.number += 1
        names = self.random.sample(["f", "g", "1/f", "1/2/g"], self.random.randrange(4))
        return {name: f"{name} {self.number}".encode() for name in names}

    def flat(self) -> dict[str, bytes]:
        self.number += 1
        return {f"{name}{self.number}": f"{name} {self.number}".encode() for name in "xy"[: self.random.randrange(3)]}

    def place(self) -> str:
        place = f"{ELSEWHERE}/{self.random.randrange(10**6)}"
        for name, content in self.some_files().items():
            self.files.put(f"{place}/{name}", content)
        return place

    def values_of(self, users, table):
        return [
            one.values for one in users.metastore.partitions(table.name, users.metastore.partition_names(table.name))
        ]

    def holder(self, users, table):
        if not table.partition_keys:
            return None
        there = self.values_of(users, table)
        if not there:
            raise Refused("nothing to write to")
        return self.random.choice(there)

    def create(self, users, _) -> None:
        name, keys = self.random.choice(NAMES), self.random.choice([(), ("p",)])
        if users.metastore.table(users.name(name)) is None:
            location = self.place() if self.random.random() < 0.5 else None
            users.create_table(name, keys, () if keys else self.some_files(), location=location)

    def view(self, users, _) -> None:
        name = self.random.choice(NAMES)
        if users.metastore.table(users.name(name)) is None:
            users.create_view(name, self.random.choice([(), ("p",)]))

    def drop(self, users, table) -> None:
        users.drop_table(table.name.table)

    def rename(self, users, table) -> None:
        database = self.random.choice(["sales", "staging"])
        users.rename_table(table.name.table, self.random.choice(NAMES), database)

    def move_table(self, users, table) -> None:
        if not table.partition_keys:
            users.set_location(table.name.table, self.place())

    def insert(self, users, table) -> None:
        users.insert(table.name.table, self.holder(users, table), self.flat())

    def overwrite(self, users, table) -> None:
        users.overwrite(table.name.table, self.holder(users, table), self.flat())

    def truncate(self, users, table) -> None:
        holder = self.holder(users, table)
        users.truncate(table.name.table, holder and [holder])

    def add(self, users, table) -> None:
        free = [values for values in VALUES if values not in self.values_of(users, table)]
        if free:
            users.add_partitions(table.name.table, {self.random.choice(free): self.some_files()})

    def move(self, users, table) -> None:
        if table.location is not None:
            name, values = table.name.table, self.holder(users, table)
            users.set_partition_location(name, values, self.place(), says_before=self.random.random() < 0.3)

    def alter(self, users, table) -> None:
        self.number += 1
        users.alter_partitions(table.name.table, [self.holder(users, table)], {"k": str(self.number)})

    def drop_partition(self, users, table) -> None:
        users.drop_partitions(table.name.table, [self.holder(users, table)])

    def rename_partition(self, users, table) -> None:
        if table.location is not None:
            users.rename_partition(table.name.table, self.holder(users, table), self.random.choice(VALUES))

    def some(self, most: int) -> None:
        for _ in range(self.random.randrange(1, most)):
            try:
                self.act()
            except (Refused, AlreadyThere):
                continue


class Loading(Followed):
    """A database that its users change while it is loaded for the first time."""

    def __init__(self, random: Random, **options) -> None:
        self.policy, self.world = tuned(**options), a_world()
        self.log: list[str] = []
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")
        self.crowd = Users(random, self)
        self.crowd.some(8)
        self.run_with(self.world.ports(), BOOTSTRAP)
        self.crowd.some(8)
        run_rounds(self.policy, self.world.ports(), {"run": "b"}, self.log.append)

    def to_the_end(self) -> None:
        for _ in range(200):
            try:
                if self.follow()["window"].idle:
                    return
            except ActNow as error:  # a table that is brought whole has changed since it was listed
                assert "not copied" in error.what and "events" not in error.what, error
        raise AssertionError("it does not come to an end")


def follow_a_history(seed: int) -> None:
    random = Random(seed)
    consistency = random.choice(["every_event", "window_end"])
    followed = Loading(random, consistency=consistency, window_events=random.choice([1, 3, 10_000]))
    for _ in range(random.randrange(1, 4)):
        followed.crowd.some(12)
        for _ in range(random.randrange(3)):
            with suppress(ActNow):  # what does not pass by itself comes again
                killed_at(followed, random.randrange(1, 60), after_effect=random.random() < 0.5)
    followed.to_the_end()
    followed.assert_twin()


@pytest.mark.parametrize("seed", seeds(12, kind=20))
def test_the_twin_is_equal_in_the_end(seed: int) -> None:
    follow_a_history(seed)
