"""Random histories by statements: users go on during dumps and between dump and load, LIMITs cut, policies change."""

from dataclasses import replace
from random import Random
from threading import current_thread, main_thread
from typing import Any

import pytest

from tests.checker.random_users.writers import Crowd
from tests.support.seeds import seeds
from tests.support.worlds.fake_world import World
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.repl_world import EVERYTHING, ReplWorld, Scope
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.objects import Database
from twinhive.core.ports import DumpPorts
from twinhive.statements.steps.repl_dump_options import Dumped

ALL: Scope = (EVERYTHING, ())
SCOPES: tuple[Scope, ...] = (ALL, (("[a-c].*", "v"), ()), (EVERYTHING, ("b.*",)), (("b", "d", "w"), ()))
READS = (
    "table",
    "tables",
    "table_names",
    "partitions",
    "partition_names",
    "events_after",
    "list_directories",
    "list_pages",
)


class Ticking:
    """Pass everything on to a port; users go on a little before some of its reads."""

    def __init__(self, port: Any, crowd: Crowd, random: Random) -> None:
        self._port, self._crowd, self._random = port, crowd, random

    def __getattr__(self, name: str) -> Any:
        # Only one at a time can be a user.
        if name in READS and current_thread() is main_thread() and self._random.random() < 0.3:
            self._crowd.tick()
        return getattr(self._port, name)


class Story:
    """A source with random users, and a replica that follows it by statements."""

    def __init__(self, seed: int, batch_objects: int = 2_000, *, has_keys: bool = False) -> None:
        self.random = Random(seed)
        self.repl = ReplWorld(batch_objects)
        world = self.repl.world = World()
        world.source.create_database(Database("sales", None, None, {SOURCE_FOR: "story"}, "{}"))
        self.crowd = Crowd(self.random, world.source, world.source_files, "sales", statements=40, has_keys=has_keys)
        self.crowd.run(15)
        self.scope = ALL
        # A key that refers to a table of another scope is left out, and does not come back with that table.
        self.scopes = (ALL,) if has_keys else SCOPES

    def ports(self) -> DumpPorts:
        ports = self.repl.ports()
        source = Ticking(ports.source, self.crowd, self.random)
        return replace(ports, source=source, source_files=Ticking(ports.source_files, self.crowd, self.random))

    def go(self) -> None:
        self._load(self.repl.dump(scope=self.scope, ports=self.ports()))
        while self.crowd.is_busy:
            for _ in range(self.random.randrange(30)):
                self.crowd.tick()
            self._follow()
        self._follow(to_the_end=True)

    def _load(self, dumped: Dumped) -> None:
        for _ in range(self.random.randrange(20)):
            self.crowd.tick()
        self.repl.load(dumped, scope=self.scope)

    def _follow(self, *, to_the_end: bool = False) -> None:
        position, replaced = self.repl.status(), None
        limit = None if to_the_end else self.random.choice([None, 1, 3, 10])
        if limit is None and self.random.random() < 0.3:
            replaced, self.scope = self.scope, self.random.choice(self.scopes)
        if replaced == self.scope:
            replaced = None
        ports = self.repl.ports() if to_the_end else self.ports()
        try:
            dumped = self.repl.dump(position, scope=self.scope, replaces=replaced, limit=limit, ports=ports)
        except InvalidSettings:
            # A rename into the scope is the first event: it needs a dump without LIMIT.
            dumped = self.repl.dump(position, scope=self.scope, ports=ports)
        self._load(dumped)

    def assert_equal(self) -> None:
        world, selected = self.repl.world, self.repl.policy(self.scope)
        source = contents(world.source, world.source_files)
        wanted = {name: table for name, table in source.items() if selected.selects(name.partition(".")[2])}
        assert contents(world.replica, world.replica_files) == wanted


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [55, 77, *seeds(6, kind=21)])
def test_a_random_history_is_followed_by_statements(seed: int) -> None:
    story = Story(seed)
    story.go()
    story.assert_equal()


@pytest.mark.thorough
@pytest.mark.parametrize("seed", seeds(5, kind=22))
@pytest.mark.parametrize("batch_objects", [2_000, 1])
def test_so_is_one_whose_tables_refer_to_each_other(seed: int, batch_objects: int) -> None:
    story = Story(seed, batch_objects, has_keys=True)
    story.go()
    story.assert_equal()


@pytest.mark.thorough
@pytest.mark.parametrize("seed", seeds(5, kind=23))
def test_so_is_one_whose_tables_have_many_batches(seed: int) -> None:
    story = Story(seed, batch_objects=1)
    story.go()
    story.assert_equal()
