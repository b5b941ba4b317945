"""A dump of events leaves out what a drop of the source database has dropped, wherever it ends."""

from typing import Any

import pytest

from tests.support.worlds.repl_world import ReplWorld
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.names import TableName
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.repl_dump_description import open_sealed


def loaded() -> ReplWorld:
    """Return a world whose replica has a function too."""
    repl = ReplWorld()
    repl.users.create_function("upper")
    repl.load(repl.dump())
    return repl


def drop_database(repl: ReplWorld) -> None:
    source = repl.world.source
    kept = {key: value for key, value in source.database("sales").parameters.items() if key != SOURCE_FOR}
    source.set_database_parameters("sales", kept)
    for table in source.table_names("sales"):
        source.drop_table(TableName("sales", table), delete_data=True)
        source.emit("CREATE_DATABASE", "elsewhere", None, {"db": "elsewhere", "dbJson": "{}"})
    source.drop_database("sales")


def load_to_the_end(repl: ReplWorld, **bound: int) -> None:
    """Dump and load by pieces, until all is loaded."""
    while (at := repl.status()) != repl.world.source.current_event_id():
        assert at is not None
        bounds = {"to_event": at + bound["step"]} if "step" in bound else bound
        repl.load(repl.dump(at, **bounds))


@pytest.mark.parametrize("bound", [{}, {"limit": 1}, {"limit": 2}, {"limit": 3}, {"step": 1}, {"step": 3}], ids=str)
def test_nothing_that_the_drop_has_dropped_leaves_the_replica(bound: dict[str, Any]) -> None:
    repl = loaded()
    there = repl.tables()
    database = repl.world.source.database("sales")
    drop_database(repl)
    repl.world.source.create_database(database)
    with pytest.raises(ActNow, match="the source database east/sales was dropped"):
        load_to_the_end(repl, **bound)
    assert repl.tables() == there
    assert [one.name for one in repl.world.replica.functions("sales")] == ["upper"]


@pytest.mark.parametrize("bound", [{"limit": 1}, {"step": 1}], ids=str)
def test_what_is_dropped_by_itself_is_dropped(bound: dict[str, Any]) -> None:
    repl = loaded()
    repl.users.drop_table("plain")
    repl.users.drop_table("empty")
    repl.users.create_table("made")
    repl.users.drop_table("made")
    load_to_the_end(repl, **bound)
    assert not {"plain", "empty", "made"} & set(repl.tables())


def events_of(repl: ReplWorld, directory: str) -> list[int]:
    _, dump = open_sealed(repl.world.source_files, directory)
    return [one.event_id for one in EventRange.unpack(repl.world.source_files.read(dump.layout.events)).rows]


@pytest.mark.parametrize("limit", range(1, 8))
def test_a_limit_counts_what_is_dumped(limit: int) -> None:
    repl = loaded()
    at = repl.status()
    database = repl.world.source.database("sales")
    repl.users.create_table("made")
    drop_database(repl)
    repl.world.source.create_database(database)
    for name in ("one", "two", "three", "four"):
        repl.users.create_table(name)
    every = events_of(repl, repl.dump(at).directory)
    assert len(every) == 7
    assert events_of(repl, repl.dump(at, limit=limit).directory) == every[:limit]
