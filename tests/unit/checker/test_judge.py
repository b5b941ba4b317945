"""Judge states that were made by hand, one rule at a time."""

from dataclasses import replace
from typing import Any

import pytest

from tests.checker.judge import Judge
from tests.checker.recorded_source import RecordedSource
from tests.checker.states import DatabaseState, Files, PartitionState, TableState
from tests.checker.timeline import Append, Directory, Moment, Recorder, Timeline
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import a_world

OLD, ONE, TWO, OTHER = ("f0", "c0"), ("f1", "c1"), ("f2", "c2"), ("f3", "c3")


def table(*files: tuple[str, str], **changes) -> TableState:
    return replace(TableState("MANAGED_TABLE", (), (("id", "int"),), (), "{}", files=frozenset(files)), **changes)


def database(**tables: TableState) -> DatabaseState:
    return DatabaseState().with_tables(tables)


def files(*pairs: tuple[str, str]) -> Files:
    return frozenset(pairs)


@pytest.fixture
def judge() -> Judge:
    """Event 10: table t with one file; 20: two are added; 30: its parameters change; 40: what was at 10 again."""
    changed = table(OLD, ONE, TWO, parameters=(("k", "v"),))
    moments = [
        Moment(10, database(t=table(OLD))),
        Moment(20, database(t=table(OLD, ONE, TWO)), append=Append(("t", None), files(ONE, TWO))),
        Moment(30, database(t=changed)),
        Moment(40, database(t=table(OLD))),
    ]
    return Judge(Timeline(moments))


def violations(judge: Judge, *seen: tuple[int, DatabaseState]) -> list[str]:
    for position, state in seen:
        judge.see(position, state)
    return [violation.what for violation in judge.violations]


def test_the_states_of_the_source_in_their_order(judge: Judge) -> None:
    states = [moment.state for moment in judge._timeline.moments]
    assert violations(judge, *((0, state) for state in states)) == []


def test_states_may_be_left_out(judge: Judge) -> None:
    states = [moment.state for moment in judge._timeline.moments]
    assert violations(judge, (10, states[0]), (10, states[2]), (30, states[2])) == []


def test_a_state_that_comes_again_later_is_no_return(judge: Judge) -> None:
    states = [moment.state for moment in judge._timeline.moments]
    assert violations(judge, (10, states[0]), (30, states[2]), (30, states[0]), (40, states[3])) == []


def test_a_return_is_a_violation(judge: Judge) -> None:
    states = [moment.state for moment in judge._timeline.moments]
    (what,) = violations(judge, (10, states[2]), (10, states[1]))
    assert "went back to event 20" in what


def test_a_position_that_goes_back_is_a_violation(judge: Judge) -> None:
    states = [moment.state for moment in judge._timeline.moments]
    (what,) = violations(judge, (20, states[2]), (10, states[2]))
    assert "position went back from 20" in what


def test_a_position_promises_what_is_up_to_it(judge: Judge) -> None:
    states = [moment.state for moment in judge._timeline.moments]
    (what,) = violations(judge, (20, states[1]), (30, states[1]))
    assert "went back to event 20" in what


def test_some_files_of_an_append_may_be_seen_before_all_are(judge: Judge) -> None:
    states = [moment.state for moment in judge._timeline.moments]
    assert violations(judge, (10, states[0]), (10, database(t=table(OLD, TWO))), (10, states[1])) == []


@pytest.mark.parametrize(
    "seen",
    [
        database(t=table(OLD, OTHER)),
        database(t=table(ONE)),
        database(t=table(OLD, ("f1", "c2"))),
        database(t=table(OLD, TWO, parameters=(("k", "v"),))),
        database(t=table(OLD, ONE), u=table()),
        database(),
    ],
    ids=["another file", "a lost file", "another content", "too early a change", "another table", "no table"],
)
def test_what_never_was_is_a_violation(judge: Judge, seen: DatabaseState) -> None:
    states = [moment.state for moment in judge._timeline.moments]
    (what,) = violations(judge, (10, states[0]), (10, seen))
    assert "not a state of the source" in what


