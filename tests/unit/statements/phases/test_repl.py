"""Dump and load by statements: whole databases, ranges of events, for one replica and for several."""

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.memory_comparison import assert_twin
from tests.support.worlds.repl_world import ReplWorld
from twinhive.core.model.errors import ActNow, AlreadyThere, InvalidSettings, Missing
from twinhive.replication.dump.repl_dump_description import newest_sealed, open_sealed


@pytest.fixture
def repl() -> ReplWorld:
    return ReplWorld()


def test_a_dump_of_a_database_makes_a_twin_at_the_event_that_it_returns(repl: ReplWorld) -> None:
    dumped = repl.dump()
    loaded = repl.load(dumped)
    assert loaded.event_id == dumped.last_event == repl.status() == repl.world.source.current_event_id()
    assert_twin(repl.world)


def test_status_knows_nothing_of_a_database_that_no_replication_made(repl: ReplWorld) -> None:
    assert repl.status() is None
    assert repl.status("elsewhere") is None


def test_what_the_source_loses_after_the_dump_is_loaded_from_the_change_manager(repl: ReplWorld) -> None:
    dumped = repl.dump()
    repl.users.overwrite("plain", None, {"data": b"later"})
    repl.users.drop_table("orders")
    repl.load(dumped)
    assert repl.world.replica_files.read(_only_file(repl, "plain", "data")) == b"plain"
    assert "orders" in repl.tables()


def test_what_a_rename_carries_away_after_the_dump_is_found(repl: ReplWorld) -> None:
    dumped = repl.dump()
    repl.users.rename_table("plain", "other")
    repl.load(dumped)
    assert repl.world.replica_files.read(_only_file(repl, "plain", "data")) == b"plain"


def _only_file(repl: ReplWorld, table: str, name: str) -> str:
    (found,) = repl.world.replica.tables("sales", [table])
    return f"{found.location}/{name}"


