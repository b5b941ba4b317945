"""Marks of copies are partitions of `twinhive_copies`: a real metastore keeps them as the fake one does, odd or not."""

import random
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.hive.contract_metastores import drop_database
from tests.support.hive.metastore_objects import a_table, a_view
from tests.support.worlds.copies_world import a_placement
from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.placement.copy_marks import LONGEST, CopyMark, DirectoryState, mark_name, object_name
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.ports import MetastoreWriter
from twinhive.federation.placement.marking_copies import date_marks, remove_marks, write_marks
from twinhive.federation.routing.marks_table import MarksTable

TABLES = ("plain", "UPPER", "upper", "a b", "ü-漢", "50%", "%41", "a=b", "a_b", "axb", "a%b", "a/b", "*", "t" * 128)
"""Texts to a table of marks, whatever a metastore takes as the name of a table."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
VALUES: tuple[Values, ...] = (
    None,
    *((one,) for one in ("*", "#", "#move", "x", "X", "a b", "a_b", "axb", "%2F", "a,b", "x=y:z", "ü/2", NO_VALUE)),
    *((one,) for one in ("é" * 127 + "x", "/" * 255, "v" * 255, "v" * 254 + "V", "'", '"', "\\", "日本")),
    ("1", "2"),
    ("1/2",),
    ("1", ""),
)


def a_mark(what: object, event_id: int = 5) -> CopyMark:
    state = DirectoryState(7, 8, "below")
    place, original = f"hdfs://north/{what}", f"hdfs://east/ü % = {what}"
    return CopyMark(place, "log", event_id, original, state, state, TableIdentity(7, 100), 1, 2, "digest")


def a_policy(database: str, calls: int = 1_000) -> Policy:
    policy = a_placement(options={"partitions_per_call": calls})
    addresses = DatabaseAddress("east", database), DatabaseAddress("north", database)
    return replace(policy, source=addresses[0], replica=addresses[1])


@pytest.fixture(params=[1, 128], ids=["", "a database of a long name"])
def kept_in(metastore: MetastoreWriter, request: pytest.FixtureRequest) -> Iterator[str]:
    """Give a database whose name has at least so many characters."""
    name = f"marks_{uuid.uuid4().hex[:12]}".ljust(request.param, "x")
    metastore.create_database(Database(name, None, None, {}, "{}"))
    yield name
    drop_database(metastore, name)


def kept(metastore: MetastoreWriter, database: str, cluster: str = "", table: str = "") -> set[tuple[str, str, str]]:
    found = MarksTable(metastore, database).every(cluster, table)
    return {(one.table, one.cluster, one.object) for one in found}


def test_marks_of_any_name_are_told_apart_dated_and_taken_away(metastore: MetastoreWriter, kept_in: str) -> None:
    policy = a_policy(kept_in, 7)
    written = {table: {values: a_mark((table, values)) for values in VALUES} for table in TABLES}
    for table, marks in written.items():
        write_marks(metastore, policy, TableName(kept_in, table), marks)
        write_marks(metastore, policy, TableName(kept_in, table), {None: a_mark("south")}, "south")
    marked = MarksTable(metastore, kept_in, most=7)
    assert marked.read([(table, "north", values) for table in TABLES for values in VALUES]) == {
        (table, "north", values): mark for table, marks in written.items() for values, mark in marks.items()
    }
    objects = {object_name(values) for values in VALUES}
    assert len(objects) == len(VALUES)
    assert kept(metastore, kept_in, "south") == {(table, "south", "*") for table in TABLES}
    for table in TABLES:
        assert kept(metastore, kept_in, table=table) == {
            (table, "south", "*"),
            *((table, "north", one) for one in objects),
        }
    chance = random.Random(7)
    table = chance.choice(TABLES)
    one = chance.choice(VALUES)
    before = {one: written[table][one]}
    assert date_marks(metastore, policy, TableName(kept_in, table), before, 9) == 1
    assert date_marks(metastore, policy, TableName(kept_in, table), before, 11) == 0, "it is another one by now"
    assert marked.read([(table, "north", one)]) == {(table, "north", one): replace(before[one], event_id=9)}
    assert remove_marks(metastore, policy, table, [object_name(one)]) == 1
    assert marked.read([(table, "north", values) for values in VALUES]) == {
        (table, "north", values): mark for values, mark in written[table].items() if values != one
    }
    assert len(kept(metastore, kept_in)) == len(TABLES) * (len(VALUES) + 1) - 1


def test_a_mark_holds_a_place_as_long_as_a_parameter_may_be(metastore: MetastoreWriter, database: str) -> None:
    mark = replace(a_mark("long"), location="hdfs://north/".ljust(LONGEST, "x"))
    write_marks(metastore, a_policy(database), TableName(database, "t"), {("1",): mark})
    assert MarksTable(metastore, database).read([("t", "north", ("1",))]) == {("t", "north", ("1",)): mark}


def test_what_users_drop_of_it_is_marked_again(metastore: MetastoreWriter, database: str) -> None:
    policy, own = a_policy(database), COPY_MARKS.of(database)
    marks: dict[Values, CopyMark] = {None: a_mark("it"), ("50%",): a_mark("one"), ("a b",): a_mark("other")}
    every = [("t", "north", values) for values in marks]
    name = TableName(database, "t")
    write_marks(metastore, policy, name, marks)
    metastore.drop_partitions(own, [mark_name("t", "north", object_name(("50%",)))], delete_data=True)
    before = MarksTable(metastore, database)
    assert before.read(every).keys() == {("t", "north", None), ("t", "north", ("a b",))}
    assert date_marks(metastore, policy, name, {("50%",): marks["50%",]}, 9) == 0
    write_marks(metastore, policy, name, marks)
    metastore.drop_table(own, delete_data=True)
    # Whoever has found the table reads it as empty; whoever writes makes it anew.
    assert before.read(every) == {} and before.names() == []
    assert MarksTable(metastore, database).read(every) == {}
    assert date_marks(metastore, policy, name, marks, 9) == remove_marks(metastore, policy, "t", ["*"]) == 0
    write_marks(metastore, policy, name, marks)
    assert MarksTable(metastore, database).read(every) == dict(zip(every, marks.values(), strict=True))


def foreign(database: str) -> list[Table]:
    """Return tables of that name that are not ours."""
    name, keys = COPY_MARKS.name, COPY_MARKS.keys
    says = {COPY_MARKS.says: "1"}
    return [
        a_table(database, name),
        a_table(database, name, keys),
        a_table(database, name, keys, parameters={COPY_MARKS.says: "true"}),
        a_table(database, name, keys[:2], parameters=says),
        a_table(database, name, (*keys[1:], keys[0]), parameters=says),
        a_view(database, name),
    ]


@pytest.mark.parametrize("number", range(6))
def test_a_table_of_somebody_else_with_that_name_is_neither_read_nor_written(
    metastore: MetastoreWriter, database: str, number: int
) -> None:
    policy, theirs = a_policy(database), foreign(database)[number]
    metastore.create_table(theirs)
    before = metastore.table(theirs.name)
    asked = [("t", "north", None)]
    assert MarksTable(metastore, database).read(asked) == {}
    assert MarksTable(metastore, database).names() == []
    said = f"{theirs.name} is not a table of marks of copies"
    for act in (
        lambda: MarksTable(metastore, database, strict=True).read(asked),
        lambda: write_marks(metastore, policy, TableName(database, "t"), {None: a_mark("it")}),
        lambda: date_marks(metastore, policy, TableName(database, "t"), {None: a_mark("it")}, 9),
        lambda: remove_marks(metastore, policy, "t", ["*"]),
    ):
        with pytest.raises(ActNow, match=said):
            act()
    assert metastore.table(theirs.name) == before


def test_a_table_that_goes_between_two_calls_is_a_reason_to_try_again(
    metastore: MetastoreWriter, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, own = a_policy(database), COPY_MARKS.of(database)
    write_marks(metastore, policy, TableName(database, "t"), {None: a_mark("it")})
    add = metastore.add_partitions

    def dropped_before(partitions: object) -> None:
        metastore.drop_table(own, delete_data=True)
        add(partitions)  # type: ignore[arg-type]

    monkeypatch.setattr(metastore, "add_partitions", dropped_before)
    with pytest.raises(TryAgain):
        write_marks(metastore, policy, TableName(database, "t"), {("1",): a_mark("one")})
    monkeypatch.undo()
    write_marks(metastore, policy, TableName(database, "t"), {("1",): a_mark("one")})
    assert kept(metastore, database) == {("t", "north", "1")}
