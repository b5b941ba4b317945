"""Marks of copies are partitions of a table of ours: any name has one, and none is believed of something else."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.worlds.copies import copies_of as kept_worlds
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.support.worlds.fake_world import backup, killable
from tests.support.worlds.kept_marks import a_mark, kept_marks, put_mark
from tests.unit.federation.placement.test_copies import Counted, a_quiet_world, a_world, counted, settled
from tests.unit.federation.placement.test_copies_attacked import ACTS, AtChange
from tests.unit.federation.routing.test_table_resolution import routed
from twinhive.core.model.errors import ActNow, AlreadyThere, TryAgain, TwinhiveError, Unreachable
from twinhive.core.model.names import partition_values
from twinhive.core.model.placement.copy_marks import CopyMark, DirectoryState, mark_name, object_name
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.federation.placement.copies_status import copies_of
from twinhive.federation.placement.marking_copies import date_marks, write_marks
from twinhive.federation.routing.cluster_choice import Nowhere, Routed
from twinhive.federation.routing.marks_table import MarksTable

OWN = COPY_MARKS.of("sales")
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
ODD = [
    "",
    "*",
    "a b",
    "ü/2",
    "%2F",
    "a,b",
    "#move",
    "#",
    "x=y:z",
    NO_VALUE,
    "é" * 200,
    "/" * 250,
    "\t",
]


def on_north(world: CopiesWorld, sql: str) -> Routed | Nowhere:
    return routed(world, sql, "north")


@pytest.mark.parametrize("seed", range(3))
def test_each_object_has_a_name_of_its_own_that_a_metastore_takes(seed: int) -> None:
    chance = random.Random(seed)
    every: set[tuple[str, ...] | None] = {
        None,
        *((one,) for one in ODD),
        *((one, other) for one in ODD for other in ODD),
    }
    every |= {tuple("".join(chance.choices("a/%#*=,", k=3)) for _ in range(chance.randrange(1, 4))) for _ in range(300)}
    names: dict[str, tuple[str, ...] | None] = {}
    for values in every:
        name = mark_name("a_table", "north", object_name(values))
        # To Hive no value, and the value that stands for none, are one.
        same = None if values is None else tuple(one or NO_VALUE for one in values)
        assert names.setdefault(name, same) == same
        assert partition_values(name) == ("a_table", "north", object_name(values))
        assert len(name) <= 767 and len(object_name(values)) <= 256


def test_partitions_of_any_name_have_copies_that_are_found_again() -> None:
    world = CopiesWorld()
    world.users.create_table("odd", ("day", "hour"))
    world.users.add_partitions("odd", {(one, "7"): {"f": one.encode()} for one in ODD if one and len(one) < 100})
    world.settle()
    assert len(world.fresh()) == len(ODD) - 3
    world.assert_no_copy_lies()
    assert world.run()["list_copies"].idle


@pytest.mark.parametrize("name", ["fresh one", "a/b", "a%2fb", "ü=*", "#move", "t" * 128])
def test_tables_of_any_name_have_copies_that_are_found_again(name: str) -> None:
    world = CopiesWorld()
    world.users.create_table(name, files={"f": b"one"})
    world.users.create_table("other", files={"f": b"two"})
    world.settle()
    assert set(world.fresh()) == {name, "other"}
    world.users.drop_table(name)
    world.settle()
    assert [one.table for one in kept_marks(world.metastore)] == ["other"]


@pytest.mark.parametrize("spoil", ["", "{}", "[]", "null", '"x"', "{", '{"log":1}'])
def test_what_is_no_mark_is_none(spoil: str) -> None:
    state, table = DirectoryState(1, 2, "ab"), TableIdentity(7, None)
    mark = CopyMark("hdfs://north/c", "log", 5, "hdfs://east/o", state, state, table, 1, 2, "digest")
    said = mark.parameters()
    assert CopyMark.read(said) == mark
    text = next(key for key, value in said.items() if value.startswith("{"))
    assert CopyMark.read({**said, text: spoil}) is None
    for key in said:
        assert CopyMark.read({one: value for one, value in said.items() if one != key}) is None
    others = {'"event":5': '"event":true', '"directory":[1,2,"ab"]': '"directory":[1]', "[7,null]": '["7"]'}
    for was, instead in others.items():
        assert was in said[text]
        assert CopyMark.read({**said, text: said[text].replace(was, instead)}) is None


# --- whose mark it is


def made_again(world: CopiesWorld) -> None:
    """Another table of the same name, place and files: only who it is has changed."""
    found = world.users.table("plain")
    world.metastore.drop_table(found.name, delete_data=False)
    world.metastore.create_table(found)


def test_a_mark_of_an_earlier_table_of_the_name_is_not_believed_whatever_the_log_tells() -> None:
    world = settled(a_world())
    _, mark = world.marked()["plain"]
    made_again(world)
    now = world.users.table("plain")
    # As if the log had told nothing of it: all else of the mark is true.
    put_mark(world.metastore, now, "north", replace(mark, event_id=world.metastore.current_event_id()))
    assert isinstance(on_north(world, "select * from plain"), Nowhere)
    assert "plain" not in {one.name.table for one in copies_of(world.ports(), world.placement) if one.copies}
    listed = world.run()["list_copies"]
    assert (listed.needed, listed.unmarked) == (1, 1)
    world.settle()
    assert isinstance(on_north(world, "select * from plain"), Routed)


@pytest.mark.parametrize(
    "name", ["a dropped table", "a renamed table", "a dropped partition", "names that are swapped"]
)
def test_marks_of_what_is_gone_go_with_the_next_run(name: str) -> None:
    world = a_quiet_world()
    ACTS[name](world)
    world.settle()
    assert len(kept_marks(world.metastore)) == len(world.marked()) == len(world.fresh())
    world.assert_no_copy_lies()


def test_marks_of_a_table_that_goes_while_nobody_remembers_go_as_well() -> None:
    world = settled(a_world())
    world.users.drop_table("plain")
    world.metastore._log.expire(world.metastore.current_event_id())
    world.change(fingerprint="another text")
    world.settle()
    assert "plain" not in {one.table for one in kept_marks(world.metastore)}


# --- the table itself


def drop_it(world: CopiesWorld) -> None:
    world.metastore.drop_table(OWN, delete_data=True)


def drop_some(world: CopiesWorld) -> None:
    names = MarksTable(world.metastore, "sales").names("north", "orders")
    world.metastore.drop_partitions(OWN, names, delete_data=False)


def rename_it(world: CopiesWorld) -> None:
    world.users.rename_table(OWN.table, "kept_for_later")


@pytest.mark.parametrize("spoil", [drop_it, drop_some, rename_it])
@pytest.mark.parametrize("begin", [lambda: settled(a_world()), a_quiet_world])
def test_marks_that_somebody_drops_are_made_again(
    spoil: Callable[[CopiesWorld], None], begin: Callable[[], CopiesWorld]
) -> None:
    world = begin()
    before = set(world.fresh())
    spoil(world)
    assert isinstance(on_north(world, "select * from orders"), Nowhere)
    world.settle()
    assert set(world.fresh()) >= before
    assert isinstance(on_north(world, "select * from orders"), Routed)


def test_a_table_of_somebody_else_holds_no_marks_and_stops_runs_with_a_word() -> None:
    world = settled(a_world())
    drop_it(world)
    world.users.create_table(OWN.table, ("table_name", "cluster", "object"))
    assert isinstance(on_north(world, "select * from orders"), Nowhere)
    assert isinstance(routed(world, "insert into orders select 1"), Routed)
    with pytest.raises(ActNow, match=r"sales\.twinhive_copies is not a table of marks of copies") as raised:
        world.run()
    assert raised.value.words.next_step.endswith("SET TBLPROPERTIES ('twinhive.copies'='1')")
    world.users.set_parameters(OWN.table, {"twinhive.copies": "1"})
    world.settle()
    assert isinstance(on_north(world, "select * from orders"), Routed)


def test_no_mark_has_a_directory_of_its_own() -> None:
    world = settled(a_world())
    own = world.metastore.table(OWN)
    assert own is not None
    assert {one for _, one in world.metastore.partition_locations(own)} == {own.location}
    assert world.files.list_directories([str(own.location)]).__next__()[1] == []


# --- others at the same moment


def test_who_marks_the_same_at_the_same_moment_is_read_again() -> None:
    world = settled(a_world())
    one, mark = world.marked()["plain"]
    add = world.metastore.add_partitions
    drop_it(world)

    def first_another(partitions: object) -> None:
        del world.metastore.add_partitions
        put_mark(world.metastore, one, "north", replace(mark, event_id=1))
        add(partitions)  # type: ignore[arg-type]

    world.metastore.add_partitions = first_another  # type: ignore[method-assign,assignment]
    write_marks(world.metastore, world.placement, world.users.name("plain"), {None: mark})
    assert world.marked()["plain"][1] == mark


def test_who_marks_it_again_and_again_keeps_nobody_for_ever() -> None:
    world = settled(a_world())
    _, mark = world.marked()["plain"]
    drop_it(world)

    def refused(partitions: object) -> None:
        raise AlreadyThere("it is there")

    world.metastore.add_partitions = refused  # type: ignore[method-assign,assignment]
    with pytest.raises(TryAgain, match="marked and unmarked by others all the time"):
        write_marks(world.metastore, world.placement, world.users.name("plain"), {None: mark})


def test_a_mark_that_is_another_one_by_now_is_not_dated_anew() -> None:
    world = settled(a_world())
    one, mark = world.marked()["plain"]
    put_mark(world.metastore, one, "north", replace(mark, location="hdfs://north/other"))
    assert date_marks(world.metastore, world.placement, world.users.name("plain"), {None: mark}, 99) == 0
    put_mark(world.metastore, one, "north", mark)
    assert date_marks(world.metastore, world.placement, world.users.name("plain"), {None: mark}, 99) == 1
    assert world.marked()["plain"][1].event_id == 99


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_mark_that_a_frozen_run_writes_late_is_not_believed_by_the_next_one(is_silent: bool) -> None:
    world = settled(a_world())
    one, old = world.marked()["plain"]
    if is_silent:
        world.files.put(f"{one.location}/late", b"late")
    else:
        world.users.set_parameters("plain", {"columns": "others"})
        world.users.insert("plain", None, {"more": b"more"})
    world.settle()
    world.settle()
    put_mark(world.metastore, one, "north", old)
    assert isinstance(on_north(world, "select * from plain"), Nowhere)
    world.run()
    world.assert_no_copy_lies()
    world.settle()
    assert isinstance(on_north(world, "select * from plain"), Routed)
    world.assert_no_copy_lies()


def test_of_a_late_mark_the_log_is_read_from_its_own_event() -> None:
    """What the next run has looked at since says nothing of a mark that was not there then."""
    world = settled(a_world())
    one, mark = world.marked()["plain"]
    world.users.set_parameters("plain", {"x": "y"})
    world.settle()
    world.settle()
    # All but its event is true: the directories are what it says.
    put_mark(world.metastore, one, "north", mark)
    begin = world.run()["list_copies"]
    assert (begin.fresh, begin.needed) == (0, 1)


@pytest.mark.parametrize("is_before", [False, True])
def test_a_restored_metastore_whose_marks_name_what_is_gone(is_before: bool) -> None:
    world = settled(a_world())
    restore = backup(world.metastore)
    _, mark = world.marked()["plain"]
    world.users.insert("plain", None, {"more": b"more"})
    world.settle()
    world.files.delete_file(f"{world.users.location('plain')}/more")
    world.settle()
    assert world.north.status(mark.location) is None
    restore()
    if is_before:
        world.run()
    else:
        assert "plain" not in world.fresh()
        assert isinstance(on_north(world, "select * from plain"), Nowhere)
    world.assert_no_copy_lies()
    world.settle()
    world.assert_no_copy_lies()
    assert isinstance(on_north(world, "select * from plain"), Routed)


# --- kills, lost answers, users between


def a_changed_world() -> CopiesWorld:
    world = a_quiet_world()
    world.users.insert("orders", ("1",), {"more": b"more"})
    world.users.set_parameters("plain", {"comment": "x"})
    world.users.drop_partitions("orders", [("3",)])
    return world


def test_an_answer_that_is_lost_at_any_call_leaves_nothing_but_work_for_the_next_run() -> None:
    again = kept_worlds(a_changed_world())

    def lost() -> None:
        raise Unreachable("no answer", found="a time-out", expected="an answer", next_step="try again")

    for at in range(1, 1_000):
        world, moment = again(), AtChange(at, lost, after=True)
        with suppress(TwinhiveError):
            world.run(killable(world.ports(), moment))  # type: ignore[arg-type]
        world.lease.lose_holders()
        world.assert_no_copy_lies()
        world.settle()
        world.assert_no_copy_lies()
        assert len(kept_marks(world.metastore)) == len(world.fresh()) == 4
        if moment.changes < at:
            break
    assert 20 < at < 999


def objects(world: CopiesWorld) -> list[object]:
    """Return all that people have, as it stands there."""
    return [(one, one.location, dict(one.parameters)) for one, _ in world._objects()] + [
        world.users.table(name) for name in world.tables()
    ]


def test_killed_anywhere_no_object_of_people_was_written() -> None:
    for begin in (a_world, a_changed_world):
        before = objects(begin())
        for world in left_by_kills(begin, lambda world, switch: world.run(killable(world.ports(), switch)), step=2):
            assert objects(world) == before
            world.settle()
            assert objects(world) == before


# --- what it costs


@pytest.mark.thorough
def test_marks_cost_calls_by_the_thousand() -> None:
    costs = {}
    for number in (1_000, 3_000):
        world = CopiesWorld(a_placement(options={"partitions_per_call": 1_000, "batch_objects": 1_000}))
        world.users.create_table("orders", ("day",))
        world.users.add_partitions("orders", {(f"{one:05}",): {} for one in range(number)})
        table = world.users.table("orders")
        marks = {
            one.values: a_mark(world.metastore, one, f"hdfs://north/{one.values[0]}")
            for one in world.metastore.partitions(table.name, world.metastore.partition_names(table.name))
        }
        counting = Counted(world.metastore)
        write_marks(counting, world.placement, table.name, marks)  # type: ignore[arg-type]
        marked = MarksTable(counting, "sales")  # type: ignore[arg-type]
        assert len(list(marked.every("north", "orders"))) == number
        assert len(marked.read([("orders", "north", values) for values in marks])) == number
        costs[number] = len(counting.calls)
    assert costs[3_000] - costs[1_000] == 2 * 4  # read and written, then twice read: for each further thousand


def test_a_statement_reads_marks_by_two_calls_whatever_the_number_of_clusters() -> None:
    world = settled(a_world())
    _, counting = counted(world)
    marked = MarksTable(counting, "sales")
    names = [("orders", cluster, (day,)) for cluster in ("north", "south", "west") for day in ("1", "3")]
    assert len(marked.read(names)) == 2
    assert counting.calls == ["table", "partitions"]


def test_a_table_is_another_one_when_something_that_both_say_differs() -> None:
    one = TableIdentity(7, 100)
    assert not one.is_another(TableIdentity(None, 100)) and not one.is_another(one)
    assert one.is_another(TableIdentity(8, None)) and one.is_another(TableIdentity(None, 101)) and one.is_another(None)
