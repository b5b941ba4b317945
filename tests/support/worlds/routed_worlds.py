"""Make random worlds of clusters, tables, partitions, copies and views, and random scripts over them.

Beside each statement stands what it means, as seed 000 would say it: which tables it writes, which objects it reads.
So what a router says of the text can be compared with a reading of the meaning that knows nothing of the program.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.kept_marks import a_mark, put_mark
from twinhive.core.model.names import DEFAULT_PARTITION
from twinhive.core.model.tjson import from_text, to_text
from twinhive.federation.routing.nested_directories import directory_states

Values = tuple[str, ...] | None
DAYS = ("", "a", "A", "b b", "ü/2", "9", "10", "%2F", "x=y:z")
VALUES = (*DAYS[1:], DEFAULT_PARTITION)
"""Of partitions: an empty text is written as no value, of which nobody can tell."""
HOURS = ("-1", "0", "7", "11")
_HOW: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: one == other,
    "<>": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
Condition = tuple[str, Callable[[dict[str, Any]], bool | None]]
"""A text, and whether it holds for a partition; None: nobody can tell from its keys."""
Reads = list[tuple[str, set[Values]]]
"""What is read, in the order of the text: a table, and which of its objects."""


@dataclass
class RoutedTable:
    """A table as seed 000 sees it: its primary, and of each object the clusters that have a whole copy of it now."""

    primary: str
    keys: tuple[str, ...]
    copies: dict[Values, set[str]] = field(default_factory=dict)

    def chosen(self, condition: Condition) -> set[Values]:
        """Return the objects that a condition does not rule out."""
        return {values for values in self.copies if condition[1](_as_keys(self.keys, values)) is not False}


@dataclass(frozen=True)
class Meant:
    """A statement: its text, what it writes (new tables among it), what it reads, and the cluster that was named."""

    sql: str
    writes: tuple[str, ...]
    reads: Reads
    chosen: str | None


def _as_keys(keys: tuple[str, ...], values: Values) -> dict[str, Any]:
    return {key: int(value) if key == "hour" else value for key, value in zip(keys, values or (), strict=True)}


EVERYTHING: Condition = ("", lambda keys: True)


class RoutedWorld:
    """One metastore with random tables; what is fresh was marked as publishing marks it."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.clusters = tuple(f"C{number}" for number in range(1, chance.randrange(2, 6)))
        self.files = InMemoryFiles("hdfs://c1")
        self.metastore = InMemoryMetastore(files=self.files)
        self.users = SourceWriter.with_database(self.metastore, self.files, "d")
        self.tables: dict[str, RoutedTable] = {}
        self.views: dict[str, Reads] = {}
        self._names = 0
        for number in range(chance.randrange(1, 6)):
            self._add_table(f"t{number}")
        for name in self.tables:
            self._copy(name)
        for name in self.tables:
            self._make_stale(name)
        for number in range(chance.randrange(0, 3)):
            self._add_view(f"v{number}")

    def script(self, statements: int) -> tuple[str, list[Meant]]:
        """Return a script, and what each of its statements means."""
        lines, meant, chosen = [], [], None
        for _ in range(statements):
            if self.chance.random() < 0.4:
                chosen = self.chance.choice([None, *self.clusters])
                lines.append(f"use cluster {chosen}" if chosen else "USE CLUSTER")
            sql, writes, reads = self._statement()
            lines.append(sql)
            meant.append(Meant(sql, writes, reads, chosen))
        return ";\n".join(lines), meant

    # --- tables

    def _add_table(self, name: str) -> None:
        chance = self.chance
        keys = chance.choice([(), ("day",), ("day", "hour")])
        primary = chance.choice(self.clusters)
        said = {} if primary == "C1" and chance.random() < 0.5 else {"twinhive.cluster": primary}
        self.users.create_table(name, keys, {"f": b"x"} if not keys else (), said)
        types = [{"1": {"str": key}, "2": {"str": "int" if key == "hour" else "string"}} for key in keys]
        self._rewrite(name, {"8": {"lst": ["rec", len(types), *types]}})
        table = self.tables[name] = RoutedTable(primary, keys)
        if not keys:
            table.copies[None] = set()
            return
        every = [(day,) if len(keys) == 1 else (day, hour) for day in VALUES for hour in HOURS]
        some = sorted(set(chance.sample(every, chance.randrange(0, 6))))
        if some:
            self.users.add_partitions(name, {values: {"f": b"x"} for values in some})
        table.copies = {values: set() for values in some}

    def _copy(self, name: str) -> None:
        table, density = self.tables[name], self.chance.choice((0.3, 0.9, 1.0))
        for cluster in self.clusters:
            for values, copies in table.copies.items():
                if cluster != table.primary and self.chance.random() < density:
                    self._mark(name, values, cluster)
                    copies.add(cluster)

    def _mark(self, name: str, values: Values, cluster: str) -> None:
        one = self.users.table(name) if values is None else self.users.partition(name, values)
        state = directory_states(self.files, [str(one.location)])[str(one.location)]
        copy = f"hdfs://c1/copies/{cluster}/{name}/{values}"
        self.files.make_directories(copy)
        whole = directory_states(self.files, [copy])[copy]
        put_mark(self.metastore, one, cluster, a_mark(self.metastore, one, copy, directory=state, copy=whole))

    def _make_stale(self, name: str) -> None:
        for values, copies in self.tables[name].copies.items():
            if not copies or self.chance.random() < 0.8:
                continue
            copies.clear()
            if self.chance.random() < 0.5:
                self.users.insert(name, values, {"more": b"y"} if values else [b"y"])
            else:
                self.files.put(f"{self.users.location(name, values)}/late", b"z")

    def _add_view(self, name: str) -> None:
        sql, reads = self._query()
        self.users.create_view(name)
        self._rewrite(name, {"10": {"str": sql}, "11": {"str": sql}})
        self.views[name] = reads

    def _rewrite(self, name: str, fields: dict[str, Any]) -> None:
        """Give a table other fields of Thrift."""
        found = self.users.table(name)
        self.metastore._tables[found.name] = replace(found, thrift=to_text(from_text(found.thrift) | fields))

    # --- statements

    def _statement(self) -> tuple[str, tuple[str, ...], Reads]:
        chance = self.chance
        sql, reads = self._query()
        one, other = (chance.choice([*self.tables, "new"]) for _ in range(2))
        kind = chance.randrange(9)
        if kind <= 2:
            return chance.choice(["", "explain ", "EXPLAIN extended "]) + sql, (), reads
        if kind <= 4:
            return f"insert {chance.choice(['into', 'overwrite table'])} {one} {sql}", (one,), reads
        if kind == 5:
            return f"create table d.made as {sql}", ("made",), reads
        if kind == 6:
            text = f"from ({sql}) q insert into table {one} select * insert into table {other} select *"
            return text, (one, other), reads
        if kind == 7 and one != "new":
            return f"merge into {one} x using ({sql}) s on x.id = s.id when matched then delete", (one,), reads
        return (f"truncate table {one}", (one,), []) if one != "new" else ("select 1", (), [])

    def _query(self, depth: int = 2) -> tuple[str, Reads]:
        chance, ctes, reads = self.chance, [], Reads()
        while depth and chance.random() < 0.2:
            sql, inner = self._query(0)
            ctes.append((self._name("c"), sql))
            reads += inner
        first, inner = self._select(depth, [name for name, _ in ctes])
        text, reads = first, reads + inner
        if depth and chance.random() < 0.2:
            sql, inner = self._select(0, [name for name, _ in ctes])
            text, reads = f"{text} union all {sql}", reads + inner
        head = ", ".join(f"{name} as ({sql})" for name, sql in ctes)
        return (f"with {head} {text}" if head else text), reads

    def _select(self, depth: int, ctes: list[str]) -> tuple[str, Reads]:
        sources = [self._source(depth, ctes) for _ in range(self.chance.choice((1, 1, 2, 3)))]
        sides = [self.chance.choice(("join", "join", "left join", "right join")) for _ in sources[1:]]
        text, conditions, reads = sources[0][0], [], Reads()
        for side, (source, _, _) in zip(sides, sources[1:], strict=True):
            text += f" {side} {source} on 1 = 1"
        for at, (_, table, alias) in enumerate(sources):
            if isinstance(table, list):
                reads += table
                continue
            said = self._condition(table, alias if len(sources) > 1 or self.chance.random() < 0.5 else "")
            conditions += [said[0]] if said[0] else []
            # Rows that an outer join puts in place of what is missing are not the table's own.
            is_kept = all(side == "join" for side in sides) or (at == 0 and "right join" not in sides)
            reads.append((table, self.tables[table].chosen(said if is_kept else EVERYTHING)))
        where = " and ".join(conditions)
        return f"select * from {text}" + (f" where {where}" if where else ""), reads

    def _source(self, depth: int, ctes: list[str]) -> tuple[str, str | Reads, str]:
        """Return a text, what it stands for (a table, or what is read in its place), and its name in the query."""
        chance, alias = self.chance, self._name("a")
        kind = chance.randrange(6)
        if kind == 0 and depth:
            sql, reads = self._query(depth - 1)
            return f"({sql}) {alias}", reads, alias
        if kind == 1 and ctes:
            # What a common table expression reads was said where it stands.
            return f"{chance.choice(ctes)} {alias}", [], alias
        if kind == 2 and self.views:
            view = chance.choice(list(self.views))
            return f"{chance.choice(['', 'd.', '`D`.'])}{view} {alias}", self.views[view], alias
        table = chance.choice(list(self.tables))
        return f"{chance.choice(['', 'd.', 'D.'])}{chance.choice([table, table.upper()])} as {alias}", table, alias

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names}"

    def _condition(self, table: str, alias: str) -> Condition:
        keys = self.tables[table].keys
        if not keys or self.chance.random() < 0.3:
            return EVERYTHING
        return self._of_keys(keys, f"{alias}." if alias else "", 2)

    def _of_keys(self, keys: tuple[str, ...], prefix: str, depth: int) -> Condition:
        chance = self.chance
        if depth and chance.random() < 0.5:
            (one, left), (other, right) = (self._of_keys(keys, prefix, depth - 1) for _ in range(2))
            kind = chance.choice(("and", "or", "not"))
            if kind == "not":
                return f"not ({one})", lambda keys: None if left(keys) is None else not left(keys)
            decides = kind == "or"
            return f"({one} {kind} {other})", lambda keys: _joined(left(keys), right(keys), decides=decides)
        if chance.random() < 0.2:
            return f"length({prefix}day) > 0", lambda keys: None
        key = chance.choice(keys)
        if key == "hour":
            number, how = int(chance.choice(HOURS)), chance.choice(list(_HOW))
            return f"{prefix}hour {how} {number}", lambda keys: _HOW[how](keys["hour"], number)
        if chance.random() < 0.2:
            some = chance.sample(DAYS, 2)
            return f"{prefix}DAY in ('{some[0]}', '{some[1]}')", lambda keys: _of_day(keys, lambda it: it in some)
        day, how = chance.choice(DAYS), chance.choice(list(_HOW))
        return f"{prefix}day {how} '{day}'", lambda keys: _of_day(keys, lambda it: _HOW[how](it, day))


def _of_day(keys: dict[str, Any], holds: Callable[[str], bool]) -> bool | None:
    return None if keys["day"] == DEFAULT_PARTITION else holds(keys["day"])


def _joined(one: bool | None, other: bool | None, *, decides: bool) -> bool | None:
    if decides in (one, other):
        return decides
    return None if None in (one, other) else not decides