def test_files_that_no_event_tells_may_come_with_a_bootstrap_and_not_later(judge: Judge) -> None:
    judge._timeline.moments[0].untold.add(OTHER)
    states = [moment.state for moment in judge._timeline.moments]
    with_listed = [
        database(t=replace(table, files=table.files | {OTHER})) for _, table in (s.tables[0] for s in states)
    ]
    assert violations(judge, (10, with_listed[0]), (20, with_listed[1])) == []
    late = Judge(judge._timeline)
    (what,) = violations(late, (10, states[0]), (10, with_listed[0]))
    assert "too many" in what


def test_columns_of_partitions_may_follow_late_and_not_for_ever() -> None:
    before = PartitionState((), (("id", "int"),), "{}")
    after = replace(before, columns=(("id", "int"), ("x", "int")))
    plain = table(keys=("p",))
    moments = [
        Moment(10, database(t=plain.with_partitions({("1",): before}))),
        Moment(
            20,
            database(t=replace(plain, columns=after.columns).with_partitions({("1",): after})),
            late={("t", ("1",)): frozenset({before.columns})},
        ),
    ]
    lagging = database(t=replace(plain, columns=after.columns).with_partitions({("1",): before}))
    judge = Judge(Timeline(moments))
    assert violations(judge, (10, moments[0].state), (20, lagging)) == []
    assert judge.differences_at_the_end(moments[1].state) == []
    assert "columns of t" in judge.differences_at_the_end(lagging)[0]


PARTED = table(keys=("p",))
LATER = PARTED.with_partitions(
    {(value,): PartitionState((), (), "{}", files=frozenset({(value, "c")})) for value in "12"}
)


def coming() -> Judge:
    """Event 10: tables t and u; 20: another t comes in; 30: u changes; 40: t gets a partition; one window holds all."""
    before, changed = table(OLD), table(ONE)
    first = LATER.with_partitions({("1",): dict(LATER.partitions)["1",]})
    moments = [
        Moment(10, database(t=before, u=before)),
        Moment(20, database(t=first, u=before), whole=frozenset({"t"})),
        Moment(30, database(t=first, u=changed)),
        Moment(40, database(t=LATER, u=changed)),
    ]
    judge = Judge(Timeline(moments))
    judge.window = lambda position: (10, 40)
    return judge


BEFORE, CHANGED = table(OLD), table(ONE)
WAITING = [
    (10, database(t=BEFORE, u=BEFORE)),
    (30, database(t=BEFORE, u=CHANGED)),
    (30, database(u=CHANGED)),
    (30, database(t=PARTED, u=CHANGED)),
    (30, database(t=LATER, u=CHANGED)),
    (40, database(t=LATER, u=CHANGED)),
]


def test_a_table_that_comes_whole_waits_for_the_end_of_its_window_and_then_comes_in_parts() -> None:
    assert violations(coming(), *WAITING) == []


@pytest.mark.parametrize(
    "seen",
    [
        (30, database(t=CHANGED, u=CHANGED)),
        (30, database(t=BEFORE, u=BEFORE)),
        (30, database(t=BEFORE)),
        (30, database(t=PARTED.with_partitions({("1",): PartitionState((), (), "{}")}), u=CHANGED)),
    ],
    ids=["other rows", "another table behind", "another table gone", "a part of a partition"],
)
def test_a_table_that_comes_whole_is_nothing_else_meanwhile(seen: tuple[int, DatabaseState]) -> None:
    (what,) = violations(coming(), *WAITING[:2], seen)
    assert "not a state of the source" in what or "went back" in what


def test_a_table_that_has_come_whole_is_followed_as_any_other() -> None:
    (what,) = violations(coming(), *WAITING, (40, database(t=BEFORE, u=CHANGED)))
    assert "not a state of the source" in what


@pytest.mark.parametrize(("begin", "may_come_again"), [(10, True), (40, False)], ids=["planned again", "the next one"])
def test_a_table_that_has_come_whole_may_come_again_only_with_its_own_window_cut_anew(
    begin: int, may_come_again: bool
) -> None:
    judge = coming()
    judge._timeline.moments.append(Moment(50, database(t=LATER, u=BEFORE)))
    position = 30 if may_come_again else 40
    seen = WAITING[:5] if may_come_again else WAITING
    assert violations(judge, *seen) == []
    judge.window = lambda position: (begin, 50)
    found = violations(judge, (position, database(u=CHANGED)), (50, database(t=LATER, u=BEFORE)))
    assert (found == []) == may_come_again


