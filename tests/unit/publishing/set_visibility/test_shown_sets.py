"""A replica shows a set only when what it promises is there; in the end it shows all."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import a_world, killable, tuned
from tests.support.worlds.memory_comparison import files_below
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_changes import set_changes
from twinhive.core.model.sets.set_mark import SetMark, sets_table
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.model.thrift_objects import key_types, new_partition, table_id
from twinhive.operations.actions.replica_status import read_status
from twinhive.publishing.set_visibility.changed_marks import find_changed
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, SetStanding, left_behind, take_away
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet, partitions_of
from twinhive.publishing.sets.set_waiting import wait_for_set, wanted_set
from twinhive.replication.operator_requests.request_files import request_table
from twinhive.replication.replica.held_sets import held_sets
from twinhive.replication.replica.set_checkpoint import read_looked
from twinhive.runtime.dry_run.rehearsal import rehearse
from twinhive.runtime.pipeline.phases import INCREMENTAL, SCAN
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

SALES = "sales"


class Producer(Followed):
    """A source whose sets are followed."""

    def mark(self, text: str, table: str = "orders", token: str = "t") -> None:
        MarkSet(TableName(SALES, table), text, token).run(self.world.source)

    def unmark(self, text: str, table: str = "orders") -> None:
        UnmarkSet(TableName(SALES, table), text).run(self.world.source)

    @property
    def shown(self) -> list[str]:
        listed = SetsOfDatabase(self.world.replica, SALES, keep="forever")
        return [f"{one.mark.table.table} {one.mark.spec}" for one in listed.read() if one.standing is SetStanding.DONE]

    @property
    def held(self) -> dict[str, str]:
        return dict(held_sets(self.world.replica_files, self.policy))

    def frozen(self, table: str) -> None:
        database = self.world.replica.database(SALES)
        marks = {**database.parameters, f"twinhive.quarantine.{table}": "3 no room"}
        self.world.replica.set_database_parameters(SALES, marks)

    def write_silently(self, table: str, values: tuple[str, ...] | None, content: bytes) -> None:
        place = self.users.location(table, values)
        self.world.source_files.put(f"{place}/silent", content)

    def assert_sets_are_true(self) -> None:
        """A set that shows means equal files."""
        source, replica = self.world.source, self.world.replica
        for one in SetsOfDatabase(replica, SALES).read():
            if one.standing is not SetStanding.DONE:
                continue
            ours, theirs = source.table(one.mark.table), replica.table(one.mark.table)
            spec = SetSpec.parse(one.mark.spec, key_types(ours))
            for name in partitions_of(source, ours, spec) if ours.partition_keys else [None]:
                here, there = (_place(side, table, name) for side, table in ((source, ours), (replica, theirs)))
                files = files_below(self.world.source_files, here)
                assert files == files_below(self.world.replica_files, there), (one.mark, name)


def _place(metastore: Any, table: Any, name: str | None) -> str:
    return table.location if name is None else metastore.partitions(table.name, [name])[0].location


@pytest.fixture
def producer() -> Producer:
    return Producer()


def test_a_set_comes_behind_its_data_and_leaves_nothing_in_staging(producer: Producer) -> None:
    producer.users.add_partitions("orders", {("new",): [b"x"]})
    producer.mark("p=new")
    producer.mark("*", "plain")
    assert producer.shown == []
    producer.follow()
    assert producer.shown == ["orders p=new", "plain *"]
    wanted = wanted_set(producer.world.replica, TableName(SALES, "orders"), "p=new")
    assert wait_for_set(producer.world.replica, wanted, 0).count == 1
    assert producer.held == {}
    kept = [path for path in producer.world.replica_files.paths() if "/sets/" in path and "/staging/" in path]
    assert sorted(path.rpartition("/")[2] for path in kept) == ["looked.json", "run"]


def test_a_mark_alone_needs_no_window(producer: Producer) -> None:
    producer.mark("p=a b")
    assert producer.follow()["window"].events == 0
    assert producer.shown == ["orders p=a b"]
    before = len(producer.world.replica.events)
    producer.follow()
    assert len(producer.world.replica.events) == before


def test_the_replicas_marks_are_of_its_own_tables(producer: Producer) -> None:
    for number in range(3):
        producer.users.create_table(f"other{number}")
    producer.users.drop_table("other1")
    producer.users.create_table("young", keys=("p",))
    producer.mark("p=1", "young")
    producer.follow()
    name = TableName(SALES, "young")
    assert table_id(producer.world.source.table(name)) != table_id(producer.world.replica.table(name))
    assert producer.shown == ["young p=1"]


def test_the_table_of_sets_is_not_replicated_itself(producer: Producer) -> None:
    producer.mark("p=a b")
    source = producer.world.source
    table = source.table(sets_table(SALES))
    source.alter_table(table.name, table.with_parameters({**table.parameters, "colour": "red"}))
    producer.follow()
    assert "colour" not in producer.world.replica.table(sets_table(SALES)).parameters


def test_unmarked_marked_again_and_both_before_it_was_seen(producer: Producer) -> None:
    producer.mark("p=a b")
    producer.follow()
    producer.unmark("p=a b")
    producer.follow()
    assert producer.shown == []
    producer.mark("p=a b")
    producer.unmark("p=a b")
    producer.mark("p=1")
    producer.mark("p=1", token="again")
    producer.follow()
    assert producer.shown == ["orders p=1"]
    [kept] = producer.world.replica.partitions(
        sets_table(SALES), producer.world.replica.partition_names(sets_table(SALES))
    )
    assert SetMark.read(kept).count == 2


def test_a_set_of_a_frozen_table_is_held_until_it_is_brought_over(producer: Producer) -> None:
    producer.frozen("orders")
    producer.users.add_partitions("orders", {("new",): [b"x"]})
    producer.mark("p=new")
    producer.follow()
    assert producer.shown == []
    [why] = producer.held.values()
    assert "table orders is frozen: 3 no room" in why and "twinhive resync sales orders" in why
    assert ("set held: orders p=new", why) in read_status(producer.world.ports(), producer.policy).rows()
    request_table(producer.world.replica_files, producer.policy, "orders", "ann")
    producer.follow()
    producer.follow()
    assert producer.shown == ["orders p=new"] and producer.held == {}
    producer.assert_sets_are_true()


def test_a_set_whose_data_was_written_without_an_event_waits_for_the_scan(producer: Producer) -> None:
    producer.write_silently("orders", ("a b",), b"no event")
    producer.mark("p=a b")
    producer.follow()
    assert producer.shown == []
    assert "the files of partition p=a b differ" in producer.held["orders p=a b"]
    assert "the DAG sales.scan" in producer.held["orders p=a b"]
    run_phase(SCAN, tuned(settle_seconds=0), producer.world.ports(), {"run": "s"}, producer.say)
    producer.follow()
    assert producer.shown == ["orders p=a b"]
    producer.assert_sets_are_true()


def test_what_changes_after_the_mark_does_not_hold_the_set(producer: Producer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leaf that a later event names is never equal for long: the replica has passed the mark, that is enough."""
    producer.users.insert("orders", ("a b",), [b"promised"])
    producer.mark("p=a b")
    real = producer.world.replica.partitions
    late = iter([b"late"])

    def meanwhile(table: Any, names: Any) -> Any:
        # While the window is applied, the source goes on.
        if table.table == "orders" and (content := next(late, None)):
            producer.users.insert("orders", ("a b",), [content])
        return real(table, names)

    producer.world.replica.partitions = meanwhile
    producer.follow()
    assert producer.shown == ["orders p=a b"]
    producer.follow()
    producer.assert_sets_are_true()


