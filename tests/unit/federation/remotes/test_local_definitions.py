"""What is defined is known from the log: little is read, and never less than has changed."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.seeds import seeds
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.remotes.definitions import REMOTE, Definitions
from twinhive.federation.remotes.kept_remotes import definitions_of
from twinhive.federation.remotes.local_definitions import MOST_AGE, LocalDefinitions


class Metastore:
    """Databases, views, connectors and a log of which databases have changed; counts what is read."""

    def __init__(self) -> None:
        self.databases: dict[str, Database] = {}
        self.views: dict[str, dict[str, Table]] = {}
        self.kept: dict[str, DataConnector] = {}
        self.log: list[str | None] = []
        self.readable, self.most = True, 50
        self.read_whole = self.read_databases = self.read_connectors = 0

    def put_database(self, name: str, connector: str | None = None, **parameters: str) -> None:
        self.databases[name] = Database(name, None, None, parameters, "{}", connector=connector)
        self.log.append(name)

    def drop_database(self, name: str) -> None:
        self.databases.pop(name, None)
        self.views.pop(name, None)
        self.log.append(name)

    def put_view(self, database: str, name: str, remote: str) -> None:
        self.views.setdefault(database, {})[name] = replace(
            a_table(f"{database}.{name}"), table_type="VIRTUAL_VIEW", parameters={REMOTE: remote}
        )
        self.log.append(database)

    def move_view(self, database: str, name: str, to: str) -> None:
        view = self.views[database].pop(name)
        self.views.setdefault(to, {})[name] = replace(view, name=replace(view.name, database=to))
        self.log.append(to)

    def newest_event(self) -> int | None:
        return len(self.log) or None if self.readable else None

    def databases_changed_after(self, event_id: int) -> set[str] | None:
        new = self.log[event_id:]
        return None if len(new) > self.most else {one for one in new if one is not None}

    def all_databases(self) -> list[Database]:
        self.read_whole += 1
        return list(self.databases.values())

    def database_names(self) -> set[str]:
        return set(self.databases)

    def database(self, name: str) -> Database | None:
        self.read_databases += 1
        return self.databases.get(name)

    def views_with(self, parameter: str) -> list[Table]:
        return [view for name in self.views for view in self.views_of(name, parameter)]

    def views_of(self, database: str, parameter: str) -> list[Table]:
        return [view for view in self.views.get(database, {}).values() if parameter in view.parameters]

    def connectors(self) -> dict[str, DataConnector]:
        self.read_connectors += 1
        return dict(self.kept)

    @property
    def true(self) -> Definitions:
        return definitions_of(self.databases.values(), self.views_with(REMOTE), self.kept)


class World:
    def __init__(self) -> None:
        self.now = 0.0
        self.metastore = Metastore()
        for number in range(20):
            self.metastore.put_database(f"d{number}")
        self.metastore.put_view("d1", "v", "a.b")
        self.local = LocalDefinitions(self.metastore, lambda: self.now)


@pytest.fixture
def world() -> World:
    return World()


def test_a_log_that_says_nothing_new_costs_no_reading(world: World) -> None:
    assert world.local.read() == world.metastore.true
    for _ in range(3):
        world.local.read()
    assert (world.metastore.read_whole, world.metastore.read_databases, world.metastore.read_connectors) == (1, 0, 0)
    assert world.local.read_share == 0


def test_what_the_log_speaks_of_is_read_and_little_else(world: World) -> None:
    world.local.read()
    world.metastore.put_view("d7", "w", "c.d")
    assert world.local.read() == world.metastore.true
    assert world.metastore.read_whole == 1
    assert world.metastore.read_databases == 2  # d7, and d1, which has remotes


@pytest.mark.parametrize("what", ["a log of others", "no right", "too many events", "old"])
def test_everything_is_read_where_the_log_cannot_tell(world: World, what: str) -> None:
    world.local.read()
    metastore = world.metastore
    metastore.databases["d3"] = replace(metastore.databases["d3"], parameters={REMOTE: "x"})
    changes: dict[str, Any] = {
        "a log of others": lambda: metastore.log.clear() or metastore.log.append(None),
        "no right": lambda: setattr(metastore, "readable", False),
        "too many events": lambda: metastore.log.extend([None] * 51),
        "old": lambda: setattr(world, "now", MOST_AGE),
    }
    changes[what]()
    assert world.local.read() == metastore.true
    assert metastore.read_whole == 2
    assert (world.local.read_share > 0) is (what == "no right")


def test_a_remote_database_that_is_dropped_without_an_event_is_gone(world: World) -> None:
    world.metastore.put_database("far", **{REMOTE: "x"})
    assert "far" in world.local.read().databases
    del world.metastore.databases["far"]
    assert world.local.read() == world.metastore.true
    assert world.metastore.read_whole == 1


def test_a_data_connector_that_is_altered_without_an_event_is_seen(world: World) -> None:
    metastore = world.metastore
    metastore.kept["c"] = DataConnector("c", "twinhive", "thrift://x")
    metastore.put_database("far", connector="c")
    known = world.local.read()
    assert world.local.read() is known
    metastore.kept["c"] = DataConnector("c", "twinhive", "thrift://y")
    assert world.local.read().databases["far"].properties == {"hive.metastore.uris": "thrift://y"}
    assert world.local.read() == metastore.true
    assert metastore.read_whole == 1


def test_a_failed_reading_is_made_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.local.read()
    world.metastore.put_view("d7", "w", "c.d")
    with monkeypatch.context() as broken, pytest.raises(ConnectionError):
        broken.setattr(world.metastore, "database", lambda name: (_ for _ in ()).throw(ConnectionError()))
        world.local.read()
    assert world.local.read() == world.metastore.true


def test_after_any_changes_it_knows_what_a_whole_reading_knows() -> None:
    for seed in seeds(40, kind=43):
        random, world = Random(seed), World()
        metastore = world.metastore
        metastore.kept["c"] = DataConnector("c", "twinhive", "thrift://x")
        for _ in range(30):
            name, view = f"d{random.randrange(6)}", f"v{random.randrange(3)}"
            match random.randrange(7):
                case 0:
                    metastore.put_database(name, random.choice((None, "c")), **random.choice(({}, {REMOTE: "r"})))
                case 1:
                    metastore.drop_database(name)
                case 2 | 3 if name in metastore.databases:
                    metastore.put_view(name, view, random.choice(("a.b", "b")))
                case 4 if view in metastore.views.get(name, {}) and "d9" in metastore.databases:
                    metastore.move_view(name, view, "d9")
                case 5:
                    metastore.kept["c"] = DataConnector("c", "twinhive", f"thrift://{random.random()}")
                    metastore.log.extend(random.choice(([], [None])))
                case _:
                    assert world.local.read() == metastore.true, seed
