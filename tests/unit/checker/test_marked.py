"""Judge sets that a replica shows, by states that were made by hand."""

import pytest

from tests.checker.set_judge import Lifetime, MarkedSets
from tests.checker.states import DatabaseState, Files, PartitionState, ShownSet, TableState
from tests.checker.timeline import Append, Moment, Timeline

TOLD, STRAY, OTHER, LATER = ("f0", "c0"), ("s1", "c1"), ("s2", "c2"), ("f3", "c3")
NESTED = ("HIVE_UNION_SUBDIR_1/f0", "c4")
SET = ShownSet("t", "*", "1")


def files(*pairs: tuple[str, str]) -> Files:
    return frozenset(pairs)


def database(state: TableState, *sets: ShownSet) -> DatabaseState:
    return DatabaseState(tables=(("t", state),), sets=frozenset(sets))


def plain(*pairs: tuple[str, str]) -> TableState:
    return TableState("MANAGED_TABLE", (), (), (), "{}", files=files(*pairs))


def parted(*pairs: tuple[str, str]) -> TableState:
    one = PartitionState(files=files(*pairs), columns=(), parameters=(), rest="{}")
    return TableState("MANAGED_TABLE", ("p",), (), (), "{}").with_partitions({("1",): one})


def marked(*moments: Moment, at: int = 0) -> MarkedSets:
    """Return the sets of a timeline of which one moment, the first mostly, is the mark of all of `t`."""
    sets = MarkedSets(Timeline(moments))
    sets._of_token[("t", "*"), "1"] = Lifetime(("t", "*"), {"1": at})
    return sets


@pytest.mark.parametrize(
    ("ours", "is_right"),
    [
        ((TOLD,), True),
        ((TOLD, STRAY), True),
        ((TOLD, STRAY, OTHER), True),
        ((STRAY, OTHER), False),
        ((TOLD, ("foreign", "c9")), False),
    ],
)
def test_some_files_of_writers_that_told_nothing_may_have_come_and_others_not(
    ours: tuple[tuple[str, str], ...], is_right: bool
) -> None:
    """Of a table that a later event names: all that was promised is there, and nothing that nobody saw."""
    sets = marked(Moment(10, database(plain(TOLD))), Moment(20, database(plain(LATER))))
    sets._seen["t", None] = [(0, files(TOLD, STRAY, OTHER)), (1, files(LATER))]
    assert (list(sets.wrong(database(plain(*ours), SET))) == []) == is_right


@pytest.mark.parametrize(
    ("ours", "is_right"),
    [((TOLD, LATER), True), ((TOLD, NESTED, LATER), True), ((NESTED, LATER), False), ((TOLD, STRAY), False)],
)
def test_nested_files_that_nobody_could_copy_may_be_missing_while_an_append_comes(
    ours: tuple[tuple[str, str], ...], is_right: bool
) -> None:
    append = Append(("t", ("1",)), files(LATER, OTHER))
    sets = marked(
        Moment(10, database(parted(TOLD, NESTED))),
        Moment(20, database(parted(TOLD, NESTED, LATER, OTHER)), append=append),
    )
    assert (list(sets.wrong(database(parted(*ours), SET))) == []) == is_right


@pytest.mark.parametrize(
    ("ours", "is_right"),
    [((TOLD, STRAY), True), ((TOLD, OTHER), False), ((TOLD,), False), ((LATER,), True), ((TOLD, STRAY, OTHER), True)],
)
def test_what_readers_saw_before_the_mark_is_promised_while_it_is_there_unless_an_event_names_it_later(
    ours: tuple[tuple[str, str], ...], is_right: bool
) -> None:
    """A file of a writer that told nothing, and one of a writer who had not come to its end when it was marked."""
    names = (Moment(20, database(plain(TOLD, OTHER))), Moment(30, database(plain(LATER))))
    sets = marked(Moment(9, database(plain(TOLD))), Moment(10, database(plain(TOLD))), *names, at=1)
    sets._seen["t", None] = [(0, files(TOLD, STRAY, OTHER)), (3, files(LATER))]
    assert (list(sets.wrong(database(plain(*ours), SET))) == []) == is_right
