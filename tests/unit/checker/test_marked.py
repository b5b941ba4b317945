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


def marked(*moments: Moment) -> MarkedSets:
    """Return the sets of a timeline whose first moment is the mark of all of `t`."""
    sets = MarkedSets(Timeline(moments))
    sets._of_token[("t", "*"), "1"] = Lifetime(("t", "*"), {"1": 0})
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
    sets._told["t"] = [(1, None)]
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
    sets._told["t"] = [(1, frozenset({("1",)}))]
    assert (list(sets.wrong(database(parted(*ours), SET))) == []) == is_right