def test_a_table_that_is_away_is_not_done_because_its_source_has_lost_it_meanwhile() -> None:
    """Event 20: another t comes in, whose bringer is killed when the old one is gone; 30: it goes; 40: it is back."""
    moments = [
        Moment(10, database(t=BEFORE, u=BEFORE)),
        Moment(20, database(t=LATER, u=BEFORE), whole=frozenset({"t"})),
        Moment(30, database(u=BEFORE)),
        Moment(40, database(t=LATER, u=BEFORE)),
    ]
    judge = Judge(Timeline(moments))
    ends = {10: 20, 20: 30, 30: 40, 40: 40}
    judge.window = lambda position: (position, ends[position])
    seen = [(10, database(t=BEFORE, u=BEFORE)), *((position, database(u=BEFORE)) for position in (10, 20, 30, 40))]
    assert violations(judge, *seen, (40, database(t=LATER, u=BEFORE))) == []


def test_a_table_that_comes_whole_may_look_on_its_way_as_it_was_when_the_window_before_ended() -> None:
    """Event 20: another t comes in, with one partition; 30: it gets two more; two windows, and one partition a call."""
    parts = {(value,): PartitionState((), (), "{}", files=frozenset({(value, "c")})) for value in "123"}
    some = [PARTED.with_partitions({key: parts[key] for key in list(parts)[:number]}) for number in range(4)]
    moments = [
        Moment(10, database(t=BEFORE)),
        Moment(20, database(t=some[1]), whole=frozenset({"t"})),
        Moment(30, database(t=some[3])),
    ]
    judge = Judge(Timeline(moments))
    judge.window = lambda position: (10, 20) if position < 20 else (20, 30)
    on_its_way = [(20, database(t=state)) for state in some]
    seen = [
        (10, database(t=BEFORE)),
        (20, database(t=BEFORE)),
        (20, database()),
        *on_its_way,
        (30, database(t=some[3])),
    ]
    assert violations(judge, *seen) == []
    (what,) = violations(judge, (30, database(t=some[2])))
    assert "not a state of the source" in what or "went back" in what


@pytest.mark.parametrize(
    ("directory", "is_fine"),
    [
        (Directory(before=files(OLD), is_moved=True, is_passed=True), True),
        (Directory(before=files(OLD), is_moved=True), False),
        (Directory(gone=files(ONE), untold=files(OLD), is_moved=True), True),
        (Directory(gone=files(ONE), untold=files(OLD)), False),
    ],
)
def test_a_partition_that_was_moved_keeps_its_rows_only_where_a_later_event_replaces_them(
    directory: Directory, is_fine: bool
) -> None:
    moments = [
        Moment(10, database(t=table(OLD))),
        Moment(20, database(t=table(ONE), u=table()), directories={("t", None): directory}),
    ]
    seen = violations(Judge(Timeline(moments)), (10, moments[0].state), (20, database(t=table(OLD), u=table())))
    assert (seen == []) is is_fine


@pytest.mark.parametrize("is_passed", [True, False])
def test_nested_files_may_be_missing_only_where_a_later_event_has_replaced_them(is_passed: bool) -> None:
    nested = ("below/f", "c")
    moments = [
        Moment(10, database()),
        Moment(
            20, database(t=table(ONE, nested)), directories={("t", None): Directory(files(nested), is_passed=is_passed)}
        ),
    ]
    seen = violations(Judge(Timeline(moments)), (10, database()), (20, database(t=table(ONE))))
    assert (seen == []) is is_passed


def counted(files_: int, length: int, *there: tuple[str, str], **more: str) -> TableState:
    """Return a table with one partition and its counts."""
    parameters = tuple(sorted({"numFiles": str(files_), "totalSize": str(length), **more}.items()))
    one = PartitionState(parameters, (), "{}", files=frozenset(there))
    return table(keys=("p",)).with_partitions({("1",): one})


NESTED = ("below/f", "c")


