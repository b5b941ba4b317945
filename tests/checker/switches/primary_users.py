"""Be the users of the replicated tables, at whichever side they work: what they write they are told of."""

import itertools
from collections.abc import Callable
from contextlib import suppress
from random import Random

from tests.checker.switches.foreign_things import BESIDE
from tests.checker.switches.two_sides import DATABASE, Side
from tests.support.hive import metastore_objects as objects
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Database

VALUES = [("1",), ("a b/c:ü",), ("%2F",)]
STILL = "still"
"""A table that only writers without events and writers at an old primary write: no log of a new one names it."""
_REFUSED = (TwinhiveError, KeyError, IndexError, ValueError, AssertionError, StopIteration)


class PrimaryUsers:
    """Do something at random; what cannot be done now is left.

    `in_flight` are the files of inserts at each side of which no metastore knows yet: path and bytes.
    """

    def __init__(self, chance: Random, *, is_lively: bool, has_external: bool) -> None:
        self.chance, self.is_lively, self.has_external = chance, is_lively, has_external
        self._number = itertools.count(1)
        self.in_flight: dict[str, dict[str, bytes]] = {"east": {}, "west": {}}
        self.done: list[str] = []

    def act(self, side: Side) -> None:
        """Do anything that users do."""
        if side.hook.shut:
            return
        acts = self._acts(side)
        if self.is_lively:
            acts += self._lively(side) * 2
        if self.has_external:
            acts += [self._write_external] * 4 + [self._delete_external, self._add_external]
        self._try(side, self.chance.choice(acts))

    def add_rows(self, side: Side) -> None:
        """Add rows of which nobody has any yet, told by an event."""
        if not side.hook.shut:
            self._try(side, self._insert)

    def write_silently(self, side: Side, table: str = STILL) -> None:
        """Add rows without an event, as Spark does."""

        def silent(one: Side) -> None:
            self._silent(one, table)

        if not side.hook.shut:
            self._try(side, silent)

    def write_external(self, side: Side) -> None:
        """Write a file of an external table, which no event tells."""
        if not side.hook.shut:
            self._try(side, self._write_external)

    def write_stale(self, side: Side) -> None:
        """Add rows at an old primary, by an event or without: whoever writes has not been told."""
        if not side.hook.shut:
            self._try(side, self.chance.choice([self._insert, self._insert, self._insert_still, self._silent]))

    def write_the_same(self, side: Side) -> None:
        """Write rows once more that a table has already, told by an event."""
        self._try(side, self._again)

    def alter(self, side: Side, name: TableName) -> None:
        """Alter this very table, or one of its partitions."""

        def change(one: Side) -> None:
            values = self.chance.choice(VALUES)
            if name.table == "orders" and self.chance.random() < 0.5:
                one.users.alter_partitions("orders", [values], {"x": str(next(self._number))})
            else:
                one.users.set_parameters(name.table, {"x": str(next(self._number))})

        self._try(side, change)

    def _try(self, side: Side, act: Callable[[Side], object]) -> None:
        name = getattr(act, "__name__", "").strip("_")
        with suppress(*_REFUSED):
            act(side)
            self.done.append(f"{side.name}: {name}")

    def _acts(self, side: Side) -> list[Callable[[Side], object]]:
        return [
            self._insert,
            self._insert,
            self._create,
            self._add_partition,
            self._overwrite,
            self._alter_partition,
            self._rename_partition,
            self._drop_partition,
            lambda one: one.users.drop_table("later"),
            lambda one: one.users.rename_table("later", "plain"),
            self._truncate,
            self._add_columns,
            lambda one: one.users.alter_database_parameters({"x": str(next(self._number))}),
        ]

    def _lively(self, side: Side) -> list[Callable[[Side], object]]:
        return [self._move_beside, self._fly, self._land, self._stage_query, self._finish_query]

    def _content(self) -> dict[str, bytes]:
        number = next(self._number)
        return {f"f{number}": b"x" * (number % 50) + str(number).encode()}

    def _where(self) -> tuple[str, tuple[str, ...] | None]:
        table = self.chance.choice(("orders", "plain", "later"))
        return table, self.chance.choice(VALUES) if table == "orders" else None

    def _insert(self, side: Side) -> None:
        side.users.insert(*self._where(), self._content())

    def _insert_still(self, side: Side) -> None:
        side.users.insert(STILL, None, self._content())

    def _overwrite(self, side: Side) -> None:
        side.users.overwrite(*self._where(), self._content())

    def _create(self, side: Side) -> None:
        # What is refused must leave no files, of which no event would tell.
        if side.metastore.table(side.users.name("later")) is None:
            side.users.create_table("later", files=self._content())

    def _add_partition(self, side: Side) -> None:
        values = self.chance.choice(VALUES)
        if partition_name(("p",), values) not in side.metastore.partition_names(side.users.name("orders")):
            side.users.add_partitions("orders", {values: self._content()})

    def _alter_partition(self, side: Side) -> None:
        side.users.alter_partitions("orders", [self.chance.choice(VALUES)], {"x": str(next(self._number))})

    def _rename_partition(self, side: Side) -> None:
        side.users.rename_partition("orders", self.chance.choice(VALUES), self.chance.choice(VALUES))

    def _drop_partition(self, side: Side) -> None:
        side.users.drop_partitions("orders", [self.chance.choice(VALUES)])

    def _truncate(self, side: Side) -> None:
        table, values = self._where()
        side.users.truncate(table, None if values is None else [values])

    def _add_columns(self, side: Side) -> None:
        side.users.add_columns(self.chance.choice(("plain", "orders")), [(f"c{next(self._number)}", "string")])

    def _silent(self, side: Side, table: str = STILL) -> None:
        side.users._put(side.users.location(table), self._content())

    def _again(self, side: Side) -> None:
        place = side.users.location("plain")
        there = next(one for one in side.files._tree.children(place) if one.length)
        side.users.insert("plain", None, {f"f{next(self._number)}": side.files.read(there.path)})

    def _move_beside(self, side: Side) -> None:
        """Rename a table into another database; Hive leaves its directory where it is, unless that is the default."""
        if side.metastore.database(BESIDE) is None:
            side.metastore.create_database(Database(BESIDE, None, None, {}, "{}"))
        side.users.rename_table("later", f"later_{next(self._number)}", database=BESIDE)

    def _fly(self, side: Side) -> None:
        """Write the files of a partition that no metastore knows yet."""
        place = f"{side.users.location('orders')}/p=flying{next(self._number)}"
        for name, content in self._content().items():
            side.files.write(f"{place}/{name}", content)
            self.in_flight[side.name][f"{place}/{name}"] = content

    def _land(self, side: Side) -> None:
        """Tell the metastore of it."""
        path = self.chance.choice(sorted(one for one in self.in_flight[side.name] if "/p=flying" in one))
        place = path.rpartition("/")[0]
        found = side.users.table("orders")
        # From here on its rows are acknowledged.
        side.metastore.add_partitions([objects.a_partition(found, place.rpartition("=")[2], location=place)])
        del self.in_flight[side.name][path]

    def _stage_query(self, side: Side) -> None:
        table, values = self._where()
        path = f"{side.users.location(table, values)}/.hive-staging_hive_{next(self._number)}/-ext-10000/000000_0"
        side.files.write(path, b"of a running query")
        self.in_flight[side.name][path] = b"of a running query"

    def _finish_query(self, side: Side) -> None:
        path = self.chance.choice(sorted(one for one in self.in_flight[side.name] if "/.hive-staging" in one))
        side.files.delete(path.partition("/-ext-")[0])
        del self.in_flight[side.name][path]

    def _write_external(self, side: Side) -> None:
        """Write a file of an external table, which no event tells."""
        place = self._external(side)
        for name, content in self._content().items():
            side.files.write(f"{place}/{name}", content)

    def _delete_external(self, side: Side) -> None:
        there = [one.path for one in side.files._tree.children(self._external(side)) if not one.is_directory]
        # A pass copies nothing from a directory that has become empty, until people say that it may.
        if len(there) > 1:
            side.files.delete_file(self.chance.choice([one for one in there if "/." not in one]))

    def _add_external(self, side: Side) -> None:
        number = next(self._number)
        side.users.add_external("days", (f"n{number}",), below=side.users.location("days"))
        side.files.write(f"{side.users.location('days')}/p=n{number}/f{number}", str(number).encode())

    def _external(self, side: Side) -> str:
        if self.chance.random() < 0.5:
            return side.users.location("logs")
        found = side.metastore._partitions[TableName(DATABASE, "days")]
        return str(self.chance.choice(sorted(found.items()))[1].location)

    def drop_what_flew_with_tables(self, side: Side) -> None:
        """Forget of what is in flight what users have dropped with its table, or moved with it."""
        flying = self.in_flight[side.name]
        self.in_flight[side.name] = {path: content for path, content in flying.items() if path in side.files._nodes}
