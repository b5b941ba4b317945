"""Change tables on one cluster while copies of them are made, killed and read on another; judge what was read.

Each change of what a table or partition holds is one rename of a file or one call of the metastore, so that there is
nothing between its old contents and its new ones.
"""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any

from hive_metastore import ttypes

from tests.support.users.source_writer import SourceWriter
from tests.support.wire.wire_metastore import client_of
from tests.support.worlds.copies_world import contents
from tests.support.worlds.fake_world import Killed, KillSwitch
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.ports import FileReader

One = tuple[str, tuple[str, ...] | None]
"""A table, or a partition of it."""
Content = Mapping[str, bytes] | None
"""Files by name; None: it is not there."""
PLAIN: One = ("plain", None)
DAYS: tuple[One, ...] = tuple(("orders", (day,)) for day in ("1", "a b/c:ü", "%2F", "10"))


_PATIENCE = 120.0
"""Seconds."""


@dataclass
class Became:
    """What something holds since a moment between two; seconds of the machine's own clock."""

    begin: float
    end: float
    content: Content


@dataclass(frozen=True)
class Seen:
    """What a reader has read of something between two moments."""

    one: One
    begin: float
    end: float
    content: Content


@dataclass(frozen=True)
class Asked:
    """What a query has answered between two moments: the rows of each table or partition that it reads."""

    begin: float
    end: float
    rows: Mapping[One, list[int]]


def rows_of(content: Content) -> list[int]:
    """Return the rows of some files; each holds a number."""
    return sorted(int(text) for text in (content or {}).values())


class Primary:
    """Be the users of the cluster that the tables belong to; keep what they hold, and when it came to that."""

    def __init__(self, users: SourceWriter, chance: random.Random) -> None:
        self._users, self._chance, self._count = users, chance, 0
        self._states: dict[One, list[Became]] = defaultdict(list)
        for one in (PLAIN, *DAYS):
            self._states[one].append(Became(0, 0, None))
        users.create_table("orders", ("day",))
        with self._becomes(PLAIN, {}):
            users.create_table("plain")

    def act(self) -> None:
        """Change something at random."""
        self._count += 1
        one = self._chance.choice((PLAIN, *DAYS))
        if self.now(one) is None:
            return self._add(one)
        if one is not PLAIN and self._chance.random() < 0.1:
            return self._drop(one)
        acts = (self._insert, self._write_silently, self._delete_silently, self._replace, self._move, self._touch)
        return self._chance.choice(acts)(one)

    def now(self, one: One) -> Content:
        """Return what it holds."""
        return self._states[one][-1].content

    def assert_was(self, seen: Seen) -> None:
        """Check that what was read is what it held at some moment while it was read."""
        held = [content for content, _, _ in self._held(seen.one, seen)]
        assert seen.content in held, f"{seen.one} was read as {seen.content}; meanwhile it held {held}"

    def assert_answered(self, asked: Asked) -> None:
        """Check that the rows of a query are those of all that it reads at one moment of the query."""
        fitting = [
            [(began, ended) for content, began, ended in self._held(one, asked) if rows_of(content) == rows]
            for one, rows in asked.rows.items()
        ]
        moments = [began for some in fitting for began, _ in some]
        is_whole = any(all(any(b <= at <= e for b, e in some) for some in fitting) for at in moments)
        held = {one: [(rows_of(it), b, e) for it, b, e in self._held(one, asked)] for one in asked.rows}
        assert is_whole, f"answered was {asked}; meanwhile was held {held}"

    def _held(self, one: One, during: "Seen | Asked") -> list[tuple[Content, float, float]]:
        """Return what something may have held in the time of a look, each with that part of the time."""
        states = self._states[one]
        ends = [*(after.end for after in states[1:]), inf]
        return [
            (state.content, max(state.begin, during.begin), min(until, during.end))
            for state, until in zip(states, ends, strict=True)
            if state.begin <= during.end and during.begin <= until
        ]

    @contextmanager
    def _becomes(self, one: One, content: Content) -> Iterator[None]:
        state = Became(time.monotonic(), inf, content)
        self._states[one].append(state)
        yield
        state.end = time.monotonic()

    def _file(self) -> dict[str, bytes]:
        return {f"f{self._count}": b"%d" % self._count}

    def _add(self, one: One) -> None:
        table, values = one
        new = self._file()
        with self._becomes(one, new):
            self._users.add_partitions(table, {values or (): new})

    def _drop(self, one: One) -> None:
        table, values = one
        with self._becomes(one, None):
            self._users.drop_partitions(table, [values or ()])

    def _insert(self, one: One) -> None:
        new = self._file()
        with self._becomes(one, {**(self.now(one) or {}), **new}):
            self._users.insert(*one, new)

    def _write_silently(self, one: One) -> None:
        self._put(one, self._file())

    def _replace(self, one: One) -> None:
        held = self.now(one)
        if held:
            self._put(one, {self._chance.choice(sorted(held)): b"%d" % self._count})

    def _put(self, one: One, new: dict[str, bytes]) -> None:
        [(name, content)] = new.items()
        with self._becomes(one, {**(self.now(one) or {}), **new}):
            self._users.files.write(f"{self._users.location(*one)}/{name}", content)

    def _delete_silently(self, one: One) -> None:
        held = self.now(one)
        if held:
            gone = self._chance.choice(sorted(held))
            with self._becomes(one, {name: content for name, content in held.items() if name != gone}):
                self._users.files.delete_file(f"{self._users.location(*one)}/{gone}")

    def _move(self, one: One) -> None:
        table, values = one
        old = self._users.location(*one)
        new, place = self._file(), f"{self._users.default_location(table)}_moved/{self._count}"
        for name, content in new.items():
            self._users.files.write(f"{place}/{name}", content)
        with self._becomes(one, new):
            if values is None:
                self._users.set_location(table, place)
            else:
                self._users.set_partition_location(table, values, place)
        # What is dropped and added again must not find it.
        self._users.files.delete(old)

    def _touch(self, one: One) -> None:
        table, values = one
        if values is None:
            self._users.set_parameters(table, {"x": str(self._count)})
        else:
            self._users.alter_partitions(table, [values], {"x": str(self._count)})