@pytest.mark.parametrize(
    ("ours", "is_passed", "is_fine"),
    [
        (counted(1, 5, ONE), True, True),
        (counted(2, 9, ONE), True, True),
        (counted(1, 5, ONE), False, False),
        (counted(3, 5, ONE), True, False),
        (counted(1, 9, ONE), True, False),
        (counted(1, 5, ONE, NESTED), True, False),
        (counted(1, 5, ONE, k="v"), True, False),
        (counted(0, 0), True, False),
    ],
)
def test_a_partition_without_its_nested_files_may_count_what_it_has(
    ours: TableState, is_passed: bool, is_fine: bool
) -> None:
    directory = Directory(files(NESTED), is_passed=is_passed)
    moments = [
        Moment(10, database()),
        Moment(20, database(t=counted(2, 9, ONE, NESTED)), directories={("t", ("1",)): directory}),
    ]
    seen = violations(Judge(Timeline(moments)), (10, database()), (20, database(t=ours)))
    assert (seen == []) is is_fine


@pytest.mark.parametrize(("theirs", "is_fine"), [((2, 9), True), ((2, 8), False), ((1, 7), False)])
def test_such_a_count_stays_until_the_source_tells_another_one(theirs: tuple[int, int], is_fine: bool) -> None:
    directory = Directory(files(NESTED), is_passed=True)
    moments = [
        Moment(10, database()),
        Moment(20, database(t=counted(2, 9, ONE, NESTED)), directories={("t", ("1",)): directory}),
        Moment(30, database(t=counted(*theirs, TWO))),
    ]
    ours = [database(), database(t=counted(1, 5, ONE)), database(t=counted(1, 5, TWO))]
    seen = violations(Judge(Timeline(moments)), *zip((10, 20, 30), ours, strict=True))
    assert (seen == []) is is_fine
    assert violations(Judge(Timeline(moments)), (10, ours[0]), (30, ours[2])) != []


@pytest.mark.parametrize("theirs", [(1, 9), (2, 8)])
def test_a_count_of_a_partition_with_the_rows_of_its_old_place_stays_as_well(theirs: tuple[int, int]) -> None:
    directory = Directory(before=files(OLD), is_moved=True, is_passed=True)
    moments = [
        Moment(10, database(t=counted(1, 5, OLD))),
        Moment(20, database(t=counted(1, 9, ONE, k="v")), directories={("t", ("1",)): directory}),
        Moment(30, database(t=counted(*theirs, TWO))),
    ]
    ours = [database(t=counted(1, 5, OLD)), database(t=counted(1, 5, OLD, k="v")), database(t=counted(1, 5, TWO))]
    seen = violations(Judge(Timeline(moments)), *zip((10, 20, 30), ours, strict=True))
    assert (seen == []) is (theirs == (1, 9))


@pytest.mark.parametrize("ours", [(), ("primary_key k of id", "check c of id"), ("foreign_key f of id in u",)])
def test_other_constraints_are_a_violation(ours: tuple[str, ...]) -> None:
    states = [database(t=table(ONE, constraints=constraints)) for constraints in (("primary_key k of id",), ours)]
    (what,) = violations(Judge(Timeline([Moment(10, states[0])])), (10, states[0]), (10, states[1]))
    assert "constraints of t" in what


@pytest.mark.parametrize("has_had", [False, True])
@pytest.mark.parametrize("has_key", [False, True])
def test_only_a_foreign_key_that_never_came_and_had_nothing_to_refer_to_may_be_missing(
    has_had: bool, has_key: bool
) -> None:
    key, foreign = table(constraints=("primary_key k of id",)), table(constraints=("foreign_key f of id in u",))
    moments = [
        Moment(10, database(t=foreign, u=key)),
        Moment(20, database(t=foreign, u=key if has_key else table())),
        Moment(30, database(t=foreign, u=key)),
    ]
    judge = Judge(Timeline(moments))
    seen = [(10, moments[0].state)] if has_had else []
    states = [database(t=table(), u=one.state.tables[1][1]) for one in moments]
    is_fine = not has_had and not has_key
    assert (violations(judge, *seen, (20, states[1]), (30, states[2])) == []) is is_fine
    assert (judge.differences_at_the_end(states[2]) == []) is is_fine


