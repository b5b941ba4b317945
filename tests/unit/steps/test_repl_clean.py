"""Clean the dumps of statements by age, and keep what a replica needs."""

import pytest

from tests.unit.steps.repl_world import ReplWorld
from twinhive.domain.policy import DatabaseAddress
from twinhive.dump.loader_notes import note_loading
from twinhive.dump.sealed import open_sealed
from twinhive.steps.repl_clean import clean_dumps

DAY = 86_400.0
DUMPS = "hdfs://east/user/hive/repl/sales"


@pytest.fixture
def repl() -> ReplWorld:
    return ReplWorld()


def clean(repl: ReplWorld, now: float, ttl: float = DAY) -> list[str]:
    return clean_dumps(repl.world.source_files, DUMPS, ttl, now, repl.log.append)


def test_dumps_older_than_their_time_are_removed(repl: ReplWorld) -> None:
    dumped = repl.dump()
    assert clean(repl, DAY) == []
    assert clean(repl, DAY + 2) == [dumped.directory]
    assert repl.world.source_files.status(dumped.directory) is None


def test_a_dump_that_is_being_loaded_is_kept(repl: ReplWorld) -> None:
    dumped = repl.dump()
    note_loading(repl.world.source_files, dumped.directory, DatabaseAddress("west", "sales"), dumped.last_event)
    assert clean(repl, 10 * DAY) == []
    assert "west/sales needs it" in repl.log[-1]


def test_a_dump_that_a_known_replica_has_not_reached_is_kept_until_it_has(repl: ReplWorld) -> None:
    first = repl.dump()
    repl.load(first)
    repl.load(first, "spoke")
    repl.users.create_table("made")
    second = repl.dump(first.last_event)
    repl.load(second)
    assert clean(repl, 10 * DAY) == [first.directory]
    assert clean(repl, 20 * DAY) == []
    assert open_sealed(repl.world.source_files, second.directory)
    repl.load(second, "spoke")
    assert clean(repl, 10 * DAY) == [second.directory]


def test_what_a_killed_dump_left_is_removed_by_its_age(repl: ReplWorld) -> None:
    dumped = repl.dump()
    repl.world.source_files.delete(f"{dumped.directory}/repl.json")
    assert clean(repl, 10**12) == [dumped.directory]


def test_a_load_that_begins_while_its_dump_is_removed_gets_it_back(repl: ReplWorld) -> None:
    dumped = repl.dump()
    files = repl.world.source_files
    rename = files.rename

    def renamed_beneath_a_load(source: str, target: str) -> bool:
        note_loading(files, source, DatabaseAddress("west", "sales"), dumped.last_event)
        return rename(source, target)

    files.rename = renamed_beneath_a_load
    assert clean(repl, 10 * DAY) == []
    files.rename = rename
    assert open_sealed(files, dumped.directory)
