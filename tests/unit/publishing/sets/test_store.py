"""Marks are kept in the metastore, once for each token; what is asked for is judged by table, age and broader sets."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest

from tests.checker.interleaving import Pausable, pause
from tests.support.builders import a_table
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.changes.affected_objects import partitions_told
from twinhive.core.model.changes.kinds import AddPartitions, AlterPartitions
from twinhive.core.model.errors import ActNow, InvalidSettings, Missing, TryAgain, Unreachable
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition
from twinhive.core.model.sets.set_mark import SetMark, sets_table
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.model.thrift_objects import new_partition
from twinhive.hive.events.decoder import decode_event
from twinhive.publishing.sets.done_sets import WantedSet, sets_there
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, SetStanding, left_behind, take_away
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.publishing.sets.set_waiting import wait_for_set, wanted_set

LOGS = TableName("sales", "logs")


class Slow:
    """A metastore whose every call comes after a pause."""

    def __init__(self, metastore: Any) -> None:
        self._metastore = metastore

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._metastore, name)

        def slowly(*args: Any, **kwargs: Any) -> Any:
            pause()
            return call(*args, **kwargs)

        return slowly


class Store:
    """A source with a table of two keys."""

    def __init__(self) -> None:
        self.world: World = a_world()
        self.metastore: Any = self.world.source
        self.now = 1_000.0
        self.world.add_table(
            a_table("sales.logs", partition_keys=("day", "region")),
            (("1", "us"), {}),
            (("1", "eu"), {}),
            (("2", "us"), {}),
        )

    def mark(self, text: str, token: str = "t", table: TableName = LOGS) -> SetMark:
        return MarkSet(table, text, token, "ann", clock=lambda: self.now).run(self.metastore).mark

    def done(self, text: str, since: int = 0, table: TableName = LOGS, keep: str = "30d") -> str | None:
        one = WantedSet(table, SetSpec.parse(text, {"day": "string", "region": "string"}), since)
        found = sets_there(self.metastore, [one], keep, lambda: self.now).get(one)
        return found.spec if found else None

    def kept(self) -> list[SetMark]:
        names = self.metastore.partition_names(sets_table("sales"))
        return [SetMark.read(one) for one in self.metastore.partitions(sets_table("sales"), names)]

    def by_sql(self, table: str, text: str) -> None:
        sets = self.metastore.table(sets_table("sales"))
        self.metastore.add_partitions([new_partition(sets, (table, text), {})])

    def events(self) -> list[type]:
        rows = [row for row in self.metastore.events if row.table == "twinhive_sets"]
        return [type(decode_event(row).change) for row in rows]

    def told(self) -> list[Partition]:
        """Return the marks as the log tells them."""
        rows = [row for row in self.metastore.events if row.table == "twinhive_sets"]
        return [one for row in rows for one in partitions_told(decode_event(row).change)]

    def standings(self, keep: str = "30d") -> list[tuple[str, SetStanding]]:
        listed = SetsOfDatabase(self.metastore, "sales", keep=keep, clock=lambda: self.now)
        return [(one.mark.spec, one.standing) for one in listed.read()]


@pytest.fixture
def store() -> Store:
    return Store()


def test_a_set_is_marked_at_any_level_and_a_broader_one_holds_the_narrower(store: Store) -> None:
    assert store.done("day=1/region=us") is None
    assert store.mark("region=us/day=1").partitions == 1
    assert store.done("day=1/region=us") == "day=1/region=us"
    assert store.done("day=1") is store.done("day=1/region=eu") is None
    assert store.mark("day=1").partitions == 2
    assert store.done("day=1/region=eu") == "day=1"
    assert store.mark("region=us").partitions == 2
    assert store.mark("*").partitions == 3
    assert store.done("day=9/region=x") == "*"


def test_a_set_without_partitions_and_a_table_without_keys(store: Store) -> None:
    assert store.mark("day=7").partitions == 0
    assert store.mark("*", table=TableName("sales", "plain")).partitions is None


def test_a_token_counts_once_and_each_other_one_is_an_event(store: Store) -> None:
    assert [store.mark("day=1", token).count for token in ("a", "a", "b", "a", "b", "c")] == [1, 1, 2, 2, 2, 3]
    assert store.events()[1:] == [AddPartitions, AlterPartitions, AlterPartitions]


def test_a_mark_whose_answer_was_lost_is_found_by_its_token(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("add_partitions", "alter_partitions"):
        _lose_answer(store, name, monkeypatch)
    assert store.mark("day=1", "a").count == 1
    assert store.mark("day=1", "b").count == 2
    assert [mark.count for mark in store.kept()] == [2]


def test_a_mark_that_did_not_arrive_is_said_and_can_be_repeated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.mark("day=2")

    def lost(*given: Any) -> None:
        raise Unreachable("away")

    with monkeypatch.context() as patch:
        patch.setattr(store.metastore, "add_partitions", lost)
        with pytest.raises(TryAgain):
            store.mark("day=1", "a")
    assert store.mark("day=1", "a").count == 1


def _lose_answer(store: Store, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., None] = getattr(store.metastore, name)

    def answer_lost(*given: Any) -> None:
        real(*given)
        raise Unreachable("the answer is lost")

    monkeypatch.setattr(store.metastore, name, answer_lost)


def test_who_is_overtaken_counts_further(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.mark("day=2")
    real = store.metastore.add_partitions

    def overtaken(partitions: Any) -> None:
        monkeypatch.setattr(store.metastore, "add_partitions", real)
        store.mark("day=1", "other")
        real(partitions)

    monkeypatch.setattr(store.metastore, "add_partitions", overtaken)
    assert store.mark("day=1", "mine").count == 2


@pytest.mark.thorough
@pytest.mark.parametrize("begins_marked", [False, True])
@pytest.mark.parametrize("tokens", [("b", "c"), ("b", "b")])
def test_two_who_mark_a_set_at_once_are_both_told_whatever_the_order_of_their_calls(
    tokens: tuple[str, str], begins_marked: bool
) -> None:
    lost = 0
    for seed in range(150):
        store = Store()
        if begins_marked:
            store.mark("day=1", "a")
        order = Random(seed)
        marks = [MarkSet(LOGS, "day=1", token, clock=lambda now=store.now: now) for token in tokens]
        both = [Pausable(partial(mark.run, Slow(store.metastore))) for mark in marks]
        while left := [one for one in both if not one.ended]:
            order.choice(left).step()
        assert [one.error for one in both] == [None, None]
        [kept] = store.kept()
        told = {one.parameters.get("twinhive.set.token") for one in store.told()}
        assert told >= set(tokens) and kept.token in tokens
        assert 1 <= kept.count - begins_marked <= 2
        lost += not all(kept.knows(token) for token in tokens)
    # Who has read before another one wrote, and writes after that one has looked, counts no further.
    assert lost <= 30


def test_unmarked_is_not_done_and_twice_is_no_error(store: Store) -> None:
    store.mark("day=1")
    unmark = UnmarkSet(LOGS, "day=1")
    assert unmark.plan(store.metastore) and unmark.run(store.metastore)
    assert store.done("day=1") is None
    assert not unmark.run(store.metastore)
    with pytest.raises(Missing):
        UnmarkSet(TableName("sales", "nowhere"), "day=1").run(store.metastore)


def test_a_table_that_was_made_again_has_none_of_the_old_sets(store: Store) -> None:
    store.mark("day=1", "a")
    store.metastore.drop_table(LOGS, delete_data=True)
    assert store.done("day=1") is None
    store.metastore.create_table(a_table("sales.logs", partition_keys=("day", "region")))
    assert store.done("day=1") is None
    assert store.standings() == [("day=1", SetStanding.OTHER_TABLE)]
    assert store.mark("day=1", "a").count == 1
    assert store.done("day=1") == "day=1"


def test_sets_of_a_renamed_table_go_with_it(store: Store) -> None:
    store.mark("day=1", "a")
    table = store.metastore.table(LOGS)
    renamed = TableName("sales", "records")
    store.metastore.alter_table(LOGS, table.at(renamed, None))
    listed = SetsOfDatabase(store.metastore, "sales", clock=lambda: store.now)
    assert [one.moved_to for one in left_behind(listed)] == [renamed]
    for _ in range(2):
        take_away(store.metastore, "sales", left_behind(listed))
    assert store.done("day=1", table=renamed) == "day=1"
    assert store.mark("day=1", "a", renamed).count == 1


def test_sets_of_tables_that_change_names_among_each_other_stay_with_their_data(store: Store) -> None:
    records, aside = TableName("sales", "records"), TableName("sales", "aside")
    store.metastore.create_table(a_table("sales.records", partition_keys=("day", "region")))
    store.mark("day=1", "logs")
    store.mark("day=1", "records", records)
    store.mark("day=2", "records", records)
    for before, after in ((LOGS, aside), (records, LOGS), (aside, records)):
        store.metastore.alter_table(before, store.metastore.table(before).at(after, None))
    assert store.done("day=1") is store.done("day=1", table=records) is None
    listed = SetsOfDatabase(store.metastore, "sales", clock=lambda: store.now)
    for _ in range(2):
        take_away(store.metastore, "sales", left_behind(listed))
    kept = {(mark.table.table, mark.spec): mark.token for mark in store.kept()}
    assert kept == {("records", "day=1"): "logs", ("logs", "day=1"): "records", ("logs", "day=2"): "records"}
    assert store.done("day=2") == "day=2"


def test_a_mark_of_the_table_before_gives_way_to_that_of_the_one_that_has_its_name_now(store: Store) -> None:
    fresh = TableName("sales", "fresh")
    store.metastore.create_table(a_table("sales.fresh", partition_keys=("day", "region")))
    store.mark("day=1", "old")
    store.mark("day=1", "new", fresh)
    store.metastore.drop_table(LOGS, delete_data=True)
    store.metastore.alter_table(fresh, store.metastore.table(fresh).at(LOGS, None))
    take_away(store.metastore, "sales", left_behind(SetsOfDatabase(store.metastore, "sales", clock=lambda: store.now)))
    assert [(mark.table, mark.token) for mark in store.kept()] == [(LOGS, "new")]
    assert store.done("day=1") == "day=1"


def test_a_rerun_marks_anew_what_has_expired(store: Store) -> None:
    assert store.mark("day=1", "a").count == 1
    store.now += 30 * 86_400
    assert store.done("day=1") is None
    assert store.mark("day=1", "a").count == 1
    assert store.done("day=1") == "day=1"


def test_sets_that_are_kept_for_no_time_are_told_and_never_there(store: Store) -> None:
    table = store.metastore.table(LOGS)
    store.metastore.alter_table(LOGS, table.with_parameters({**table.parameters, "twinhive.sets.keep": "0s"}))
    for token in ("a", "b"):
        assert store.mark("day=1", token).count == 1
        assert store.done("day=1") is None
    assert store.events()[1:] == [AddPartitions, AlterPartitions]
    assert store.standings() == [("day=1", SetStanding.EXPIRED)]


def test_a_clock_that_is_a_little_behind_takes_no_set_away_and_one_that_was_far_ahead_is_put_right(
    store: Store,
) -> None:
    store.mark("day=1", "a")
    store.now -= 30
    assert store.mark("day=1", "b").marked == 1_000
    assert store.done("day=1", since=1_000) == "day=1"
    store.now = 1e9
    store.mark("day=1", "far ahead")
    store.now = 2_000.0
    assert store.done("day=1") == "day=1"
    assert store.mark("day=1", "c").marked == 2_000


@pytest.mark.parametrize(
    "value",
    ["a/b", "a=b", "*", "100%", "%25", "it's", 'a "b"', "ü 日本", "a:b\\c", "x ", "{1}", "#[]^?", "day=1", "A"],
)
def test_values_that_a_directory_cannot_be_named_by_are_marked_and_found(store: Store, value: str) -> None:
    spec = str(SetSpec((("day", value),)))
    store.metastore.add_partitions([new_partition(store.metastore.table(LOGS), (value, "us"), {})])
    for other in ("b", "*x", "100"):
        store.mark(str(SetSpec((("day", other),))), other)
    assert store.done(spec) is None
    mark = store.mark(spec, value)
    assert (mark.spec, mark.partitions) == (spec, 1)
    assert store.done(f"region=us/{spec}") == spec
    assert store.done("day=1/region=us") == (spec if value == "1" else None)
    assert UnmarkSet(LOGS, spec).run(store.metastore)
    assert store.done(spec) is None


def test_one_token_for_several_sets_and_tables_counts_once_for_each(store: Store) -> None:
    plain = TableName("sales", "plain")
    for _ in range(2):
        marks = [store.mark("day=1", "job"), store.mark("*", "job"), store.mark("*", "job", plain)]
        assert [mark.count for mark in marks] == [1, 1, 1]
    assert len(store.kept()) == 3


def test_each_table_says_how_long_its_sets_are_kept(store: Store) -> None:
    table = store.metastore.table(LOGS)
    store.metastore.alter_table(LOGS, table.with_parameters({**table.parameters, "twinhive.sets.keep": "1s"}))
    store.mark("day=1")
    store.mark("*", table=TableName("sales", "plain"))
    store.now += 1
    assert store.done("day=1") is None and store.done("*", table=TableName("sales", "plain")) == "*"
    assert store.done("*", table=TableName("sales", "plain"), keep="1s") is None
    assert store.standings() == [("day=1", SetStanding.EXPIRED), ("*", SetStanding.DONE)]
    take_away(store.metastore, "sales", left_behind(SetsOfDatabase(store.metastore, "sales", clock=lambda: store.now)))
    assert [mark.spec for mark in store.kept()] == ["*"]


def test_a_property_without_sense_is_named(store: Store) -> None:
    store.mark("day=1")
    table = store.metastore.table(LOGS)
    store.metastore.alter_table(LOGS, table.with_parameters({**table.parameters, "twinhive.sets.keep": "a week"}))
    with pytest.raises(InvalidSettings, match=r"twinhive.sets.keep of sales.logs"):
        store.done("day=1")
    assert [one for _, one in store.standings()] == [SetStanding.UNREADABLE]


def test_many_marks_are_taken_away_a_thousand_at_a_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.mark("day=1")
    sets = store.metastore.table(sets_table("sales"))
    store.metastore.add_partitions([new_partition(sets, ("gone", f"p={number}"), {}) for number in range(2_500)])
    calls: list[int] = []
    real = store.metastore.drop_partitions

    def counted(table: TableName, names: list[str], *, delete_data: bool) -> None:
        calls.append(len(names))
        real(table, names, delete_data=delete_data)

    monkeypatch.setattr(store.metastore, "drop_partitions", counted)
    take_away(store.metastore, "sales", left_behind(SetsOfDatabase(store.metastore, "sales", clock=lambda: store.now)))
    assert calls == [1_000, 1_000, 500]


def test_marks_of_plain_sql_are_taken_as_they_are(store: Store) -> None:
    store.mark("day=2")
    store.by_sql("logs", "day=1")
    store.by_sql("logs", "region=us/day=3")
    store.now = store.metastore._log.now()
    assert store.done("day=1/region=us", keep="forever") == "day=1"
    assert dict(store.standings("forever"))["region=us/day=3"] is SetStanding.UNREADABLE
    assert store.mark("day=1", "a").count == 2


def test_a_mark_of_plain_sql_does_not_outlive_its_table(store: Store) -> None:
    store.mark("day=2")
    store.by_sql("logs", "day=1")
    store.now = store.metastore._log.now()
    assert store.done("day=1") == "day=1"
    store.metastore.drop_table(LOGS, delete_data=True)
    store.metastore.pass_time(3_600)
    store.metastore.create_table(a_table("sales.logs", partition_keys=("day", "region")))
    assert store.done("day=1") is None
    assert dict(store.standings())["day=1"] is SetStanding.OTHER_TABLE
    store.by_sql("logs", "day=3")
    store.now = store.metastore._log.now()
    assert store.done("day=3") == "day=3"


def test_a_mark_before_the_time_that_is_asked_for_does_not_count(store: Store) -> None:
    store.mark("day=1", "a")
    assert store.done("day=1", since=1_001) is None
    store.now = 1_001
    store.mark("day=1", "b")
    assert store.done("day=1", since=1_001) == "day=1"


def test_a_table_of_somebody_else_is_refused(store: Store) -> None:
    store.metastore.create_table(a_table("sales.twinhive_sets", partition_keys=("p",)))
    before = len(store.metastore.events)
    for do in (lambda: store.mark("day=1"), lambda: store.done("day=1"), lambda: store.standings()):
        with pytest.raises(ActNow, match="is not a table of sets"):
            do()
    assert len(store.metastore.events) == before


def test_a_table_that_an_administrator_made_is_used(store: Store) -> None:
    made = a_table("sales.twinhive_sets", partition_keys=("table_name", "spec"), parameters={"twinhive.sets": "1"})
    store.metastore.create_table(made)
    store.mark("day=1")
    assert store.done("day=1") == "day=1"


def test_what_makes_no_sense_changes_nothing(store: Store) -> None:
    before = len(store.metastore.events)
    for table, text, token in (
        (LOGS, "hour=1", "t"),
        (TableName("sales", "nowhere"), "*", "t"),
        (LOGS, "day=1", "t" * 1_001),
        (LOGS, "day=1", ""),
        (TableName("sales", "plain"), "day=1", "t"),
    ):
        with pytest.raises(ActNow):
            store.mark(text, token, table)
    assert len(store.metastore.events) == before


def test_a_replica_is_not_marked(store: Store) -> None:
    database = store.metastore.database("sales")
    store.metastore.set_database_parameters("sales", {**database.parameters, "twinhive.policy": "sales"})
    with pytest.raises(ActNow, match="is the replica of policy sales"):
        store.mark("day=1")
    with pytest.raises(ActNow, match="is the replica of policy sales"):
        UnmarkSet(LOGS, "day=1").run(store.metastore)


def test_what_has_taken_over_from_its_source_is_marked(store: Store) -> None:
    database = store.metastore.database("sales")
    said = {"twinhive.policy": "sales", "twinhive.phase": "promoted"}
    store.metastore.set_database_parameters("sales", {**database.parameters, **said})
    assert store.mark("day=1").count == 1
    assert UnmarkSet(LOGS, "day=1").run(store.metastore)


def test_who_waits_looks_again_until_the_set_is_there(store: Store) -> None:
    wanted = wanted_set(store.metastore, LOGS, "day=1")
    times = iter(range(100))
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        store.metastore.down = len(looks) == 1
        if len(looks) == 3:
            store.now = 1e10
            store.mark("day=1")

    assert wait_for_set(store.metastore, wanted, 50, clock=lambda: next(times), sleep=sleep).spec == "day=1"
    assert len(looks) == 3
    other = wanted_set(store.metastore, LOGS, "day=2")
    with pytest.raises(TryAgain, match="is not done"):
        wait_for_set(store.metastore, other, 0)


@pytest.mark.parametrize("many", [1, 1_000])
def test_any_number_of_sets_are_three_questions(store: Store, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    store.mark("day=1")
    calls: list[str] = []
    for name in ("table", "tables", "partitions"):
        real = getattr(store.metastore, name)
        monkeypatch.setattr(
            store.metastore, name, lambda *given, name=name, real=real: (calls.append(name), real(*given))[1]
        )
    wanted = [WantedSet(LOGS, SetSpec((("day", str(number)),))) for number in range(1, many + 1)]
    assert [one.spec for one in sets_there(store.metastore, wanted, clock=lambda: 1_000.0).values()] == ["day=1"]
    assert calls == ["table", "partitions", "tables"]


def test_the_table_of_sets_has_no_sets_itself(store: Store) -> None:
    """No replica could show one: it keeps a table of sets of its own."""
    sets = sets_table("sales")
    store.mark("*")
    for ask in (lambda: store.mark("*", table=sets), lambda: wanted_set(store.metastore, sets, "*")):
        with pytest.raises(InvalidSettings, match=r"sales\.twinhive_sets keeps the sets of its database"):
            ask()
    store.by_sql("twinhive_sets", "*")
    assert store.standings() == [("*", SetStanding.DONE), ("*", SetStanding.UNREADABLE)]
    UnmarkSet(sets, "*").run(store.metastore)
    assert store.standings() == [("*", SetStanding.DONE)]
