"""External tables in statements: their metadata is in the dump, their data comes with the load."""

from dataclasses import replace

import pytest

from tests.support.builders import an_external
from tests.support.worlds.repl_world import EVERYTHING, ReplWorld, Scope
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.external.modes import External
from twinhive.core.model.policy import Policy

PLACE = "hdfs://west/ext/outside"


class WithExternal(ReplWorld):
    """Statements that speak of external tables."""

    external: External = an_external()

    def policy(self, *args: object, **kwargs: object) -> Policy:
        return replace(super().policy(*args, **kwargs), external=self.external)


@pytest.fixture
def repl() -> WithExternal:
    repl = WithExternal()
    repl.world.source_files.put("hdfs://east/outside/part", b"rows")
    return repl


def test_a_load_brings_the_data_and_then_shows_the_table(repl: WithExternal) -> None:
    repl.load(repl.dump())
    (outside,) = repl.world.replica.tables("sales", ["outside"])
    assert outside.location == PLACE
    assert repl.world.replica_files.read(f"{PLACE}/part") == b"rows"


def test_each_load_brings_what_is_there_now(repl: WithExternal) -> None:
    repl.load(repl.dump())
    repl.world.source_files.put("hdfs://east/outside/more", b"more")
    repl.users.create_table("made")
    repl.load(repl.dump(repl.status()))
    assert repl.world.replica_files.read(f"{PLACE}/more") == b"more"


def test_a_load_without_a_base_directory_is_refused_before_anything_changes(repl: WithExternal) -> None:
    dumped = repl.dump()
    repl.external = an_external(base_directory=None)
    with pytest.raises(InvalidSettings, match="external"):
        repl.load(dumped)
    assert repl.world.replica.database("sales") is None


def test_external_tables_come_whole_to_a_replica_that_was_made_without_them(repl: WithExternal) -> None:
    repl.external = an_external(included=False)
    repl.load(repl.dump())
    assert "outside" not in repl.tables()
    repl.external = an_external()
    repl.load(repl.dump(repl.status(), external_whole=True))
    assert "outside" in repl.tables()
    assert repl.world.replica_files.read(f"{PLACE}/part") == b"rows"


@pytest.mark.parametrize("bound", [{"to_event": 9_999}, {"limit": 1}], ids=["TO", "LIMIT"])
@pytest.mark.parametrize("change", ["create", "rename"])
def test_external_tables_that_come_whole_need_the_newest_event(
    repl: WithExternal, bound: dict[str, int], change: str
) -> None:
    scope: Scope = (("[a-q]+[0-9]*", "outside"), ())
    repl.users.create_table("zz", files=[b"1"])
    repl.external = an_external(included=False)
    repl.load(repl.dump(scope=scope), scope=scope)
    repl.external = an_external()
    repl.users.create_table("a1", files=[b"1"])
    if change == "rename":
        repl.users.rename_table("zz", "a2")
    repl.users.create_table("a3", files=[b"1"])
    before = repl.world.source_files.paths()
    with pytest.raises(InvalidSettings, match=r"brings external tables whole.*: outside"):
        repl.dump(repl.status(), scope=scope, external_whole=True, **bound)
    assert repl.world.source_files.paths() == before


def test_the_key_of_whole_external_tables_bounds_nothing_where_there_are_none(repl: WithExternal) -> None:
    scope: Scope = (EVERYTHING, ("outside",))
    repl.load(repl.dump(scope=scope), scope=scope)
    repl.users.create_table("one")
    first = repl.world.source.current_event_id()
    repl.users.create_table("two")
    assert repl.dump(repl.status(), scope=scope, external_whole=True, to_event=first).last_event == first