def test_events_bring_the_files_that_they_do_not_name(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    users = repl.users
    for name in ("one", "two", "plain"):
        users.files.write(f"hdfs://east/elsewhere/{name}/f", name.encode())
    users.create_table("united", files={"f": b"one", "1/f": b"two"})
    users.set_partition_location("orders", ("a b",), "hdfs://east/elsewhere/one", says_before=False)
    users.set_partition_location("orders", ("50%=#:ü",), "hdfs://east/elsewhere/two", says_before=False)
    users.insert("orders", ("50%=#:ü",), [b"appended"])
    users.set_location("plain", "hdfs://east/elsewhere/plain")
    repl.load(repl.dump(repl.status()))
    assert_twin(repl.world)
    users.set_partition_location("orders", ("a b",), "hdfs://east/elsewhere/two", says_before=False)
    users.insert("orders", ("a b",), [b"appended"])
    users.truncate("orders", [("a b",)])
    with pytest.raises(InvalidSettings, match="whole table"):
        repl.dump(repl.status(), limit=1)
    repl.load(repl.dump(repl.status()))
    assert_twin(repl.world)


def test_events_after_the_replicated_one_bring_the_replica_further(repl: ReplWorld) -> None:
    first = repl.dump()
    repl.load(first)
    repl.users.insert("plain", None, [b"more"])
    repl.users.create_table("made", files=[b"one"])
    repl.users.drop_table("empty")
    second = repl.dump(repl.status())
    repl.load(second)
    assert repl.status() == second.last_event == repl.world.source.current_event_id()
    assert_twin(repl.world)


def test_nothing_new_is_a_dump_that_loads(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    again = repl.dump(repl.status())
    assert again.last_event == repl.status()
    repl.load(again)
    assert_twin(repl.world)


def test_to_ends_the_dump_at_an_event(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    repl.users.insert("plain", None, [b"more"])
    middle = repl.world.source.current_event_id()
    repl.users.create_table("made", files=[b"one"])
    dumped = repl.dump(repl.status(), to_event=middle)
    repl.load(dumped)
    assert repl.status() == middle
    assert "made" not in repl.tables()


def test_limit_counts_events_of_this_policy_and_not_ids(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    before = repl.status()
    others = SourceWriter.with_database(repl.world.source, repl.world.source_files, "others")
    for number in range(3):
        others.create_table(f"foreign{number}")
        repl.users.create_table(f"made{number}", files=[b"x"])
    first = repl.dump(before, limit=2)
    repl.load(first)
    assert {"made0", "made1"} <= set(repl.tables()) and "made2" not in repl.tables()
    repl.load(repl.dump(first.last_event, limit=2))
    assert_twin(repl.world)


def test_of_two_dumps_of_one_second_the_newest_is_the_one_of_the_later_event(repl: ReplWorld) -> None:
    files, first = repl.world.source_files, repl.dump()
    repl.users.create_table("made")
    second = repl.dump()
    dumps = first.directory.rpartition("/")[0]
    for token in ("0" * 32, "f" * 32):  # a name says nothing of the time
        files.rename(first.directory, f"{dumps}/{token}")
        assert newest_sealed(files, dumps) == second.directory
        files.rename(f"{dumps}/{token}", first.directory)


def test_one_dump_is_loaded_by_several_replicas_each_with_its_own_progress(repl: ReplWorld) -> None:
    first = repl.dump()
    repl.load(first)
    repl.load(first, "spoke")
    repl.users.create_table("made", files=[b"one"])
    second = repl.dump(first.last_event)
    repl.load(second)
    assert (repl.status(), repl.status("spoke")) == (second.last_event, first.last_event)
    repl.load(second, "spoke")
    assert repl.status("spoke") == second.last_event
    assert repl.tables("spoke") == repl.tables()


def test_a_dump_that_is_loaded_already_changes_nothing_and_says_so(repl: ReplWorld) -> None:
    dumped = repl.dump()
    repl.load(dumped)
    assert "already loaded" in (repl.load(dumped).already or "")
    repl.users.create_table("made")
    second = repl.dump(repl.status())
    repl.load(second)
    assert "already loaded" in (repl.load(second).already or "")


def test_metadata_alone_is_loaded_without_files(repl: ReplWorld) -> None:
    repl.load(repl.dump(metadata_only=True))
    repl.users.create_table("made", files=[b"one"])
    repl.users.insert("plain", None, [b"more"])
    dumped = repl.dump(repl.status(), metadata_only=True)
    assert open_sealed(repl.world.source_files, dumped.directory)[1].manifest.batches == ()
    repl.load(dumped)
    assert repl.tables() == [table for table in repl.world.source.table_names("sales") if table != "outside"]
    (made,) = repl.world.replica.tables("sales", ["made"])
    assert [path for path in repl.world.replica_files.paths() if path.startswith(f"{made.location}/")] == []


def test_a_dump_of_a_whole_database_is_not_loaded_over_a_replica(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    with pytest.raises(AlreadyThere, match="is a replica already"):
        repl.load(repl.dump())


def test_events_are_not_loaded_without_a_replica(repl: ReplWorld) -> None:
    repl.users.create_table("made")
    dumped = repl.dump(repl.world.source.current_event_id() - 1)
    with pytest.raises(Missing, match="there is no replica"):
        repl.load(dumped)


def test_a_range_that_begins_after_the_replica_is_refused(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    repl.users.create_table("made")
    repl.users.create_table("made2")
    dumped = repl.dump(repl.world.source.current_event_id() - 1)
    with pytest.raises(ActNow, match="not as far as this dump begins"):
        repl.load(dumped)


def test_a_replica_that_is_ahead_of_the_dump_refuses_it(repl: ReplWorld) -> None:
    first = repl.dump()
    repl.load(first)
    repl.users.create_table("made")
    old = repl.dump(first.last_event)
    repl.users.create_table("made2")
    repl.load(repl.dump(first.last_event))
    with pytest.raises(ActNow, match="ahead of this dump"):
        repl.load(old)


def test_from_newer_than_the_log_is_refused_before_anything_is_written(repl: ReplWorld) -> None:
    before = repl.world.source_files.paths()
    with pytest.raises(InvalidSettings, match="newer than the notification log"):
        repl.dump(10_000)
    assert repl.world.source_files.paths() == before


def test_a_dump_of_another_policy_is_refused(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    repl.users.create_table("made")
    narrow = (("made",), ())
    dumped = repl.dump(repl.status(), scope=narrow)
    with pytest.raises(ActNow, match="another policy"):
        repl.load(dumped, scope=narrow)


def test_a_directory_without_a_finished_dump_is_refused(repl: ReplWorld) -> None:
    dumped = repl.dump()
    repl.world.source_files.delete(f"{dumped.directory}/repl.json")
    with pytest.raises(Missing, match="no finished dump"):
        repl.load(dumped)


def test_what_a_load_has_dropped_is_removed_by_a_later_load_after_the_grace(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    (empty,) = repl.world.replica.tables("sales", ["plain"])
    repl.users.drop_table("plain")
    repl.load(repl.dump(repl.status()), now=10_000_000_000.0)
    assert repl.world.replica_files.status(empty.location)
    repl.users.create_table("made")
    repl.world.replica_files.pass_time(100_000)
    repl.load(repl.dump(repl.status()), now=10_000_100_000.0)
    assert repl.world.replica_files.status(empty.location) is None


def test_a_file_is_followed_through_names_outside_the_scope(repl: ReplWorld) -> None:
    scope = (("plain", "orders"), ())
    dumped = repl.dump(scope=scope)
    repl.users.rename_table("plain", "outside_once")
    repl.users.rename_table("outside_once", "outside_twice")
    repl.load(dumped, scope=scope)
    assert repl.world.replica_files.read(_only_file(repl, "plain", "data")) == b"plain"


def test_the_load_says_which_states_its_readers_see(repl: ReplWorld) -> None:
    repl.load(repl.dump())
    repl.users.create_table("between", files=[b"one"])
    repl.users.drop_table("between")
    dumped = repl.dump(repl.status())
    made: list[str] = []
    create = repl.world.replica.create_table
    repl.world.replica.create_table = lambda table: (made.append(table.name.table), create(table))
    repl.load(dumped, consistency="window_end")
    assert made == []
    assert_twin(repl.world)