def test_a_table_that_comes_whole_gets_its_constraints_after_it_is_there() -> None:
    kept, new, gone = "check c of id", "check d of id", "check e of id"
    moments = [
        Moment(10, database(t=table(OLD, constraints=(gone,)))),
        Moment(20, database(t=table(ONE, constraints=(kept, new))), whole=frozenset({"t"})),
        Moment(30, database(t=table(TWO, constraints=(kept, new)))),
    ]
    coming = [database(t=table(ONE, constraints=some)) for some in ((), (kept,), (kept, new))]

    def judged(*seen: DatabaseState) -> list[str]:
        judge = Judge(Timeline(moments))
        judge.window = lambda position: (10, 20)
        return violations(judge, (10, moments[0].state), *((20, state) for state in seen))

    assert judged(*coming) == []
    assert judged(database(t=table(ONE, constraints=(gone,)))) != []
    assert judged(*coming, coming[0]) != []


@pytest.mark.parametrize(
    ("is_moved", "says"), [(True, ("numFiles", "2")), (False, ("numFiles", "2")), (True, ("k", "x"))]
)
def test_what_a_listing_has_found_stays_to_the_end_and_is_counted(is_moved: bool, says: tuple[str, str]) -> None:
    told, there = table(ONE, parameters=(("numFiles", "1"),)), table(ONE, TWO, parameters=(says,))
    directory = Directory(untold=files(TWO), is_moved=is_moved)
    moments = [Moment(10, database()), Moment(20, database(t=told), directories={("t", None): directory})]
    judge = Judge(Timeline(moments))
    seen = violations(judge, (10, database()), (20, database(t=there)))
    is_fine = is_moved and says[0] == "numFiles"
    assert (seen == []) is is_fine
    assert (judge.differences_at_the_end(database(t=there)) == []) is is_fine


@pytest.mark.parametrize("takes", [True, False])
def test_a_place_that_was_left_is_passed_when_something_else_lies_there(takes: bool) -> None:
    world = a_world()
    recorder = Recorder(world.source, world.source_files, "sales")
    users: Any = SourceWriter(RecordedSource(world.source, recorder), world.source_files, "sales")
    users.create_table("made", keys=("p",))
    users.add_partitions("made", {("1",): {"f": b"x"}})
    directory = recorder.timeline.newest.directories["made", ("1",)]
    place = users.location("made", ("1",))
    users.set_partition_location("made", ("1",), "hdfs://east/elsewhere/made")
    users.create_table("other", location=place if takes else f"{place}0")
    assert directory.is_left
    assert directory.is_passed is takes


@pytest.mark.parametrize("is_planned_again", [True, False])
def test_a_table_that_has_come_whole_may_stay_when_its_window_is_planned_again_without_it(
    is_planned_again: bool,
) -> None:
    """Who brought it was killed before it said so: the table is as at the window's end, and waits all the same."""
    judge = coming()
    judge._timeline.moments.append(Moment(50, database(t=BEFORE, u=LATER)))
    assert violations(judge, *WAITING[:5]) == []
    judge.plan = lambda position: "another" if is_planned_again else None
    judge.window = lambda position: (10, 40) if position < 40 else (40, 50)
    found = violations(judge, WAITING[4], WAITING[5], (50, database(t=LATER, u=LATER)))
    assert (found == []) == is_planned_again


@pytest.mark.parametrize("is_asked_for", [True, False])
def test_a_table_may_be_built_anew_at_the_end_of_its_window_only_while_it_is_asked_for(is_asked_for: bool) -> None:
    """Who brought it was killed before it said so, and the window's other events had brought the replica to its end."""
    judge = coming()
    judge.asked = lambda: ("t",) if is_asked_for else ()
    assert violations(judge, *WAITING) == []
    judge.plan = lambda position: "one without events"
    judge.window = lambda position: (40, 40)
    anew = [(40, database(u=CHANGED)), (40, database(t=PARTED, u=CHANGED)), (40, database(t=LATER, u=CHANGED))]
    found = violations(judge, *anew)
    assert (found == []) == is_asked_for
    judge.plan = lambda position: "another one"
    judge.asked = lambda: ()
    assert len(violations(judge, (40, database(u=CHANGED)))) == len(found) + 1