def test_a_set_that_is_marked_later_than_the_replica_is_waits_for_its_data(
    producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer.users.insert("orders", ("a b",), [b"first"])
    real = producer.world.replica.set_database_parameters
    once = iter([True])

    def meanwhile(name: str, parameters: Any) -> None:
        real(name, parameters)
        if next(once, False):
            producer.users.insert("orders", ("a b",), [b"second"])
            producer.mark("p=a b")

    producer.world.replica.set_database_parameters = meanwhile
    producer.follow()
    assert producer.shown == []
    producer.follow()
    assert producer.shown == ["orders p=a b"]
    producer.assert_sets_are_true()


def test_a_table_that_the_policy_leaves_out_has_no_sets_on_the_replica() -> None:
    producer = Producer()
    producer.world.source.create_table(
        a_table("sales.acid", partition_keys=("p",), parameters={"transactional": "true"})
    )
    producer.mark("p=1", "acid")
    producer.follow()
    assert producer.shown == [] and producer.held == {}


def test_a_set_is_shown_again_after_its_table_was_built_anew(producer: Producer) -> None:
    producer.mark("p=a b")
    producer.follow()
    producer.users.insert("orders", ("a b",), [b"more"])
    run_bootstrap(producer.policy, producer.world.ports(), {"run": "b"}, producer.say, again=True)
    assert producer.shown == []
    producer.follow()
    assert producer.shown == ["orders p=a b"]
    producer.assert_sets_are_true()


def test_a_set_shows_when_its_table_has_been_away_under_another_name(producer: Producer) -> None:
    """While neither side has a table of that name the mark counts nowhere; no event of marks tells of its return."""
    producer.follow()
    producer.mark("*", "plain")
    producer.users.rename_table("plain", "elsewhere")
    producer.follow()
    assert producer.shown == []
    producer.users.rename_table("elsewhere", "plain")
    producer.follow()
    assert producer.shown == ["plain *"]


def test_sets_of_before_the_first_copy_come_with_it() -> None:
    world = a_world()
    MarkSet(TableName(SALES, "orders"), "*", "early").run(world.source)
    first = Producer(world=world)
    first.follow()
    assert first.shown == ["orders *"]


def test_what_people_have_marked_on_the_replica_is_left_alone(producer: Producer) -> None:
    producer.mark("p=1")
    producer.follow()
    replica = producer.world.replica
    replica.add_partitions([new_partition(replica.table(sets_table(SALES)), ("orders", "p=mine"), {})])
    producer.unmark("p=1")
    producer.follow()
    assert producer.shown == ["orders p=mine"]


@pytest.mark.parametrize("side", ["source", "replica"])
def test_a_table_of_somebody_else_stops_no_replication(producer: Producer, side: str) -> None:
    if side == "replica":
        producer.mark("p=a b")
    metastore = getattr(producer.world, side)
    location = f"{metastore.file_system}/elsewhere"
    metastore.create_table(a_table("sales.twinhive_sets", partition_keys=("p",), location=location))
    producer.users.insert("plain", None, [b"more"])
    producer.follow()
    assert any("is not a table of sets" in line for line in producer.log)
    assert producer.world.replica.database(SALES).parameters["repl.last.id"] == str(
        producer.world.source.current_event_id()
    )


def test_a_set_that_has_expired_at_the_source_stays_with_a_late_replica(producer: Producer) -> None:
    mark = SetMark(TableName(SALES, "orders"), "p=1", marked=100)
    there = replace(mark, shown=140, keep="50s")

    def hidden(now: float, **more: Any) -> bool:
        return bool(set_changes([], [replace(there, **more)], lambda mark: True, now).hide)

    assert hidden(149)  # not old at the source yet: it was unmarked there
    assert not hidden(150) and not hidden(189) and hidden(190)
    assert hidden(150, keep=None) and not hidden(1e9, shown=None)


class Asked:
    """Count what is asked of the table of sets."""

    def __init__(self, producer: Producer, patch: pytest.MonkeyPatch) -> None:
        self.names = self.lists = 0
        for metastore in (producer.world.source, producer.world.replica):
            self._count(metastore, patch)

    def _count(self, metastore: Any, patch: pytest.MonkeyPatch) -> None:
        partitions, names = metastore.partitions, metastore.partition_names

        def counted(table: TableName, wanted: Any) -> Any:
            self.names += len(wanted) if table == sets_table(SALES) else 0
            return partitions(table, wanted)

        def listed(table: TableName) -> Any:
            self.lists += table == sets_table(SALES)
            return names(table)

        patch.setattr(metastore, "partitions", counted)
        patch.setattr(metastore, "partition_names", listed)


@pytest.mark.parametrize("more", ["a mark", "data", "nothing", "a held set"])
def test_a_look_costs_what_has_changed_not_what_there_is(
    producer: Producer, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    for number in range(40):
        producer.mark(f"p=x{number}")
    producer.follow()
    producer.follow()
    if more == "a held set":
        producer.write_silently("orders", ("a b",), b"no event")
        producer.mark("p=a b")
        producer.follow()
    asked = Asked(producer, monkeypatch)
    if more == "a mark":
        producer.mark("p=a b")
    elif more == "data":
        producer.users.insert("orders", ("a b",), [b"more"])
    asked.names = asked.lists = 0
    producer.follow()
    assert asked.names <= 6 and asked.lists == 0


@pytest.mark.parametrize(
    "change", ["nobody has looked yet", "an hour has passed", "its look is spoiled", "the table is another"]
)
def test_a_look_that_may_have_missed_something_is_of_all(producer: Producer, change: str) -> None:
    producer.mark("p=a b")
    producer.follow()
    producer.follow()
    replica, files = producer.world.replica, producer.world.replica_files
    # Somebody has taken it away, of which the source's log knows nothing.
    replica.drop_partitions(sets_table(SALES), replica.partition_names(sets_table(SALES)), delete_data=True)
    producer.follow()
    assert producer.shown == []
    looked = f"{producer.policy.staging}/sets/looked.json"
    if change == "nobody has looked yet":
        files.delete_file(looked)
    elif change == "its look is spoiled":
        files.write(looked, b"{}")
    elif change == "an hour has passed":
        kept = json.loads(files.read(looked))
        files.write(looked, json.dumps({**kept, "whole_at": kept["whole_at"] - 3_700}).encode())
    else:
        replica.drop_table(sets_table(SALES), delete_data=True)
    producer.follow()
    assert producer.shown == ["orders p=a b"]


@pytest.mark.parametrize("becomes", ["restored", "cleaned"])
def test_a_look_at_a_log_that_does_not_tell_all_since_the_last_one_is_of_all(producer: Producer, becomes: str) -> None:
    producer.mark("p=a b")
    producer.follow()
    producer.follow()
    producer.mark("p=1")
    producer.follow()
    rows = producer.world.source.events
    looked = read_looked(producer.world.replica_files, producer.policy)
    assert looked is not None
    producer.users.insert("plain", None, [b"much more"])
    assert find_changed(producer.world.ports(), producer.policy, looked.log_id, time.time()).names is not None
    if becomes == "restored":
        at = next(at for at, row in enumerate(rows) if row.event_id == looked.position.event_id)
        rows[at] = replace(rows[at], message=rows[0].message)
    else:
        del rows[-2:-1]
    assert find_changed(producer.world.ports(), producer.policy, looked.log_id, time.time()).names is None


@pytest.mark.parametrize("looks", [1, 2, 3])
def test_a_table_of_sets_that_somebody_drops_on_the_replica_is_made_again(producer: Producer, looks: int) -> None:
    producer.mark("p=a b")
    for _ in range(looks):
        producer.follow()
    producer.world.replica.drop_table(sets_table(SALES), delete_data=True)
    producer.follow()
    assert producer.shown == ["orders p=a b"]


def test_a_set_is_hidden_before_what_it_promised_is_written_anew(producer: Producer) -> None:
    producer.users.insert("orders", ("a b",), [b"wrong"])
    producer.mark("p=a b", token="first")
    producer.follow()
    assert producer.shown == ["orders p=a b"]
    producer.unmark("p=a b")
    producer.users.overwrite("orders", ("a b",), {"data": b"right"})
    producer.mark("p=a b", token="second")
    seen: list[list[str]] = []
    real = producer.world.replica_files.rename

    def rename(*args: Any) -> Any:
        if "/staging/" not in args[1]:
            seen.append(producer.shown)
        return real(*args)

    producer.world.replica_files.rename = rename
    producer.follow()
    assert seen and all(shown == [] for shown in seen)
    assert producer.shown == ["orders p=a b"]


def test_a_mark_that_is_ahead_of_the_replica_waits_for_what_was_dropped_before_it(producer: Producer) -> None:
    """What both sides have equal is not all that was promised: the replica has a partition more."""
    real = producer.world.replica.set_database_parameters
    once = iter([True])

    def meanwhile(name: str, parameters: Any) -> None:
        real(name, parameters)
        if next(once, False):
            producer.users.drop_partitions("orders", [("a b",)])
            producer.mark("*")

    producer.users.insert("plain", None, [b"more"])
    producer.world.replica.set_database_parameters = meanwhile
    producer.follow()
    assert producer.shown == []
    assert "the replica is not at the mark yet" in producer.held["orders *"]
    producer.follow()
    assert producer.shown == ["orders *"]


def test_killed_at_any_change_no_set_shows_without_its_data_and_in_the_end_all_show() -> None:
    def begin() -> Producer:
        producer = Producer()
        producer.mark("p=a b", token="before")
        producer.mark("p=gone")
        producer.follow()
        producer.unmark("p=gone")
        producer.users.insert("orders", ("a b",), [b"more"])
        producer.users.add_partitions("orders", {("new",): [b"x"], ("newer",): [b"y"]})
        producer.mark("p=a b", token="again")
        producer.mark("p=new")
        producer.users.overwrite("plain", None, {"data": b"other rows"})
        producer.mark("*", "plain")
        producer.mark("*")
        return producer

    def act(producer: Producer, switch: Any) -> None:
        run_phase(INCREMENTAL, producer.policy, killable(producer.world.ports(), switch), {"run": "k"}, producer.say)

    for producer in left_by_kills(begin, act, least=10):
        shown = [one for one in producer.shown if one not in ("orders p=a b", "orders p=gone")]
        if shown:
            producer.assert_sets_are_true()
        producer.follow()
        assert producer.shown == ["orders *", "orders p=a b", "orders p=new", "plain *"]
        producer.assert_sets_are_true()


def test_a_dry_run_says_what_would_be_shown_and_held(producer: Producer) -> None:
    producer.write_silently("plain", None, b"no event")
    producer.mark("p=a b")
    producer.mark("*", "plain")
    before = len(producer.world.replica.events)
    plan = rehearse("incremental", producer.world.ports(), producer.policy)
    said = [str(section) for section in plan.sections]
    assert any("show" in line and "orders p=a b" in line for line in said), said
    assert any("hold back, by their data" in line and "plain *" in line for line in said), said
    assert len(producer.world.replica.events) == before


ODD_VALUES = ["a/b", "a=b", "*", "100%", "%25", "it's", "ü 日本", "a:b", "x ", "{1}", "p=1", "A", "a\\b", "#?^[]"]


def test_sets_of_values_that_no_directory_can_be_named_by_come_over(producer: Producer) -> None:
    producer.users.add_partitions("orders", {(value,): [value.encode()] for value in ODD_VALUES})
    specs = [str(SetSpec((("p", value),))) for value in ODD_VALUES]
    for spec in specs:
        producer.mark(spec)
    producer.follow()
    assert sorted(producer.shown) == sorted(f"orders {spec}" for spec in specs)
    producer.assert_sets_are_true()
    producer.users.drop_partitions("orders", [("*",)])
    producer.unmark(specs[2])
    producer.follow()
    assert sorted(producer.shown) == sorted(f"orders {spec}" for spec in specs if spec != specs[2])


def test_keys_of_odd_names_and_partitions_without_a_value_have_sets(producer: Producer) -> None:
    producer.users.create_table("odd", keys=("k=v", "a/b"))
    producer.users.add_partitions("odd", {("1/2", "ü"): [b"x"]})
    producer.users.add_partitions("orders", {("__HIVE_DEFAULT_PARTITION__",): [b"none"]})
    producer.mark("k%3Dv=1%2F2/a%2Fb=ü", "odd")
    producer.mark("p=__HIVE_DEFAULT_PARTITION__")
    producer.follow()
    assert producer.shown == ["odd a%2Fb=ü/k%3Dv=1%2F2", "orders p=__HIVE_DEFAULT_PARTITION__"]
    producer.assert_sets_are_true()


def test_marks_by_sql_that_are_no_sets_stop_nothing(producer: Producer) -> None:
    producer.mark("*", "plain")
    source = producer.world.source
    sets, now = source.table(sets_table(SALES)), str(int(time.time()))
    garbage = [("plain", "a"), ("orders", "p"), ("orders", "p="), ("orders", "=x"), ("orders", "p=%zz")]
    garbage += [("orders", "*/p=1"), ("orders", "P=a b"), ("ORDERS", "p=a b"), ("a/b", "x/y"), ("twinhive_sets", "*")]
    for one in garbage:
        source.add_partitions([new_partition(sets, one, {"twinhive.set.marked": now})])
    for _ in range(2):
        producer.follow()
        assert producer.shown == ["plain *"] and producer.held == {}


def test_a_table_that_is_renamed_between_mark_and_look_has_its_sets_under_its_new_name(producer: Producer) -> None:
    producer.mark("p=a b")
    producer.mark("*", "plain")
    producer.users.rename_table("orders", "later")
    producer.follow()
    assert producer.shown == ["plain *"]
    source = producer.world.source
    take_away(source, SALES, left_behind(SetsOfDatabase(source, SALES)))
    producer.follow()
    assert producer.shown == ["later p=a b", "plain *"]
    producer.assert_sets_are_true()


@pytest.mark.parametrize("shows", [False, True])
def test_a_table_that_is_made_anew_between_mark_and_look_has_none_of_the_old_sets(
    producer: Producer, shows: bool
) -> None:
    producer.mark("p=a b")
    if shows:
        producer.follow()
        assert producer.shown == ["orders p=a b"]
    producer.users.drop_table("orders")
    producer.users.create_table("orders", keys=("p",))
    producer.users.add_partitions("orders", {("a b",): [b"another"]})
    producer.follow()
    assert producer.shown == []
    producer.mark("p=a b")
    producer.follow()
    assert producer.shown == ["orders p=a b"]
    producer.assert_sets_are_true()


def test_tables_that_change_names_among_each_other_take_their_sets_along(producer: Producer) -> None:
    producer.users.create_table("fresh", keys=("p",))
    producer.users.add_partitions("fresh", {("1",): [b"fresh"], ("2",): [b"2"]})
    producer.mark("p=1", token="old")
    for value in ("1", "2"):
        producer.mark(f"p={value}", "fresh", "new")
    producer.follow()
    assert producer.shown == ["fresh p=1", "fresh p=2", "orders p=1"]
    for before, after in (("orders", "aside"), ("fresh", "orders"), ("aside", "fresh")):
        producer.users.rename_table(before, after)
    producer.follow()
    assert producer.shown == []
    source = producer.world.source
    take_away(source, SALES, left_behind(SetsOfDatabase(source, SALES)))
    producer.follow()
    assert producer.shown == ["fresh p=1", "orders p=1", "orders p=2"]
    producer.assert_sets_are_true()


def test_sets_of_a_table_without_partitions_and_of_one_that_has_lost_its_keys(producer: Producer) -> None:
    producer.mark("*", "plain")
    producer.mark("p=a b")
    producer.follow()
    assert producer.shown == ["orders p=a b", "plain *"]
    producer.users.drop_table("orders")
    producer.users.create_table("orders", files=[b"no keys"])
    producer.follow()
    assert producer.shown == ["plain *"]
    producer.mark("*")
    producer.follow()
    assert producer.shown == ["orders *", "plain *"]


def test_a_set_that_is_kept_for_no_time_never_shows_and_stops_nothing(producer: Producer) -> None:
    producer.users.set_parameters("orders", {"twinhive.sets.keep": "0s"})
    producer.mark("p=a b")
    producer.mark("*", "plain")
    producer.follow()
    assert producer.shown == ["plain *"] and producer.held == {}
    producer.users.set_parameters("orders", {"twinhive.sets.keep": "1h"})
    producer.mark("p=a b", token="again")
    producer.follow()
    assert producer.shown == ["orders p=a b", "plain *"]


def test_a_set_of_the_table_of_sets_is_neither_shown_nor_held(producer: Producer) -> None:
    producer.mark("p=a b")
    source = producer.world.source
    table = source.table(sets_table(SALES))
    source.add_partitions([new_partition(table, ("twinhive_sets", "*"), {})])
    producer.follow()
    assert (producer.shown, producer.held) == (["orders p=a b"], {})