@dataclass(frozen=True)
class Reader:
    """Read on the cluster of the copies what its port of the gateway shows there."""

    client: Any
    files: FileReader
    database: str

    def read(self, one: One) -> Seen | None:
        """Return what it holds as far as this cluster knows; None where the port says that it is not to be had."""
        begin = time.monotonic()
        location = self._location(one)
        if location is not None and location.startswith("absent-on-"):
            return None
        content = None if location is None else contents(self.files, location)
        return Seen(one, begin, time.monotonic(), content)

    def _location(self, one: One) -> str | None:
        table, values = one
        try:
            if values is None:
                asked = ttypes.GetTableRequest(dbName=self.database, tblName=table)
                return str(self.client.get_table_req(asked).table.sd.location)
            return str(self.client.get_partition(self.database, table, list(values)).sd.location)
        except ttypes.NoSuchObjectException:
            return None


@dataclass
class Answers:
    """What readers have seen, and queries have answered, so far."""

    seen: list[Seen] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def count(self) -> tuple[int, int]:
        """Return how often somebody has read something, and how many queries were answered."""
        return sum(one.content is not None for one in self.seen), len(self.asked)

    def are_more(self, before: tuple[int, int], *, also_queries: bool) -> bool:
        """True when a few more are there than before."""
        read, answered = self.count()
        return read >= before[0] + 4 and (answered > before[1] or not also_queries)

    def judge(self, primary: Primary) -> None:
        """Check all of them."""
        for one in self.seen:
            primary.assert_was(one)
        for answer in self.asked:
            primary.assert_answered(answer)


def read_while(
    going_on: threading.Event, port: int, files: FileReader, database: str, seed: int, found: list[Seen]
) -> None:
    """Read at random until told to stop; all that was shown is added to a list, as it comes."""
    chance = random.Random(seed)
    # A busy machine is slow, which is not what these histories are about.
    with client_of(port, timeout=_PATIENCE) as client:
        reader = Reader(client, files, database)
        while going_on.is_set():
            if seen := reader.read(chance.choice((PLAIN, *DAYS))):
                found.append(seen)


_WITHOUT_VALUES = "Index 0 out of bounds for length 0"
"""What Spark says of a partition without values. Hive's metastore reads a partition by several queries, and returns
such a rest of one that is dropped meanwhile: one answer in eighty of `get_partitions_by_filter`, where three clients
ask for partitions that a fourth drops and adds without a pause. So it does to whoever asks it directly."""


@dataclass(frozen=True)
class Querier:
    """Ask one session of Spark on the cluster of the copies; `ask` runs a statement, and returns rows or an error."""

    ask: Callable[[str], list[Any] | str]
    database: str

    def query(self, *ones: One) -> Asked | None:
        """Read a table, or some partitions of one, by one query; None where something is not to be had there."""
        begin = time.monotonic()
        if ones == (PLAIN,):
            answer = self.ask(f"SELECT '', id FROM {self.database}.plain")
        else:
            texts = ", ".join(f"'{values[0]}'" for _, values in ones if values)
            answer = self.ask(f"SELECT day, id FROM {self.database}.orders WHERE day IN ({texts})")
        end = time.monotonic()
        if isinstance(answer, str):
            assert "absent-on-north" in answer or _WITHOUT_VALUES in answer, answer
            return None
        found: dict[One, list[int]] = {one: [] for one in ones}
        for day, number in answer:
            found[("orders", (day,)) if day else PLAIN].append(number)
        return Asked(begin, end, {one: sorted(rows) for one, rows in found.items()})


def query_while(going_on: threading.Event, querier: Querier, seed: int, found: list[Asked]) -> None:
    """Query at random, a table, a partition or several, until told to stop; all answers that are rows go to a list."""
    chance = random.Random(seed)
    while going_on.is_set():
        ones = chance.choice(((PLAIN,), (chance.choice(DAYS),), tuple(chance.sample(DAYS, 2)), DAYS))
        if asked := querier.query(*ones):
            found.append(asked)


def copy_while(going_on: threading.Event, run: Callable[[KillSwitch | None], object], seed: int) -> None:
    """Bring the copies up to date again and again, often killed at a change."""
    chance = random.Random(seed)
    while going_on.is_set():
        switch = KillSwitch(chance.randrange(1, 40), after_effect=chance.random() < 0.5)
        with suppress(Killed, TwinhiveError):
            run(switch if chance.random() < 0.4 else None)
